//! What a matrix is like, found from its entries alone, on the host: symmetry, lengths of columns, blocks that fit, how large a product
//! will be, how two matrices differ.
//!
//! Nothing here computes a product or needs a device. What takes a pass over the entries is exact; what takes a pass over the products
//! of a product ([`product_size`]) keeps a budget and tells bounds beyond it.
mod blocks;
mod columns;
mod difference;
mod product;
mod symmetry;

pub use blocks::{BlockFit, block_fit, block_fits, tightest};
pub use columns::{ColumnLengths, column_lengths};
pub use difference::{Difference, Disagreement, Tolerance, difference};
pub use product::{Bounds, ProductSize, product_size};
pub use symmetry::{FoundSymmetry, symmetry};
