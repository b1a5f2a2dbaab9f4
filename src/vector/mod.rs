//! Norms, diagonals and scalings of matrices, and operations on two vectors: the steps of an
//! iterative solver between two products of matrices.
//!
//! | file | makes |
//! |---|---|
//! | [`norms`] | norms of columns and rows, of scalars and of blocks |
//! | [`scaling`] | A·diag(d), diag(d)·A in place |
//! | [`diagonal`] | the blocks on the diagonal, and the diagonal |
//! | [`arithmetic`] | dot products, norms and sums of vectors |
//! | [`columns`] | dot products and sums of the columns of dense matrices |
//! | [`scaled`] | results that kernels scale: alpha·(...) + beta·y |
//! | [`lines`], [`line_sums`] | a sum for each row or column: norms, and the products of `apply/` |
mod arithmetic;
pub(crate) mod columns;
mod diagonal;
pub(crate) mod line_sums;
pub(crate) mod lines;
mod norms;
mod scaled;
mod scaling;

pub(crate) use arithmetic::{PIECE as DOT_PIECE, check_vector};
pub use diagonal::{Diagonal, DiagonalScalars};
pub(crate) use lines::LineNumbers;
pub use norms::Norms;
pub(crate) use scaled::{InOutScaled, ScaledInto};
