//! Row-major matrices [`Csr`] and [`Bsr`]: the arrays are the columns of the transpose.
//!
//! Making one copies nothing, and a product of two swaps the operands (Cᵀ = BᵀAᵀ).
use super::{BlockShape, Cbc, CbcView, Csc, Matrix, Pattern, sealed::Sealed};
use crate::{Element, Result};

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

    /// Rows.
    pub fn nrows(&self) -> usize {
        self.transposed.ncols()
    }

    /// Columns.
    pub fn ncols(&self) -> usize {
        self.transposed.nrows()
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
