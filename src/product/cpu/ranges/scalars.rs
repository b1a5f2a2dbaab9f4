//! Sums of scalars: each product is added to the sum of its row at once. In one pass the sums go to
//! memory that is large enough for all products, and are then moved. Kernels:
//! `cl/product/cpu/ranges/sums.cl`, `cl/product/cpu/ranges/move.cl`.
use super::{
    arrays::{ColumnsOfC, Phase, sum_places},
    memory::Groups,
    sums::{FilledRanges, Filling, InCollected, InRanges, InSummed, RangeSums, RangeTask},
};
use crate::{
    Result,
    device::{Buffer, Device, Elem, Grid, In, InOut, Kernel, Options, Sum, Work, kernel},
    element::ElementType,
    primitives::segmented_reduce::RUN_PIECE,
    product::terms::{Factors, InFactors, Spec},
};

kernel! {
    struct SumScalars = "range_sums" in "product/cpu/ranges/bitmap.cl", "product/cpu/ranges/sums.cl" {
        factors: InFactors<'static>,
        of_ranges: InRanges<'static>,
        sum: InOut<Sum>,
        done: InOut<Sum>,
        terms: InOut<u32>,
        c: InSummed<'static>,
    }
}

kernel! {
    struct RangeMove = "range_move" in "product/cpu/ranges/move.cl" {
        begin: In<u32>,
        from: In<u32>,
        to: In<u32>,
        taken: InOut<u32>,
        from_row: In<u32>,
        from_value: In<Elem>,
        c: InCollected<'static>,
    }
}

pub(in crate::product) struct ScalarKernels {
    sums: Kernel<SumScalars<'static>>,
    moves: Kernel<RangeMove<'static>>,
    element: ElementType,
}

/// The sums of all work-groups, by row.
pub(in crate::product) struct RowSums {
    sum: Buffer,
    /// The sums of complete parts of runs. The sums of parts are allocated only if some runs may
    /// have more than [`RUN_PIECE`] products.
    done: Buffer,
    terms: Buffer<u32>,
}

/// Rows and values of entries.
pub(in crate::product) struct ScalarPlaces {
    row: Buffer<u32>,
    value: Buffer,
}

impl RangeSums for ScalarKernels {
    type Rooms = RowSums;
    type Places = ScalarPlaces;

    fn new(device: &Device, spec: &Spec, options: Options) -> Result<Self> {
        let sums = options.define("RUN_PIECE", RUN_PIECE).element_in(spec.element, spec.semiring);
        let moves = Options::group_size(1).element(spec.element);
        Ok(Self { sums: Kernel::new(device, &sums)?, moves: Kernel::new(device, &moves)?, element: spec.element })
    }

    fn rooms(&self, work: &Work, groups: &Groups, nrows: usize) -> Result<Self::Rooms> {
        let places = groups.summing * sum_places(nrows);
        let of_pieces = if groups.cut { places } else { 0 };
        let sums = |len| work.buffer_of(self.element.arithmetic().word(), len);
        Ok(RowSums { sum: sums(places)?, done: sums(of_pieces)?, terms: work.buffer(of_pieces)? })
    }

    fn places(&self, work: &Work, products: usize) -> Result<Self::Places> {
        Ok(ScalarPlaces { row: work.buffer(products)?, value: work.buffer_of(self.element.word(), products)? })
    }

    fn sum(&self, work: &Work, task: RangeTask<'_, Self::Rooms>, c: ColumnsOfC<'_>) -> Result<()> {
        let grid = task.grid();
        let RangeTask { operands, ranges, bitmaps, rooms, entries } = task;
        let args = SumScalars {
            factors: Factors::of_values(operands.a, operands.b).into(),
            of_ranges: InRanges::of(ranges, bitmaps),
            sum: &mut rooms.sum,
            done: &mut rooms.done,
            terms: &mut rooms.terms,
            c: InSummed::of(c, entries, operands.a.nrows),
        };
        self.sums.launch(work, grid, args)
    }

    fn fill(&self, work: &Work, task: RangeTask<'_, Self::Rooms>, to: Filling<'_, Self::Places>) -> Result<()> {
        work.stage("sums");
        let Filling { c_col_ptr, places: ScalarPlaces { row, value } } = to;
        self.sum(work, task, ColumnsOfC { first_col: 0, col_ptr: c_col_ptr, row_idx: row, values: value })
    }

    fn collect(&self, work: &Work, filled: FilledRanges<'_, Self::Places>, c: ColumnsOfC<'_>) -> Result<()> {
        work.stage("move");
        let FilledRanges { ranges, to, places, groups, .. } = filled;
        let count = ranges.count();
        let args = RangeMove {
            begin: &ranges.begin,
            from: &ranges.from,
            to,
            taken: &mut ranges.taken,
            from_row: &places.row,
            from_value: &places.value,
            c: InCollected::of(c, count, Phase::Move),
        };
        self.moves.launch(work, Grid::groups(groups, 1), args)
    }
}
