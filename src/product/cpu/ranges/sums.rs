//! The trait of the parts in which scalars and blocks differ: the kernels that sum the products of
//! ranges, and the device memory that they need.
use super::{
    arrays::{Bitmaps, ColumnsOfC, Ranges},
    memory::Groups,
};
use crate::{
    Result,
    device::{Buffer, Device, Grid, Options, Work},
    product::terms::{Operands, Spec},
};

/// The kernels that sum the products of ranges, for scalars or for blocks.
pub(in crate::product) trait RangeSums: Sized {
    /// The memory that all work-groups need besides bitmaps.
    type Rooms;
    /// The data of C's entries before they are counted, with room for all products.
    type Places;
    /// Requests the kernels.
    fn new(device: &Device, spec: &Spec, options: Options) -> Result<Self>;
    fn rooms(&self, work: &Work, groups: &Groups, nrows: usize) -> Result<Self::Rooms>;
    fn places(&self, work: &Work, products: usize) -> Result<Self::Places>;
    /// Writes columns of C. The entries of each range begin at its place.
    fn sum(&self, work: &Work, task: RangeTask<'_, Self::Rooms>, c: ColumnsOfC<'_>) -> Result<()>;
    /// Writes the data of C's entries to places, and the places where its columns begin.
    fn fill(
        &self,
        work: &Work,
        task: RangeTask<'_, Self::Rooms>,
        c_col_ptr: &mut Buffer<u32>,
        places: &mut Self::Places,
    ) -> Result<()>;
    /// Completes C. The entries of each range belong to the places `to`.
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

/// Ranges of columns whose entries are in places with room for all products.
pub(in crate::product) struct FilledRanges<'t, P> {
    pub(super) operands: &'t Operands<'t>,
    pub(super) ranges: &'t mut Ranges,
    /// The first entry of C of each range, and the end of the last range.
    pub(super) to: &'t Buffer<u32>,
    pub(super) places: &'t P,
    pub(super) groups: usize,
}
