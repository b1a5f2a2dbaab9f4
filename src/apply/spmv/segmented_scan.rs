//! Entries stored with their rows and added by a segmented scan (Garland 2008) in three kernels.
//! The first kernel has a work-group for each tile of 1024 entries. The second kernel scans the
//! parts of rows that are in several tiles, and divides the parts into tiles, too. In the third
//! kernel, one work-group adds the sums that continue from one tile of parts to the next. Kernels:
//! `cl/apply/spmv/segmented_scan.cl`.
//!
//! No item adds a long row alone: the time depends on the number of entries, not on the lengths of
//! rows. The order of addition is [`Order::Scan`].
//!
//! [`Order::Scan`]: crate::element::Order::Scan
use super::{PackedOrder, Rows, Sums, listed::Listed, terms::InTerms};
use crate::{
    Result,
    device::{Buffer, Grid, In, Kernel, Options, Out, Scratch, Sum, Work, kernel},
    element::Order,
    vector::{InOutScaled, ScaledInto, line_sums::Stored},
};

kernel! {
    in "apply/spmv/values.cl", "apply/spmv/segmented_scan.cl":
    struct ScanTiles = "scan_tiles" {
        row: In<u32>,
        terms: InTerms<u32>,
        y: InOutScaled,
        parts: Out<Sum>,
        part_row: Out<u32>,
        nnz: u32,
    }
    struct ScanParts = "scan_parts" {
        parts: In<Sum>,
        part_row: In<u32>,
        y: InOutScaled,
        carries: Out<Sum>,
        carry_row: Out<u32>,
        tiles: u32,
    }
    struct ScanCarries = "scan_carries" { carries: In<Sum>, carry_row: In<u32>, y: InOutScaled, groups: u32 }
}

pub(super) struct SegmentedScan {
    listed: Listed,
    tiles: Kernel<ScanTiles<'static>>,
    parts: Kernel<ScanParts<'static>>,
    carries: Kernel<ScanCarries<'static>>,
    part: Scratch,
    part_row: Scratch<u32>,
    /// The partial sums that the groups of kernel `parts` carry on.
    carry: Scratch,
    carry_row: Scratch<u32>,
    /// Work-items for a tile: one for each chunk, or one for all chunks.
    group_size: usize,
}

impl SegmentedScan {
    pub fn new(work: &Work, rows: Rows) -> Result<Self> {
        let chunks = Order::TILE / Order::CHUNK;
        let group_size = if rows.device().info().serial_or(chunks) == chunks { chunks } else { 1 };
        Self::tuned(work, rows, group_size)
    }

    fn tuned(work: &Work, rows: Rows, group_size: usize) -> Result<Self> {
        let device = rows.device();
        let options = rows.options(Options::group_size(group_size));
        let options = options.define("TILE", Order::TILE).define("CHUNK", Order::CHUNK);
        let (tiles, parts) = (Kernel::new(device, &options)?, Kernel::new(device, &options)?);
        // A product of up to half a million entries has a single group of parts, and does not need
        // this kernel.
        let carries = Kernel::rare(device, &options)?;
        let listed = Listed::new(work, rows)?;
        let [of_tiles, of_groups] = grids(listed.nnz()).map(|count| 2 * count);
        let sum = listed.rows.elements.sum();
        let (part, part_row) = (Scratch::reserve_of(work, sum, of_tiles)?, Scratch::reserve(work, of_tiles)?);
        let (carry, carry_row) = (Scratch::reserve_of(work, sum, of_groups)?, Scratch::reserve(work, of_groups)?);
        Ok(Self { listed, tiles, parts, carries, part, part_row, carry, carry_row, group_size })
    }
}

/// The number of tiles of `entries` entries, and of groups for their parts. Each tile leaves two
/// parts, and each group two carries.
fn grids(entries: usize) -> [usize; 2] {
    let tiles = entries.div_ceil(Order::TILE);
    [tiles, (2 * tiles).div_ceil(Order::TILE)]
}

impl Sums for SegmentedScan {
    fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, mut y: ScaledInto<'_>) -> Result<()> {
        let Self { listed: Listed { row, rows, .. }, group_size, .. } = self;
        let [tiles, groups] = grids(row.len());
        let (parts, part_row) = (&mut *self.part.take(work)?, &mut *self.part_row.take(work)?);
        let (terms, nnz) = (rows.terms(a, x), row.len() as u32);
        let args = ScanTiles { row, terms, y: y.again(), parts, part_row, nnz };
        self.tiles.launch(work, Grid::groups(tiles, *group_size), args)?;
        let (carries, carry_row) = (&mut *self.carry.take(work)?, &mut *self.carry_row.take(work)?);
        let args = ScanParts { parts, part_row, y: y.again(), carries, carry_row, tiles: tiles as u32 };
        self.parts.launch(work, Grid::groups(groups, *group_size), args)?;
        if groups > 1 {
            let args = ScanCarries { carries, carry_row, y: y.again(), groups: groups as u32 };
            self.carries.launch(work, Grid::groups(1, *group_size), args)?;
        }
        self.listed.write_empty(work, y)
    }

    fn order(&self) -> PackedOrder<'_> {
        self.listed.rows.order()
    }

    fn bytes(&self) -> u64 {
        let carries = self.carry.bytes() + self.carry_row.bytes();
        self.listed.bytes() + self.part.bytes() + self.part_row.bytes() + carries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        apply::spmv::tests::{Expected, rows_of},
        device::test_device,
    };

    /// Tests one item for all chunks and one for each: rows of whole tiles, of whole chunks, and
    /// one row in more parts than a tile has.
    #[test]
    fn small_groups_and_large_ones_have_the_bits_of_the_reference() -> Result<()> {
        check(20 * Order::TILE)
    }

    /// Tests a row whose parts are in several tiles and fill one of them.
    #[test]
    fn the_parts_of_a_long_row_have_the_bits_of_the_reference() -> Result<()> {
        check(1600 * Order::TILE)
    }

    /// Tests a matrix of `cols` columns with a row that has an entry in all of them.
    fn check(cols: usize) -> Result<()> {
        let lengths = [3, 0, 7, 8, 9, 1, 2 * Order::TILE - 1, 1, 5000, 0, 64, cols, 1, 2, 3];
        let expected = Expected::of(&rows_of::<f32>(cols, &lengths, |_| 0)?, Order::Scan)?;
        let (group_sizes, most) = ([1, Order::TILE / Order::CHUNK], test_device().info().max_group_size);
        for group_size in group_sizes.into_iter().filter(|size| *size <= most) {
            let sums = SegmentedScan::tuned(expected.work(), expected.rows(), group_size)?;
            expected.check(&sums, &format!("groups of {group_size}"))?;
        }
        Ok(())
    }
}
