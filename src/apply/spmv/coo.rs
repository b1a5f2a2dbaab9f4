//! Entries stored with their rows. A work-group adds a tile of 1024 entries. Kernels:
//! `cl/apply/spmv/coo.cl`.
//!
//! Every group has the same number of entries, however long the rows are. A second kernel joins the
//! parts of rows that are in several tiles. The order of addition is [`Order::Tiles`].
//!
//! [`Order::Tiles`]: crate::element::Order::Tiles
use super::{PackedOrder, Rows, Sums, listed::Listed, terms::InTerms};
use crate::{
    Result,
    device::{Buffer, Grid, In, Kernel, Options, Out, Scratch, Sum, Work, kernel},
    element::Order,
    vector::{InOutScaled, ScaledInto, line_sums::Stored},
};

kernel! {
    in "apply/spmv/values.cl", "apply/spmv/coo.cl":
    struct SumTiles = "sum_tiles" { row: In<u32>, terms: InTerms<u32>, y: InOutScaled, parts: Out<Sum>, nnz: u32 }
    struct JoinTiles = "join_tiles" { row: In<u32>, parts: In<Sum>, y: InOutScaled, tiles: u32 }
}

pub(super) struct Coo {
    listed: Listed,
    tiles: Kernel<SumTiles<'static>>,
    join: Kernel<JoinTiles<'static>>,
    parts: Scratch,
    /// Work-items for a tile, one on a CPU. `group_size` is for the kernel that joins tiles.
    tile_group: usize,
    group_size: usize,
}

impl Coo {
    pub fn new(work: &Work, rows: Rows) -> Result<Self> {
        let (device, info) = (rows.device(), rows.device().info());
        let group_size = info.vector_group();
        let tile_group = info.serial_or(group_size);
        let options = |group| rows.options(Options::group_size(group)).define("TILE", Order::TILE);
        let tiles = Kernel::new(device, &options(tile_group))?;
        let join = Kernel::new(device, &options(group_size))?;
        let listed = Listed::new(work, rows)?;
        let parts = Scratch::reserve_of(work, listed.rows.elements.sum(), 2 * listed.nnz().div_ceil(Order::TILE))?;
        Ok(Self { listed, tiles, join, parts, tile_group, group_size })
    }
}

impl Sums for Coo {
    fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, mut y: ScaledInto<'_>) -> Result<()> {
        let Self { listed: Listed { row, rows, .. }, group_size, .. } = self;
        let tiles = row.len().div_ceil(Order::TILE);
        let parts = &mut *self.parts.take(work)?;
        let args = SumTiles { row, terms: rows.terms(a, x), y: y.again(), parts, nnz: row.len() as u32 };
        self.tiles.launch(work, Grid::groups(tiles, self.tile_group), args)?;
        let args = JoinTiles { row, parts, y: y.again(), tiles: tiles as u32 };
        self.join.launch(work, Grid::items(tiles, *group_size), args)?;
        self.listed.write_empty(work, y)
    }

    fn order(&self) -> PackedOrder<'_> {
        self.listed.rows.order()
    }

    fn bytes(&self) -> u64 {
        self.listed.bytes() + self.parts.bytes()
    }
}
