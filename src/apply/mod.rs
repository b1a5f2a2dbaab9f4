//! Matrices times vectors.
//!
//! | file | makes |
//! |---|---|
//! | [`matvec`] | y = alpha·A·x + beta·y and the same of Aᵀ, on the line sums of `vector/` |
mod matvec;

pub use matvec::Apply;
