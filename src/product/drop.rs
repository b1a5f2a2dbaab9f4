//! Dropping of small entries from products.
use super::{Operands, once::Options};
use crate::{
    BlockShape, Device, DeviceInfo, Element, Result,
    device::Work,
    primitives::drop_entries::{DropEntries, DropMemory},
    resident::DeviceCbc,
};
use std::marker::PhantomData;

/// Filter that drops the small entries of each band of C.
pub(super) struct DropFilter<T: Element> {
    drop: Option<DropEntries>,
    element: PhantomData<fn() -> T>,
    /// First column of the next band.
    column: usize,
    /// Entries dropped so far.
    pub dropped: u64,
}

impl Options {
    /// Device memory that dropping needs for entries `c_stride` elements apart; `None` without a
    /// threshold.
    pub fn drop_memory<T: Element>(&self, info: &DeviceInfo, c_stride: usize) -> Option<DropMemory> {
        self.threshold.map(|threshold| DropMemory::new(info, T::TYPE, c_stride, threshold))
    }

    pub fn drop_filter<T: Element>(&self, device: &Device, shape: BlockShape) -> Result<DropFilter<T>> {
        let drop = |threshold| DropEntries::new(device, T::TYPE, shape.area(), threshold);
        let drop = self.threshold.map(drop).transpose()?;
        Ok(DropFilter { drop, element: PhantomData, column: 0, dropped: 0 })
    }

    pub fn drop_filter_of<T: Element>(&self, device: &Device, operands: &Operands<'_, T>) -> Result<DropFilter<T>> {
        self.drop_filter(device, operands.a.shape.product(operands.b.shape))
    }
}

impl<T: Element> DropFilter<T> {
    /// The next band without its small entries.
    pub fn keep(&mut self, work: &Work, band: DeviceCbc<T>) -> Result<DeviceCbc<T>> {
        let first_col = self.column;
        self.column += band.ncols;
        let Some(drop) = &self.drop else { return Ok(band) };
        let Some(kept) = drop.run(work, &band, first_col)? else { return Ok(band) };
        self.dropped += (band.nnz() - kept.nnz()) as u64;
        Ok(kept.into_typed())
    }
}
