//! Columns of C with at most 256 products, each sorted by row in the registers of up to 32
//! work-items; the products of a run are then added in ascending k. Kernels: `cl/product/sort/`.
//!
//! There is a kernel for each class of columns. A column takes an eighth of the class's products as
//! work-items, so one team serves 8, 4, 2 columns, or 1.
mod columns;
mod count;
mod runs;
mod sums;
#[cfg(test)]
mod tests;

pub(super) use count::SortCounts;
pub(super) use runs::{ShortRule, SortedRuns};
pub(super) use sums::SortSums;

/// Most products of a column of each class.
pub(in crate::product) const CLASSES: [u32; 4] = [32, 64, 128, 256];

/// The class of columns of at most `products` products, among the first that sort at most `most`.
pub(in crate::product) fn class_of(products: u64, most: u32) -> Option<usize> {
    CLASSES.iter().position(|&class| products <= class.into() && class <= most)
}

/// Most products of a column that can be sorted: 0, or one of [`CLASSES`]. `row_bits` is the number
/// of bits for the number of rows: a key of 32 bits has a row and the place of a product.
pub(in crate::product) fn most_products(row_bits: u32) -> u32 {
    let fits = |most: &&u32| row_bits + most.ilog2() <= u32::BITS;
    CLASSES.iter().rev().find(fits).copied().unwrap_or(0)
}
