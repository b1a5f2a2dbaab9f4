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
mod tests {
    use super::*;
    use crate::io::{ReadOptions, WriteOptions, read_any, write};
    use half::f16;

    /// Small integers, which every element type can represent.
    fn scalars<T: Element>() -> Csc<T> {
        let entries = [(0, 0, 2.0), (5, 0, 3.0), (2, 1, 7.0), (3, 3, 0.0), (1, 3, 1.0)];
        Csc::from_triplets(6, 4, entries.map(|(row, col, x)| (row, col, T::from_f64(x)))).unwrap()
    }

    fn there_and_back<M: Matrix + PartialEq + std::fmt::Debug>(matrix: M) -> Result<AnyMatrix>
    where
        AnyMatrix: From<M>,
    {
        let (any, size) = (AnyMatrix::from(matrix.clone()), AnyView::from(&matrix).dimensions());
        assert_eq!((any.kind(), any.element(), any.nnz()), (MatrixKind::of::<M>(), M::Element::TYPE, any.view().nnz()));
        let of_shape = (any.shape().rows(), any.shape().cols());
        assert_eq!((any.nrows(), any.ncols(), of_shape), (size.nrows, size.ncols, (size.block_rows, size.block_cols)));
        assert_eq!(any.as_cbc::<M::Element>()?.values, matrix.as_cbc().values);
        assert_eq!(any.clone().typed::<M>()?, matrix);
        Ok(any)
    }

    fn of_type<T: Element>() -> Result<()> {
        let (shape, scalars) = (BlockShape::new(2, 4)?, scalars::<T>());
        let blocks = scalars.to_blocks(shape)?;
        let any = there_and_back(scalars.clone())?;
        assert_eq!(there_and_back(blocks.clone())?, any.to_blocks(shape)?);
        assert_eq!(any.to_blocks(shape)?.to_scalars(), blocks.to_scalars().into());
        let rows = Csr::from_transpose(scalars.transpose());
        let any = there_and_back(rows)?;
        assert_eq!(there_and_back(Bsr::from_transpose(blocks.transpose()))?, any.to_blocks(shape)?);
        assert!(matches!(any.to_blocks(BlockShape::new(4, 4)?), Err(Error::BlockDoesNotDivide { what: "rows", .. })));
        // Blocks with padding, and blocks of another shape.
        let padded = there_and_back(blocks.with_alignment(64)?)?;
        assert_eq!(padded, blocks.clone().into());
        let (other, scalars) = (BlockShape::new(3, 2)?, blocks.to_scalars());
        assert_eq!(padded.to_blocks(other)?, scalars.to_blocks(other)?.into());
        for element in [ElementType::F64, ElementType::F16, ElementType::U32, ElementType::U8] {
            assert_eq!(AnyMatrix::from(scalars.clone()).cast(element).cast(T::TYPE), scalars.clone().into());
        }
        Ok(())
    }

    #[test]
    fn matrices_of_every_type_and_format_come_back() -> Result<()> {
        of_type::<f64>()?;
        of_type::<f32>()?;
        of_type::<f16>()?;
        of_type::<u32>()?;
        of_type::<i32>()?;
        of_type::<u8>()
    }

    #[test]
    fn elements_are_equal_as_numbers() -> Result<()> {
        let of = |value| Csc::from_triplets(1, 1, [(0, 0, value)]).map(AnyMatrix::from);
        assert_eq!(of(0.0)?, of(-0.0)?);
        assert_ne!(of(0.0)?, of(1.0)?);
        assert_ne!(of(f64::NAN)?, of(f64::NAN)?);
        Ok(())
    }

    #[test]
    fn a_triangle_and_its_mirror_image_are_the_whole() -> Result<()> {
        let scalars = [(0, 0, 1.0), (2, 0, 2.0), (1, 1, 3.0), (3, 2, 4.0), (0, 2, 2.0), (2, 3, 4.0)];
        let scalars = Csc::from_triplets(4, 4, scalars)?;
        for side in [1, 2] {
            let blocks = AnyMatrix::from(scalars.to_blocks(BlockShape::new(side, side)?)?);
            for whole in [blocks.clone(), blocks.into_transpose()] {
                for (part, below) in [(Part::Lower, true), (Part::Upper, false)] {
                    let triangle = whole.triangle(part);
                    let arrays = triangle.pattern();
                    let by_rows = |row: u32, col: usize| (row as usize >= col) == (below != whole.kind.is_row_major());
                    let is_inside =
                        |col| arrays.column(col).iter().all(|&row| row as usize == col || by_rows(row, col));
                    assert!(triangle.nnz() < whole.nnz() && (0..arrays.ncols()).all(is_inside));
                    assert_eq!(triangle.mirrored()?, whole);
                }
            }
        }
        assert!(AnyMatrix::from(Csc::<f64>::from_triplets(2, 3, [])?).mirrored().is_err());
        Ok(())
    }

    #[test]
    fn other_types_are_refused_by_their_names() -> Result<()> {
        let any = AnyMatrix::from(scalars::<f32>().to_blocks(BlockShape::new(2, 2)?)?);
        let refused = |error: Error| error.to_string();
        assert_eq!(refused(any.as_cbc::<f64>().unwrap_err()), "the matrix has elements of f32, not of f64");
        assert_eq!(refused(Cbc::<f64>::try_from(any.clone()).unwrap_err()), "the matrix is a Cbc<f32>, not a Cbc<f64>");
        assert_eq!(refused(any.typed::<Bsr<f32>>().unwrap_err()), "the matrix is a Cbc<f32>, not a Bsr<f32>");
        Ok(())
    }

    #[test]
    fn casts_round_as_elements_do() -> Result<()> {
        let column = (0..4).zip([-1.5, 300.25, f64::NAN, 1e300]).map(|(row, x)| (row, 0, x));
        let a = AnyMatrix::from(Csc::from_triplets(4, 1, column)?);
        assert_eq!(a.cast(ElementType::I32).values(), &AnyValues::I32(vec![-2, 300, 0, i32::MAX]));
        assert_eq!(a.cast(ElementType::U8).values(), &AnyValues::U8(vec![0, 255, 0, 255]));
        Ok(())
    }

    #[test]
    fn files_name_the_type() -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str, matrix: &AnyMatrix| -> Result<AnyMatrix> {
            let path = folder.path().join(name);
            write(&path, matrix, &WriteOptions::default())?;
            read_any(&path, &ReadOptions::default())
        };
        let shape = BlockShape::new(3, 2)?;
        for element in [ElementType::F64, ElementType::F32, ElementType::U32, ElementType::I32, ElementType::U8] {
            let scalars = AnyMatrix::from(scalars::<f64>()).cast(element);
            let blocks = scalars.to_blocks(shape)?;
            assert_eq!(read("a.npz", &scalars)?, scalars);
            assert_eq!(read("b.npz", &blocks)?, blocks);
            // Text files have no element type, and the plain binary format has a fixed one.
            assert_eq!(read("a.mtx", &blocks)?, blocks.cast(ElementType::F64));
            assert_eq!(read("a.bin", &blocks)?, blocks.cast(ElementType::F64));
        }
        // SciPy computes with no type narrower than `float32`, so `f16` is written as `float32`.
        let halves = AnyMatrix::from(scalars::<f16>());
        assert_eq!(read("a.npz", &halves)?, halves.cast(ElementType::F32));
        Ok(())
    }
}
