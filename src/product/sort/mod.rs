//! Columns of C with at most 3584 products, each sorted by row in the registers of up to 256
//! work-items; the products of a run are then added in ascending k. Kernels: `cl/product/sort/`.
//!
//! There is a kernel for each class of columns. A column of at most 256 products takes an eighth or
//! a twelfth of the class's products as work-items, so one team of 32 serves 8, 4, 2 columns, or 1.
//! Of longer ones each item holds 10 to 16 products, and beyond 512, 1024 and 2048 teams have 64,
//! 128 and 256 items.
mod columns;
mod count;
mod runs;
mod sums;
#[cfg(test)]
mod tests;

use crate::{DeviceInfo, device::Teams};
pub(super) use count::SortCounts;
pub(super) use runs::{ShortRule, SortedRuns};
pub(super) use sums::SortSums;

/// Most products of a column of each class.
pub(in crate::product) const CLASSES: [u32; 21] =
    [32, 48, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584];

/// The last of them.
#[cfg(test)]
pub(in crate::product) const MOST: u32 = CLASSES[CLASSES.len() - 1];

/// Most products of a column that a device sorts and sums: 0, or one of them.
pub(in crate::product) fn most_of(info: &DeviceInfo) -> u32 {
    most_within(info, size_of::<f64>())
}

/// The same if local memory holds so many bytes for each product, beside its key.
fn most_within(info: &DeviceInfo, bytes: usize) -> u32 {
    let largest = Teams::of(info).map_or(0, Teams::largest);
    let fits = |most| columns::team_size(most) <= largest && columns::local_bytes(most, bytes) <= info.local_bytes;
    CLASSES.into_iter().rev().find(|&most| fits(most)).unwrap_or(0)
}

/// The class of columns of at most `products` products, among the first that sort at most `most`.
pub(in crate::product) fn class_of(products: u64, most: u32) -> Option<usize> {
    CLASSES.iter().position(|&class| products <= class.into() && class <= most)
}

/// Bytes of the sorted keys of so many columns of a class.
pub(in crate::product) fn key_bytes(class: usize, columns: u64) -> u64 {
    4 * columns * u64::from(CLASSES[class])
}

/// Most products of a column that is sorted, at most `wanted`: 0, or one of [`CLASSES`].
pub(in crate::product) fn most_products(wanted: u32) -> u32 {
    CLASSES.iter().rev().find(|&&most| most <= wanted).copied().unwrap_or(0)
}
