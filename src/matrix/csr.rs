//! [`Csr`]: scalar compressed sparse rows. The arrays of a `Csr` are the compressed columns of its
//! transpose.
//!
//! So a conversion between a `Csr` and its transpose as a `Csc` copies nothing, and a product of
//! two `Csr` matrices swaps the operands (Cᵀ = BᵀAᵀ).
use super::{
    AnyView, BlockShape, Bsr, Cbc, CbcView, Csc, Matrix, Pattern, csc::nonzeros, sealed::Sealed, triplets::Places,
};
use crate::{Element, Result};
use nalgebra::DMatrix;
use std::ops::Range;

/// A sparse matrix in compressed-row form.
///
/// ```
/// use blockmul::Csr;
/// //  | 1 . 2 |
/// //  | . 3 . |
/// let a = Csr::new(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0])?;
/// let b = Csr::new(3, 2, vec![0, 1, 2, 3], vec![0, 1, 1], vec![1.0, 10.0, 100.0])?;
/// let c = blockmul::reference::multiply(&a, &b)?;
/// assert_eq!((c.row_ptr(), c.col_idx()), (&[0, 2, 3][..], &[0, 1, 1][..]));
/// assert_eq!(c.values(), [1.0, 200.0, 30.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Csr<T> {
    pub(super) transposed: Csc<T>,
}

impl<T: Element> Csr<T> {
    /// Makes a matrix from `row_ptr` (`nrows + 1` offsets), the column of each entry, ascending
    /// within a row, and the values.
    ///
    /// # Errors
    /// See [`Pattern::new`] and [`Csc::new`]. The messages describe the transpose, whose columns
    /// are the rows of this matrix.
    pub fn new(nrows: usize, ncols: usize, row_ptr: Vec<u64>, col_idx: Vec<u32>, values: Vec<T>) -> Result<Self> {
        Ok(Self { transposed: Csc::new(Pattern::new(ncols, nrows, row_ptr, col_idx)?, values)? })
    }

    /// Makes a matrix from `(row, column, value)` in any order. Values at the same place are added
    /// in the given order.
    ///
    /// # Errors
    /// See [`Csc::from_triplets`].
    pub fn from_triplets(
        nrows: usize,
        ncols: usize,
        triplets: impl IntoIterator<Item = (usize, usize, T)>,
    ) -> Result<Self> {
        Ok(Self { transposed: Csc::collect(Places::new(nrows, ncols, true)?, &mut triplets.into_iter())? })
    }

    /// Makes a matrix from the nonzero elements of a dense matrix.
    ///
    /// # Errors
    /// See [`Csr::from_triplets`].
    pub fn from_dense(dense: &DMatrix<T>) -> Result<Self> {
        Self::from_triplets(dense.nrows(), dense.ncols(), nonzeros(dense))
    }

    /// The dense matrix.
    ///
    /// # Panics
    /// If there is not enough memory.
    pub fn to_dense(&self) -> DMatrix<T> {
        self.transposed.to_dense().transpose()
    }

    /// Cuts the matrix into blocks, see [`Csc::to_blocks`].
    ///
    /// # Errors
    /// [`Error::BlockDoesNotDivide`](crate::Error::BlockDoesNotDivide) with the block sides that
    /// would divide the matrix.
    pub fn to_blocks(&self, shape: BlockShape) -> Result<Bsr<T>> {
        shape.check_divides(self.nrows(), self.ncols())?;
        self.transposed.to_blocks(shape.transpose()).map(Bsr::from_transpose)
    }

    /// The transpose in the same format. [`Csr::into_transpose`] returns the transpose by columns
    /// and copies nothing.
    pub fn transpose(&self) -> Self {
        Self { transposed: self.transposed.transpose() }
    }

    /// Converts to the same matrix by columns.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) if the result does not fit the host.
    pub fn to_csc(&self) -> Result<Csc<T>> {
        self.transposed.try_transpose()
    }

    /// The matrix with elements of another type. Each element is rounded to nearest.
    pub fn cast<U: Element>(&self) -> Csr<U> {
        Csr { transposed: self.transposed.cast() }
    }

    /// The matrix without the entries whose value is 0.
    pub fn without_zeros(&self) -> Self {
        Self { transposed: self.transposed.without_zeros() }
    }

    /// Iterates over the entries row by row. Each item is (row, column, value).
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, T)> {
        self.transposed.entries().map(|(col, row, value)| (row, col, value))
    }

    /// Iterates over the entries of a row: column and value.
    ///
    /// # Panics
    /// If the row is out of range.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (usize, T)> {
        self.transposed.column(row)
    }

    /// The matrix of some consecutive rows.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the rows are out of range.
    pub fn rows(&self, rows: Range<usize>) -> Result<Self> {
        AnyView::from(self).lines(rows)?.typed()
    }

    /// Rows.
    pub fn nrows(&self) -> usize {
        self.transposed.ncols()
    }

    /// Columns.
    pub fn ncols(&self) -> usize {
        self.transposed.nrows()
    }

    /// Stored entries.
    pub fn nnz(&self) -> usize {
        self.transposed.nnz()
    }

    /// Offsets of the rows.
    pub fn row_ptr(&self) -> &[u64] {
        self.transposed.pattern().col_ptr()
    }

    /// Column of each entry.
    pub fn col_idx(&self) -> &[u32] {
        self.transposed.pattern().row_idx()
    }

    /// Value of each entry.
    pub fn values(&self) -> &[T] {
        self.transposed.values()
    }

    /// The transpose as compressed columns, over the same arrays.
    pub fn into_transpose(self) -> Csc<T> {
        self.transposed
    }

    /// The matrix whose transpose is `transposed`, over the same arrays.
    pub fn from_transpose(transposed: Csc<T>) -> Self {
        Self { transposed }
    }
}

impl<T> Sealed for Csr<T> {}

impl<T: Element> Matrix for Csr<T> {
    type Element = T;
    const ROW_MAJOR: bool = true;
    const BLOCKS: bool = false;

    fn as_cbc(&self) -> CbcView<'_, T> {
        self.transposed.as_cbc()
    }

    fn from_cbc(cbc: Cbc<T>) -> Result<Self> {
        Csc::from_cbc(cbc).map(Self::from_transpose)
    }

    fn into_cbc(self) -> Cbc<T> {
        self.transposed.into_cbc()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use nalgebra::dmatrix;

    #[test]
    fn rows_are_what_columns_are_of_the_transpose() -> Result<()> {
        let dense = dmatrix![0.0, 2.0, 0.0, 1.0; 3.0, 0.0, 0.0, 0.0; 0.0, 0.0, 0.0, 5.0; 0.0, 7.0, 0.0, 4.0];
        let triplets = [(3, 3, 4.0), (0, 3, 1.0), (1, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (2, 3, 5.0), (3, 1, 7.0)];
        let a = Csr::from_triplets(4, 4, triplets)?;
        assert_eq!((a.to_dense(), &a), (dense.clone(), &Csr::from_dense(&dense)?));
        assert_eq!((a.row_ptr(), a.col_idx()), (&[0, 2, 3, 4, 6][..], &[1, 3, 0, 3, 1, 3][..]));
        assert_eq!(a.row(3).collect::<Vec<_>>(), [(1, 7.0), (3, 4.0)]);
        assert_eq!((a.entries().nth(2), a.nnz()), (Some((1, 0, 3.0)), 6));
        assert_eq!((a.transpose().to_dense(), a.to_csc()?.to_csr()?), (dense.transpose(), a.clone()));
        assert_eq!(a.rows(1..3)?.to_dense(), dense.rows_range(1..3));
        assert_eq!(a.to_csc()?.columns(3..4)?.to_dense(), dense.columns_range(3..4));
        assert_eq!((a.rows(4..4)?.nrows(), a.cast::<f32>().values()[0]), (0, 2.0));
        assert!(matches!(a.rows(2..5), Err(Error::Argument(text)) if text == "rows 2..5 of a matrix with 4"));
        let outside = Csr::from_triplets(2, 3, [(2, 1, 1.0)]).unwrap_err().to_string();
        assert_eq!(outside, "entry (2, 1) is outside a matrix of 2x3 entries");
        Ok(())
    }
}
