//! Sums of blocks: the operands of a column's products are put in the order of their runs, and each
//! run is summed in registers. If the operands of all products fit, they are kept until the entries
//! of C are counted. Kernels: `cl/product/cpu/ranges/pairs.cl`, `cl/product/cpu/ranges/blocks.cl`.
use super::{
    arrays::{ColumnsOfC, Phase, sum_places},
    memory::Groups,
    sums::{FilledRanges, Filling, InCollected, InRanges, InSummed, RangeSums, RangeTask},
};
use crate::{
    OperandPair, Result,
    device::{Buffer, Device, Elem, Grid, In, InOut, Kernel, Options, Out, Work, arguments, kernel},
    product::{
        esc::blocks::options_of_runs,
        terms::{Factors, InFactors, Operands, Spec},
    },
    resident::InPattern,
};

arguments! {
    /// Elements from one block to the next, and the sides of blocks.
    struct InBlocks {
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        rows: u32,
        inner: u32,
        cols: u32,
    }
}

kernel! {
    struct SumBlocks = "range_blocks" in "product/cpu/ranges/bitmap.cl", "product/esc/blocks/words.cl", "product/esc/blocks/runs.cl", "product/cpu/ranges/pairs.cl", "product/cpu/ranges/blocks.cl" {
        factors: InFactors<'static>,
        of_ranges: InRanges<'static>,
        next: InOut<u32>,
        pair: InOut<OperandPair>,
        c: InSummed<'static>,
        room: u32,
        blocks: InBlocks<'static>,
    }
}

kernel! {
    struct FindPairs = "range_pairs" in "product/cpu/ranges/bitmap.cl", "product/cpu/ranges/pairs.cl" {
        a: InPattern,
        b: InPattern,
        of_ranges: InRanges<'static>,
        next: InOut<u32>,
        c_col_ptr: Out<u32>,
        row: Out<u32>,
        run_end: Out<u32>,
        pair: Out<OperandPair>,
        entries: Out<u64>,
        nrows: u32,
        ranges: u32,
        phase: u32,
    }
}

kernel! {
    struct SumRuns = "range_runs" in "product/cpu/ranges/bitmap.cl", "product/esc/blocks/words.cl", "product/esc/blocks/runs.cl", "product/cpu/ranges/pairs.cl", "product/cpu/ranges/blocks.cl" {
        begin: In<u32>,
        from: In<u32>,
        to: In<u32>,
        taken: InOut<u32>,
        row: In<u32>,
        run_end: In<u32>,
        pair: In<OperandPair>,
        a_values: In<Elem>,
        b_values: In<Elem>,
        c: InCollected<'static>,
        blocks: InBlocks<'static>,
    }
}

pub(in crate::product) struct BlockKernels {
    sums: Kernel<SumBlocks<'static>>,
    pairs: Kernel<FindPairs<'static>>,
    runs: Kernel<SumRuns<'static>>,
}

/// The runs of the columns that work-groups compute.
pub(in crate::product) struct ColumnRuns {
    /// The place of the next product in each row.
    next: Buffer<u32>,
    /// The products of one column, run by run. There is memory for the longest column.
    pair: Buffer<OperandPair>,
    /// Number of products for which a group has memory.
    room: usize,
}

/// The runs of all columns of C.
pub(in crate::product) struct AllRuns {
    row: Buffer<u32>,
    end: Buffer<u32>,
    pair: Buffer<OperandPair>,
}

impl InBlocks<'_> {
    fn of(operands: &Operands<'_>) -> Self {
        let [a_stride, b_stride, c_stride] = operands.strides().map(|stride| stride as u32);
        let (a, b) = (operands.a.shape, operands.b.shape);
        let [rows, inner, cols] = [a.rows(), a.cols(), b.cols()].map(|side| side as u32);
        Self { a_stride, b_stride, c_stride, rows, inner, cols }
    }
}

impl RangeSums for BlockKernels {
    type Rooms = ColumnRuns;
    type Places = AllRuns;

    fn new(device: &Device, spec: &Spec, options: Options) -> Result<Self> {
        let sums = options_of_runs(options.clone(), device, spec);
        let (pairs, runs) = (Kernel::new(device, &options)?, Kernel::new(device, &sums)?);
        Ok(Self { sums: Kernel::rare(device, &sums)?, pairs, runs })
    }

    fn rooms(&self, work: &Work, groups: &Groups, nrows: usize) -> Result<Self::Rooms> {
        let (places, room) = (groups.summing * sum_places(nrows), groups.longest);
        Ok(ColumnRuns { next: work.buffer(places)?, pair: work.buffer(groups.summing * room)?, room })
    }

    fn places(&self, work: &Work, products: usize) -> Result<Self::Places> {
        Ok(AllRuns { row: work.buffer(products)?, end: work.buffer(products)?, pair: work.buffer(products)? })
    }

    fn sum(&self, work: &Work, task: RangeTask<'_, Self::Rooms>, c: ColumnsOfC<'_>) -> Result<()> {
        let grid = task.grid();
        let RangeTask { operands, ranges, bitmaps, rooms, entries } = task;
        let args = SumBlocks {
            factors: Factors::of_values(operands.a, operands.b).into(),
            of_ranges: InRanges::of(ranges, bitmaps),
            next: &mut rooms.next,
            pair: &mut rooms.pair,
            c: InSummed::of(c, entries, operands.a.nrows),
            room: rooms.room as u32,
            blocks: InBlocks::of(operands),
        };
        self.sums.launch(work, grid, args)
    }

    fn fill(&self, work: &Work, task: RangeTask<'_, Self::Rooms>, to: Filling<'_, Self::Places>) -> Result<()> {
        work.stage("count");
        let grid = task.grid();
        let RangeTask { operands, ranges, bitmaps, rooms, entries } = task;
        let (count, Filling { c_col_ptr, places }) = (ranges.count(), to);
        let args = FindPairs {
            a: &operands.a.pattern,
            b: &operands.b.pattern,
            of_ranges: InRanges::of(ranges, bitmaps),
            next: &mut rooms.next,
            c_col_ptr,
            row: &mut places.row,
            run_end: &mut places.end,
            pair: &mut places.pair,
            entries,
            nrows: operands.a.nrows as u32,
            ranges: count,
            phase: Phase::Count as u32,
        };
        self.pairs.launch(work, grid, args)
    }

    fn collect(&self, work: &Work, filled: FilledRanges<'_, Self::Places>, c: ColumnsOfC<'_>) -> Result<()> {
        work.stage("sums");
        let FilledRanges { operands, ranges, to, places, groups } = filled;
        let count = ranges.count();
        let args = SumRuns {
            begin: &ranges.begin,
            from: &ranges.from,
            to,
            taken: &mut ranges.taken,
            row: &places.row,
            run_end: &places.end,
            pair: &places.pair,
            a_values: &operands.a.values,
            b_values: &operands.b.values,
            c: InCollected::of(c, count, Phase::Sums),
            blocks: InBlocks::of(operands),
        };
        self.runs.launch(work, Grid::groups(groups, 1), args)
    }
}
