//! Products of matrices with vectors.
use crate::{
    Device, DeviceMatrix, DevicePattern, DeviceVector, Matrix, Result, Semiring,
    device::Work,
    product::Scaling,
    vector::{
        check_vector,
        line_sums::{LineSums, Terms},
    },
};
use std::marker::PhantomData;

/// A product of a matrix, or of its transpose, with vectors, prepared for the matrix's pattern.
///
/// The terms of an element of y are added in ascending place in x, every multiplication rounded before it is added, cut every 1024 entries
/// (blocks) of the row: the bits are those of a product with a matrix of one column, on every device, and of
/// [`reference::multiply_vector`](crate::reference::multiply_vector). A row of any length is shared out among many work-groups.
///
/// Aᵀ·x of a column-major matrix ([`Cbc`](crate::Cbc), [`Csc`](crate::Csc)) and A·x of a row-major one ([`Bsr`](crate::Bsr),
/// [`Csr`](crate::Csr)) read the values from front to back; the other two go by an index of 8 bytes per entry, which is made once here.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{BlockShape, Cbc, Device, MatVec, generate};
/// let device = Device::auto()?;
/// let j: Cbc<f64> = generate::bundle_adjustment(20, 300, 4, BlockShape::new(2, 3)?, Default::default(), 1)?;
/// let r = device.upload_vector(&vec![1.0; j.scalar_rows()])?;
/// let mut j = device.upload(&j)?;
///
/// let transposed = MatVec::<Cbc<f64>>::multiply_transposed(&j.pattern())?; // structure, once
/// let mut g = transposed.output()?;
/// for _ in 0..3 {
///     // values, many times: g = -Jᵀr
///     transposed.execute_scaled(-1.0, &j, &r, 0.0, &mut g)?;
/// }
/// assert_eq!(g.len(), 300 * 3);
/// # Ok(())
/// # }
/// ```
pub struct MatVec<M: Matrix> {
    a: DevicePattern,
    transposed: bool,
    sums: LineSums<M::Element>,
    bytes: u64,
    matrix: PhantomData<fn() -> M>,
}

impl<M: Matrix> MatVec<M> {
    /// y = A·x.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for the pattern of another kind of matrix than M,
    /// [`Error::Memory`](crate::Error::Memory), [`Error::Unsupported`](crate::Error::Unsupported).
    pub fn multiply(a: &DevicePattern) -> Result<Self> {
        Self::new(a, false)
    }

    /// y = Aᵀ·x, without forming Aᵀ.
    ///
    /// # Errors
    /// As [`MatVec::multiply`].
    pub fn multiply_transposed(a: &DevicePattern) -> Result<Self> {
        Self::new(a, true)
    }

    fn new(a: &DevicePattern, transposed: bool) -> Result<Self> {
        a.check_kind::<M>()?;
        // The rows of op(A) are rows of the arrays where both or neither transpose.
        let rows = transposed == M::ROW_MAJOR;
        let sums = LineSums::new(a.device(), &a.arrays, a.array_shape, rows, Terms::Products(&Semiring::PLUS_TIMES))?;
        let bytes = sums.bytes();
        Ok(Self { a: a.clone(), transposed, sums, bytes, matrix: PhantomData })
    }

    /// Elements of x: scalar columns of op(A).
    pub fn x_len(&self) -> usize {
        self.sides().1
    }

    /// Elements of y: scalar rows of op(A).
    pub fn y_len(&self) -> usize {
        self.sides().0
    }

    fn sides(&self) -> (usize, usize) {
        let (rows, cols) = self.a.scalar_sides();
        if self.transposed { (cols, rows) } else { (rows, cols) }
    }

    /// A vector of zeros as long as y.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn output(&self) -> Result<DeviceVector<M::Element>> {
        self.device().zero_vector(self.y_len())
    }

    /// y = op(A)·x.
    ///
    /// Returns when it is enqueued; a download waits. Allocates nothing and reads nothing back; a matrix that was not made on the pattern
    /// planned for is told by a fingerprint, which is computed once (one small read-back).
    ///
    /// # Errors
    /// [`Error::PlanPattern`](crate::Error::PlanPattern) when A has another pattern or block shape,
    /// [`Error::Length`](crate::Error::Length) when x or y do,
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch),
    /// [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn execute(
        &self,
        a: &DeviceMatrix<M>,
        x: &DeviceVector<M::Element>,
        y: &mut DeviceVector<M::Element>,
    ) -> Result<()> {
        self.execute_scaled(1.0, a, x, 0.0, y)
    }

    /// y = alpha·op(A)·x + beta·y. Where beta is 0, what y held does not matter.
    ///
    /// Each sum is multiplied by alpha once it is complete; the numbers are rounded to the element's arithmetic type.
    ///
    /// # Errors
    /// As [`MatVec::execute`].
    pub fn execute_scaled(
        &self,
        alpha: f64,
        a: &DeviceMatrix<M>,
        x: &DeviceVector<M::Element>,
        beta: f64,
        y: &mut DeviceVector<M::Element>,
    ) -> Result<()> {
        self.a.check("A", &a.cbc)?;
        let op = if self.transposed { "Aᵀ" } else { "A" };
        let why = || format!("{op} is {}x{} scalars", self.y_len(), self.x_len());
        check_vector("x", x, self.device(), self.x_len(), why)?;
        check_vector("y", y, self.device(), self.y_len(), why)?;
        let scaling = Scaling::new(alpha, beta);
        self.sums.run(&Work::new(self.device(), None), &a.cbc, &x.values, scaling, &mut y.values)
    }

    /// The device planned for.
    pub fn device(&self) -> &Device {
        self.a.device()
    }

    /// Floating-point operations of an execution: 2 for each stored element.
    pub fn flops(&self) -> u64 {
        2 * self.a.nnz() as u64 * self.a.shape().area() as u64
    }

    /// Bytes of device memory held beside the pattern.
    pub fn device_bytes(&self) -> u64 {
        self.bytes
    }
}

impl<M: Matrix> std::fmt::Debug for MatVec<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MatVec({}{:?}, {} bytes)", if self.transposed { "transposed " } else { "" }, self.a, self.bytes)
    }
}
