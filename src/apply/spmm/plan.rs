//! Products of a sparse matrix with dense matrices, prepared.
use super::{DenseMethod, DenseOptions, prepared::Prepared, sides::Sides};
use crate::{
    Device, DeviceDense, DeviceMatrix, DevicePattern, Element, Matrix, Result,
    device::Work,
    element::Scaling,
    planned::{Accum, Cost, On, Planned},
    vector::line_sums::Stored,
};
use std::marker::PhantomData;

/// A product of a sparse matrix, or of its transpose, with dense matrices, prepared for the sparse
/// matrix's pattern and the number of columns of the dense ones.
///
/// Column j of A·D has the bits of [`Apply`](crate::plan::Apply) with column j, on every device,
/// and so the bits of [`reference::multiply_dense`](crate::reference::multiply_dense). Long rows
/// are divided among many work-items.
///
/// D and C are by rows or by columns, with any leading dimension. D by rows is read where it is.
/// One that is stored by columns is copied first, which takes as much memory again.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::{Accum, ApplyDense};
/// use blockmul::{BlockShape, Cbc, Device, Planned, generate::{Values, bundle_adjustment}};
/// use nalgebra::DMatrix;
/// let device = Device::auto()?;
/// let j: Cbc<f64> = bundle_adjustment(20, 300, 4, BlockShape::new(2, 3)?, Values::Real, 1)?;
/// let x = device.upload_dense(&DMatrix::from_element(j.scalar_rows(), 4, 1.0))?;
/// let j = device.upload(&j)?;
///
/// // Jᵀ times four vectors: structure, once
/// let plan = ApplyDense::<Cbc<f64>>::with(&j.pattern(), 4).transposed().plan()?;
/// let mut y = plan.output()?;
/// plan.execute((&j, &x), Accum::into(&mut y).alpha(-1.0))?; // values, many times
/// assert_eq!(y.download()?.shape(), (300 * 3, 4));
/// # Ok(())
/// # }
/// ```
pub struct ApplyDense<M: Matrix> {
    pub(super) prepared: Prepared,
    matrix: PhantomData<fn() -> M>,
}

impl<M: Matrix> ApplyDense<M> {
    /// Prepares C = A·D for matrices D of n columns by rows.
    ///
    /// # Errors
    /// As [`DenseOptions::plan`].
    pub fn new(a: &DevicePattern, n: usize) -> Result<Self> {
        Self::with(a, n).plan()
    }

    /// A product with matrices of n columns that is to be prepared, with options.
    pub fn with(a: &DevicePattern, n: usize) -> DenseOptions<'_, M> {
        DenseOptions::new(a, n)
    }

    /// Prepares within the memory that `work` may allocate.
    pub(super) fn within(work: &Work, options: &DenseOptions<'_, M>) -> Result<Self> {
        options.check()?;
        Ok(Self::of(Prepared::new(work, &options.wanted)?))
    }

    pub(super) fn of(prepared: Prepared) -> Self {
        Self { prepared, matrix: PhantomData }
    }

    /// How the entries of A are shared out.
    pub fn method(&self) -> DenseMethod {
        self.prepared.spmm.choice.method
    }

    /// The reason for it, in a sentence.
    pub fn why(&self) -> &str {
        &self.prepared.spmm.choice.why
    }

    /// Rows and columns of D.
    pub fn d_sides(&self) -> (usize, usize) {
        self.prepared.sides.d()
    }

    /// Rows and columns of C.
    pub fn c_sides(&self) -> (usize, usize) {
        self.prepared.sides.c()
    }
}

/// Refuses matrices of other sides or on another device than `device`, and factors that the
/// semiring does not have.
pub(super) fn check<T: Element>(
    sides: &Sides,
    device: &Device,
    d: &DeviceDense<T>,
    into: &Accum<'_, DeviceDense<T>>,
) -> Result<()> {
    sides.semiring().check_factors::<T>(into.alpha, into.beta)?;
    sides.check(device, (d.device(), d.shape()), (into.c.device(), into.c.shape()))
}

/// Multiplies with values in the order that the plan wants.
pub(super) fn multiply<T: Element>(
    prepared: &Prepared,
    work: &Work,
    a: Stored<'_>,
    d: &DeviceDense<T>,
    into: Accum<'_, DeviceDense<T>>,
) -> Result<()> {
    check(&prepared.sides, prepared.a.device(), d, &into)?;
    let scaling = Scaling::of(T::TYPE, into.alpha, into.beta);
    prepared.run(work, a, (d.shape(), &d.values), scaling, (into.c.shape(), &mut into.c.values))
}

impl<M: Matrix> Planned for ApplyDense<M> {
    /// The matrix A and the dense matrix D.
    type Inputs<'a> = (&'a DeviceMatrix<M>, &'a DeviceDense<M::Element>);
    /// The dense matrix C.
    type Output = DeviceDense<M::Element>;

    fn device(&self) -> &Device {
        self.prepared.a.device()
    }

    fn output(&self) -> Result<Self::Output> {
        self.device().zero_dense(self.prepared.sides.c_shape())
    }

    fn cost(&self) -> Cost {
        self.prepared.cost()
    }

    fn enqueue(&self, On(work): On<'_>, (a, d): Self::Inputs<'_>, into: Accum<'_, Self::Output>) -> Result<()> {
        self.prepared.a.check("A", &a.cbc)?;
        multiply(&self.prepared, work, (&*a.cbc).into(), d, into)
    }
}

impl<M: Matrix> std::fmt::Debug for ApplyDense<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ApplyDense({:?}, {}, {} bytes)", self.prepared.a, self.prepared.sides, self.cost().device_bytes)
    }
}
