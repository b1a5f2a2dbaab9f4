//! [`BlockShape`], and the limits on grids and strides of blocks.
use super::Pattern;
use crate::{Error, Result, element::ElementType};

/// The number of rows and the number of columns of a block, each from 1 to 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockShape {
    rows: u8,
    cols: u8,
}

impl BlockShape {
    /// 1x1: a scalar.
    pub const SCALAR: Self = Self { rows: 1, cols: 1 };
    /// The shape 6x3. A camera has 6 parameters, and a point has 3.
    pub(crate) const CAMERA_BY_POINT: Self = Self { rows: 6, cols: 3 };
    /// The longest side a block may have.
    pub const MAX_SIDE: usize = 32;

    /// A shape of `rows` x `cols`.
    ///
    /// # Errors
    /// [`Error::BlockShape`] if a side is 0 or above 32.
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

    /// Refuses a matrix of scalars that cannot be cut into blocks of this shape.
    pub(super) fn check_divides(self, nrows: usize, ncols: usize) -> Result<()> {
        for (what, dimension, block) in [("rows", nrows, self.rows()), ("columns", ncols, self.cols())] {
            if dimension % block != 0 {
                let fits = (2..=Self::MAX_SIDE).filter(|side| dimension % side == 0).collect();
                return Err(Error::BlockDoesNotDivide { what, dimension, block, fits });
            }
        }
        Ok(())
    }

    /// The shape of the product of a block of this shape and a block of shape `right`.
    pub fn product(self, right: Self) -> Self {
        Self { rows: self.rows, cols: right.cols }
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

/// Parses `RxC`, or `3` for 3x3.
///
/// ```
/// use blockmul::BlockShape;
/// assert_eq!("2x3".parse::<BlockShape>()?, BlockShape::new(2, 3)?);
/// # Ok::<(), blockmul::Error>(())
/// ```
impl std::str::FromStr for BlockShape {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let (rows, cols) = text.split_once(['x', 'X']).unwrap_or((text, text));
        let malformed = |_| Error::Argument(format!("a block is written RxK, as in 2x3, or 3 for 3x3, not \"{text}\""));
        let side = |side: &str| side.parse().map_err(malformed);
        Self::new(side(rows)?, side(cols)?)
    }
}

/// Refuses a grid of blocks with more scalar rows or columns than a [`Pattern`] may have.
pub(crate) fn check_sides(nrows: usize, ncols: usize, shape: BlockShape) -> Result<()> {
    let sides = [
        ("number of rows, counted in scalars", nrows, shape.rows()),
        ("number of columns, counted in scalars", ncols, shape.cols()),
    ];
    for (what, blocks, side) in sides {
        let value = (blocks as u64).saturating_mul(side as u64);
        if value > Pattern::MAX_LINES {
            return Err(Error::TooLarge { what, value, limit: Pattern::MAX_LINES });
        }
    }
    Ok(())
}

/// Number of elements in `nnz` blocks whose starts are `stride` elements apart. Kernels take the
/// stride as a 32-bit argument.
pub(crate) fn check_stride(nnz: usize, stride: usize) -> Result<usize> {
    let limit = u64::from(u32::MAX);
    if stride as u64 > limit {
        return Err(Error::TooLarge { what: "stride of blocks", value: stride as u64, limit });
    }
    nnz.checked_mul(stride).ok_or(Error::TooLarge {
        what: "number of blocks",
        value: nnz as u64,
        limit: (usize::MAX / stride) as u64,
    })
}

/// Number of elements from one block to the next if each block starts at a multiple of `bytes`.
pub(crate) fn aligned_stride(element: ElementType, shape: BlockShape, bytes: usize) -> Result<usize> {
    match bytes {
        16 | 32 | 64 => Ok((shape.area() * element.bytes()).next_multiple_of(bytes) / element.bytes()),
        _ => Err(Error::Argument(format!("blocks can be aligned to 16, 32 or 64 bytes, not {bytes}"))),
    }
}
