//! Orders in which the terms of a sum are added.

/// The order in which the terms of an element of A·x are added. Every order is fixed: the bits are
/// the same in every run and on every device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Order {
    /// In ascending place in x, cut every 1024 terms: the order of all products.
    Ascending,
    /// 32 lanes add every 32nd term in ascending place, and their sums are folded in halves: first
    /// those 16 apart, then 8, 4, 2, 1. It belongs to matrices of scalars.
    Lanes,
    /// All entries of the matrix, row after row, are cut every 1024. The terms of a row in such a
    /// tile are added in ascending place, then the sums of its tiles from left to right. It belongs
    /// to matrices of scalars.
    Tiles,
}

impl Order {
    /// The lanes of [`Order::Lanes`].
    pub(crate) const LANES: usize = 32;

    /// The entries of a tile of [`Order::Tiles`].
    pub(crate) const TILE: usize = 1024;
}
