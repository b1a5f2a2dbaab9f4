//! [`AnyMatrix`]: a matrix whose element and format are values.
use super::{AnyView, BlockShape, Bsr, Cbc, Csc, Csr, Matrix, MatrixKind, Pattern};
use crate::{
    Element, Error, Result,
    element::{AnyValues, ElementType},
};

/// A matrix whose element type and format are known at run time: what a file names, or what another
/// language hands over.
///
/// It is made of a matrix of any type, and gives it back by `try_into` or [`AnyMatrix::typed`].
/// Both move the arrays.
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
    /// Of the blocks as the arrays have them: transposed if the matrix is row-major.
    pub(super) shape: BlockShape,
    pub(super) stride: usize,
    pub(super) values: AnyValues,
}

impl AnyMatrix {
    /// Arrays of compressed block columns (of the transpose for a row-major kind), whose lengths
    /// fit.
    pub(crate) fn of_arrays(
        kind: MatrixKind,
        pattern: Pattern,
        (shape, stride): (BlockShape, usize),
        values: AnyValues,
    ) -> Self {
        debug_assert_eq!(values.len(), pattern.nnz() * stride);
        Self { kind, pattern, shape, stride, values }
    }

    /// The matrix as a type, without a copy.
    ///
    /// # Errors
    /// [`Error::Argument`] if its element or its format is another one.
    pub fn typed<M: Matrix>(self) -> Result<M> {
        let (found, wanted) = ((self.kind, self.element()), (MatrixKind::of::<M>(), M::Element::TYPE));
        if found != wanted {
            let name = |(kind, element): (MatrixKind, ElementType)| format!("{}<{element}>", kind.name());
            return Err(Error::Argument(format!("the matrix is a {}, not a {}", name(found), name(wanted))));
        }
        M::from_cbc(Cbc::with_stride(self.pattern, self.shape, self.stride, self.values.of_same())?)
    }

    /// The arrays, borrowed.
    pub fn view(&self) -> AnyView<'_> {
        let Self { kind, pattern, shape, stride, values } = self;
        AnyView { kind: *kind, pattern, shape: *shape, stride: *stride, values: values.borrow() }
    }

    /// Returns the elements.
    pub fn into_values(self) -> AnyValues {
        self.values
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

    /// The places of the entries: those of the transpose if the matrix is row-major.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// The elements, block after block, [`AnyMatrix::stride`] apart.
    pub fn values(&self) -> &AnyValues {
        &self.values
    }

    /// Elements from the start of one block to the start of the next.
    pub fn stride(&self) -> usize {
        self.stride
    }
}

macro_rules! formats {
    ($($matrix:ident),+) => { $(
        impl<T: Element> From<$matrix<T>> for AnyMatrix {
            fn from(matrix: $matrix<T>) -> Self {
                let kind = MatrixKind::of::<$matrix<T>>();
                let Cbc { pattern, shape, stride, values } = matrix.into_cbc();
                Self { kind, pattern, shape, stride, values: T::any(values) }
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
