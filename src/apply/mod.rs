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

/// Fewest stretches of compressed rows, and fewest tiles of lines in products with dense matrices,
/// for each compute unit if an item takes one. With many, the last to end is a small part of the
/// whole.
const LEAST_SHARES: usize = 8;
