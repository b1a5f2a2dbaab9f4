//! Dropping of small entries from products.
use super::{Operands, once::Options};
use crate::{
    BlockShape, Device, Result, device::Work, element::ElementType, primitives::drop_entries::DropEntries,
    resident::DeviceCbc,
};

/// Filter that drops the small entries of each band of C.
pub(super) struct DropFilter {
    drop: Option<DropEntries>,
    /// First column of the next band.
    column: usize,
    /// Entries dropped so far.
    pub dropped: u64,
}

impl Options {
    pub fn drop_filter(&self, device: &Device, element: ElementType, shape: BlockShape) -> Result<DropFilter> {
        let drop =
            self.threshold.map(|threshold| DropEntries::new(device, element, shape.area(), threshold)).transpose()?;
        Ok(DropFilter { drop, column: 0, dropped: 0 })
    }

    pub fn drop_filter_of(&self, device: &Device, operands: &Operands<'_>) -> Result<DropFilter> {
        self.drop_filter(device, operands.element(), operands.a.shape.product(operands.b.shape))
    }
}

impl DropFilter {
    /// Removes the small entries of the next band.
    pub fn keep(&mut self, work: &Work, band: DeviceCbc) -> Result<DeviceCbc> {
        let first_col = self.column;
        self.column += band.ncols;
        let Some(drop) = &self.drop else { return Ok(band) };
        let Some(kept) = drop.run(work, &band, first_col)? else { return Ok(band) };
        self.dropped += (band.nnz() - kept.nnz()) as u64;
        Ok(kept)
    }
}
