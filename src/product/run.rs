//! Products that run once.
use super::{
    Product, Report, Times,
    any_product::{AnyProduct, type_of},
    plan::{Grid, OnDevice},
};
use crate::{
    DeviceMatrix, Result,
    groups::{BlockGroups, DeviceGroups},
    matrix::{AnyType, HostMatrix},
};

impl<M: HostMatrix> Times<DeviceMatrix<M>> for DeviceMatrix<M> {
    type Product = Self;

    fn times(&self, b: &Self) -> Result<Self> {
        Product::of(self, b).run()
    }
}

impl<M: HostMatrix> Product<'_, DeviceMatrix<M>> {
    /// Computes C on the device, and returns without waiting for its completion.
    ///
    /// # Errors
    /// [`Error::Dimensions`](crate::Error::Dimensions) if inner sizes differ;
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch);
    /// [`Error::Memory`](crate::Error::Memory); [`Error::TooLarge`](crate::Error::TooLarge);
    /// [`Error::Argument`](crate::Error::Argument) for incompatible options, an alignment other
    /// than 16, 32 or 64, a tolerance that is negative or not finite, and a mask that differs from
    /// C in its sizes or its order (row-major or not).
    pub fn run(&self) -> Result<DeviceMatrix<M>> {
        let product = self.views::<M>()?;
        let c = product.matrix(&product.work())?.c;
        Ok(DeviceMatrix::of_any(c, product.of))
    }

    /// Computes C, waits for it, and reports time and memory. The report of a masked product counts
    /// the products within the mask.
    ///
    /// # Errors
    /// The errors of [`Product::run`].
    pub fn run_with_report(&self) -> Result<(DeviceMatrix<M>, Report)> {
        let product = self.views::<M>()?;
        let (c, report) = product.matrix_with_report()?;
        Ok((DeviceMatrix::of_any(c, product.of), report))
    }

    /// Computes C and downloads it. Reports time and memory. A·B is downloaded band by band, so
    /// that it need not fit the device.
    ///
    /// # Errors
    /// The errors of [`Product::run`], and [`Error::Memory`](crate::Error::Memory) if C does not
    /// fit the host.
    pub fn run_to_host(&self) -> Result<(M, Report)> {
        let (c, report) = self.views::<M>()?.to_host()?;
        Ok((M::from_any(c)?, report))
    }

    /// Computes C and hands its columns (rows, if row-major) to `take`, band by band, in order.
    /// Reports time and memory. If `take` drops each band of A·B, the device and the host hold only
    /// one band at a time. A product with a mask, or a product other than A·B, is handed over as
    /// one band.
    ///
    /// # Errors
    /// The errors of [`Product::run`], and those of `take`.
    pub fn run_in_bands(&self, mut take: impl FnMut(DeviceMatrix<M>) -> Result<()>) -> Result<Report> {
        let product = self.views::<M>()?;
        product.in_bands(&mut |band| take(DeviceMatrix::of_any(band, product.of)))
    }

    /// Element type and format of C, which all factors must share.
    pub(super) fn type_of(&self) -> Result<AnyType> {
        Ok(self.views::<M>()?.of)
    }
}

impl<M: HostMatrix> Product<'_, DeviceGroups<M>> {
    /// Computes C on the device, and returns without waiting for its completion.
    ///
    /// # Errors
    /// The errors of [`Product::plan`], and [`Error::Argument`](crate::Error::Argument) for
    /// incompatible options.
    pub fn run(&self) -> Result<DeviceGroups<M>> {
        let product = self.views::<BlockGroups<M>>()?;
        let work = product.work();
        BlockGroups::of_arrays(work.device(), product.of, product.groups(&work)?.c)
    }

    /// Computes C, waits for it, and reports time and memory.
    ///
    /// # Errors
    /// The errors of [`Product::run`].
    pub fn run_with_report(&self) -> Result<(DeviceGroups<M>, Report)> {
        let product = self.views::<BlockGroups<M>>()?;
        let (c, report) = product.groups_with_report()?;
        Ok((BlockGroups::of_arrays(product.device, product.of, c)?, report))
    }

    /// Computes C and downloads it. Reports time and memory.
    ///
    /// # Errors
    /// The errors of [`Product::run`].
    pub fn run_to_host(&self) -> Result<(BlockGroups<M>, Report)> {
        let (c, report) = self.run_with_report()?;
        Ok((c.download()?, report))
    }

    /// Element type and format of C, which all factors must share.
    pub(super) fn type_of(&self) -> Result<AnyType> {
        Ok(self.views::<BlockGroups<M>>()?.of)
    }
}

impl<X: OnDevice<Pattern: OnDevice>> Product<'_, X> {
    /// The product with its element type and format as values.
    fn views<'s, K: Grid<Device = X>>(&'s self) -> Result<AnyProduct<'s>> {
        let mut factors = Vec::with_capacity(self.factors.len());
        for factor in &self.factors {
            factors.push((K::view(factor.operand), factor.transposed));
        }
        Ok(AnyProduct {
            of: type_of(&factors)?,
            factors,
            gram: self.gram,
            grouped: X::GROUPED,
            weights: self.weights.map(K::weights),
            parts: self.parts.unwrap_or_default(),
            mask: self.mask.map(OnDevice::cells),
            given: self.given(),
            options: &self.options,
            device: self.factors[0].operand.device(),
        })
    }
}

#[cfg(test)]
mod tests;
