//! Properties of matrices, computed on the host from their entries: symmetry, lengths of columns,
//! block shapes that suit a matrix, the size of a product, the difference of two matrices.
//!
//! This module computes no product and needs no device. Functions that take one pass over the
//! entries return exact results. [`product_size`] takes a pass over all products, so it has a
//! budget. If the budget is used up, it returns bounds.
mod blocks;
mod columns;
mod difference;
mod product;
mod symmetry;

pub use blocks::{BlockFit, block_fit, block_fits, tightest};
pub use columns::{ColumnLengths, column_lengths};
pub use difference::{Difference, Disagreement, Tolerance, any_difference, difference};
pub(crate) use product::entries_of_columns;
pub use product::{Bounds, ProductSize, product_size};
pub use symmetry::{FoundSymmetry, asymmetry, symmetry};
