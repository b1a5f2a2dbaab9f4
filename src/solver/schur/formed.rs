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
    device::Work,
    element::{ElementType, Scaling},
    events::ms,
    matrix::Part,
    product::{Destination, PlannedProduct, Spec},
    resident::DeviceCbc,
    structure::ask_scalars,
};
use std::{marker::PhantomData, time::Instant};

/// The form of an [`Elimination`] that computes S as a matrix.
pub struct Formed<T: Real>(PhantomData<fn() -> T>);

/// The part of a plan that forms S.
pub(super) struct FormedCore {
    pub pattern: DevicePattern,
    pub product: PlannedProduct,
    base: Base,
}

impl<T: Real> Elimination<Formed<T>> {
    /// Prepares to form S for matrices with these patterns.
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
        self.core.form.pattern()
    }
}

impl<T: Real> Reduced<Formed<T>> {
    /// S, with only the blocks on and below its diagonal.
    ///
    /// # Errors
    /// The errors of [`Reduced::check`].
    pub fn s(&self) -> Result<&DeviceMatrix<Cbc<T>>> {
        self.check().map(|()| &self.matrix)
    }
}

impl<T: Real> Form for Formed<T> {
    type Element = T;
    const FORMED: bool = true;
}

impl FormedCore {
    pub fn ask(device: &Device, element: ElementType, shape: BlockShape, cameras: usize) -> Result<()> {
        PlannedProduct::ask_retarget(device, &Spec::of_square(element, shape, cameras, Part::Lower))?;
        structure::kernels(device)?;
        Base::ask(device, element, shape.rows())?;
        // Requests the kernel that copies the scalars of S for a sparse Cholesky factorization.
        ask_scalars(device, element, shape.product(shape.transpose()))
    }

    pub fn new(work: &Work, element: ElementType, u: &DevicePattern, w: &DevicePattern) -> Result<Self> {
        let (start, (z, zt)) = (Instant::now(), factors_of_square(w));
        check_lower(&u.arrays.download(work)?)?;
        let mut product = PlannedProduct::to_retarget(work, element, (&z, &zt), Part::Lower)?;
        let Structure { pattern, places, slots } = Structure::new(work, &u.arrays, &product.c)?;
        product.retarget(work, &places, pattern.clone())?;
        let (nnz, products, bytes) = (pattern.nnz(), product.products, product.bytes());
        tracing::debug!(target: "blockmul::plan", nnz, products, bytes, ms = ms(start), "Schur complement planned");
        let base = Base::new(work, element, w.shape().rows(), slots)?;
        let pattern = DevicePattern { arrays: pattern, array_shape: u.array_shape, row_major: false };
        Ok(Self { pattern, product, base })
    }

    pub fn run(&self, work: &Work, z: &DeviceCbc, u: &DeviceCbc, damped: Floored<'_>, s: &mut DeviceCbc) -> Result<()> {
        let minus = Scaling::of(z.element(), -1.0, 0.0);
        self.product.execute(work, (z, z), minus, Destination::from(&mut *s))?;
        self.base.run(work, u, damped, s)
    }

    pub fn bytes(&self) -> u64 {
        self.product.bytes() + self.base.bytes()
    }
}
