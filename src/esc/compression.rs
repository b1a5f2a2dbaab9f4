//! Stage 5 of 6, compression (Polok 2015, Algorithm 3, lines 50-69): where each run ends, where each column of C begins, and the sum of each
//! run, placed straight in C. Kernels: `cl/esc/compression.cl`; the sums of blocks `cl/esc/block_sums.cl`, those of scalars
//! `cl/primitives/segmented_reduce.cl`.
use super::{
    Tuning,
    block_sums::BlockSums,
    expansion::{Expanded, Payload, scalar},
    setup::BandSegments,
    tail_counts::Tails,
    tuning::TileTuning,
};
use crate::{
    BlockShape, Element, Result,
    device::{Buffer, Device, DeviceCbc, Grid, In, InOut, Kernel, Options, Out, Work, source},
    primitives::segmented_reduce::{RUN_PIECE, Runs, SegmentedReduce},
};

type RunEndsSignature = (In<u32>, In<u32>, In<u32>, In<u32>, Out<u32>, InOut<u32>, u32);
type ColumnEndsSignature = (In<u32>, In<u32>, In<u32>, Out<u32>, u32, u32);

pub(crate) struct Compression<T: Element> {
    run_ends: Kernel<RunEndsSignature>,
    column_ends: Kernel<ColumnEndsSignature>,
    sums: Sums<T>,
    tiles: TileTuning,
}

enum Sums<T: Element> {
    Values(SegmentedReduce<T>),
    Blocks(BlockSums<T>),
}

/// The operands of a product, and how C is laid out.
pub(crate) struct Operands<'a, T> {
    pub a: &'a DeviceCbc<T>,
    pub b: &'a DeviceCbc<T>,
    /// Elements from one block of C to the next.
    pub c_stride: usize,
}

impl<T: Element> Operands<'_, T> {
    /// C, or a band of it, from its arrays.
    pub fn product(&self, col_ptr: Buffer<u32>, row_idx: Buffer<u32>, values: Buffer<T>) -> DeviceCbc<T> {
        let (nrows, ncols) = (self.a.nrows, col_ptr.len() - 1);
        let shape = self.a.shape.product(self.b.shape);
        DeviceCbc {
            device: self.a.device.clone(),
            nrows,
            ncols,
            shape,
            stride: self.c_stride,
            col_ptr,
            row_idx,
            values,
        }
    }

    /// `ncols` columns of C without entries: what an empty expansion gives.
    pub fn empty_product(&self, work: &Work, ncols: usize) -> Result<DeviceCbc<T>> {
        let mut col_ptr = work.buffer(ncols + 1)?;
        work.fill_zero(&mut col_ptr)?;
        Ok(self.product(col_ptr, work.buffer(0)?, work.buffer(0)?))
    }
}

/// C, but for its row indices, in whose place still stands where each run ends.
pub(crate) struct Compressed<T> {
    pub col_ptr: Buffer<u32>,
    pub run_end: Buffer<u32>,
    pub values: Buffer<T>,
}

impl<T: Element> Compression<T> {
    pub fn new(device: &Device, tuning: &Tuning, a: BlockShape, b: BlockShape) -> Result<Self> {
        let options = Options::group_size(tuning.tiles.group_size)
            .define("TILE", tuning.tiles.products)
            .define("RUN_PIECE", RUN_PIECE);
        let compression = source!("esc/compression.cl");
        Ok(Self {
            run_ends: device.kernel(compression, &options, "run_ends")?,
            column_ends: device.kernel(compression, &options, "column_ends")?,
            sums: match scalar(a, b) {
                true => Sums::Values(SegmentedReduce::new(device, tuning.group_size)?),
                false => Sums::Blocks(BlockSums::new(device, tuning, a, b)?),
            },
            tiles: tuning.tiles,
        })
    }

    pub fn run(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        sorted: &Expanded<T>,
        segments: &BandSegments,
        tails: &Tails,
    ) -> Result<Compressed<T>> {
        work.stage("compression");
        let (products, cols) = (sorted.rows.len() as u32, segments.ptr.len() - 1);
        let mut run_end = work.buffer(tails.nnz)?;
        let mut long_runs = work.buffer(1 + tails.splits)?;
        work.fill_zero(&mut long_runs)?;
        let grid = Grid::groups(self.tiles.count(products), self.tiles.group_size);
        let args = (
            &sorted.rows,
            &segments.ptr,
            &sorted.tile_segment,
            &tails.tail_ptr,
            &mut run_end,
            &mut long_runs,
            products,
        );
        self.run_ends.launch(work, grid, args)?;
        let mut col_ptr = work.buffer(cols + 1)?;
        let args = (&segments.ptr, &tails.tail_ptr, &run_end, &mut col_ptr, cols as u32, products);
        self.column_ends.launch(work, Grid::items(cols + 1, self.tiles.group_size), args)?;

        let mut values = work.buffer(tails.nnz * operands.c_stride)?;
        let runs = Runs { end: &run_end, long: &long_runs };
        match (&self.sums, &sorted.payload) {
            (Sums::Values(reduce), Payload::Values(products)) => reduce.run(work, runs, products, &mut values)?,
            (Sums::Blocks(blocks), Payload::Pairs(pairs)) => blocks.run(work, operands, runs, pairs, &mut values)?,
            _ => unreachable!("expansion and compression are made for the same shapes"),
        }
        Ok(Compressed { col_ptr, run_end, values })
    }
}
