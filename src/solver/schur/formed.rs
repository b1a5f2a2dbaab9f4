//! The Schur complement as a matrix.
use super::{
    Elimination, Form, Reduced,
    base::Base,
    equations::Floored,
    factors_of_square,
    structure::{self, Structure},
    system::check_lower,
};
use crate::{
    BlockShape, Cbc, Device, DeviceMatrix, DevicePattern, Real, Result,
    element::Scaling,
    events::ms,
    matrix::Part,
    planned::On,
    product::{Destination, PlannedProduct, Spec},
    structure::Scalars,
};
use std::time::Instant;

/// The form of an [`Elimination`] that computes S itself.
pub struct Formed<T: Real> {
    pattern: DevicePattern,
    product: PlannedProduct,
    base: Base<T>,
}

impl<T: Real> Elimination<Formed<T>> {
    /// Prepares to form S of matrices of these patterns.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if sizes do not match, V's pattern is not the
    /// diagonal, U has a block above the diagonal without its mirror image below, or a pattern is
    /// row-major; [`Error::DeviceMismatch`](crate::Error::DeviceMismatch);
    /// [`Error::Unsupported`](crate::Error::Unsupported); [`Error::Memory`](crate::Error::Memory)
    /// if the pairs of blocks to multiply do not fit the device;
    /// [`Error::TooLarge`](crate::Error::TooLarge).
    pub fn formed(u: &DevicePattern, w: &DevicePattern, v: &DevicePattern) -> Result<Self> {
        Self::new(u, w, v)
    }

    /// The pattern of S.
    pub fn pattern(&self) -> &DevicePattern {
        &self.form.pattern
    }
}

impl<T: Real> Reduced<Formed<T>> {
    /// S: blocks on and below the diagonal.
    ///
    /// # Errors
    /// As [`Reduced::check`].
    pub fn s(&self) -> Result<&DeviceMatrix<Cbc<T>>> {
        self.check().map(|()| &self.system)
    }
}

impl<T: Real> Form for Formed<T> {
    type Element = T;
    type System = DeviceMatrix<Cbc<T>>;

    fn ask(device: &Device, shape: BlockShape, cameras: usize) -> Result<()> {
        PlannedProduct::ask_retarget(device, &Spec::of_square(T::TYPE, shape, cameras, Part::Lower))?;
        structure::Kernels::new(device)?;
        Base::<T>::ask(device, shape.rows())?;
        // The kernel that hands S over to a sparse Cholesky factorization.
        Scalars::<Cbc<T>>::ask(device, shape.product(shape.transpose()))
    }

    fn new(On(work): On<'_>, u: &DevicePattern, w: &DevicePattern) -> Result<Self> {
        let (start, (z, zt)) = (Instant::now(), factors_of_square(w));
        check_lower(&u.arrays.download(work)?)?;
        let mut product = PlannedProduct::to_retarget(work, T::TYPE, &z, &zt, Part::Lower)?;
        let Structure { pattern, places, slots } = Structure::new(work, &u.arrays, &product.c)?;
        product.retarget(work, &places, pattern.clone())?;
        let (nnz, products, bytes) = (pattern.nnz(), product.products, product.bytes());
        tracing::debug!(target: "blockmul::plan", nnz, products, bytes, ms = ms(start), "Schur complement planned");
        let base = Base::new(work, w.shape().rows(), slots)?;
        let pattern = DevicePattern { arrays: pattern, array_shape: u.array_shape, row_major: false };
        Ok(Self { pattern, product, base })
    }

    fn output(&self) -> Result<DeviceMatrix<Cbc<T>>> {
        DeviceMatrix::zeros(&self.pattern)
    }

    fn enqueue(
        &self,
        On(work): On<'_>,
        z: &DeviceMatrix<Cbc<T>>,
        u: &DeviceMatrix<Cbc<T>>,
        damped: Floored<'_, T>,
        s: &mut DeviceMatrix<Cbc<T>>,
    ) -> Result<()> {
        let minus = Scaling::of(T::TYPE, -1.0, 0.0);
        self.product.execute(work, (&z.cbc, &z.cbc), minus, Destination::from(&mut *s.cbc))?;
        self.base.run(work, &u.cbc, damped, &mut s.cbc)
    }

    fn products(&self) -> u64 {
        self.product.products
    }

    fn bytes(&self) -> u64 {
        self.product.bytes() + self.base.bytes()
    }

    fn system_bytes(s: &DeviceMatrix<Cbc<T>>) -> u64 {
        s.cbc.values.bytes()
    }
}
