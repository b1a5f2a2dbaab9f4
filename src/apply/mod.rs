//! Matrices times vectors.
//!
//! | file | makes |
//! |---|---|
//! | [`matvec`] | y = alpha·A·x + beta·y, also for Aᵀ, with the line sums of `vector/` |
mod matvec;

pub use matvec::Apply;
