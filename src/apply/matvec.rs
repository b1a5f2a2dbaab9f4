//! Products of matrices with vectors.
use super::{ApplyOptions, Format, spmv::Spmv};
use crate::{
    Device, DeviceMatrix, DevicePattern, DeviceVector, Matrix, Result, Semiring,
    element::Scaling,
    matrix::{HostMatrix, MatrixType},
    planned::{Accum, Cost, On, Planned, prepared::check_patterns},
    vector::check_vector,
};
use std::marker::PhantomData;

/// A product y = op(A)·x, prepared for the pattern of A. op(A) is A or its transpose.
///
/// The terms of an element of y are added in ascending order of their place in x. Every
/// multiplication is rounded before its result is added. After every 1024 entries (blocks) of the
/// row a new sum begins, and these sums are then added. So y has the same bits as a product with a
/// dense matrix of one column, and as
/// [`reference::multiply_vector`](crate::reference::multiply_vector), on every device. A long row
/// is divided among many work-groups.
///
/// Aᵀ·x of a column-major matrix ([`Cbc`](crate::Cbc), [`Csc`](crate::Csc)) and A·x of a row-major
/// one ([`Bsr`](crate::Bsr), [`Csr`](crate::Csr)) read the values from front to back. A·x of a
/// column-major matrix and Aᵀ·x of a row-major one need an index of 8 bytes per entry. The
/// constructor makes this index, unless the format is [`Format::Csc`].
///
/// [`Apply::with`] takes a [format](Format) and other options. If A is multiplied many times with
/// the same values, [`ApplyOptions::pack`] copies them once in the order in which executions read
/// them.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::{Accum, Apply};
/// use blockmul::{BlockShape, Cbc, Device, Planned, generate::Visibility};
/// let device = Device::auto()?;
/// let (cameras, points, shape) = (20, 300, BlockShape::new(2, 3)?);
/// let j: Cbc<f64> = Visibility { cameras, points, shape, ..Default::default() }.matrix()?;
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
/// The vectors of type `V` may have another element type than the matrix, see
/// [`ApplyOptions::vectors`].
#[doc(alias = "SpMV")]
pub struct Apply<M: HostMatrix, V = <M as HostMatrix>::Word> {
    a: DevicePattern,
    of: MatrixType<M>,
    transposed: bool,
    semiring: Semiring,
    sums: Spmv,
    vectors: PhantomData<fn() -> V>,
}

impl<M: Matrix> Apply<M> {
    /// Prepares y = A·x.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for the pattern of another kind of matrix than
    /// M; [`Error::Memory`](crate::Error::Memory),
    /// [`Error::Unsupported`](crate::Error::Unsupported).
    pub fn new(a: &DevicePattern) -> Result<Self> {
        Self::with(a).plan()
    }

    /// Prepares y = Aᵀ·x, without forming Aᵀ.
    ///
    /// # Errors
    /// See [`Apply::new`].
    pub fn transposed(a: &DevicePattern) -> Result<Self> {
        Self::with(a).transposed().plan()
    }

    /// Starts the options of a product, which [`ApplyOptions::plan`] prepares.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::plan::{Apply, Format};
    /// use blockmul::{Csr, Device, Planned};
    /// let device = Device::auto()?;
    /// let a = device.upload(&Csr::new(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![2.0, 3.0, 5.0])?)?;
    /// let plan = Apply::<Csr<f64>>::with(&a.pattern()).format(Format::CsrVector).plan()?;
    /// let (x, mut y) = (device.upload_vector(&[1.0, 10.0])?, plan.output()?);
    /// plan.execute((&a, &x), &mut y)?;
    /// assert_eq!(y.download()?, [2.0, 53.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with(a: &DevicePattern) -> ApplyOptions<M> {
        ApplyOptions::new(a.clone(), MatrixType::OF)
    }
}

impl<M: HostMatrix> Apply<M> {
    /// Does what [`Apply::with`] does, for the type and pattern of `a`, whose element type may be
    /// known at run time only.
    pub fn of(a: &DeviceMatrix<M>) -> ApplyOptions<M> {
        ApplyOptions::new(a.pattern(), a.type_of())
    }
}

impl<M: HostMatrix, V: 'static> ApplyOptions<M, V> {
    /// Prepares the product for every matrix that has the pattern. The values of A are read in
    /// place.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the pattern belongs to another kind of matrix
    /// than M, if the format does not support blocks or would be mostly padding, if a matrix given
    /// as symmetric has entries in both triangles, or if the semiring does not support the element
    /// type; [`Error::Memory`](crate::Error::Memory),
    /// [`Error::Unsupported`](crate::Error::Unsupported).
    pub fn plan(self) -> Result<Apply<M, V>> {
        Apply::prepared(&self)
    }
}

impl<M: HostMatrix, V: 'static> Apply<M, V> {
    pub(super) fn prepared(options: &ApplyOptions<M, V>) -> Result<Self> {
        let &ApplyOptions { ref a, of, transposed, request, .. } = options;
        request.semiring.check_type(of.element)?;
        check_patterns(a.device(), of, [a])?;
        // The rows of op(A) are rows of the arrays if both or neither are transposed.
        let rows = transposed == a.row_major;
        let sums = Spmv::new(&a.arrays, a.array_shape, rows, request)?;
        Ok(Self { a: a.clone(), of, transposed, semiring: request.semiring, sums, vectors: PhantomData })
    }

    /// The format of A's rows.
    pub fn format(&self) -> Format {
        self.sums.format()
    }

    /// The reason for the format, in a sentence.
    pub fn why(&self) -> &str {
        self.sums.why()
    }

    /// Number of elements of x: the scalar columns of op(A).
    pub fn x_len(&self) -> usize {
        self.sides().1
    }

    /// Number of elements of y: the scalar rows of op(A).
    pub fn y_len(&self) -> usize {
        self.sides().0
    }

    fn sides(&self) -> (usize, usize) {
        let (rows, cols) = self.a.scalar_sides();
        if self.transposed { (cols, rows) } else { (rows, cols) }
    }

    pub(crate) fn sums(&self) -> &Spmv {
        &self.sums
    }

    /// Refuses a matrix whose pattern is not the plan's. `name` is the name of the matrix in the
    /// message.
    pub(super) fn check(&self, name: &str, a: &DeviceMatrix<M>) -> Result<()> {
        a.check(name, &self.a, self.of)
    }

    /// Refuses vectors of other lengths or on another device, and factors alpha and beta that the
    /// semiring does not support.
    pub(super) fn check_vectors(&self, x: &DeviceVector<V>, into: &Accum<'_, DeviceVector<V>>) -> Result<()> {
        self.semiring.check_factors_of(self.sums.vector(), into.alpha, into.beta)?;
        let op = if self.transposed { "Aᵀ" } else { "A" };
        let why = || format!("{op} is {}x{} scalars", self.y_len(), self.x_len());
        for (name, vector, len) in [("x", x, self.x_len()), ("y", &*into.c, self.y_len())] {
            vector.check_element(name, self.sums.vector())?;
            check_vector(name, vector, self.device(), len, why)?;
        }
        Ok(())
    }
}

impl<M: HostMatrix, V: 'static> Planned for Apply<M, V> {
    /// The matrix A and the vector x.
    type Inputs<'a> = (&'a DeviceMatrix<M>, &'a DeviceVector<V>);
    /// The vector y.
    type Output = DeviceVector<V>;

    fn device(&self) -> &Device {
        self.a.device()
    }

    fn output(&self) -> Result<Self::Output> {
        DeviceVector::zeros_of(self.device(), self.sums.vector(), self.y_len())
    }

    fn cost(&self) -> Cost {
        Cost { products: 0, flops: 2 * self.sums.terms(), device_bytes: self.sums.bytes() }
    }

    fn enqueue(&self, On(work): On<'_>, (a, x): Self::Inputs<'_>, into: Accum<'_, Self::Output>) -> Result<()> {
        self.check("A", a)?;
        self.check_vectors(x, &into)?;
        work.stage("apply");
        let scaling = Scaling::of(self.sums.vector(), into.alpha, into.beta);
        self.sums.run(work, (&a.cbc).into(), x.values.any(), scaling, into.c.values.any_mut())
    }
}

impl<M: HostMatrix, V: 'static> std::fmt::Debug for Apply<M, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let transposed = if self.transposed { "transposed " } else { "" };
        write!(f, "Apply({transposed}{:?}, {}, {} bytes)", self.a, self.format(), self.cost().device_bytes)
    }
}
