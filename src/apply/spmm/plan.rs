//! Prepared products of a sparse matrix with dense matrices.
use super::{DenseMethod, DenseOptions, prepared::Prepared, sides::Sides};
use crate::{
    Device, DeviceDense, DeviceMatrix, DevicePattern, Matrix, Result,
    device::Work,
    element::{ElementType, Scaling},
    matrix::{HostMatrix, MatrixType},
    planned::{Accum, Cost, On, Planned, prepared::same_device},
    vector::line_sums::Stored,
};

/// A product of a sparse matrix or its transpose with dense matrices. The product is prepared for
/// the sparse matrix's pattern and the dense matrices' number of columns.
///
/// Column j of A·D has the bits that [`Apply`](crate::plan::Apply) gives for column j of D, on
/// every device, and so the bits of
/// [`reference::multiply_dense`](crate::reference::multiply_dense). Long rows are divided among
/// many work-items.
///
/// D and C are stored by rows or by columns, with any leading dimension. A D stored by rows is read
/// in place. A D stored by columns is copied first. The copy needs as much memory as D.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::{Accum, ApplyDense};
/// use blockmul::{BlockShape, Cbc, Device, Planned, generate::Visibility};
/// use nalgebra::DMatrix;
/// let device = Device::auto()?;
/// let (cameras, points, shape) = (20, 300, BlockShape::new(2, 3)?);
/// let j: Cbc<f64> = Visibility { cameras, points, shape, ..Default::default() }.matrix()?;
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
#[doc(alias = "SpMM")]
pub struct ApplyDense<M: HostMatrix> {
    pub(super) prepared: Prepared,
    of: MatrixType<M>,
}

impl<M: Matrix> ApplyDense<M> {
    /// Prepares C = A·D for matrices D with `n` columns, stored by rows.
    ///
    /// # Errors
    /// See [`DenseOptions::plan`].
    pub fn new(a: &DevicePattern, n: usize) -> Result<Self> {
        Self::with(a, n).plan()
    }

    /// Starts the options of a product with dense matrices of `n` columns.
    pub fn with(a: &DevicePattern, n: usize) -> DenseOptions<M> {
        DenseOptions::new(a.clone(), MatrixType::OF, n)
    }
}

impl<M: HostMatrix> ApplyDense<M> {
    /// Does what [`ApplyDense::with`] does, for the type and pattern of `a`, whose element type may
    /// be known at run time only.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Planned, dense::AnyDense, matrix::AnyMatrix, plan::ApplyDense};
    /// use nalgebra::dmatrix;
    /// let device = Device::auto()?;
    /// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 2.0f32), (1, 0, 3.0)])?);
    /// let (a, d) = (device.upload(&a)?, AnyDense::from(dmatrix![1.0f32, 0.0; 10.0, 1.0]));
    /// let plan = ApplyDense::of(&a, 2).plan()?;
    /// let mut c = plan.output()?;
    /// plan.execute((&a, &device.upload_any_dense(&d)?), &mut c)?;
    /// assert_eq!(c.download()?, dmatrix![2.0f32, 0.0; 3.0, 0.0].into());
    /// # Ok(())
    /// # }
    /// ```
    pub fn of(a: &DeviceMatrix<M>, n: usize) -> DenseOptions<M> {
        DenseOptions::new(a.pattern(), a.type_of(), n)
    }

    /// Prepares the product within the memory that `work` may allocate.
    pub(super) fn within(work: &Work, options: &DenseOptions<M>) -> Result<Self> {
        options.check()?;
        Ok(Self::of_type(Prepared::new(work, &options.wanted)?, options.of))
    }

    pub(super) fn of_type(prepared: Prepared, of: MatrixType<M>) -> Self {
        Self { prepared, of }
    }

    /// Refuses a matrix whose pattern or type is not the plan's.
    pub(super) fn check(&self, a: &DeviceMatrix<M>) -> Result<()> {
        a.check("A", &self.prepared.a, self.of)
    }

    /// Multiplies with values that are in the order of the plan.
    pub(super) fn multiply(
        &self,
        work: &Work,
        a: Stored<'_>,
        d: &DeviceDense<M::Word>,
        into: Accum<'_, DeviceDense<M::Word>>,
    ) -> Result<()> {
        let Self { prepared, of } = self;
        check(&prepared.sides, self.device(), of.element, d, &into)?;
        let scaling = Scaling::of(of.element, into.alpha, into.beta);
        prepared.run(work, a, d.buffer(), scaling, into.c.buffer_mut())
    }

    /// The method by which the entries of A are divided among work-items.
    pub fn method(&self) -> DenseMethod {
        self.prepared.spmm.choice.method
    }

    /// The reason for the method, in a sentence.
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

/// Refuses matrices whose sides, elements or device differ from the plan's, and factors that the
/// semiring does not support.
pub(super) fn check<T>(
    sides: &Sides,
    device: &Device,
    element: ElementType,
    d: &DeviceDense<T>,
    into: &Accum<'_, DeviceDense<T>>,
) -> Result<()> {
    sides.semiring().check_factors_of(element, into.alpha, into.beta)?;
    d.check_element("D", element)?;
    into.c.check_element("C", element)?;
    same_device(device, d.device())?;
    sides.check_sides("D", d.shape(), sides.d())?;
    same_device(device, into.c.device())?;
    sides.check_sides("C", into.c.shape(), sides.c())
}

impl<M: HostMatrix> Planned for ApplyDense<M> {
    /// The matrix A and the dense matrix D.
    type Inputs<'a> = (&'a DeviceMatrix<M>, &'a DeviceDense<M::Word>);
    /// The dense matrix C.
    type Output = DeviceDense<M::Word>;

    fn device(&self) -> &Device {
        self.prepared.a.device()
    }

    fn output(&self) -> Result<Self::Output> {
        DeviceDense::zeros_of(self.device(), self.of.element, self.prepared.sides.c_shape())
    }

    fn cost(&self) -> Cost {
        self.prepared.cost()
    }

    fn enqueue(&self, On(work): On<'_>, (a, d): Self::Inputs<'_>, into: Accum<'_, Self::Output>) -> Result<()> {
        self.check(a)?;
        self.multiply(work, (&a.cbc).into(), d, into)
    }
}

impl<M: HostMatrix> std::fmt::Debug for ApplyDense<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ApplyDense({:?}, {}, {} bytes)", self.prepared.a, self.prepared.sides, self.cost().device_bytes)
    }
}
