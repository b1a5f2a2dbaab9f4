//! Sparse matrices times vectors and dense matrices.
//!
//! | file | makes |
//! |---|---|
//! | [`gram`] | y = alpha·Jᵀ·W·J·x + beta·y |
//! | [`matvec`] | y = alpha·A·x + beta·y, also for Aᵀ |
//! | [`options`] | options of products with vectors |
//! | [`packed`] | y = alpha·A·x + beta·y with A's values copied in the order of a format |
//! | [`spmv`] | the formats |
//! | [`spmm`] | products with dense matrices |
mod gram;
mod matvec;
mod options;
mod packed;
mod spmm;
mod spmv;

pub use gram::{ApplyGram, GramOperands, PackedGram, WeighedVector};
pub use matvec::Apply;
pub use options::ApplyOptions;
pub use packed::Packed;
pub use spmm::{
    ApplyDense, ApplyGcoo, DenseMethod, DenseOptions, DenseProduct, DenseReport, DeviceGcoo, GcooOptions, PackedDense,
    Source, multiply, multiply_by,
};
pub(crate) use spmm::{DenseNumbers, Spmm};
pub use spmv::{Format, Split};
pub(crate) use spmv::{Repeated, RowNumbers, Spmv};

/// Minimum number of shares of the work for each compute unit, if one work-item computes a share. A
/// share is a stretch of compressed rows, or a tile of lines in a product with a dense matrix. With
/// many shares, the last to end is a small part of the work.
const LEAST_SHARES: usize = 8;
