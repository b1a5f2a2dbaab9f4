//! Matrices times vectors.
//!
//! | file | makes |
//! |---|---|
//! | [`matvec`] | y = alpha·A·x + beta·y, also for Aᵀ |
//! | [`options`] | its options |
//! | [`packed`] | the same with A's values in the order of a format |
//! | [`spmv`] | the formats |
mod matvec;
mod options;
mod packed;
mod spmv;

pub use matvec::Apply;
pub use options::ApplyOptions;
pub use packed::Packed;
pub use spmv::{Format, Split};
