//! Orders in which the terms of a sum are added.

/// The order in which the terms of an element of A·x are added. Every order but [`Order::Arrival`]
/// is fixed: the bits are the same in every run and on every device.
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
    /// A segmented scan of all entries, row after row. Tiles of 1024 entries are cut into chunks of
    /// 8, whose terms of a row are added in ascending place. All its chunks in a tile but the last
    /// are added by doubling distances: each adds what the chunk 1 before it has, then 2, 4, and so
    /// on. The last is added to that. The sums of a row's tiles are added in the same way, at two
    /// places for each tile, of which the second counts in the first tile alone; tiles of these
    /// from left to right. It belongs to matrices of scalars.
    Scan,
    /// In ascending place, cut every 1024 terms, but of a piece of more than 64 terms 32 lanes add
    /// every 32nd in ascending place, and their sums are added from left to right. It belongs to
    /// matrices of scalars.
    Shared,
    /// 4 lanes add every 4th term in ascending place, and their sums are added from left to right.
    /// It belongs to matrices of scalars.
    FewLanes,
    /// The order in which work-items arrive: other bits in every run.
    Arrival,
}

impl Order {
    /// The lanes of [`Order::Lanes`] and [`Order::Shared`].
    pub(crate) const LANES: usize = 32;

    /// The most terms that [`Order::Shared`] has in ascending place.
    pub(crate) const LONG: usize = 64;

    /// The lanes of [`Order::FewLanes`].
    pub(crate) const FEW_LANES: usize = 4;

    /// The entries of a tile of [`Order::Tiles`] and [`Order::Scan`].
    pub(crate) const TILE: usize = 1024;

    /// The terms of a chunk of [`Order::Scan`].
    pub(crate) const CHUNK: usize = 8;
}
