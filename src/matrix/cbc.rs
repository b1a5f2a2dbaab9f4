//! [`Cbc`]: compressed columns of dense blocks of one shape.
use super::{CbcView, Matrix, Pattern, sealed::Sealed};
use crate::{Element, Error, Result};

/// Rows and columns of a block, each 1 to 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockShape {
    rows: u8,
    cols: u8,
}

impl BlockShape {
    /// 1x1: a scalar.
    pub const SCALAR: Self = Self { rows: 1, cols: 1 };
    /// The longest side a block may have.
    pub const MAX_SIDE: usize = 32;

    /// `rows` x `cols`.
    ///
    /// # Errors
    /// [`Error::BlockShape`] when a side is 0 or above 32.
    pub fn new(rows: usize, cols: usize) -> Result<Self> {
        let ok = |side| (1..=Self::MAX_SIDE).contains(&side);
        match ok(rows) && ok(cols) {
            true => Ok(Self { rows: rows as u8, cols: cols as u8 }),
            false => Err(Error::BlockShape { rows, cols }),
        }
    }

    /// Rows of a block.
    pub fn rows(self) -> usize {
        self.rows.into()
    }

    /// Columns of a block.
    pub fn cols(self) -> usize {
        self.cols.into()
    }

    /// Elements in a block.
    pub fn area(self) -> usize {
        self.rows() * self.cols()
    }

    /// The shape of the transposed block.
    pub fn transpose(self) -> Self {
        Self { rows: self.cols, cols: self.rows }
    }
}

impl std::fmt::Display for BlockShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.rows, self.cols)
    }
}

/// A block-sparse matrix in compressed-column form: a [`Pattern`] of the block grid and dense blocks of one shape,
/// each contiguous and column-major.
#[derive(Debug, Clone, PartialEq)]
pub struct Cbc<T> {
    pattern: Pattern,
    shape: BlockShape,
    stride: usize,
    values: Vec<T>,
}

impl<T: Element> Cbc<T> {
    /// From a pattern and `nnz * shape.area()` elements, block after block.
    ///
    /// # Errors
    /// [`Error::Length`] when there are more or fewer elements.
    pub fn new(pattern: Pattern, shape: BlockShape, values: Vec<T>) -> Result<Self> {
        Self::with_stride(pattern, shape, shape.area(), values)
    }

    /// From a pattern and blocks `stride` elements apart (`nnz * stride` elements in all).
    ///
    /// # Errors
    /// [`Error::Length`] for another number of elements, [`Error::Argument`] for a stride below the block's area.
    pub fn with_stride(pattern: Pattern, shape: BlockShape, stride: usize, values: Vec<T>) -> Result<Self> {
        if stride < shape.area() {
            return Err(Error::Argument(format!("a stride of {stride} elements is less than a {shape} block")));
        }
        if values.len() != pattern.nnz() * stride {
            return Err(Error::Length {
                array: "values",
                found: values.len(),
                expected: pattern.nnz() * stride,
                why: format!("{} blocks of {shape}, {stride} elements apart", pattern.nnz()),
            });
        }
        Ok(Self { pattern, shape, stride, values })
    }

    /// Where the blocks are.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Shape of every block.
    pub fn shape(&self) -> BlockShape {
        self.shape
    }

    /// Elements from the start of one block to the start of the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// All blocks, `stride` elements apart.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Pattern and values, given back.
    pub fn into_parts(self) -> (Pattern, Vec<T>) {
        (self.pattern, self.values)
    }
}

impl<T> Sealed for Cbc<T> {}

impl<T: Element> Matrix for Cbc<T> {
    type Element = T;
    const ROW_MAJOR: bool = false;

    fn as_cbc(&self) -> CbcView<'_, T> {
        CbcView { pattern: &self.pattern, shape: self.shape, stride: self.stride, values: &self.values }
    }

    fn from_cbc(cbc: Cbc<T>) -> Result<Self> {
        Ok(cbc)
    }
}
