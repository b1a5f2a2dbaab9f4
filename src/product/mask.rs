//! [`Spgemm::multiply_masked`].
use super::{Done, Report, Spgemm, count_operands, in_column_order, masked, plan::check_mask};
use crate::{
    DeviceMatrix, DevicePattern, Matrix, Result,
    device::{Clock, Work},
    error::Error,
};

impl Spgemm {
    /// C = A·B where `mask` has entries, and nowhere else, once: what [`Plan::masked`](crate::Plan::masked) does many times, with the same
    /// pattern, bits and number of products. Within a memory limit the mask is taken in bands of places.
    ///
    /// # Errors
    /// As [`Spgemm::multiply`]; [`Error::Argument`] for a mask of other sizes than C or of the other order, row-major or not, and together with
    /// [`Spgemm::drop_below`]: C has the mask's pattern.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Spgemm};
    /// let device = Device::auto()?;
    /// let a = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?)?;
    /// let diagonal = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 0.0), (1, 1, 0.0)])?)?;
    /// let c = Spgemm::new().multiply_masked(&a, &a, &diagonal.pattern())?;
    /// assert_eq!(c.download()?.values(), [4.0, 25.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn multiply_masked<M: Matrix>(
        &self,
        a: &DeviceMatrix<M>,
        b: &DeviceMatrix<M>,
        mask: &DevicePattern,
    ) -> Result<DeviceMatrix<M>> {
        let work = Work::new(&a.cbc.device, self.memory_limit);
        self.on_mask(&work, (a, b), mask).map(|(c, ..)| c)
    }

    /// As [`Spgemm::multiply_masked`], waits for C and tells what it took: the products are those within the mask.
    ///
    /// # Errors
    /// As [`Spgemm::multiply_masked`].
    pub fn multiply_masked_with_report<M: Matrix>(
        &self,
        a: &DeviceMatrix<M>,
        b: &DeviceMatrix<M>,
        mask: &DevicePattern,
    ) -> Result<(DeviceMatrix<M>, Report)> {
        let work = Work::new(&a.cbc.device, self.memory_limit);
        let (c, clock, done) = self.on_mask(&work, (a, b), mask)?;
        let report = self.report(&work, &clock, &done, (c.nnz() as u64, 0))?;
        Ok((c, report))
    }

    fn on_mask<'w, M: Matrix>(
        &self,
        work: &'w Work,
        (a, b): (&DeviceMatrix<M>, &DeviceMatrix<M>),
        mask: &DevicePattern,
    ) -> Result<(DeviceMatrix<M>, Clock<'w>, Done)> {
        if self.threshold.is_some() {
            return Err(Error::Argument(
                "a masked product has the mask's pattern: no entry of it can be dropped".into(),
            ));
        }
        let (x, y) = in_column_order::<M>(&a.cbc, &b.cbc);
        let stride = self.operands(x, y)?.c_stride;
        check_mask(mask, work.device(), (x.nrows, y.ncols), M::ROW_MAJOR)?;
        count_operands(work, x, y);
        work.count_operand(mask.device_bytes());
        let (c, clock, done) = masked::multiply_masked(work, (x, y), &mask.arrays, stride)?;
        Ok((DeviceMatrix::new(c), clock, done))
    }
}
