//! Matrices times vectors.
//!
//! | file | makes |
//! |---|---|
//! | [`matvec`] | y = alpha·A·x + beta·y, also for Aᵀ: of blocks with the line sums of `vector/` |
//! | [`options`] | its options |
//! | [`packed`] | the same with A's values in the order of a format |
//! | [`spmv`] | the formats of matrices of scalars |
mod matvec;
mod options;
mod packed;
mod spmv;

pub use matvec::Apply;
pub use options::ApplyOptions;
pub use packed::Packed;
pub use spmv::{Format, Split};
