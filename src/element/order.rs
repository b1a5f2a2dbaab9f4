//! Orders in which the terms of a sum are added.

/// The order in which the terms of an element of A·x are added. Every order except
/// [`Order::Arrival`] is fixed: the bits are equal in every run and on every device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Order {
    /// Terms are added in ascending order of their places in x, cut every 1024 terms. This is the
    /// order of all products.
    Ascending,
    /// Each of 32 lanes adds every 32nd term in ascending order of places. The lanes' sums are
    /// folded in halves: first those 16 apart, then 8, 4, 2, 1. This order is for matrices of
    /// scalars only.
    Lanes,
    /// All entries of the matrix, row after row, are cut every 1024 into tiles. The terms of a row
    /// in a tile are added in ascending order of places, then the sums of its tiles from left to
    /// right. This order is for matrices of scalars only.
    Tiles,
    /// A segmented scan of all entries, row after row. Tiles of 1024 entries are cut into chunks of
    /// 8. In a chunk the terms of a row are added in ascending order of places. All chunks of a row
    /// in a tile except the last are added by doubling distances: each adds the sum of the chunk 1
    /// before it, then 2, 4, and so on. The last chunk is then added. The sums of a row's tiles are
    /// added in the same way, as two places for each tile, the second of which counts in the first
    /// tile alone. Tiles of these places are added from left to right. This order is for matrices
    /// of scalars only.
    Scan,
    /// Terms are added in ascending order of places, cut every 1024 terms. But in a piece of more
    /// than 64 terms, each of 32 lanes adds every 32nd term in ascending order, and the lanes' sums
    /// are added from left to right. This order is for matrices of scalars only.
    Shared,
    /// Each of 4 lanes adds every 4th term in ascending order of places, and the lanes' sums are
    /// added from left to right. This order is for matrices of scalars only.
    FewLanes,
    /// Terms are added in the order in which work-items arrive, so the bits differ from run to run.
    Arrival,
}

impl Order {
    /// Number of lanes of [`Order::Lanes`] and [`Order::Shared`].
    pub(crate) const LANES: usize = 32;

    /// Most terms that [`Order::Shared`] adds in ascending order.
    pub(crate) const LONG: usize = 64;

    /// Number of lanes of [`Order::FewLanes`].
    pub(crate) const FEW_LANES: usize = 4;

    /// Number of entries in a tile of [`Order::Tiles`] and [`Order::Scan`].
    pub(crate) const TILE: usize = 1024;

    /// Number of terms in a chunk of [`Order::Scan`].
    pub(crate) const CHUNK: usize = 8;
}
