//! Sums of scalars: a product is added to the sum of its row as it is met. In one pass they go to
//! places with room for all products, and are moved. Kernels: `cl/product/ranges/sums.cl`,
//! `cl/product/ranges/move.cl`.
use super::{
    arrays::{ColumnsOfC, Phase, sum_places},
    memory::Groups,
    sums::{FilledRanges, RangeSums, RangeTask},
};
use crate::{
    Element, Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Out, Work, kernel},
    primitives::segmented_reduce::RUN_PIECE,
    product::problem::{Spec, Values},
    resident::InPattern,
};

kernel! {
    pub(in crate::product) struct SumScalars<T: Element> = "range_sums" in "product/ranges/bitmap.cl", "product/ranges/sums.cl" {
        a: InPattern,
        a_values: In<T>,
        b: InPattern,
        b_values: In<T>,
        begin: In<u32>,
        from: In<u32>,
        taken: InOut<u32>,
        words: InOut<u64>,
        lines: InOut<u64>,
        sum: InOut<T::Arithmetic>,
        done: InOut<T::Arithmetic>,
        terms: InOut<u32>,
        c_col_ptr: Out<u32>,
        c_row_idx: Out<u32>,
        c_values: Out<T>,
        entries: Out<u64>,
        nrows: u32,
        first_col: u32,
        ranges: u32,
        phase: u32,
    }
}

kernel! {
    pub(in crate::product) struct RangeMove<T: Element> = "range_move" in "product/ranges/move.cl" {
        begin: In<u32>,
        from: In<u32>,
        to: In<u32>,
        taken: InOut<u32>,
        from_row: In<u32>,
        from_value: In<T>,
        c_col_ptr: InOut<u32>,
        c_row_idx: Out<u32>,
        c_values: Out<T>,
        ranges: u32,
        phase: u32,
    }
}

pub(in crate::product) struct ScalarKernels<T: Element> {
    sums: Kernel<SumScalars<'static, T>>,
    moves: Kernel<RangeMove<'static, T>>,
}

/// The sums of all work-groups, by row.
pub(in crate::product) struct RowSums<T: Element> {
    sum: Buffer<T::Arithmetic>,
    /// Only if some runs may have more than [`RUN_PIECE`] products.
    done: Buffer<T::Arithmetic>,
    terms: Buffer<u32>,
}

/// Rows and values of entries.
pub(in crate::product) struct ScalarPlaces<T: Element> {
    row: Buffer<u32>,
    value: Buffer<T>,
}

impl<T: Element> RangeSums<T> for Values {
    type RangeKernels = ScalarKernels<T>;
    type Rooms = RowSums<T>;
    type Places = ScalarPlaces<T>;

    fn range_kernels(device: &Device, spec: &Spec, options: Options) -> Result<Self::RangeKernels> {
        let sums = options.define("RUN_PIECE", RUN_PIECE).element_in::<T>(spec.semiring);
        let moves = Options::group_size(1).element::<T>();
        Ok(ScalarKernels { sums: Kernel::new(device, &sums)?, moves: Kernel::new(device, &moves)? })
    }

    fn rooms(work: &Work, groups: &Groups, nrows: usize) -> Result<Self::Rooms> {
        let places = groups.summing * sum_places(nrows);
        let of_pieces = if groups.cut { places } else { 0 };
        Ok(RowSums { sum: work.buffer(places)?, done: work.buffer(of_pieces)?, terms: work.buffer(of_pieces)? })
    }

    fn places(work: &Work, products: usize) -> Result<Self::Places> {
        Ok(ScalarPlaces { row: work.buffer(products)?, value: work.buffer(products)? })
    }

    fn sum(
        kernels: &Self::RangeKernels,
        work: &Work,
        task: RangeTask<'_, T, Self::Rooms>,
        c: ColumnsOfC<'_, T>,
    ) -> Result<()> {
        let grid = task.grid();
        let RangeTask { operands, ranges, bitmaps, rooms, entries } = task;
        let (a, b, count) = (operands.a, operands.b, ranges.count());
        let args = SumScalars {
            a: &a.pattern,
            a_values: &a.values,
            b: &b.pattern,
            b_values: &b.values,
            begin: &ranges.begin,
            from: &ranges.from,
            taken: &mut ranges.taken,
            words: &mut bitmaps.words,
            lines: &mut bitmaps.lines,
            sum: &mut rooms.sum,
            done: &mut rooms.done,
            terms: &mut rooms.terms,
            c_col_ptr: c.col_ptr,
            c_row_idx: c.row_idx,
            c_values: c.values,
            entries,
            nrows: a.nrows as u32,
            first_col: c.first_col,
            ranges: count,
            phase: Phase::Sums as u32,
        };
        kernels.sums.launch(work, grid, args)
    }

    fn fill(
        kernels: &Self::RangeKernels,
        work: &Work,
        task: RangeTask<'_, T, Self::Rooms>,
        c_col_ptr: &mut Buffer<u32>,
        places: &mut Self::Places,
    ) -> Result<()> {
        work.stage("sums");
        let ScalarPlaces { row, value } = places;
        Self::sum(kernels, work, task, ColumnsOfC { first_col: 0, col_ptr: c_col_ptr, row_idx: row, values: value })
    }

    fn collect(
        kernels: &Self::RangeKernels,
        work: &Work,
        filled: FilledRanges<'_, T, Self::Places>,
        c: ColumnsOfC<'_, T>,
    ) -> Result<()> {
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
            c_col_ptr: c.col_ptr,
            c_row_idx: c.row_idx,
            c_values: c.values,
            ranges: count,
            phase: Phase::Move as u32,
        };
        kernels.moves.launch(work, Grid::groups(groups, 1), args)
    }
}
