//! [`Spgemm::estimate`].
use super::Spgemm;
use crate::{
    DeviceInfo, Error, Matrix, Result,
    esc::{self, Estimate},
    matrix::aligned_stride,
};

impl Spgemm {
    /// What [`Spgemm::multiply_host`] will take of a device, found on the host alone, by the planning that the product itself goes by.
    /// `a` and `b` may be the same matrix, which is then counted once.
    ///
    /// # Errors
    /// [`Error::Memory`] when a column of C, or the operands, do not fit; [`Error::Unsupported`] for `f64` on a device without it; else
    /// as [`Spgemm::multiply`].
    ///
    /// ```
    /// use blockmul::{Csc, Device, Spgemm};
    /// let a = Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?;
    /// for device in Device::list()? {
    ///     let told = Spgemm::new().estimate(&device, &a, &a)?;
    ///     println!("{}: {} bytes in {} bands", device.name, told.peak_device_bytes, told.bands);
    /// }
    /// # Ok::<(), blockmul::Error>(())
    /// ```
    pub fn estimate<M: Matrix>(&self, device: &DeviceInfo, a: &M, b: &M) -> Result<Estimate> {
        device.require::<M::Element>()?;
        let (x, y) = if M::ROW_MAJOR { (b.as_cbc(), a.as_cbc()) } else { (a.as_cbc(), b.as_cbc()) };
        if x.pattern.ncols() != y.pattern.nrows() || x.shape.cols() != y.shape.rows() {
            return Err(Error::Dimensions { a: x.dimensions(), b: y.dimensions() });
        }
        let shape = x.shape.product(y.shape);
        let c_stride = self.alignment.map_or(Ok(shape.area()), |bytes| aligned_stride::<M::Element>(shape, bytes))?;
        let limit = self.memory_limit.unwrap_or(u64::MAX).min(device.global_bytes);
        let entry_bytes = c_stride * size_of::<M::Element>() + self.taker_bytes::<M::Element>(c_stride);
        esc::estimate(device, limit, x, (!std::ptr::eq(a, b)).then_some(y), entry_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockShape, Cbc, device::test_device, generate};

    /// Cut as foretold, within the bytes foretold, and nearly as few bytes as that allows for.
    fn check<M: Matrix>(a: &M, b: &M) -> Result<()> {
        let device = test_device();
        let whole = Spgemm::new().estimate(device.info(), a, b)?;
        let room = whole.peak_device_bytes - whole.operand_bytes;
        for limit in [u64::MAX, whole.peak_device_bytes, whole.operand_bytes + room / 2, whole.operand_bytes + room / 3]
        {
            let spgemm = Spgemm::new().memory_limit(limit);
            let told = spgemm.estimate(device.info(), a, b)?;
            let (_, report) = spgemm.multiply_host(&device, a, b)?;
            assert_eq!((told.products, told.bands), (report.products, report.bands), "within {limit}");
            let bound = told.peak_device_bytes;
            assert!(report.peak_device_bytes <= bound && bound <= limit, "{report:?} within {told:?}");
            assert!(told.bands == 1 || limit < whole.peak_device_bytes);
        }
        assert_eq!(whole.bands, 1);
        Ok(())
    }

    #[test]
    fn products_are_cut_as_foretold_and_keep_to_it() -> Result<()> {
        let p: Cbc<f64> = generate::power_law(4096, 60_000, BlockShape::SCALAR, Default::default(), 1)?;
        let p = p.to_scalars();
        check(&p, &p)?;
        check(&p.cast::<f32>(), &p.transpose().cast())?;
        let w = generate::bundle_adjustment(100, 12_000, 5, BlockShape::new(6, 3)?, Default::default(), 2)?;
        check(&w, &w.transpose())
    }

    #[test]
    fn what_will_not_fit_is_refused_with_its_numbers() -> Result<()> {
        let a = generate::uniform(2000, 2000, 8, BlockShape::SCALAR, Default::default(), 1)?;
        let within = |bytes| Spgemm::new().memory_limit(bytes).estimate(test_device().info(), &a, &a);
        assert!(matches!(within(1 << 10), Err(Error::Memory { available: 1024, .. })));
        let other = generate::uniform(9, 9, 1, BlockShape::SCALAR, Default::default(), 1)?;
        let odd = Spgemm::new().estimate(test_device().info(), &a, &other);
        assert!(matches!(odd, Err(Error::Dimensions { .. })));
        Ok(())
    }
}
