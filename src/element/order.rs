//! The orders in which the terms of a sum are added.

/// The order in which the terms of an element of A·x are added. With every order except
/// [`Order::Arrival`], the bits of the result are equal in every run and on every device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Order {
    /// Terms are added in ascending order of their places in x, in pieces of 1024 terms. All
    /// products use this order.
    Ascending,
    /// Each of 32 lanes adds every 32nd term in ascending order of places. The sums of the lanes
    /// are then folded in halves: first the sums of lanes 16 apart are added, then those 8, 4, 2
    /// and 1 apart. `Lanes` is for matrices of scalars only.
    Lanes,
    /// All entries of the matrix, row after row, are cut into tiles of 1024. The terms of a row in
    /// a tile are added in ascending order of places. Then the row's sums of all tiles are added
    /// from left to right. `Tiles` is for matrices of scalars only.
    Tiles,
    /// A segmented scan of all entries, row after row. Tiles of 1024 entries are cut into chunks of
    /// 8. In a chunk the terms of a row are added in ascending order of places. In a tile, the sums
    /// of all chunks of a row except the last are added by doubling distances: each chunk's sum
    /// gets the sum of the chunk 1 before it, then of the chunk 2 before it, then 4 before it, and
    /// so on. The sum of the row's last chunk is added after that. If a row is in several tiles,
    /// the sums of its tiles become entries of a list that has two places for each tile. The row's
    /// sum in its first tile takes the second place of that tile; its sum in every other tile takes
    /// the first place. The list is cut into tiles and chunks and added like the entries, and the
    /// sums of its tiles are added from left to right. `Scan` is for matrices of scalars only.
    Scan,
    /// Terms are added in ascending order of places, in pieces of 1024 terms. A piece of more than
    /// 64 terms is an exception: each of 32 lanes adds every 32nd term in ascending order, and the
    /// sums of the lanes are added from left to right. `Shared` is for matrices of scalars only.
    Shared,
    /// Each of 4 lanes adds every 4th term in ascending order of places, and the sums of the lanes
    /// are added from left to right. `FewLanes` is for matrices of scalars only.
    FewLanes,
    /// Terms are added in the order in which work-items arrive, so the bits differ from run to run.
    Arrival,
}

impl Order {
    /// Number of lanes of [`Order::Lanes`] and [`Order::Shared`].
    pub(crate) const LANES: usize = 32;

    /// Maximum number of terms in a piece that [`Order::Shared`] adds in ascending order.
    pub(crate) const LONG: usize = 64;

    /// Number of lanes of [`Order::FewLanes`].
    pub(crate) const FEW_LANES: usize = 4;

    /// Number of entries in a tile of [`Order::Tiles`] and [`Order::Scan`].
    pub(crate) const TILE: usize = 1024;

    /// Number of terms in a chunk of [`Order::Scan`].
    pub(crate) const CHUNK: usize = 8;
}
