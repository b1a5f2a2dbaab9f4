//! Dense matrices: the layout of their elements, and borrowed arrays.
use crate::{Element, Error, Pattern, Result, named::named};
use nalgebra::DMatrix;

/// The order of a dense matrix's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Row after row, as in C and by default in NumPy.
    ByRows,
    /// Column after column, as in Fortran, BLAS and nalgebra.
    ByColumns,
}

impl Layout {
    /// Both layouts.
    pub const ALL: &[Self] = &[Self::ByRows, Self::ByColumns];

    /// The name that the command uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::ByRows => "rows",
            Self::ByColumns => "columns",
        }
    }

    /// The layout of the transpose, over the same elements.
    pub fn transposed(self) -> Self {
        match self {
            Self::ByRows => Self::ByColumns,
            Self::ByColumns => Self::ByRows,
        }
    }
}

named!(Layout, "layout", Layout::ALL);

/// The side of a product on which the sparse matrix is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The product A·D of the sparse matrix A and the dense matrix D.
    Left,
    /// The product D·A of the dense matrix D and the sparse matrix A.
    Right,
}

/// The sides of a dense matrix, and the layout of its elements in an array.
///
/// ```
/// use blockmul::dense::{DenseShape, Layout};
/// let shape = DenseShape::new(2, 3, Layout::ByRows).with_leading(4); // a gap after each row
/// assert_eq!((shape.at(1, 2), shape.len()), (6, 7));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DenseShape {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// The order of the elements.
    pub layout: Layout,
    /// Number of elements from the start of a row to the start of the next row, or from column to
    /// column if the matrix is stored by columns. The leading dimension must be at least the length
    /// of a row or column.
    pub leading: usize,
}

impl DenseShape {
    /// The shape of a matrix without gaps.
    pub fn new(rows: usize, cols: usize, layout: Layout) -> Self {
        let leading = if layout == Layout::ByRows { cols } else { rows };
        Self { rows, cols, layout, leading }
    }

    /// The shape with another leading dimension.
    pub fn with_leading(self, leading: usize) -> Self {
        Self { leading, ..self }
    }

    /// The shape of the transpose, over the same elements.
    pub fn transposed(self) -> Self {
        Self { rows: self.cols, cols: self.rows, layout: self.layout.transposed(), leading: self.leading }
    }

    /// The number of lines (rows or columns), which are stored one after another, and the number of
    /// elements in each line.
    pub(crate) fn lines(&self) -> (usize, usize) {
        if self.layout == Layout::ByRows { (self.rows, self.cols) } else { (self.cols, self.rows) }
    }

    /// Number of elements of the array from the first to the last element of the matrix, gaps
    /// between lines included. If the number would overflow `usize`, the result is `usize::MAX`.
    #[allow(clippy::len_without_is_empty)] // the length of an array, not of a collection
    pub fn len(&self) -> usize {
        match self.lines() {
            (0, _) | (_, 0) => 0,
            (lines, width) => (lines - 1).saturating_mul(self.leading).saturating_add(width),
        }
    }

    /// The index of an element in the array. If the index would overflow `usize`, the result is
    /// `usize::MAX`.
    pub fn at(&self, row: usize, col: usize) -> usize {
        let (line, place) = if self.layout == Layout::ByRows { (row, col) } else { (col, row) };
        line.saturating_mul(self.leading).saturating_add(place)
    }

    /// Refuses lines that overlap, and sizes that exceed the counters of kernels.
    pub(crate) fn check(&self) -> Result<()> {
        let (lines, width) = self.lines();
        if self.leading < width {
            let (rows, cols, layout, leading) = (self.rows, self.cols, self.layout, self.leading);
            let why = format!("a matrix of {rows}x{cols} by {layout} needs {width} at least");
            return Err(Error::Argument(format!("a leading dimension of {leading}: {why}")));
        }
        for (what, value) in [("rows", self.rows), ("columns", self.cols), ("the leading dimension", self.leading)] {
            if value as u64 > Pattern::MAX_LINES {
                return Err(Error::TooLarge { what, value: value as u64, limit: Pattern::MAX_LINES });
            }
        }
        match lines.checked_mul(self.leading) {
            Some(_) => Ok(()),
            None => {
                Err(Error::TooLarge { what: "elements of a dense matrix", value: u64::MAX, limit: usize::MAX as u64 })
            }
        }
    }

    /// Refuses an array that is too short, or an impossible shape.
    pub(super) fn check_array(&self, found: usize) -> Result<()> {
        self.check()?;
        match found >= self.len() {
            true => Ok(()),
            false => {
                let why = format!("{}x{} by {}, lines {} apart", self.rows, self.cols, self.layout, self.leading);
                Err(Error::Length { array: "the dense matrix", found, expected: self.len(), why })
            }
        }
    }
}

/// A dense matrix over a slice.
#[derive(Debug, Clone, Copy)]
pub struct DenseView<'a, T> {
    shape: DenseShape,
    values: &'a [T],
}

impl<'a, T: Element> DenseView<'a, T> {
    /// Views the first elements of a slice as a matrix. The slice may be longer than the matrix
    /// needs.
    ///
    /// # Errors
    /// [`Error::Length`] if the slice is too short; [`Error::Argument`] if the leading dimension is
    /// so small that lines overlap; [`Error::TooLarge`].
    pub fn new(shape: DenseShape, values: &'a [T]) -> Result<Self> {
        shape.check_array(values.len())?;
        Ok(Self { shape, values: &values[..shape.len()] })
    }

    /// Sides and layout.
    pub fn shape(&self) -> DenseShape {
        self.shape
    }

    /// The elements, including the gaps between lines.
    pub fn values(&self) -> &'a [T] {
        self.values
    }

    /// The element in a row and a column.
    pub fn get(&self, row: usize, col: usize) -> T {
        self.values[self.shape.at(row, col)]
    }

    /// The transpose over the same elements.
    pub fn transposed(self) -> Self {
        Self { shape: self.shape.transposed(), ..self }
    }

    /// Copies the matrix to a matrix of nalgebra.
    pub fn to_matrix(&self) -> DMatrix<T> {
        DMatrix::from_fn(self.shape.rows, self.shape.cols, |row, col| self.get(row, col))
    }
}

impl<'a, T: Element> From<&'a DMatrix<T>> for DenseView<'a, T> {
    fn from(matrix: &'a DMatrix<T>) -> Self {
        let shape = DenseShape::new(matrix.nrows(), matrix.ncols(), Layout::ByColumns);
        Self { shape, values: matrix.as_slice() }
    }
}

/// A dense matrix over a mutable slice.
#[derive(Debug)]
pub struct DenseViewMut<'a, T> {
    pub(crate) shape: DenseShape,
    pub(crate) values: &'a mut [T],
}

impl<'a, T: Element> DenseViewMut<'a, T> {
    /// Like [`DenseView::new`], for a mutable slice.
    ///
    /// # Errors
    /// See [`DenseView::new`].
    pub fn new(shape: DenseShape, values: &'a mut [T]) -> Result<Self> {
        shape.check_array(values.len())?;
        Ok(Self { shape, values })
    }

    /// Sides and layout.
    pub fn shape(&self) -> DenseShape {
        self.shape
    }

    /// The transpose over the same elements.
    pub fn transposed(self) -> Self {
        Self { shape: self.shape.transposed(), ..self }
    }

    /// Replaces the elements by the elements of `from`, a matrix with the same sides.
    pub(crate) fn copy_from(&mut self, from: DenseView<'_, T>) {
        let DenseShape { rows, cols, .. } = self.shape;
        for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
            self.values[self.shape.at(row, col)] = from.get(row, col);
        }
    }
}

impl<'a, T: Element> From<&'a mut DMatrix<T>> for DenseViewMut<'a, T> {
    fn from(matrix: &'a mut DMatrix<T>) -> Self {
        let shape = DenseShape::new(matrix.nrows(), matrix.ncols(), Layout::ByColumns);
        Self { shape, values: matrix.as_mut_slice() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_where_the_layout_says() -> Result<()> {
        let values: Vec<f64> = (0..12).map(f64::from).collect();
        let rows = DenseView::new(DenseShape::new(3, 2, Layout::ByRows).with_leading(4), &values)?;
        assert_eq!(rows.to_matrix(), nalgebra::dmatrix![0.0, 1.0; 4.0, 5.0; 8.0, 9.0]);
        assert_eq!((rows.values().len(), rows.transposed().get(1, 2)), (10, 9.0));
        let columns = DenseView::new(DenseShape::new(3, 2, Layout::ByColumns), &values)?;
        assert_eq!(columns.to_matrix(), nalgebra::dmatrix![0.0, 3.0; 1.0, 4.0; 2.0, 5.0]);
        assert_eq!(columns.transposed().to_matrix(), columns.to_matrix().transpose());
        assert_eq!(DenseView::from(&columns.to_matrix()).values(), &values[..6]);
        for (rows, cols) in [(0, 5), (5, 0), (0, 0)] {
            assert_eq!(DenseShape::new(rows, cols, Layout::ByRows).with_leading(7).len(), 0);
        }
        Ok(())
    }

    #[test]
    fn arrays_that_are_too_short_and_lines_that_overlap_are_refused() {
        let shape = DenseShape::new(3, 2, Layout::ByRows);
        let refused = |shape, len| DenseView::new(shape, &vec![0.0f32; len]).unwrap_err().to_string();
        assert!(refused(shape, 5).contains("5 elements, 6 expected (3x2 by rows, lines 2 apart)"));
        assert!(refused(shape.with_leading(1), 6).contains("leading dimension of 1"));
        assert!(refused(shape.with_leading(1 << 40), 6).contains("leading dimension is 1099511627776"));
        assert_eq!("columns".parse::<Layout>().unwrap(), Layout::ByColumns);
        assert!("diagonals".parse::<Layout>().unwrap_err().to_string().contains("there are: rows, columns"));
    }
}
