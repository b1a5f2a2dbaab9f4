//! Norms of the columns and rows of matrices.
use super::{
    check_vector,
    line_sums::{LineSums, Summed, Terms},
};
use crate::{
    Device, DeviceMatrix, DevicePattern, DeviceVector, Field, Matrix, Result,
    element::Scaling,
    matrix::{AnyMatrix, HostMatrix, Kind, MatrixType},
    planned::{
        Accum, Cost, On, Planned,
        prepared::{check_patterns, check_unscaled},
    },
};

/// Norms of the columns or rows of a matrix, prepared for its pattern, for example for Jacobi
/// scaling.
///
/// The squares are added in ascending order of their places, cut every 1024 entries (blocks). The
/// root is rounded to nearest. The bits are equal on every device. If squares leave the range of
/// the arithmetic type, the norm is infinite, or 0.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::Norms;
/// use blockmul::{Csc, Device, Planned};
/// let device = Device::auto()?;
/// let mut a = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 3.0), (1, 0, 4.0), (0, 1, 2.0)])?)?;
/// let columns = Norms::<Csc<f64>>::columns(&a.pattern())?;
/// let mut norms = columns.output()?;
/// columns.execute(&a, &mut norms)?;
/// assert_eq!(norms.download()?, [5.0, 2.0]);
///
/// let inverse: Vec<f64> = norms.download()?.iter().map(|norm| 1.0 / norm).collect();
/// a.scale_columns(&device.upload_vector(&inverse)?)?;
/// columns.execute(&a, &mut norms)?;
/// assert_eq!(norms.download()?, [1.0, 1.0]);
/// # Ok(())
/// # }
/// ```
pub struct Norms<M: HostMatrix> {
    a: DevicePattern,
    sums: LineSums,
    len: usize,
    bytes: u64,
    of: MatrixType<M>,
}

impl<M: Matrix<Element: Field>> Norms<M> {
    /// The 2-norm of every scalar column.
    ///
    /// # Errors
    /// See [`Apply::new`](crate::plan::Apply::new).
    pub fn columns(a: &DevicePattern) -> Result<Self> {
        Self::new(a, MatrixType::OF, true, Terms::Squares)
    }

    /// The 2-norm of every scalar row.
    ///
    /// # Errors
    /// See [`Norms::columns`].
    pub fn rows(a: &DevicePattern) -> Result<Self> {
        Self::new(a, MatrixType::OF, false, Terms::Squares)
    }

    /// The Frobenius norm of every block column. Inside a block the squares are added in the order
    /// in which its elements are stored.
    ///
    /// # Errors
    /// See [`Norms::columns`].
    pub fn block_columns(a: &DevicePattern) -> Result<Self> {
        Self::new(a, MatrixType::OF, true, Terms::BlockSquares)
    }

    /// The Frobenius norm of every block row; see [`Norms::block_columns`].
    ///
    /// # Errors
    /// See [`Norms::columns`].
    pub fn block_rows(a: &DevicePattern) -> Result<Self> {
        Self::new(a, MatrixType::OF, false, Terms::BlockSquares)
    }
}

/// Norms of matrices whose element type and format are known at run time only.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device, Planned, element::AnyValues, matrix::AnyMatrix, plan::Norms};
/// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 3.0f32), (1, 0, 4.0), (0, 1, 2.0)])?);
/// let a = Device::auto()?.upload(&a)?;
/// let columns = Norms::columns_of(&a)?;
/// let mut norms = columns.output()?;
/// columns.execute(&a, &mut norms)?;
/// assert_eq!(norms.download()?, AnyValues::F32(vec![5.0, 2.0]));
/// # Ok(())
/// # }
/// ```
impl Norms<AnyMatrix> {
    /// Like [`Norms::columns`], for the type and pattern of `a`.
    ///
    /// # Errors
    /// See [`Norms::columns`]; [`Error::Argument`](crate::Error::Argument) for integers.
    pub fn columns_of(a: &DeviceMatrix<AnyMatrix>) -> Result<Self> {
        Self::like(a, true, Terms::Squares)
    }

    /// Like [`Norms::rows`], for the type and pattern of `a`.
    ///
    /// # Errors
    /// See [`Norms::columns_of`].
    pub fn rows_of(a: &DeviceMatrix<AnyMatrix>) -> Result<Self> {
        Self::like(a, false, Terms::Squares)
    }

    /// Like [`Norms::block_columns`], for the type and pattern of `a`.
    ///
    /// # Errors
    /// See [`Norms::columns_of`].
    pub fn block_columns_of(a: &DeviceMatrix<AnyMatrix>) -> Result<Self> {
        Self::like(a, true, Terms::BlockSquares)
    }

    /// Like [`Norms::block_rows`], for the type and pattern of `a`.
    ///
    /// # Errors
    /// See [`Norms::columns_of`].
    pub fn block_rows_of(a: &DeviceMatrix<AnyMatrix>) -> Result<Self> {
        Self::like(a, false, Terms::BlockSquares)
    }

    fn like(a: &DeviceMatrix<AnyMatrix>, columns: bool, terms: Terms) -> Result<Self> {
        a.element().check_real("norms")?;
        Self::new(&a.pattern(), a.type_of(), columns, terms)
    }
}

impl<M: HostMatrix> Norms<M> {
    fn new(a: &DevicePattern, of: MatrixType<M>, columns: bool, terms: Terms) -> Result<Self> {
        check_patterns(a.device(), of, [a])?;
        let rows_of_arrays = columns == of.kind.get().is_row_major();
        let summed = Summed { types: [of.element; 2], shape: a.array_shape, packed: false, terms };
        let sums = LineSums::new(a.device(), &a.arrays, rows_of_arrays, summed)?;
        let (len, bytes) = (sums.len(), sums.bytes());
        Ok(Self { a: a.clone(), sums, len, bytes, of })
    }
}

impl<M: HostMatrix> Planned for Norms<M> {
    type Inputs<'a> = &'a DeviceMatrix<M>;
    type Output = DeviceVector<M::Word>;

    fn device(&self) -> &Device {
        self.a.device()
    }

    fn output(&self) -> Result<Self::Output> {
        DeviceVector::zeros_of(self.device(), self.of.element, self.len)
    }

    /// The roots of the norms are not counted.
    fn cost(&self) -> Cost {
        let flops = 2 * self.a.nnz() as u64 * self.a.shape().area() as u64;
        Cost { products: 0, flops, device_bytes: self.bytes }
    }

    fn enqueue(&self, On(work): On<'_>, a: &DeviceMatrix<M>, into: Accum<'_, Self::Output>) -> Result<()> {
        check_unscaled("norms", &into)?;
        a.check("A", &self.a, self.of)?;
        into.c.check_element("norms", self.of.element)?;
        check_vector("norms", into.c, self.device(), self.len, || format!("A is {:?}", self.a))?;
        work.stage("norms");
        // The values take the place of the vector, which is not read.
        let plain = Scaling::plain(self.of.element);
        self.sums.run(work, (&a.cbc).into(), &a.cbc.values, plain, into.c.values.any_mut())
    }
}

impl<M: HostMatrix> std::fmt::Debug for Norms<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Norms({} of {:?})", self.len, self.a)
    }
}
