//! [`Spgemm::drop_below`].
use super::{Operands, Spgemm};
use crate::{
    Device, DeviceInfo, Element, Result, Threshold,
    device::Work,
    primitives::drop_entries::{DropEntries, DropMemory},
    resident::DeviceCbc,
};

/// Bands of C on their way, without their small entries.
pub(super) struct Thinning<T: Element> {
    drop: Option<DropEntries<T>>,
    /// First column of the next band.
    column: usize,
    /// Entries dropped so far.
    pub dropped: u64,
}

impl Spgemm {
    /// Leaves out the entries (blocks) of C below a [`Threshold`] (an absolute one for a number) as soon as a band of C is complete, so that
    /// neither the device nor the host ever has all of them: for approximate inverses, aggregation, Markov clustering. The pattern of C then
    /// depends on values, which is why plans, whose pattern is fixed, do not drop; see [`DeviceMatrix::drop_below`](crate::DeviceMatrix::drop_below).
    ///
    /// A tolerance that is negative or not finite is an [`Error::Argument`](crate::Error::Argument) of the product.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Spgemm, Threshold};
    /// let a = Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 0, 1e-6), (0, 1, 1e-6), (1, 1, 1e-6)])?;
    /// // A·A has 1, 1e-6; 1e-6, 2e-12.
    /// let (c, report) = Spgemm::new().drop_below(1e-9).multiply_host(&Device::auto()?, &a, &a)?;
    /// assert_eq!((c.nnz(), report.dropped), (3, 1));
    /// let (c, _) = Spgemm::new().drop_below(Threshold::relative(0.1).keep_diagonal()).multiply_host(&Device::auto()?, &a, &a)?;
    /// assert_eq!(c.pattern().row_idx(), [0, 0, 1]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn drop_below(mut self, threshold: impl Into<Threshold>) -> Self {
        self.threshold = Some(threshold.into());
        self
    }

    /// What entries must reach, if anything.
    pub fn threshold(&self) -> Option<Threshold> {
        self.threshold
    }

    /// Device memory that thinning takes of entries `c_stride` elements apart.
    pub(super) fn drop_memory<T: Element>(&self, info: &DeviceInfo, c_stride: usize) -> Option<DropMemory> {
        self.threshold.map(|threshold| DropMemory::new::<T>(info, c_stride, threshold))
    }

    pub(super) fn thinning<T: Element>(&self, device: &Device, operands: &Operands<'_, T>) -> Result<Thinning<T>> {
        let area = operands.a.shape.product(operands.b.shape).area();
        let drop = self.threshold.map(|threshold| DropEntries::new(device, area, threshold)).transpose()?;
        Ok(Thinning { drop, column: 0, dropped: 0 })
    }
}

impl<T: Element> Thinning<T> {
    /// What stays of the next band.
    pub fn thin(&mut self, work: &Work, band: DeviceCbc<T>) -> Result<DeviceCbc<T>> {
        let first_col = self.column;
        self.column += band.ncols;
        let Some(drop) = &self.drop else { return Ok(band) };
        let Some(kept) = drop.run(work, &band, first_col)? else { return Ok(band) };
        self.dropped += (band.nnz() - kept.nnz()) as u64;
        Ok(kept)
    }
}
