//! What differs between scalars and blocks: the kernels that sum the products of ranges, and the
//! device memory that they need.
use super::{
    arrays::{Bitmaps, ColumnsOfC, Ranges},
    memory::Groups,
};
use crate::{
    Element, Result,
    device::{Buffer, Device, Grid, Options, Work},
    product::{
        compression::Compression,
        problem::{Operands, Spec},
    },
};

/// Sums of the products of ranges, for one kind of payload.
pub(in crate::product) trait RangeSums<T: Element>: Compression<T> {
    type RangeKernels;
    /// What all work-groups need besides bitmaps.
    type Rooms;
    /// What is known of the entries of C before their number is, with room for all products.
    type Places;
    /// Asks for the kernels.
    fn range_kernels(device: &Device, spec: &Spec, options: Options) -> Result<Self::RangeKernels>;
    fn rooms(work: &Work, groups: &Groups, nrows: usize) -> Result<Self::Rooms>;
    fn places(work: &Work, products: usize) -> Result<Self::Places>;
    /// Writes columns of C, the entries of each range from its place on.
    fn sum(
        kernels: &Self::RangeKernels,
        work: &Work,
        task: RangeTask<'_, T, Self::Rooms>,
        c: ColumnsOfC<'_, T>,
    ) -> Result<()>;
    /// Writes what is known of C to places, and where its columns begin there.
    fn fill(
        kernels: &Self::RangeKernels,
        work: &Work,
        task: RangeTask<'_, T, Self::Rooms>,
        c_col_ptr: &mut Buffer<u32>,
        places: &mut Self::Places,
    ) -> Result<()>;
    /// Completes C, whose ranges belong `to` these entries.
    fn collect(
        kernels: &Self::RangeKernels,
        work: &Work,
        filled: FilledRanges<'_, T, Self::Places>,
        c: ColumnsOfC<'_, T>,
    ) -> Result<()>;
}

/// Ranges of columns for work-groups to compute.
pub(in crate::product) struct RangeTask<'t, T: Element, R> {
    pub(super) operands: &'t Operands<'t, T>,
    pub(super) ranges: &'t mut Ranges,
    pub(super) bitmaps: &'t mut Bitmaps,
    pub(super) rooms: &'t mut R,
    /// The entries of each range.
    pub(super) entries: &'t mut Buffer<u64>,
}

impl<T: Element, R> RangeTask<'_, T, R> {
    pub(super) fn grid(&self) -> Grid {
        Grid::groups(self.bitmaps.groups, 1)
    }
}

/// Ranges of columns whose entries have places.
pub(in crate::product) struct FilledRanges<'t, T: Element, P> {
    pub(super) operands: &'t Operands<'t, T>,
    pub(super) ranges: &'t mut Ranges,
    /// Where the entries of each range belong, and their end.
    pub(super) to: &'t Buffer<u32>,
    pub(super) places: &'t P,
    pub(super) groups: usize,
}
