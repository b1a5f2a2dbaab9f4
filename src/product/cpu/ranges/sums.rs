//! The trait of the parts in which scalars and blocks differ: the kernels that sum the products of
//! ranges, and the device memory that they need.
use super::{
    arrays::{Bitmaps, ColumnsOfC, Phase, Ranges},
    memory::Groups,
};
use crate::{
    Result,
    device::{Buffer, Device, Elem, Grid, In, InOut, Options, Out, Work, arguments},
    product::terms::{Operands, Spec},
};

/// The kernels that sum the products of ranges, for scalars or for blocks.
pub(in crate::product) trait RangeSums: Sized {
    /// The memory that all work-groups need in addition to bitmaps.
    type Rooms;
    /// The data of C's entries before they are counted, in memory for all products.
    type Places;
    /// Requests the kernels of products in ranges.
    fn new(device: &Device, spec: &Spec, options: Options) -> Result<Self>;
    fn rooms(&self, work: &Work, groups: &Groups, nrows: usize) -> Result<Self::Rooms>;
    fn places(&self, work: &Work, products: usize) -> Result<Self::Places>;
    /// Writes columns of C. The entries of each range begin at its place.
    fn sum(&self, work: &Work, task: RangeTask<'_, Self::Rooms>, c: ColumnsOfC<'_>) -> Result<()>;
    /// Writes the data of C's entries to places, and the places where its columns begin.
    fn fill(&self, work: &Work, task: RangeTask<'_, Self::Rooms>, to: Filling<'_, Self::Places>) -> Result<()>;
    /// Completes C. `filled` says which entries of C each range has.
    fn collect(&self, work: &Work, filled: FilledRanges<'_, Self::Places>, c: ColumnsOfC<'_>) -> Result<()>;
}

/// Ranges of columns for work-groups to compute.
pub(in crate::product) struct RangeTask<'t, R> {
    pub(super) operands: &'t Operands<'t>,
    pub(super) ranges: &'t mut Ranges,
    pub(super) bitmaps: &'t mut Bitmaps,
    pub(super) rooms: &'t mut R,
    /// The entries of each range.
    pub(super) entries: &'t mut Buffer<u64>,
}

impl<R> RangeTask<'_, R> {
    pub(super) fn grid(&self) -> Grid {
        Grid::groups(self.bitmaps.groups, 1)
    }
}

/// Where the data of C's entries is written before they are counted.
pub(in crate::product) struct Filling<'t, P> {
    /// The places at which C's columns begin.
    pub(super) c_col_ptr: &'t mut Buffer<u32>,
    pub(super) places: &'t mut P,
}

/// Ranges of columns whose entries are in memory that is large enough for all products.
pub(in crate::product) struct FilledRanges<'t, P> {
    pub(super) operands: &'t Operands<'t>,
    pub(super) ranges: &'t mut Ranges,
    /// The first entry of C of each range, and the end of the last range.
    pub(super) to: &'t Buffer<u32>,
    pub(super) places: &'t P,
    pub(super) groups: usize,
}

arguments! {
    /// Ranges, and the bitmaps by which work-groups find their rows.
    pub(super) struct InRanges {
        begin: In<u32>,
        from: In<u32>,
        taken: InOut<u32>,
        words: InOut<u64>,
        lines: InOut<u64>,
    }
}

arguments! {
    /// The columns of C that a kernel sums.
    pub(super) struct InSummed {
        c_col_ptr: Out<u32>,
        c_row_idx: Out<u32>,
        c_values: Out<Elem>,
        entries: Out<u64>,
        nrows: u32,
        first_col: u32,
        ranges: u32,
        phase: u32,
    }
}

arguments! {
    /// The columns of C that a kernel completes.
    pub(super) struct InCollected {
        c_col_ptr: InOut<u32>,
        c_row_idx: Out<u32>,
        c_values: Out<Elem>,
        ranges: u32,
        phase: u32,
    }
}

impl<'a> InRanges<'a> {
    pub fn of(ranges: &'a mut Ranges, bitmaps: &'a mut Bitmaps) -> Self {
        let Ranges { begin, from, taken } = ranges;
        Self { begin, from, taken, words: &mut bitmaps.words, lines: &mut bitmaps.lines }
    }
}

impl<'a> InSummed<'a> {
    pub fn of(c: ColumnsOfC<'a>, entries: &'a mut Buffer<u64>, nrows: usize) -> Self {
        let ColumnsOfC { first_col, col_ptr: c_col_ptr, row_idx: c_row_idx, values: c_values } = c;
        let (nrows, ranges, phase) = (nrows as u32, entries.len() as u32, Phase::Sums as u32);
        Self { c_col_ptr, c_row_idx, c_values, entries, nrows, first_col, ranges, phase }
    }
}

impl<'a> InCollected<'a> {
    pub fn of(c: ColumnsOfC<'a>, ranges: u32, phase: Phase) -> Self {
        let ColumnsOfC { col_ptr: c_col_ptr, row_idx: c_row_idx, values: c_values, .. } = c;
        Self { c_col_ptr, c_row_idx, c_values, ranges, phase: phase as u32 }
    }
}
