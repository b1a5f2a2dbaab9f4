//! [`Bsr`]: compressed rows of dense blocks of one shape. The arrays of a `Bsr` are the compressed
//! columns of its transpose.
use super::{
    AnyView, BlockShape, Cbc, CbcView, Csr, Matrix, Pattern,
    cbc::{self, Placed},
    sealed::Sealed,
};
use crate::{Element, Result};
use nalgebra::{Const, DMatrix, DMatrixView, Dim, Dyn, RawStorage};
use std::ops::Range;

/// A block-sparse matrix in compressed-row form (BSR). Each block is row-major, as in SciPy, MKL
/// and cuSPARSE.
#[doc(alias = "BSR")]
#[doc(alias = "BCSR")]
#[derive(Debug, Clone, PartialEq)]
pub struct Bsr<T: Element> {
    transposed: Cbc<T>,
}

impl<T: Element> Bsr<T> {
    /// Makes a matrix from three arrays: `row_ptr` (offsets of the block rows), the block column of
    /// each block, ascending within a row, and the blocks. Each block is row-major, so there are
    /// `nnz * shape.area()` elements.
    ///
    /// # Errors
    /// See [`Csr::new`].
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

    /// Makes a matrix from `(block row, block column, block)` in any order. Blocks at the same
    /// place are added in the given order.
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
    /// See [`Cbc::from_triplets`].
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
        let (pattern, values) = cbc::collect((nrows, ncols), shape, true, &mut triplets.into_iter().map(of))?;
        Ok(Self { transposed: Cbc::new(pattern, shape.transpose(), values)? })
    }

    /// Makes a matrix from a dense matrix. A block is stored if it has a nonzero element.
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

    /// Converts to a scalar matrix. Every element of a stored block becomes an entry, even if it is
    /// zero.
    pub fn to_scalars(&self) -> Csr<T> {
        Csr { transposed: self.transposed.to_scalars() }
    }

    /// The transpose in the same format, with transposed blocks. [`Bsr::into_transpose`] returns
    /// the transpose by columns and copies nothing.
    pub fn transpose(&self) -> Self {
        Self { transposed: self.transposed.transpose() }
    }

    /// Converts to the same matrix by columns, without padding.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) if the result does not fit the host.
    pub fn to_cbc(&self) -> Result<Cbc<T>> {
        self.transposed.try_transpose()
    }

    /// The matrix with elements of another type. Each element is rounded to nearest.
    pub fn cast<U: Element>(&self) -> Bsr<U> {
        Bsr { transposed: self.transposed.cast() }
    }

    /// Block `entry` as a nalgebra matrix.
    pub fn block(&self, entry: usize) -> DMatrixView<'_, T, Dyn, Const<1>> {
        let (shape, strides) = (self.shape(), (Dyn(self.shape().cols()), Const));
        let (rows, cols) = (Dyn(shape.rows()), Dyn(shape.cols()));
        DMatrixView::from_slice_with_strides_generic(self.as_cbc().block(entry), rows, cols, strides.0, strides.1)
    }

    /// Iterates over the stored blocks row by row: `(block row, block column, block)`.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, usize, DMatrixView<'_, T, Dyn, Const<1>>)> {
        (0..self.nrows()).flat_map(move |row| self.row(row).map(move |(col, block)| (row, col, block)))
    }

    /// Iterates over the blocks of a row of blocks: block column and block.
    ///
    /// # Panics
    /// If the row is out of range.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (usize, DMatrixView<'_, T, Dyn, Const<1>>)> {
        self.transposed.pattern().entries(row).map(|entry| (self.col_idx()[entry] as usize, self.block(entry)))
    }

    /// The matrix of some consecutive rows of blocks, without padding.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the rows are out of range.
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

    /// The transpose as compressed block columns, over the same arrays.
    pub fn into_transpose(self) -> Cbc<T> {
        self.transposed
    }

    /// The matrix whose transpose is `transposed`, over the same arrays.
    pub fn from_transpose(transposed: Cbc<T>) -> Self {
        Self { transposed }
    }
}

impl<T: Element> Sealed for Bsr<T> {}

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
    use nalgebra::dmatrix;

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
