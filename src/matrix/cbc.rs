//! [`Cbc`]: compressed columns of dense blocks of one shape.
use super::{
    AnyMatrix, AnyView, CbcView, Matrix, Pattern,
    sealed::Sealed,
    shape::{BlockShape, aligned_stride, check_sides, check_stride},
    triplets::Places,
};
use crate::{Element, Error, Result};
use nalgebra::{DMatrix, DMatrixView, Dim, RawStorage, SMatrixView};

/// A block-sparse matrix in compressed-column form: a [`Pattern`] of the block grid, and dense
/// blocks of one shape. Each block is contiguous and column-major, as in nalgebra.
///
/// ```
/// use blockmul::{BlockShape, Cbc};
/// use nalgebra::{DMatrix, dmatrix};
/// let shape = BlockShape::new(2, 3)?;
/// let block = dmatrix![1.0, 2.0, 3.0; 4.0, 5.0, 6.0];
/// let a = Cbc::from_triplets(2, 1, shape, [(1, 0, block.clone())])?;
/// assert_eq!((a.scalar_rows(), a.scalar_cols(), a.nnz()), (4, 3, 1));
/// assert_eq!(a.block(0), block);
/// // Each block starts on a 64-byte boundary:
/// assert_eq!(a.with_alignment(64)?.stride(), 8);
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cbc<T> {
    pub(super) pattern: Pattern,
    pub(super) shape: BlockShape,
    pub(super) stride: usize,
    pub(super) values: Vec<T>,
}

impl<T: Element> Cbc<T> {
    /// Makes a matrix from a pattern and `nnz * shape.area()` elements, block after block.
    ///
    /// # Errors
    /// [`Error::Length`] if there are more or fewer elements; [`Error::TooLarge`] if a side has
    /// more than [`Pattern::MAX_LINES`] scalars.
    pub fn new(pattern: Pattern, shape: BlockShape, values: Vec<T>) -> Result<Self> {
        Self::with_stride(pattern, shape, shape.area(), values)
    }

    /// Makes a matrix from a pattern and blocks whose starts are `stride` elements apart, so there
    /// are `nnz * stride` elements.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of elements is wrong; [`Error::Argument`] if the stride is
    /// below the block's area; [`Error::TooLarge`] if the stride exceeds 32 bits, or if a side has
    /// more than [`Pattern::MAX_LINES`] scalars.
    pub fn with_stride(pattern: Pattern, shape: BlockShape, stride: usize, values: Vec<T>) -> Result<Self> {
        if stride < shape.area() {
            return Err(Error::Argument(format!("a stride of {stride} elements is less than a {shape} block")));
        }
        check_sides(pattern.nrows(), pattern.ncols(), shape)?;
        let expected = check_stride(pattern.nnz(), stride)?;
        if values.len() != expected {
            return Err(Error::Length {
                array: "values",
                found: values.len(),
                expected,
                why: format!("{} blocks of {shape}, {stride} elements apart", pattern.nnz()),
            });
        }
        Ok(Self { pattern, shape, stride, values })
    }

    /// Makes a matrix from `(block row, block column, block)` in any order. Blocks at the same
    /// place are added in the given order.
    ///
    /// # Errors
    /// [`Error::Argument`] if a place is outside the grid or a block has another shape,
    /// [`Error::TooLarge`] if a side has more than [`Pattern::MAX_LINES`] scalars.
    pub fn from_triplets<R: Dim, C: Dim, S: RawStorage<T, R, C>>(
        nrows: usize,
        ncols: usize,
        shape: BlockShape,
        triplets: impl IntoIterator<Item = (usize, usize, nalgebra::Matrix<T, R, C, S>)>,
    ) -> Result<Self> {
        let of = |(row, col, block): (usize, usize, nalgebra::Matrix<T, R, C, S>)| {
            (row, col, block.shape(), block.iter().copied().collect())
        };
        let (pattern, values) = collect((nrows, ncols), shape, false, &mut triplets.into_iter().map(of))?;
        Self::new(pattern, shape, values)
    }

    /// Makes a matrix from a dense matrix. A block is stored if it has a nonzero element.
    ///
    /// # Errors
    /// [`Error::BlockDoesNotDivide`].
    pub fn from_dense(dense: &DMatrix<T>, shape: BlockShape) -> Result<Self> {
        super::Csc::from_dense(dense)?.to_blocks(shape)
    }

    /// The dense matrix.
    ///
    /// # Panics
    /// If there is not enough memory.
    pub fn to_dense(&self) -> DMatrix<T> {
        self.as_cbc().to_dense()
    }

    /// Converts to a scalar matrix. Every element of a stored block becomes an entry, even if it is
    /// zero.
    pub fn to_scalars(&self) -> super::Csc<T> {
        let (pattern, values) = AnyView::from(self).scalars();
        super::Csc::new(pattern, values.of_same()).unwrap_or_else(|_| unreachable!("a value for each element"))
    }

    /// Like [`Cbc::transpose`], but returns an error if the transpose does not fit the host.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn try_transpose(&self) -> Result<Self> {
        self.pattern.check_transpose(self.shape.area() * size_of::<T>())?;
        Ok(self.transpose())
    }

    /// The transpose; its blocks are transposed and have no padding.
    pub fn transpose(&self) -> Self {
        let AnyMatrix { pattern, shape, stride, values, .. } = AnyView::from(self).transposed();
        Self { pattern, shape, stride, values: values.of_same() }
    }

    /// A copy in which each block begins at a multiple of `bytes` (16, 32 or 64) from the first
    /// block. The gaps are zeros.
    ///
    /// # Errors
    /// [`Error::Argument`] if `bytes` is another number.
    pub fn with_alignment(&self, bytes: usize) -> Result<Self> {
        let stride = aligned_stride(T::TYPE, self.shape, bytes)?;
        let values = AnyView::from(self).with_stride(stride).of_same();
        Ok(Self { pattern: self.pattern.clone(), shape: self.shape, stride, values })
    }

    /// The matrix with elements of another type. Each element is rounded to nearest.
    pub fn cast<U: Element>(&self) -> Cbc<U> {
        let values = T::any_slice(&self.values).cast(U::TYPE).of_same();
        Cbc { pattern: self.pattern.clone(), shape: self.shape, stride: self.stride, values }
    }

    /// Block `entry` as a nalgebra matrix.
    pub fn block(&self, entry: usize) -> DMatrixView<'_, T> {
        DMatrixView::from_slice(self.as_cbc().block(entry), self.shape.rows(), self.shape.cols())
    }

    /// Block `entry` as a nalgebra matrix of constant size.
    ///
    /// ```
    /// use blockmul::generate::PoseChain;
    /// let h = PoseChain { poses: 3, closures: 0, freedom: 6, ..Default::default() }.matrix()?;
    /// let first = h.fixed_block::<6, 6>(0)?;
    /// assert_eq!(first.trace(), h.block(0).trace());
    /// assert!(h.fixed_block::<6, 3>(0).is_err());
    /// # Ok::<(), blockmul::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if the blocks have another shape.
    pub fn fixed_block<const R: usize, const C: usize>(&self, entry: usize) -> Result<SMatrixView<'_, T, R, C>> {
        match (self.shape.rows(), self.shape.cols()) == (R, C) {
            true => Ok(SMatrixView::from_slice(self.as_cbc().block(entry))),
            false => Err(Error::Argument(format!("the blocks are {}, not {R}x{C}", self.shape))),
        }
    }

    /// Iterates over the stored blocks column by column: `(block row, block column, block)`.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, usize, DMatrixView<'_, T>)> {
        let of_column = move |col| {
            self.pattern.entries(col).map(move |entry| (self.pattern.row_idx()[entry] as usize, col, self.block(entry)))
        };
        (0..self.ncols()).flat_map(of_column)
    }

    /// Iterates over the blocks of a column of blocks: block row and block.
    ///
    /// # Panics
    /// If the column is out of range.
    pub fn column(&self, column: usize) -> impl ExactSizeIterator<Item = (usize, DMatrixView<'_, T>)> {
        self.pattern.entries(column).map(|entry| (self.pattern.row_idx()[entry] as usize, self.block(entry)))
    }

    /// The matrix of some consecutive columns of blocks, without padding.
    ///
    /// # Errors
    /// [`Error::Argument`] if the columns are out of range.
    pub fn columns(&self, columns: std::ops::Range<usize>) -> Result<Self> {
        AnyView::from(self).lines(columns)?.typed()
    }

    /// Converts to the same matrix by rows, without padding.
    ///
    /// # Errors
    /// [`Error::Memory`] if the result does not fit the host.
    pub fn to_bsr(&self) -> Result<super::Bsr<T>> {
        Ok(super::Bsr::from_transpose(self.try_transpose()?))
    }

    /// Rows of the block grid.
    pub fn nrows(&self) -> usize {
        self.pattern.nrows()
    }

    /// Columns of the block grid.
    pub fn ncols(&self) -> usize {
        self.pattern.ncols()
    }

    /// Stored blocks.
    pub fn nnz(&self) -> usize {
        self.pattern.nnz()
    }

    /// Rows, counted in scalars.
    pub fn scalar_rows(&self) -> usize {
        self.nrows() * self.shape.rows()
    }

    /// Columns, counted in scalars.
    pub fn scalar_cols(&self) -> usize {
        self.ncols() * self.shape.cols()
    }

    /// Pattern of the blocks.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Shape of every block.
    pub fn shape(&self) -> BlockShape {
        self.shape
    }

    /// Number of elements from the start of one block to the start of the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// All blocks, `stride` elements apart.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Returns pattern and values.
    pub fn into_parts(self) -> (Pattern, Vec<T>) {
        (self.pattern, self.values)
    }
}

/// A block with its row, its column, its shape, and its elements in the order in which they are
/// stored.
pub(super) type Placed<T> = (usize, usize, (usize, usize), Vec<T>);

/// Makes the arrays of blocks given in any order, by columns or by rows. This function is compiled
/// once for all iterators.
pub(super) fn collect<T: Element>(
    (nrows, ncols): (usize, usize),
    shape: BlockShape,
    by_rows: bool,
    blocks: &mut dyn Iterator<Item = Placed<T>>,
) -> Result<(Pattern, Vec<T>)> {
    check_sides(nrows, ncols, shape)?;
    let (mut places, mut values) = (Places::new(nrows, ncols, by_rows)?, Vec::new());
    for (row, col, (rows, cols), block) in blocks {
        if (rows, cols) != (shape.rows(), shape.cols()) {
            return Err(Error::Argument(format!("a block is {rows}x{cols} in a matrix of {shape} blocks")));
        }
        places.push(row, col)?;
        values.extend(block);
    }
    let (pattern, values) = places.compress(shape.area(), T::any(values))?;
    Ok((pattern, values.of_same()))
}

/// Compares pattern, shape and blocks, but not the padding.
impl<T: Element> PartialEq for Cbc<T> {
    fn eq(&self, other: &Self) -> bool {
        let blocks = || (0..self.nnz()).all(|e| self.as_cbc().block(e) == other.as_cbc().block(e));
        self.pattern == other.pattern && self.shape == other.shape && blocks()
    }
}

impl<T> Sealed for Cbc<T> {}

impl<T: Element> Matrix for Cbc<T> {
    type Element = T;
    const ROW_MAJOR: bool = false;
    const BLOCKS: bool = true;

    fn as_cbc(&self) -> CbcView<'_, T> {
        CbcView { pattern: &self.pattern, shape: self.shape, stride: self.stride, values: &self.values }
    }

    fn from_cbc(cbc: Cbc<T>) -> Result<Self> {
        Ok(cbc)
    }

    fn into_cbc(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_whose_scalars_have_no_number_are_refused() -> Result<()> {
        let (most, tall) = (Pattern::MAX_LINES as usize / 32, BlockShape::new(32, 1)?);
        // The pattern has an entry in the last block row of the largest grid. If the grid had
        // another row, the number of its scalar rows would wrap to 0.
        let last = |nrows: usize| Pattern::new(nrows, 1, vec![0, 2], vec![0, nrows as u32 - 1]);
        let scalars = Cbc::new(last(most)?, tall, vec![1.0; 64])?.to_scalars();
        let (col_ptr, row_idx) = scalars.pattern().clone().into_parts();
        assert_eq!(row_idx[63] as usize, 32 * most - 1);
        Pattern::new(32 * most, 1, col_ptr, row_idx)?;
        for nrows in [most + 1, most + 6, Pattern::MAX_LINES as usize] {
            let refused = Cbc::new(last(nrows)?, tall, vec![1.0; 64]);
            assert!(matches!(refused, Err(Error::TooLarge { value, .. }) if value == 32 * nrows as u64), "{refused:?}");
        }
        let block = |rows, cols| [(0, 0, DMatrix::from_element(rows, cols, 1.0))];
        for nrows in [most + 1, usize::MAX] {
            let refused = Cbc::from_triplets(nrows, 1, tall, block(32, 1));
            assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
            let refused = Cbc::from_triplets(1, nrows, tall.transpose(), block(1, 32));
            assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
        }
        Ok(())
    }

    #[test]
    fn strides_that_wrap_or_pass_32_bits_are_refused() -> Result<()> {
        let pattern = Pattern::new(3, 1, vec![0, 3], vec![0, 1, 2])?;
        // With wrapping multiplication, three blocks of this stride would have 11 elements.
        let wrapping = ((1u128 << 64) + 11) / 3;
        for stride in [wrapping as usize, 1 << 32, usize::MAX] {
            let refused = Cbc::with_stride(pattern.clone(), BlockShape::SCALAR, stride, vec![1.0; 11]);
            assert!(matches!(refused, Err(Error::TooLarge { .. })), "{stride}: {refused:?}");
        }
        Ok(())
    }
}
