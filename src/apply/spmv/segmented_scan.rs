//! Entries stored with their rows and added by a segmented scan (Garland 2008) in three kernels.
//! The first has a work-group for each tile of 1024 entries. The second scans the parts of rows
//! that are in several tiles, again in tiles. One group of the third adds what is carried from tile
//! to tile of the parts. Kernels: `cl/apply/spmv/segmented_scan.cl`.
//!
//! No item adds a long row alone: the time depends on the number of entries, not on the lengths of
//! rows. The order of addition is [`Order::Scan`].
//!
//! [`Order::Scan`]: crate::element::Order::Scan
use super::{Rows, Sums, listed::Listed};
use crate::{
    Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Maybe, Options, Out, Scalar, Scratch, Sum, Value, Work, kernel},
    element::{Order, Scaling},
    vector::line_sums::Stored,
};

kernel! {
    struct ScanTiles = "scan_tiles" in "apply/spmv/values.cl", "apply/spmv/segmented_scan.cl" {
        row: In<u32>,
        col: In<u32>,
        source: Maybe<u32>,
        values: In<Value>,
        x: In<Elem>,
        y: InOut<Elem>,
        parts: Out<Sum>,
        part_row: Out<u32>,
        nnz: u32,
        stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
}

kernel! {
    struct ScanParts = "scan_parts" in "apply/spmv/values.cl", "apply/spmv/segmented_scan.cl" {
        parts: In<Sum>,
        part_row: In<u32>,
        y: InOut<Elem>,
        carries: Out<Sum>,
        carry_row: Out<u32>,
        tiles: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
}

kernel! {
    struct ScanCarries = "scan_carries" in "apply/spmv/values.cl", "apply/spmv/segmented_scan.cl" {
        carries: In<Sum>,
        carry_row: In<u32>,
        y: InOut<Elem>,
        groups: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
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
    fn run(
        &self,
        work: &Work,
        Stored { values, stride }: Stored<'_>,
        x: &Buffer,
        scaling: Scaling,
        y: &mut Buffer,
    ) -> Result<()> {
        let Self { listed: Listed { row, rows, .. }, group_size, .. } = self;
        let Scaling { alpha, beta } = scaling;
        let (col, source, nnz) = (&rows.pattern.row_idx, rows.source(), row.len() as u32);
        let [tiles, groups] = grids(row.len());
        let (mut parts, mut part_row) = (self.part.take(work)?, self.part_row.take(work)?);
        let (parts, part_row) = (&mut *parts, &mut *part_row);
        let args = ScanTiles { row, col, source, values, x, y, parts, part_row, nnz, stride, alpha, beta };
        self.tiles.launch(work, Grid::groups(tiles, *group_size), args)?;
        let (mut carries, mut carry_row) = (self.carry.take(work)?, self.carry_row.take(work)?);
        let (carries, carry_row) = (&mut *carries, &mut *carry_row);
        let args = ScanParts { parts, part_row, y, carries, carry_row, tiles: tiles as u32, alpha, beta };
        self.parts.launch(work, Grid::groups(groups, *group_size), args)?;
        if groups > 1 {
            let args = ScanCarries { carries, carry_row, y, groups: groups as u32, alpha, beta };
            self.carries.launch(work, Grid::groups(1, *group_size), args)?;
        }
        self.listed.write_empty(work, y, scaling)
    }

    fn places(&self) -> usize {
        self.listed.nnz()
    }

    fn source(&self) -> Option<&Buffer<u32>> {
        self.listed.rows.source.as_ref()
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
        Csc, Csr, Matrix, device::test_device, element::ElementType, generate::Random, reference, resident::DeviceCbc,
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
        let device = test_device();
        let work = Work::new(&device, None);
        let mut random = Random::new(1);
        let lengths = [3, 0, 7, 8, 9, 1, 2 * Order::TILE - 1, 1, 5000, 0, 64, cols, 1, 2, 3];
        let entries: Vec<_> = lengths.iter().enumerate().flat_map(|(row, &n)| (0..n).map(move |k| (k, row))).collect();
        let values = entries.into_iter().map(|(j, i)| (j, i, (2.0 * random.unit() - 1.0) as f32));
        let host = Csr::from_transpose(Csc::from_triplets(cols, lengths.len(), values)?);
        let a = DeviceCbc::upload(&work, host.as_cbc())?;
        let x: Vec<f32> = (0..cols).map(|i| (i % 97) as f32 * 0.31 - 15.0).collect();
        let dx = work.upload(&x)?;
        let mut want = vec![1.0; lengths.len()];
        reference::multiply_vector_in(Order::Scan, &host, &x, (0.7, -1.3), &mut want)?;
        let group_sizes = [1, Order::TILE / Order::CHUNK];
        for group_size in group_sizes.into_iter().filter(|size| *size <= device.info().max_group_size) {
            let rows = Rows::of_scalars(a.pattern.clone());
            let sums = SegmentedScan::tuned(&work, rows, group_size)?;
            let mut y = work.upload(&vec![1.0; lengths.len()])?;
            sums.run(&work, (&a).into(), &dx, Scaling::of(ElementType::F32, 0.7, -1.3), &mut y)?;
            let bits = |y: &[f32]| y.iter().map(|y| y.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&y.download(&work)?), bits(&want), "groups of {group_size}");
        }
        Ok(())
    }
}
