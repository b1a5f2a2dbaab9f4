//! [`Csc`]: scalar compressed sparse columns.
use super::{AnyMatrix, AnyView, BlockShape, Cbc, CbcView, Matrix, Pattern, sealed::Sealed, triplets::Places};
use crate::{Element, Error, Result};
use nalgebra::DMatrix;

/// A sparse matrix in compressed-column form: a [`Pattern`] and one value for each entry.
///
/// ```
/// use blockmul::{BlockShape, Csc};
/// let a = Csc::from_triplets(4, 4, [(0, 0, 1.0), (3, 1, 2.0), (3, 1, 0.5), (2, 3, 4.0)])?;
/// assert_eq!((a.nnz(), a.values()), (3, &[1.0, 2.5, 4.0][..])); // duplicates are summed
/// let blocks = a.to_blocks(BlockShape::new(2, 2)?)?;
/// // Every element of a stored block counts:
/// assert_eq!((blocks.nnz(), blocks.to_scalars().nnz()), (3, 12));
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Csc<T> {
    pattern: Pattern,
    values: Vec<T>,
}

impl<T: Element> Csc<T> {
    /// Makes a matrix from a pattern and one value for each entry.
    ///
    /// # Errors
    /// [`Error::Length`] if there are more or fewer values than entries.
    pub fn new(pattern: Pattern, values: Vec<T>) -> Result<Self> {
        if values.len() != pattern.nnz() {
            return Err(Error::Length {
                array: "values",
                found: values.len(),
                expected: pattern.nnz(),
                why: format!("{} entries", pattern.nnz()),
            });
        }
        Ok(Self { pattern, values })
    }

    /// Makes a matrix from `(row, column, value)` in any order. Values at the same place are added
    /// in the given order.
    ///
    /// # Errors
    /// [`Error::Pattern`] if rows or columns exceed `u32`, [`Error::Argument`] if a place is
    /// outside the matrix.
    pub fn from_triplets(
        nrows: usize,
        ncols: usize,
        triplets: impl IntoIterator<Item = (usize, usize, T)>,
    ) -> Result<Self> {
        Self::collect(Places::new(nrows, ncols, false)?, &mut triplets.into_iter())
    }

    /// Makes the matrix. This function is compiled once for all iterators. `places` says whether
    /// the arrays are by rows.
    pub(super) fn collect(mut places: Places, triplets: &mut dyn Iterator<Item = (usize, usize, T)>) -> Result<Self> {
        let mut values = Vec::new();
        for (row, col, value) in triplets {
            places.push(row, col)?;
            values.push(value);
        }
        let (pattern, values) = places.compress(1, T::any(values))?;
        Self::new(pattern, values.of_same())
    }

    /// Makes a matrix from the nonzero elements of a dense matrix.
    ///
    /// # Errors
    /// See [`Csc::from_triplets`].
    pub fn from_dense(dense: &DMatrix<T>) -> Result<Self> {
        Self::from_triplets(dense.nrows(), dense.ncols(), nonzeros(dense))
    }

    /// The dense matrix.
    ///
    /// # Panics
    /// If there is not enough memory.
    pub fn to_dense(&self) -> DMatrix<T> {
        self.as_cbc().to_dense()
    }

    /// Cuts the matrix into blocks. A block is stored if it contains an entry, even if the entry's
    /// value is 0.
    ///
    /// # Errors
    /// [`Error::BlockDoesNotDivide`] with the block sides that would divide the matrix.
    pub fn to_blocks(&self, shape: BlockShape) -> Result<Cbc<T>> {
        shape.check_divides(self.nrows(), self.ncols())?;
        let (pattern, values) = AnyView::from(self).cut(shape);
        Cbc::new(pattern, shape, values.of_same())
    }

    /// Like [`Csc::transpose`], but returns an error if the transpose does not fit the host.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn try_transpose(&self) -> Result<Self> {
        self.pattern.check_transpose(size_of::<T>())?;
        Ok(self.transpose())
    }

    /// The transpose.
    pub fn transpose(&self) -> Self {
        let AnyMatrix { pattern, values, .. } = AnyView::from(self).transposed();
        Self { pattern, values: values.of_same() }
    }

    /// The matrix without the entries whose value is 0.
    pub fn without_zeros(&self) -> Self {
        self.with_entries(|_, _, value| value.to_f64() != 0.0)
    }

    /// Iterates over the entries column by column: row, column, value.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, T)> {
        let Self { pattern, values } = self;
        let place = move |col| move |entry| (pattern.row_idx()[entry] as usize, col, values[entry]);
        (0..self.ncols()).flat_map(move |col| pattern.entries(col).map(place(col)))
    }

    /// Iterates over the entries of a column: row and value.
    ///
    /// # Panics
    /// If the column is out of range.
    pub fn column(&self, column: usize) -> impl ExactSizeIterator<Item = (usize, T)> {
        let of = |entry: usize| (self.pattern.row_idx()[entry] as usize, self.values[entry]);
        self.pattern.entries(column).map(of)
    }

    /// The matrix of some consecutive columns.
    ///
    /// # Errors
    /// [`Error::Argument`] if the columns are out of range.
    pub fn columns(&self, columns: std::ops::Range<usize>) -> Result<Self> {
        AnyView::from(self).lines(columns)?.typed()
    }

    /// Converts to the same matrix by rows.
    ///
    /// # Errors
    /// [`Error::Memory`] if the result does not fit the host.
    pub fn to_csr(&self) -> Result<super::Csr<T>> {
        Ok(super::Csr::from_transpose(self.try_transpose()?))
    }

    /// Keeps the entries whose row, column and value `keep` accepts.
    pub(crate) fn with_entries(&self, keep: impl Fn(u32, usize, T) -> bool) -> Self {
        let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::new(), Vec::new());
        for col in 0..self.ncols() {
            for entry in self.pattern.entries(col) {
                let (row, value) = (self.pattern.row_idx()[entry], self.values[entry]);
                if keep(row, col, value) {
                    row_idx.push(row);
                    values.push(value);
                }
            }
            col_ptr.push(row_idx.len() as u64);
        }
        Self { pattern: Pattern::trusted(self.nrows(), self.ncols(), col_ptr, row_idx), values }
    }

    /// The matrix with elements of another type. Each element is rounded to nearest.
    pub fn cast<U: Element>(&self) -> Csc<U> {
        let values = T::any_slice(&self.values).cast(U::TYPE).of_same();
        Csc { pattern: self.pattern.clone(), values }
    }

    /// Rows.
    pub fn nrows(&self) -> usize {
        self.pattern.nrows()
    }

    /// Columns.
    pub fn ncols(&self) -> usize {
        self.pattern.ncols()
    }

    /// Stored entries.
    pub fn nnz(&self) -> usize {
        self.pattern.nnz()
    }

    /// Returns pattern and values.
    pub fn into_parts(self) -> (Pattern, Vec<T>) {
        (self.pattern, self.values)
    }

    /// Pattern of the entries.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// One value per entry.
    pub fn values(&self) -> &[T] {
        &self.values
    }
}

/// Iterates over the nonzero elements: row, column, value.
pub(super) fn nonzeros<T: Element>(dense: &DMatrix<T>) -> impl Iterator<Item = (usize, usize, T)> {
    let rows = dense.nrows();
    let place = move |(i, &value): (usize, &T)| (i % rows, i / rows, value);
    dense.iter().enumerate().map(place).filter(|(.., value)| value.to_f64() != 0.0)
}

impl<T> Sealed for Csc<T> {}

impl<T: Element> Matrix for Csc<T> {
    type Element = T;
    const ROW_MAJOR: bool = false;
    const BLOCKS: bool = false;

    fn as_cbc(&self) -> CbcView<'_, T> {
        CbcView { pattern: &self.pattern, shape: BlockShape::SCALAR, stride: 1, values: &self.values }
    }

    fn from_cbc(cbc: Cbc<T>) -> Result<Self> {
        let shape = cbc.shape();
        if shape != BlockShape::SCALAR || cbc.stride() != 1 {
            return Err(Error::BlockShape { rows: shape.rows(), cols: shape.cols() });
        }
        let (pattern, values) = cbc.into_parts();
        Ok(Self { pattern, values })
    }

    fn into_cbc(self) -> Cbc<T> {
        Cbc { pattern: self.pattern, shape: BlockShape::SCALAR, stride: 1, values: self.values }
    }
}
