//! Properties of matrices, computed on the host from their entries: symmetry, lengths of columns,
//! blocks that fit, the size of a product, the difference of two matrices.
//!
//! Nothing here computes a product or needs a device. Results that take one pass over the entries
//! are exact. [`product_size`] takes a pass over all products: it has a budget, and returns bounds
//! beyond it.
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
