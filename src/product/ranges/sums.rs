//! What differs between scalars and blocks: the kernels that sum the products of ranges, and the
//! device memory that they need.
use super::{
    arrays::{Bitmaps, ColumnsOfC, Ranges},
    memory::Groups,
};
use crate::{
    Result,
    device::{Buffer, Device, Grid, Options, Work},
    product::terms::{Operands, Spec},
};

/// The kernels of sums of the products of ranges: of scalars, or of blocks.
pub(in crate::product) trait RangeSums: Sized {
    /// What all work-groups need besides bitmaps.
    type Rooms;
    /// What is known of the entries of C before their number is, with room for all products.
    type Places;
    /// Asks for the kernels.
    fn new(device: &Device, spec: &Spec, options: Options) -> Result<Self>;
    fn rooms(&self, work: &Work, groups: &Groups, nrows: usize) -> Result<Self::Rooms>;
    fn places(&self, work: &Work, products: usize) -> Result<Self::Places>;
    /// Writes columns of C, the entries of each range from its place on.
    fn sum(&self, work: &Work, task: RangeTask<'_, Self::Rooms>, c: ColumnsOfC<'_>) -> Result<()>;
    /// Writes what is known of C to places, and where its columns begin there.
    fn fill(
        &self,
        work: &Work,
        task: RangeTask<'_, Self::Rooms>,
        c_col_ptr: &mut Buffer<u32>,
        places: &mut Self::Places,
    ) -> Result<()>;
    /// Completes C, whose ranges belong `to` these entries.
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

/// Ranges of columns whose entries have places.
pub(in crate::product) struct FilledRanges<'t, P> {
    pub(super) operands: &'t Operands<'t>,
    pub(super) ranges: &'t mut Ranges,
    /// Where the entries of each range belong, and their end.
    pub(super) to: &'t Buffer<u32>,
    pub(super) places: &'t P,
    pub(super) groups: usize,
}
