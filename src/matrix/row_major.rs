//! Row-major matrices [`Csr`] and [`Bsr`]: the arrays are the columns of the transpose.
//!
//! Making one copies nothing, and a product of two swaps the operands (Cᵀ = BᵀAᵀ).
use super::{
    AnyView, BlockShape, Cbc, CbcView, Csc, Matrix, Pattern,
    cbc::{self, Placed},
    csc::nonzeros,
    sealed::Sealed,
    triplets::Places,
};
use crate::{Element, Result};
use nalgebra::{Const, DMatrix, DMatrixView, Dim, Dyn, RawStorage};
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
    transposed: Csc<T>,
}

/// A block-sparse matrix in compressed-row form (BSR), each block row-major, as in SciPy, MKL and
/// cuSPARSE.
#[derive(Debug, Clone, PartialEq)]
pub struct Bsr<T: Element> {
    transposed: Cbc<T>,
}

impl<T: Element> Csr<T> {
    /// Makes a matrix from `row_ptr` (`nrows + 1` offsets), the column of each entry, ascending
    /// within a row, and the values.
    ///
    /// # Errors
    /// As [`Pattern::new`] and [`Csc::new`]; messages describe the transpose, whose columns are the
    /// rows here.
    pub fn new(nrows: usize, ncols: usize, row_ptr: Vec<u64>, col_idx: Vec<u32>, values: Vec<T>) -> Result<Self> {
        Ok(Self { transposed: Csc::new(Pattern::new(ncols, nrows, row_ptr, col_idx)?, values)? })
    }

    /// Makes a matrix from `(row, column, value)` in any order; values at the same place are added
    /// in the order given.
    ///
    /// # Errors
    /// As [`Csc::from_triplets`].
    pub fn from_triplets(
        nrows: usize,
        ncols: usize,
        triplets: impl IntoIterator<Item = (usize, usize, T)>,
    ) -> Result<Self> {
        Ok(Self { transposed: Csc::collect(Places::new(nrows, ncols, true)?, &mut triplets.into_iter())? })
    }

    /// Makes a matrix of the nonzero elements of a dense matrix.
    ///
    /// # Errors
    /// As [`Csr::from_triplets`].
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

    /// Cuts the matrix into blocks, as [`Csc::to_blocks`].
    ///
    /// # Errors
    /// [`Error::BlockDoesNotDivide`](crate::Error::BlockDoesNotDivide), naming the block sides that
    /// would.
    pub fn to_blocks(&self, shape: BlockShape) -> Result<Bsr<T>> {
        shape.check_divides(self.nrows(), self.ncols())?;
        self.transposed.to_blocks(shape.transpose()).map(Bsr::from_transpose)
    }

    /// The transpose, by rows too. [`Csr::into_transpose`] has it by columns and copies nothing.
    pub fn transpose(&self) -> Self {
        Self { transposed: self.transposed.transpose() }
    }

    /// The same matrix by columns.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) if it does not fit the host.
    pub fn to_csc(&self) -> Result<Csc<T>> {
        self.transposed.try_transpose()
    }

    /// The matrix with elements of another type, each rounded to nearest.
    pub fn cast<U: Element>(&self) -> Csr<U> {
        Csr { transposed: self.transposed.cast() }
    }

    /// The matrix without the entries that are 0.
    pub fn without_zeros(&self) -> Self {
        Self { transposed: self.transposed.without_zeros() }
    }

    /// The entries, row by row: row, column, value.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, T)> {
        self.transposed.entries().map(|(col, row, value)| (row, col, value))
    }

    /// The entries of a row: column and value.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (usize, T)> {
        self.transposed.column(row)
    }

    /// The matrix of some neighbouring rows.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for rows that are not there.
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

    /// The transpose as compressed columns: the same arrays.
    pub fn into_transpose(self) -> Csc<T> {
        self.transposed
    }

    /// The matrix whose transpose is `transposed`: the same arrays.
    pub fn from_transpose(transposed: Csc<T>) -> Self {
        Self { transposed }
    }
}

impl<T: Element> Bsr<T> {
    /// Makes a matrix from `row_ptr` (offsets of the block rows), the block column of each block,
    /// ascending within a row, and the blocks. Each block is row-major: `nnz * shape.area()`
    /// elements in total.
    ///
    /// # Errors
    /// As [`Csr::new`].
    pub fn new(
        nrows: usize,
        ncols: usize,
        shape: BlockShape,
        row_ptr: Vec<u64>,
        col_idx: Vec<u32>,
        values: Vec<T>,
    ) -> Result<Self> {
        Ok(Self { transposed: Cbc::new(Pattern::new(ncols, nrows, row_ptr, col_idx)?, shape.transpose(), values)? })
    }

    /// Makes a matrix from `(block row, block column, block)` in any order; blocks at the same
    /// place are added in the order given.
    ///
    /// ```
    /// use blockmul::{BlockShape, Bsr};
    /// use nalgebra::dmatrix;
    /// let block = dmatrix![1.0, 2.0, 3.0; 4.0, 5.0, 6.0];
    /// let a = Bsr::from_triplets(2, 1, BlockShape::new(2, 3)?, [(1, 0, block.clone())])?;
    /// assert_eq!((a.scalar_rows(), a.scalar_cols(), a.nnz()), (4, 3, 1));
    /// assert_eq!(a.values(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// assert_eq!(a.block(0), block);
    /// # Ok::<(), blockmul::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Cbc::from_triplets`].
    pub fn from_triplets<R: Dim, C: Dim, S: RawStorage<T, R, C>>(
        nrows: usize,
        ncols: usize,
        shape: BlockShape,
        triplets: impl IntoIterator<Item = (usize, usize, nalgebra::Matrix<T, R, C, S>)>,
    ) -> Result<Self> {
        let of = |(row, col, block): (usize, usize, nalgebra::Matrix<T, R, C, S>)| -> Placed<T> {
            let by_rows = block.row_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
            (row, col, block.shape(), by_rows)
        };
        let (pattern, values) = cbc::collect((nrows, ncols, shape), true, &mut triplets.into_iter().map(of))?;
        Ok(Self { transposed: Cbc::new(pattern, shape.transpose(), values)? })
    }

    /// Makes a matrix of the blocks of a dense matrix that have a nonzero element.
    ///
    /// # Errors
    /// [`Error::BlockDoesNotDivide`](crate::Error::BlockDoesNotDivide).
    pub fn from_dense(dense: &DMatrix<T>, shape: BlockShape) -> Result<Self> {
        Csr::from_dense(dense)?.to_blocks(shape)
    }

    /// The dense matrix.
    ///
    /// # Panics
    /// If there is not enough memory.
    pub fn to_dense(&self) -> DMatrix<T> {
        self.transposed.to_dense().transpose()
    }

    /// The scalar matrix; every element of a stored block becomes an entry, zeros too.
    pub fn to_scalars(&self) -> Csr<T> {
        Csr { transposed: self.transposed.to_scalars() }
    }

    /// The transpose, by rows too; its blocks are transposed. [`Bsr::into_transpose`] has it by
    /// columns and copies nothing.
    pub fn transpose(&self) -> Self {
        Self { transposed: self.transposed.transpose() }
    }

    /// The same matrix by columns, without padding.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) if it does not fit the host.
    pub fn to_cbc(&self) -> Result<Cbc<T>> {
        self.transposed.try_transpose()
    }

    /// The matrix with elements of another type, each rounded to nearest.
    pub fn cast<U: Element>(&self) -> Bsr<U> {
        Bsr { transposed: self.transposed.cast() }
    }

    /// Block `entry` as a nalgebra matrix.
    pub fn block(&self, entry: usize) -> DMatrixView<'_, T, Dyn, Const<1>> {
        let (shape, strides) = (self.shape(), (Dyn(self.shape().cols()), Const));
        let (rows, cols) = (Dyn(shape.rows()), Dyn(shape.cols()));
        DMatrixView::from_slice_with_strides_generic(self.as_cbc().block(entry), rows, cols, strides.0, strides.1)
    }

    /// `(block row, block column, block)` of every stored block, row by row.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, usize, DMatrixView<'_, T, Dyn, Const<1>>)> {
        (0..self.nrows()).flat_map(move |row| self.row(row).map(move |(col, block)| (row, col, block)))
    }

    /// The blocks of a row of blocks: block column and block.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (usize, DMatrixView<'_, T, Dyn, Const<1>>)> {
        self.transposed.pattern().entries(row).map(|entry| (self.col_idx()[entry] as usize, self.block(entry)))
    }

    /// The matrix of some neighbouring rows of blocks, without padding.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for rows that are not there.
    pub fn rows(&self, rows: Range<usize>) -> Result<Self> {
        AnyView::from(self).lines(rows)?.typed()
    }

    /// Stored blocks.
    pub fn nnz(&self) -> usize {
        self.transposed.nnz()
    }

    /// Rows, counted in scalars.
    pub fn scalar_rows(&self) -> usize {
        self.transposed.scalar_cols()
    }

    /// Columns, counted in scalars.
    pub fn scalar_cols(&self) -> usize {
        self.transposed.scalar_rows()
    }

    /// Rows of the block grid.
    pub fn nrows(&self) -> usize {
        self.transposed.ncols()
    }

    /// Columns of the block grid.
    pub fn ncols(&self) -> usize {
        self.transposed.nrows()
    }

    /// Shape of every block.
    pub fn shape(&self) -> BlockShape {
        self.transposed.shape().transpose()
    }

    /// Offsets of the block rows.
    pub fn row_ptr(&self) -> &[u64] {
        self.transposed.pattern().col_ptr()
    }

    /// Block column of each block.
    pub fn col_idx(&self) -> &[u32] {
        self.transposed.pattern().row_idx()
    }

    /// The blocks, each row-major.
    pub fn values(&self) -> &[T] {
        self.transposed.values()
    }

    /// The transpose as compressed block columns: the same arrays.
    pub fn into_transpose(self) -> Cbc<T> {
        self.transposed
    }

    /// The matrix whose transpose is `transposed`: the same arrays.
    pub fn from_transpose(transposed: Cbc<T>) -> Self {
        Self { transposed }
    }
}

impl<T> Sealed for Csr<T> {}
impl<T: Element> Sealed for Bsr<T> {}

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

impl<T: Element> Matrix for Bsr<T> {
    type Element = T;
    const ROW_MAJOR: bool = true;
    const BLOCKS: bool = true;

    fn as_cbc(&self) -> CbcView<'_, T> {
        self.transposed.as_cbc()
    }

    fn from_cbc(cbc: Cbc<T>) -> Result<Self> {
        Ok(Self::from_transpose(cbc))
    }

    fn into_cbc(self) -> Cbc<T> {
        self.transposed
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

    #[test]
    fn blocks_by_rows_are_row_major() -> Result<()> {
        let (one, two) = (dmatrix![1.0, 2.0, 3.0; 4.0, 5.0, 6.0], dmatrix![7.0, 0.0, 8.0; 0.0, 9.0, 0.0]);
        let shape = BlockShape::new(2, 3)?;
        let a = Bsr::from_triplets(2, 2, shape, [(1, 1, two.clone()), (0, 1, one.clone()), (1, 0, one.clone())])?;
        assert_eq!((a.scalar_rows(), a.scalar_cols(), a.nnz(), a.shape()), (4, 6, 3, shape));
        assert_eq!(a.values()[..6], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let blocks: Vec<_> = a.blocks().map(|(row, col, block)| (row, col, block.into_owned())).collect();
        assert_eq!(blocks, [(0, 1, one.clone()), (1, 0, one.clone()), (1, 1, two)]);
        assert_eq!((Bsr::from_dense(&a.to_dense(), shape)?, a.to_scalars().to_blocks(shape)?), (a.clone(), a.clone()));
        assert_eq!((a.to_cbc()?.to_dense(), a.transpose().to_dense()), (a.to_dense(), a.to_dense().transpose()));
        assert_eq!(a.to_cbc()?.to_bsr()?, a);
        assert_eq!(a.rows(1..2)?.to_dense(), a.to_dense().rows_range(2..4));
        assert_eq!(a.to_cbc()?.columns(0..1)?.to_dense(), a.to_dense().columns_range(0..3));
        let refused = Bsr::from_triplets(2, 2, shape, [(0, 0, one.transpose())]).unwrap_err().to_string();
        assert_eq!(refused, "a block is 3x2 in a matrix of 2x3 blocks");
        Ok(())
    }
}
