//! [`Scale`]: the scale at which a raster shows a matrix.
use crate::{BlockShape, Error, Result};

/// The rows or the columns of a matrix, divided among the cells of a raster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellLines {
    /// Number of rows or columns, counted in scalars.
    pub lines: u64,
    /// Number of rows or columns in each cell. The last cell may have fewer rows or columns.
    pub per_cell: u64,
}

/// The scale of a raster. All cells show the same number of rows and columns, so that a regular
/// pattern looks regular.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Scale from top to bottom.
    pub rows: CellLines,
    /// Scale from left to right.
    pub cols: CellLines,
    /// Block shape of the matrix.
    pub shape: BlockShape,
    /// Whether cells count whole blocks, each of which is in one cell, and not elements of blocks.
    pub whole_blocks: bool,
}

impl CellLines {
    /// Number of cells along this side.
    pub fn cells(&self) -> usize {
        self.lines.div_ceil(self.per_cell) as usize
    }
}

impl Scale {
    /// The maximum number of cells on a side.
    pub const MAX_SIZE: usize = 8192;

    /// The maximum number of rows or columns of a raster's matrix, counted in scalars, which is
    /// more than a matrix may have.
    pub const MAX_LINES: u64 = 1 << 40;

    /// The finest scale with at most `size` cells on each side. Rows and columns have the same
    /// scale, unless one side would be shorter than a quarter of `size`. A side that would be so
    /// short is shown with more cells, up to one for each row or column.
    ///
    /// # Errors
    /// [`Error::Argument`] if `size` is 0 or above [`Scale::MAX_SIZE`]; [`Error::TooLarge`] if
    /// there are more lines than [`Scale::MAX_LINES`].
    pub fn fit(scalar_rows: u64, scalar_cols: u64, shape: BlockShape, size: usize) -> Result<Self> {
        if size == 0 || size > Self::MAX_SIZE {
            return Err(Error::Argument(format!("a raster has sides of 1 to {} cells, not {size}", Self::MAX_SIZE)));
        }
        for (what, value) in
            [("number of rows of a picture", scalar_rows), ("number of columns of a picture", scalar_cols)]
        {
            if value > Self::MAX_LINES {
                return Err(Error::TooLarge { what, value, limit: Self::MAX_LINES });
            }
        }
        let per_cell = |lines: u64, cells: usize| lines.div_ceil(cells.max(1) as u64).max(1);
        let common = per_cell(scalar_rows.max(scalar_cols), size);
        let side = |lines| CellLines { lines, per_cell: common.min(per_cell(lines, size / 4)) };
        let (mut rows, mut cols) = (side(scalar_rows), side(scalar_cols));
        // Whole blocks are counted if a block fits a cell, or if a cell might have more elements
        // than a 32-bit number can count.
        let fit = rows.per_cell >= shape.rows() as u64 && cols.per_cell >= shape.cols() as u64;
        let whole_blocks = fit || rows.per_cell.saturating_mul(cols.per_cell) > u32::MAX.into();
        if whole_blocks {
            rows.per_cell = rows.per_cell.next_multiple_of(shape.rows() as u64);
            cols.per_cell = cols.per_cell.next_multiple_of(shape.cols() as u64);
        }
        Ok(Self { rows, cols, shape, whole_blocks })
    }

    /// The number of rows and columns of pixels of a cell, in a picture with at most `size` pixels
    /// on each side and cells of at most `largest` pixels. Cells are square, with one exception: a
    /// side with few lines, each of which has its own cell, is stretched to a quarter of `size`.
    pub fn cell_size(&self, size: usize, largest: usize) -> (usize, usize) {
        let square = (size / self.height().max(self.width()).max(1)).clamp(1, largest.max(1));
        let stretched = |side: &CellLines| match side.per_cell {
            1 => square.max((size / 4 / side.cells().max(1)).min(largest / 4)),
            _ => square,
        };
        (stretched(&self.rows), stretched(&self.cols))
    }

    /// Number of cells from top to bottom.
    pub fn height(&self) -> usize {
        self.rows.cells()
    }

    /// Number of cells from left to right.
    pub fn width(&self) -> usize {
        self.cols.cells()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fit(rows: u64, cols: u64, shape: (usize, usize), size: usize) -> (u64, u64, bool) {
        let scale = Scale::fit(rows, cols, BlockShape::new(shape.0, shape.1).unwrap(), size).unwrap();
        (scale.rows.per_cell, scale.cols.per_cell, scale.whole_blocks)
    }

    #[test]
    fn the_scale_follows_the_longer_side_and_the_blocks() {
        assert_eq!(fit(20, 20, (1, 1), 100), (1, 1, true), "a small matrix is shown line by line");
        assert_eq!(fit(100, 100, (1, 1), 100), (1, 1, true));
        assert_eq!(fit(101, 101, (1, 1), 100), (2, 2, true));
        assert_eq!(fit(100, 50, (5, 5), 100), (1, 1, false), "a block is larger than a cell");
        assert_eq!(fit(400, 400, (5, 5), 100), (4, 4, false));
        assert_eq!(fit(600, 600, (5, 5), 100), (10, 10, true), "6 would cut blocks");
        assert_eq!(fit(1000, 100, (1, 1), 100), (10, 4, true), "the short side has 25 cells");
        assert_eq!(fit(1000, 7, (1, 1), 100), (10, 1, true));
        assert_eq!(fit(0, 1000, (1, 1), 100), (1, 10, true));
        assert_eq!(fit(0, 0, (1, 1), 1), (1, 1, true));
        let lines = u32::MAX as u64 * 32;
        let (rows, cols, whole) = fit(32, lines, (32, 32), 50);
        assert!(whole && rows == 32 && cols >= lines / 50, "{rows} {cols}");
        for (rows, cols) in [(u64::MAX, 1), (1, u64::MAX), (Scale::MAX_LINES + 1, 1)] {
            let refused = Scale::fit(rows, cols, BlockShape::new(31, 31).unwrap(), 1);
            assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
        }
        for size in [0, Scale::MAX_SIZE + 1] {
            let error = Scale::fit(1, 1, BlockShape::SCALAR, size).unwrap_err();
            assert!(error.to_string().contains(&size.to_string()), "{error}");
        }
    }

    proptest! {
        #[test]
        fn every_raster_keeps_to_its_size_and_counts_in_32_bits(
            rows in prop_oneof![0..3000u64, 0..u64::from(u32::MAX)],
            cols in prop_oneof![0..3000u64, 0..u64::from(u32::MAX)],
            (r, c) in (1..=32usize, 1..=32usize),
            size in 1..=Scale::MAX_SIZE,
        ) {
            let shape = BlockShape::new(r, c).unwrap();
            let scale = Scale::fit(rows * r as u64, cols * c as u64, shape, size).unwrap();
            prop_assert!(scale.height() <= size && scale.width() <= size);
            prop_assert_eq!((scale.height() == 0, scale.width() == 0), (rows == 0, cols == 0));
            let (per_row, per_col) = (scale.rows.per_cell, scale.cols.per_cell);
            match scale.whole_blocks {
                true => prop_assert!(per_row % r as u64 == 0 && per_col % c as u64 == 0),
                false => prop_assert!(per_row * per_col <= u32::MAX.into()),
            }
        }
    }

    #[test]
    fn cells_are_enlarged_until_they_are_seen() {
        let size = |rows, cols, size| Scale::fit(rows, cols, BlockShape::SCALAR, size).unwrap().cell_size(size, 32);
        assert_eq!(size(1, 1, 1024), (32, 32));
        assert_eq!(size(20, 20, 1024), (32, 32));
        assert_eq!(size(40, 100, 1024), (10, 10), "integers only");
        assert_eq!(size(600, 1024, 1024), (1, 1));
        assert_eq!(size(5000, 5000, 1024), (1, 1));
        assert_eq!(size(1, 1024, 1024), (8, 1), "one row is made visible");
        assert_eq!(size(3000, 100, 1024), (1, 2));
        assert_eq!(size(0, 50, 1024), (20, 20));
        assert_eq!(size(0, 0, 1024), (32, 32));
        assert_eq!(Scale::fit(9, 9, BlockShape::SCALAR, 9).unwrap().cell_size(1024, 0), (1, 1));
    }
}
