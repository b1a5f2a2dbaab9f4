//! Columns of C with at most 3584 products. Each column is sorted by row in the registers of up to
//! 256 work-items. The products of a run are then added in the order of the entries of B. Kernels:
//! `cl/product/sort/`.
//!
//! There is a kernel for each class of columns. A column of at most 256 products takes one
//! work-item for each 8 or 12 products of its class, so one team of 32 serves 8, 4, 2 or one of
//! these columns. For columns of more than 256 products, each item holds 10 to 16 products. Teams
//! have 64 items for columns of more than 512 products, 128 items for more than 1024, and 256 items
//! for more than 2048.
mod columns;
mod count;
mod runs;
mod sums;
#[cfg(test)]
mod tests;

use super::terms::SORTED_PRODUCTS;
use crate::{DeviceInfo, device::Teams};
pub(in crate::product) use columns::SortedTask;
pub(super) use count::SortCounts;
pub(super) use runs::{ShortRule, SortedRuns};
pub(super) use sums::SortSums;

/// Most products of a column that a device sorts and sums: 0, or one of
/// [`SORTED_PRODUCTS`].
pub(in crate::product) fn most_of(info: &DeviceInfo) -> u32 {
    most_within(info, size_of::<f64>())
}

/// Most products of a column that is sorted, if local memory holds `bytes` bytes for each product
/// besides its key.
fn most_within(info: &DeviceInfo, bytes: usize) -> u32 {
    let largest = Teams::of(info).map_or(0, Teams::largest);
    let fits = |most| columns::team_size(most) <= largest && columns::local_bytes(most, bytes) <= info.local_bytes;
    SORTED_PRODUCTS.into_iter().rev().find(|&most| fits(most)).unwrap_or(0)
}

/// Bytes of the sorted keys of `columns` columns of a class.
pub(in crate::product) fn key_bytes(class: usize, columns: u64) -> u64 {
    4 * columns * u64::from(SORTED_PRODUCTS[class])
}
