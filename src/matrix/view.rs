//! [`AnyView`]: the arrays of a matrix whose element type and format are known at run time only.
use super::{BlockShape, CbcView, Matrix, Pattern};
use crate::{
    Element, Error, Result,
    element::{AnySlice, ElementType},
    error::Dimensions,
};

/// The format of a matrix, known at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatrixKind {
    /// Compressed columns of scalars: [`Csc`](crate::Csc).
    Csc,
    /// Compressed rows of scalars: [`Csr`](crate::Csr).
    Csr,
    /// Compressed columns of blocks: [`Cbc`](crate::Cbc).
    Cbc,
    /// Compressed rows of blocks: [`Bsr`](crate::Bsr).
    Bsr,
}

impl MatrixKind {
    /// The format of a matrix type.
    pub const fn of<M: Matrix>() -> Self {
        match (M::ROW_MAJOR, M::BLOCKS) {
            (false, false) => Self::Csc,
            (true, false) => Self::Csr,
            (false, true) => Self::Cbc,
            (true, true) => Self::Bsr,
        }
    }

    /// The name of the matrix type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Csc => "Csc",
            Self::Csr => "Csr",
            Self::Cbc => "Cbc",
            Self::Bsr => "Bsr",
        }
    }

    /// Whether the arrays are the arrays of the transpose; see [`Matrix::ROW_MAJOR`].
    pub const fn is_row_major(self) -> bool {
        matches!(self, Self::Csr | Self::Bsr)
    }

    /// Whether entries may be blocks other than 1x1; see [`Matrix::BLOCKS`].
    pub const fn has_blocks(self) -> bool {
        matches!(self, Self::Cbc | Self::Bsr)
    }

    /// The format of the transpose over the same arrays.
    pub const fn transposed(self) -> Self {
        match self {
            Self::Csc => Self::Csr,
            Self::Csr => Self::Csc,
            Self::Cbc => Self::Bsr,
            Self::Bsr => Self::Cbc,
        }
    }

    /// Refuses a matrix of this format and these elements if its type is not `M`.
    pub(crate) fn check_type<M: Matrix>(self, element: ElementType) -> Result<()> {
        let (wanted, of) = (Self::of::<M>(), M::Element::TYPE);
        match (self, element) == (wanted, of) {
            true => Ok(()),
            false => {
                let (found, wanted) = (self.name(), wanted.name());
                Err(Error::Argument(format!("the matrix is a {found}<{element}>, not a {wanted}<{of}>")))
            }
        }
    }

    /// Turns numbers for the rows and columns of the arrays into numbers for the rows and columns
    /// of the matrix. If the matrix is row-major, the numbers are swapped.
    pub(crate) fn oriented<N>(self, rows: N, cols: N) -> (N, N) {
        if self.is_row_major() { (cols, rows) } else { (rows, cols) }
    }
}

/// The borrowed arrays of a matrix, with element type and format known at run time only. A
/// reference to a matrix of any type, or to an [`AnyMatrix`](super::AnyMatrix), converts to this
/// type.
///
/// ```
/// use blockmul::{Csc, element::ElementType, matrix::AnyView};
/// let a = Csc::from_triplets(3, 2, [(0, 0, 1.0f32), (2, 1, 5.0)])?;
/// let view = AnyView::from(&a);
/// assert_eq!((view.element(), view.nnz()), (ElementType::F32, 2));
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct AnyView<'a> {
    pub(crate) kind: MatrixKind,
    pub(crate) pattern: &'a Pattern,
    /// The shape of the blocks in the arrays. In a row-major matrix this is the shape of the
    /// transposed blocks.
    pub(crate) shape: BlockShape,
    pub(crate) stride: usize,
    pub(crate) values: AnySlice<'a>,
}

impl<'a, M: Matrix> From<&'a M> for AnyView<'a> {
    fn from(matrix: &'a M) -> Self {
        Self::of_cbc(MatrixKind::of::<M>(), matrix.as_cbc())
    }
}

/// Treats the arrays as compressed block columns.
impl<'a, T: Element> From<CbcView<'a, T>> for AnyView<'a> {
    fn from(cbc: CbcView<'a, T>) -> Self {
        Self::of_cbc(MatrixKind::Cbc, cbc)
    }
}

impl<'a> AnyView<'a> {
    /// Borrows arrays without padding, for example those of another language's matrix. `pattern` is
    /// the pattern of the arrays, which for a row-major kind is that of the transpose. The elements
    /// of a block are ordered by columns, in a row-major matrix by rows.
    ///
    /// ```
    /// use blockmul::{BlockShape, matrix::{AnyView, MatrixKind, Pattern}};
    /// // [1 2 0; 0 0 3]: the pattern of the transpose has 2 columns.
    /// let pattern = Pattern::new(3, 2, vec![0, 2, 3], vec![0, 1, 2])?;
    /// let view = AnyView::new(MatrixKind::Csr, &pattern, BlockShape::SCALAR, &[1.0, 2.0, 3.0])?;
    /// assert_eq!((view.nrows(), view.ncols()), (2, 3));
    /// # Ok::<(), blockmul::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] if there are not as many values as entries times elements of a block;
    /// [`Error::Argument`] for blocks in a format of scalars.
    pub fn new<T: Element>(kind: MatrixKind, pattern: &'a Pattern, shape: BlockShape, values: &'a [T]) -> Result<Self> {
        if shape != BlockShape::SCALAR && !kind.has_blocks() {
            return Err(Error::Argument(format!("blocks of {shape} in a {}, whose entries are scalars", kind.name())));
        }
        let expected = pattern.nnz() * shape.area();
        if values.len() != expected {
            let why = format!("{} entries of {shape}", pattern.nnz());
            return Err(Error::Length { array: "values", found: values.len(), expected, why });
        }
        let of_arrays = if kind.is_row_major() { shape.transpose() } else { shape };
        Ok(Self { kind, pattern, shape: of_arrays, stride: shape.area(), values: T::any_slice(values) })
    }

    pub(crate) fn of_cbc<T: Element>(kind: MatrixKind, cbc: CbcView<'a, T>) -> Self {
        let CbcView { pattern, shape, stride, values } = cbc;
        Self { kind, pattern, shape, stride, values: T::any_slice(values) }
    }

    /// The transpose over the same arrays. A matrix by columns becomes a matrix by rows, and vice
    /// versa.
    pub fn as_transpose(self) -> Self {
        Self { kind: self.kind.transposed(), ..self }
    }

    /// The arrays with elements of type `T`, or `None` if the elements have another type.
    pub(crate) fn cbc<T: Element>(self) -> Option<CbcView<'a, T>> {
        let Self { pattern, shape, stride, .. } = self;
        Some(CbcView { pattern, shape, stride, values: T::of_any_slice(self.values)? })
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.values.element()
    }

    /// The format.
    pub fn kind(&self) -> MatrixKind {
        self.kind
    }

    /// Stored entries (blocks).
    pub fn nnz(&self) -> usize {
        self.pattern.nnz()
    }

    /// Rows, counted in entries (blocks).
    pub fn nrows(&self) -> usize {
        self.dimensions().nrows
    }

    /// Columns, counted in entries (blocks).
    pub fn ncols(&self) -> usize {
        self.dimensions().ncols
    }

    /// Shape of every block; 1x1 for scalars.
    pub fn shape(&self) -> BlockShape {
        if self.kind.is_row_major() { self.shape.transpose() } else { self.shape }
    }

    /// The pattern of the entries, or of the transpose's entries if the matrix is row-major.
    pub fn pattern(&self) -> &'a Pattern {
        self.pattern
    }

    /// Element `i` of entry `entry`, in the order of the arrays.
    pub(crate) fn number(&self, entry: usize, i: usize) -> f64 {
        self.values.number(entry * self.stride + i)
    }

    /// Rows and columns, counted in scalars.
    pub(crate) fn scalar_sides(&self) -> (usize, usize) {
        let rows = self.pattern.nrows() * self.shape.rows();
        self.kind.oriented(rows, self.pattern.ncols() * self.shape.cols())
    }

    /// Block grid and block shape of the matrix. The storage order does not matter.
    pub(crate) fn dimensions(&self) -> Dimensions {
        let of_arrays = self.of_arrays();
        if self.kind.is_row_major() { of_arrays.transposed() } else { of_arrays }
    }

    /// Block grid and block shape of the arrays.
    pub(crate) fn of_arrays(&self) -> Dimensions {
        let (pattern, shape) = (self.pattern, self.shape);
        Dimensions {
            nrows: pattern.nrows(),
            ncols: pattern.ncols(),
            block_rows: shape.rows(),
            block_cols: shape.cols(),
        }
    }
}
