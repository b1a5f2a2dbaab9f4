//! Products of matrices with vectors.
use crate::{
    Device, DeviceMatrix, DevicePattern, DeviceVector, Matrix, Result,
    element::Scaling,
    element::Semiring,
    planned::{Accum, Cost, On, Planned, prepared::check_patterns},
    vector::{
        check_vector,
        line_sums::{LineSums, Terms},
    },
};
use std::marker::PhantomData;

/// A product of a matrix, or of its transpose, with vectors, prepared for the matrix's pattern.
///
/// The terms of an element of y are added in ascending place in x, and every multiplication is
/// rounded before its result is added. The sum is cut every 1024 entries (blocks) of the row. So
/// the bits are those of a product with a matrix of one column, on every device, and of
/// [`reference::multiply_vector`](crate::reference::multiply_vector). A long row is divided among
/// many work-groups.
///
/// Aᵀ·x of a column-major matrix ([`Cbc`](crate::Cbc), [`Csc`](crate::Csc)) and A·x of a row-major
/// one ([`Bsr`](crate::Bsr), [`Csr`](crate::Csr)) read the values from front to back. The other two
/// need an index of 8 bytes per entry, which the constructor makes.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::{Accum, Apply};
/// use blockmul::{BlockShape, Cbc, Device, Planned, generate::{Values, bundle_adjustment}};
/// let device = Device::auto()?;
/// let j: Cbc<f64> = bundle_adjustment(20, 300, 4, BlockShape::new(2, 3)?, Values::Real, 1)?;
/// let r = device.upload_vector(&vec![1.0; j.scalar_rows()])?;
/// let mut j = device.upload(&j)?;
///
/// let transposed = Apply::<Cbc<f64>>::transposed(&j.pattern())?; // structure, once
/// let mut g = transposed.output()?;
/// for _ in 0..3 {
///     // values, many times: g = -Jᵀr
///     transposed.execute((&j, &r), Accum::into(&mut g).alpha(-1.0))?;
/// }
/// assert_eq!(g.len(), 300 * 3);
/// # Ok(())
/// # }
/// ```
pub struct Apply<M: Matrix> {
    a: DevicePattern,
    transposed: bool,
    sums: LineSums<M::Element>,
    bytes: u64,
    matrix: PhantomData<fn() -> M>,
}

impl<M: Matrix> Apply<M> {
    /// Prepares y = A·x.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for the pattern of another kind of matrix than
    /// M, [`Error::Memory`](crate::Error::Memory),
    /// [`Error::Unsupported`](crate::Error::Unsupported).
    pub fn new(a: &DevicePattern) -> Result<Self> {
        Self::of(a, false)
    }

    /// Prepares y = Aᵀ·x, without forming Aᵀ.
    ///
    /// # Errors
    /// As [`Apply::new`].
    pub fn transposed(a: &DevicePattern) -> Result<Self> {
        Self::of(a, true)
    }

    fn of(a: &DevicePattern, transposed: bool) -> Result<Self> {
        check_patterns::<M>(a.device(), [a])?;
        // The rows of op(A) are rows of the arrays if both or neither are transposed.
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
}

impl<M: Matrix> Planned for Apply<M> {
    /// The matrix A and the vector x.
    type Inputs<'a> = (&'a DeviceMatrix<M>, &'a DeviceVector<M::Element>);
    /// The vector y.
    type Output = DeviceVector<M::Element>;

    fn device(&self) -> &Device {
        self.a.device()
    }

    fn output(&self) -> Result<Self::Output> {
        self.device().zero_vector(self.y_len())
    }

    fn cost(&self) -> Cost {
        let flops = 2 * self.a.nnz() as u64 * self.a.shape().area() as u64;
        Cost { products: 0, flops, device_bytes: self.bytes }
    }

    fn enqueue(&self, On(work): On<'_>, (a, x): Self::Inputs<'_>, into: Accum<'_, Self::Output>) -> Result<()> {
        self.a.check("A", &a.cbc)?;
        let op = if self.transposed { "Aᵀ" } else { "A" };
        let why = || format!("{op} is {}x{} scalars", self.y_len(), self.x_len());
        check_vector("x", x, self.device(), self.x_len(), why)?;
        check_vector("y", into.c, self.device(), self.y_len(), why)?;
        work.stage("apply");
        self.sums.run(work, &a.cbc, &x.values, Scaling::new(into.alpha, into.beta), &mut into.c.values)
    }
}

impl<M: Matrix> std::fmt::Debug for Apply<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Apply({}{:?}, {} bytes)", if self.transposed { "transposed " } else { "" }, self.a, self.bytes)
    }
}
