//! [`AnyMatrix`]: a matrix whose element type and format are known at run time only.
use super::{AnyView, BlockShape, Bsr, Cbc, CbcView, Csc, Csr, Matrix, MatrixKind, Part, Pattern};
use crate::{
    Element, Error, Result,
    element::{AnyValues, ElementType, Listed},
};

/// A matrix whose element type and format are known at run time only, for example from a file or
/// from another language.
///
/// A matrix of any type converts to an `AnyMatrix`, and back by `try_into` or [`AnyMatrix::typed`].
/// Conversions from and to `AnyMatrix` move the arrays.
///
/// ```
/// use blockmul::{Csc, Csr, element::ElementType, matrix::{AnyMatrix, MatrixKind}};
/// let a = AnyMatrix::from(Csc::from_triplets(3, 2, [(0, 0, 1.0f32), (2, 1, 5.0)])?);
/// assert_eq!((a.nrows(), a.ncols(), a.nnz()), (3, 2, 2));
/// assert_eq!((a.element(), a.kind()), (ElementType::F32, MatrixKind::Csc));
/// let wide: Csc<f64> = a.cast(ElementType::F64).try_into()?;
/// assert_eq!(wide.values(), [1.0, 5.0]);
/// let error = a.typed::<Csr<f32>>().unwrap_err();
/// assert_eq!(error.to_string(), "the matrix is a Csc<f32>, not a Csr<f32>");
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AnyMatrix {
    pub(super) kind: MatrixKind,
    pub(super) pattern: Pattern,
    /// The shape of the blocks in the arrays. In a row-major matrix this is the shape of the
    /// transposed blocks.
    pub(super) shape: BlockShape,
    pub(super) stride: usize,
    pub(super) values: AnyValues,
}

impl AnyMatrix {
    /// Makes a matrix from its arrays of compressed block columns, or for a row-major kind from the
    /// arrays of its transpose. The lengths of the arrays must fit.
    pub(crate) fn of_arrays(
        kind: MatrixKind,
        pattern: Pattern,
        shape: BlockShape,
        stride: usize,
        values: AnyValues,
    ) -> Self {
        debug_assert_eq!(values.len(), pattern.nnz() * stride);
        Self { kind, pattern, shape, stride, values }
    }

    /// Converts a matrix of a known type, without a copy.
    pub(crate) fn of_typed<M: Matrix>(matrix: M) -> Self {
        let Cbc { pattern, shape, stride, values } = matrix.into_cbc();
        Self { kind: MatrixKind::of::<M>(), pattern, shape, stride, values: <M::Element as Listed>::any(values) }
    }

    /// Changes the format and keeps the arrays. The new format must be stored by columns or by rows
    /// like the old format, and must support blocks if the old format does.
    pub(crate) fn of_kind(self, kind: MatrixKind) -> Self {
        debug_assert!(
            self.kind.is_row_major() == kind.is_row_major() && (kind.has_blocks() || !self.kind.has_blocks())
        );
        Self { kind, ..self }
    }

    /// The matrix with its type `M` known at compile time, without a copy.
    ///
    /// # Errors
    /// [`Error::Argument`] if the matrix has another element type or format.
    pub fn typed<M: Matrix>(self) -> Result<M> {
        self.kind.check_type::<M>(self.element())?;
        let Self { pattern, shape, stride, values, .. } = self;
        M::from_cbc(Cbc { pattern, shape, stride, values: values.of_same() })
    }

    /// Borrows the arrays as compressed block columns of elements `T`. If the matrix is row-major,
    /// the result has the arrays of the transpose.
    ///
    /// # Errors
    /// [`Error::Argument`] if the elements have another type.
    pub fn as_cbc<T: Element>(&self) -> Result<CbcView<'_, T>> {
        let other = || Error::Argument(format!("the matrix has elements of {}, not of {}", self.element(), T::TYPE));
        self.view().cbc().ok_or_else(other)
    }

    /// Converts the elements to another type. Each element is rounded to nearest, see
    /// [`Element::from_f64`].
    pub fn cast(&self, element: ElementType) -> Self {
        let Self { kind, shape, stride, .. } = *self;
        Self { kind, pattern: self.pattern.clone(), shape, stride, values: self.values.borrow().cast(element) }
    }

    /// Cuts the matrix into blocks: [`Cbc`], or [`Bsr`] for a row-major matrix. A block is stored
    /// if it contains an entry, even if the entry's value is 0. Blocks can be cut again to another
    /// shape.
    ///
    /// # Errors
    /// [`Error::BlockDoesNotDivide`] with the block sides that would divide the matrix.
    pub fn to_blocks(&self, shape: BlockShape) -> Result<Self> {
        let (rows, cols) = self.view().scalar_sides();
        shape.check_divides(rows, cols)?;
        if self.shape != BlockShape::SCALAR || self.stride != 1 {
            return self.to_scalars().to_blocks(shape);
        }
        let (kind, shape) = match self.kind.is_row_major() {
            true => (MatrixKind::Bsr, shape.transpose()),
            false => (MatrixKind::Cbc, shape),
        };
        let (pattern, values) = self.view().cut(shape);
        Ok(Self { kind, pattern, shape, stride: shape.area(), values })
    }

    /// The transpose in the same format, without padding. [`AnyMatrix::into_transpose`] copies
    /// nothing.
    ///
    /// # Errors
    /// [`Error::Memory`] if the result does not fit the host.
    pub fn transpose(&self) -> Result<Self> {
        self.pattern.check_transpose(self.shape.area() * self.element().bytes())?;
        Ok(self.view().transposed())
    }

    /// The transpose, over the same arrays. A matrix by columns becomes a matrix by rows, and vice
    /// versa.
    pub fn into_transpose(self) -> Self {
        Self { kind: self.kind.transposed(), ..self }
    }

    /// Applies a function to every element as `f64`, and rounds the results to the element type.
    pub fn map(&self, number: impl Fn(f64) -> f64) -> Self {
        let Self { kind, shape, stride, .. } = *self;
        Self { kind, pattern: self.pattern.clone(), shape, stride, values: self.values.map(number) }
    }

    /// Keeps the entries (blocks) in a part of a square matrix. Blocks on the diagonal are kept
    /// whole.
    pub fn triangle(&self, part: Part) -> Self {
        // The arrays of a row-major matrix are the arrays of its transpose.
        let below = (part == Part::Lower) != self.kind.is_row_major();
        match part {
            Part::Full => self.clone(),
            Part::Lower | Part::Upper => self.with_places(|row, col| if below { row >= col } else { row <= col }),
        }
    }

    /// The whole symmetric matrix, if this matrix is one triangle of it. The result has all stored
    /// entries (blocks), and the mirror image of each entry that is not on the diagonal.
    ///
    /// ```
    /// use blockmul::{Csc, Part, matrix::AnyMatrix};
    /// let lower = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 0, 5.0)])?);
    /// let whole = lower.mirrored()?;
    /// assert_eq!(whole.values().numbers(), [1.0, 5.0, 5.0]);
    /// assert_eq!(whole.triangle(Part::Lower).values(), lower.values());
    /// # Ok::<(), blockmul::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if the matrix or its blocks are not square; [`Error::Memory`] if the
    /// whole matrix does not fit the host.
    pub fn mirrored(&self) -> Result<Self> {
        let image = self.transpose()?.with_places(|row, col| row != col);
        super::add_any(1.0, self, 1.0, &image)
    }

    /// Keeps the entries whose row and column `keep` accepts.
    fn with_places(&self, keep: impl Fn(usize, usize) -> bool) -> Self {
        let pattern = &self.pattern;
        let keep = &keep;
        let kept = |col| pattern.entries(col).filter(move |&entry| keep(pattern.row_idx()[entry] as usize, col));
        self.view().with_entries(&(0..pattern.ncols()).flat_map(kept).collect::<Vec<_>>())
    }

    /// Converts to a matrix of scalars: [`Csc`], or [`Csr`] for a row-major matrix. Every element
    /// of a stored block becomes an entry, even if it is zero.
    pub fn to_scalars(&self) -> Self {
        let kind = if self.kind.is_row_major() { MatrixKind::Csr } else { MatrixKind::Csc };
        let (pattern, values) = self.view().scalars();
        Self { kind, pattern, shape: BlockShape::SCALAR, stride: 1, values }
    }

    /// Borrows the arrays.
    pub fn view(&self) -> AnyView<'_> {
        let Self { kind, pattern, shape, stride, values } = self;
        AnyView { kind: *kind, pattern, shape: *shape, stride: *stride, values: values.borrow() }
    }

    /// Returns the pattern of the arrays and the elements. For a row-major matrix the pattern is
    /// that of the transpose.
    pub fn into_parts(self) -> (Pattern, AnyValues) {
        (self.pattern, self.values)
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.values.element()
    }

    /// The format.
    pub fn kind(&self) -> MatrixKind {
        self.kind
    }

    /// Rows, counted in entries (blocks).
    pub fn nrows(&self) -> usize {
        self.kind.oriented(self.pattern.nrows(), self.pattern.ncols()).0
    }

    /// Columns, counted in entries (blocks).
    pub fn ncols(&self) -> usize {
        self.kind.oriented(self.pattern.nrows(), self.pattern.ncols()).1
    }

    /// Stored entries (blocks).
    pub fn nnz(&self) -> usize {
        self.pattern.nnz()
    }

    /// Shape of every block; 1x1 for scalars.
    pub fn shape(&self) -> BlockShape {
        if self.kind.is_row_major() { self.shape.transpose() } else { self.shape }
    }

    /// The pattern of the entries, or of the transpose's entries if the matrix is row-major.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// The elements, block after block. Consecutive blocks are [`AnyMatrix::stride`] apart.
    pub fn values(&self) -> &AnyValues {
        &self.values
    }

    /// Number of elements from the start of one block to the start of the next.
    pub fn stride(&self) -> usize {
        self.stride
    }
}

impl<'a> From<&'a AnyMatrix> for AnyView<'a> {
    fn from(matrix: &'a AnyMatrix) -> Self {
        matrix.view()
    }
}

/// Compares element type, format, pattern, shape and blocks, but not the padding. Elements are
/// compared as numbers: 0.0 equals -0.0, and NaN equals nothing.
impl PartialEq for AnyMatrix {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.view(), other.view());
        let equal = |entry| (0..a.shape.area()).all(|i| a.number(entry, i) == b.number(entry, i));
        (a.kind, a.element(), a.shape) == (b.kind, b.element(), b.shape)
            && a.pattern == b.pattern
            && (0..a.nnz()).all(equal)
    }
}

macro_rules! formats {
    ($($matrix:ident),+) => { $(
        impl<T: Element> From<$matrix<T>> for AnyMatrix {
            fn from(matrix: $matrix<T>) -> Self {
                Self::of_typed(matrix)
            }
        }

        impl<T: Element> TryFrom<AnyMatrix> for $matrix<T> {
            type Error = Error;
            fn try_from(matrix: AnyMatrix) -> Result<Self> {
                matrix.typed()
            }
        }
    )+ };
}
formats!(Csc, Csr, Cbc, Bsr);

#[cfg(test)]
mod tests;
