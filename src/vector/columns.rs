//! Dot products and sums of the columns of dense matrices: operations on two vectors, for several
//! pairs at a time. Kernels: `cl/vector/columns.cl`.
use super::DOT_PIECE;
use crate::{
    Device, DeviceDense, Error, Field, Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Options, Out, Sum, Work, kernel},
    element::ElementType,
    matrix::{DenseShape, Layout},
    plan::prepared::same_device,
    resident::{DenseBuffer, DenseBufferMut},
};

kernel! {
    in "vector/columns.cl":
    struct ColumnDots = "column_dots" {
        x: In<Elem>,
        y: In<Elem>,
        sums: Out<Sum>,
        rows: u64,
        cols: u32,
        x_row: u64,
        x_col: u64,
        y_row: u64,
        y_col: u64,
    }
    struct ColumnSums = "column_sums" { terms: In<Sum>, sums: Out<Sum>, rows: u64, cols: u32 }
    struct ColumnAxpby = "column_axpby" {
        factor: In<Sum>,
        x: In<Elem>,
        y: InOut<Elem>,
        lines: u32,
        width: u32,
        cols: u32,
        by_columns: u32,
        plain: u32,
        x_leading: u32,
        y_leading: u32,
    }
    struct CopyElements = "copy_elements" {
        x: In<Elem>,
        y: Out<Elem>,
        elements: u64,
        cols: u32,
        x_row: u64,
        x_col: u64,
        y_row: u64,
        y_col: u64,
    }
}

/// Number of columns that a work-group processes together. On a GPU 4 columns of doubles are 32
/// bytes of a row, and their sums take 16 KiB. On a CPU 16 columns are 128 bytes of a row, and
/// their sums take 64 KiB, which fits a CPU's cache. If the local memory cannot hold the sums of 16
/// columns, a CPU takes fewer columns.
pub(crate) fn width(device: &Device) -> usize {
    let sums = DOT_PIECE / 2 * size_of::<f64>();
    let held = device.info().local_bytes as usize / (2 * sums);
    if group_size(device) == 1 { held.clamp(1, 16) } else { 4 }
}

/// Number of rows or columns that a work-item of [`ColumnAxpby`] processes on a CPU.
const LINES: usize = 256;

/// The number of elements from one row of a dense matrix to the next, and from one column to the
/// next.
fn steps(shape: DenseShape) -> (u64, u64) {
    match shape.layout {
        Layout::ByRows => (shape.leading as u64, 1),
        Layout::ByColumns => (1, shape.leading as u64),
    }
}

impl<T: Field> DeviceDense<T> {
    /// The dot product of each column with the same column of `other`. Waits for the results.
    ///
    /// Each result has the bits of [`DeviceVector::dot`](crate::DeviceVector::dot) for the two
    /// columns.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use nalgebra::dmatrix;
    /// let x = blockmul::Device::auto()?.upload_dense(&dmatrix![1.0, 2.0; 3.0, 4.0])?;
    /// assert_eq!(x.column_dots(&x)?, [10.0, 20.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if `other` has other sides,
    /// [`Error::DeviceMismatch`], [`Error::OpenCl`].
    pub fn column_dots(&self, other: &Self) -> Result<Vec<f64>> {
        self.check_sides(other)?;
        dots(&self.device, self.buffer(), other.buffer())
    }

    /// Replaces column j of y, which is this matrix, by alpha\[j\]·(column j of x) +
    /// beta\[j\]·(column j of y). Each column has the bits of
    /// [`DeviceVector::axpby`](crate::DeviceVector::axpby). A column with alpha 0 and beta 1 is not
    /// changed. Returns when the operation is enqueued.
    ///
    /// # Errors
    /// [`Error::Argument`] if x has other sides or another layout, [`Error::Length`] if the number
    /// of factors is not the number of columns, [`Error::DeviceMismatch`], [`Error::OpenCl`].
    pub fn axpby_columns(&mut self, alpha: &[f64], x: &Self, beta: &[f64]) -> Result<()> {
        self.check_sides(x)?;
        axpby(&x.device, [alpha, beta], x.buffer(), self.buffer_mut())
    }

    /// Replaces the elements by those of `x`, which has the same sides. The layout stays. Returns
    /// when the operation is enqueued.
    ///
    /// # Errors
    /// See [`DeviceDense::column_dots`].
    pub fn copy_from(&mut self, x: &Self) -> Result<()> {
        self.check_sides(x)?;
        copy(&x.device, x.buffer(), self.buffer_mut())
    }

    fn check_sides(&self, other: &Self) -> Result<()> {
        same_device(&self.device, other.device())?;
        same_sides(self.shape, other.shape)
    }
}

fn same_sides(one: DenseShape, other: DenseShape) -> Result<()> {
    let ((rows, cols), (r, c)) = ((one.rows, one.cols), (other.rows, other.cols));
    match (rows, cols) == (r, c) {
        true => Ok(()),
        false => Err(Error::Argument(format!("one matrix is {rows}x{cols}, the other {r}x{c}"))),
    }
}

/// See [`DeviceDense::column_dots`].
pub(crate) fn dots(device: &Device, x: DenseBuffer<'_>, y: DenseBuffer<'_>) -> Result<Vec<f64>> {
    let DenseShape { rows, cols, .. } = x.shape;
    if rows == 0 || cols == 0 {
        return Ok(vec![0.0; cols]);
    }
    let (work, element) = (Work::new(device, None), ElementType::of(x.values.word()));
    let by_rows = [x.shape, y.shape].iter().all(|shape| shape.layout == Layout::ByRows);
    let options = options(device, element, by_rows);
    let dots: Kernel<ColumnDots<'_>> = Kernel::new(device, &options)?;
    let ((x_row, x_col), (y_row, y_col)) = (steps(x.shape), steps(y.shape));
    let (x, y) = (x.values, y.values);
    let mut sums = work.buffer_of(element.arithmetic().word(), rows.div_ceil(DOT_PIECE) * cols)?;
    let args = ColumnDots { x, y, sums: &mut sums, rows: rows as u64, cols: cols as u32, x_row, x_col, y_row, y_col };
    dots.launch(&work, pieces(device, rows, cols), args)?;
    while sums.len() > cols {
        sums = add_pieces(&work, &sums, cols)?;
    }
    work.download_numbers(&sums)
}

/// The work-groups that fold `rows` rows: one for each 1024 rows and [`width`] columns.
fn pieces(device: &Device, rows: usize, cols: usize) -> Grid {
    Grid::groups(rows.div_ceil(DOT_PIECE) * cols.div_ceil(width(device)), group_size(device))
}

/// Folds rows of `cols` terms, in pieces of 1024 rows, as [`DeviceDense::column_dots`] does. Each
/// piece becomes one row of the result: a sum for each column.
pub(crate) fn add_pieces(work: &Work, terms: &Buffer, cols: usize) -> Result<Buffer> {
    let (device, rows) = (work.device(), terms.len() / cols);
    let add: Kernel<ColumnSums<'_>> = Kernel::new(device, &options(device, ElementType::of(terms.word()), true))?;
    let mut sums = work.buffer_of(terms.word(), rows.div_ceil(DOT_PIECE) * cols)?;
    let args = ColumnSums { terms, sums: &mut sums, rows: rows as u64, cols: cols as u32 };
    add.launch(work, pieces(device, rows, cols), args)?;
    Ok(sums)
}

/// See [`DeviceDense::axpby_columns`].
fn axpby(device: &Device, [alpha, beta]: [&[f64]; 2], x: DenseBuffer<'_>, y: DenseBufferMut<'_>) -> Result<()> {
    let (x_shape, shape) = (x.shape, y.shape);
    let DenseShape { cols, layout, leading, .. } = shape;
    if layout != x_shape.layout {
        return Err(Error::Argument(format!("x is by {}, y by {layout}: one layout is expected", x_shape.layout)));
    }
    for (array, factors) in [("alpha", alpha), ("beta", beta)] {
        if factors.len() != cols {
            let why = "one for each column".into();
            return Err(Error::Length { array, found: factors.len(), expected: cols, why });
        }
    }
    let mut moved = alpha.iter().zip(beta);
    let (work, element) = (Work::new(device, None), ElementType::of(y.values.word()));
    let factor = work.upload_numbers(element.arithmetic(), &[alpha, beta].concat())?;
    let kernel: Kernel<ColumnAxpby<'_>> = Kernel::new(device, &options(device, element, true))?;
    let (lines, width) = shape.lines();
    let grid = match group_size(device) {
        1 => Grid::groups(lines.div_ceil(LINES), 1),
        size => Grid::items(lines * width, size),
    };
    let args = ColumnAxpby {
        factor: &factor,
        x: x.values,
        y: y.values,
        lines: lines as u32,
        width: width as u32,
        cols: cols as u32,
        by_columns: u32::from(layout == Layout::ByColumns),
        plain: u32::from(
            layout == Layout::ByRows && moved.all(|(&alpha, &beta)| beta != 0.0 && (alpha != 0.0 || beta != 1.0)),
        ),
        x_leading: x_shape.leading as u32,
        y_leading: leading as u32,
    };
    kernel.launch(&work, grid, args)
}

/// See [`DeviceDense::copy_from`].
pub(crate) fn copy(device: &Device, x: DenseBuffer<'_>, y: DenseBufferMut<'_>) -> Result<()> {
    let DenseShape { rows, cols, .. } = y.shape;
    let kernel: Kernel<CopyElements<'_>> =
        Kernel::new(device, &options(device, ElementType::of(y.values.word()), true))?;
    let ((x_row, x_col), (y_row, y_col)) = (steps(x.shape), steps(y.shape));
    let elements = (rows * cols) as u64;
    let args = CopyElements { x: x.values, y: y.values, elements, cols: cols as u32, x_row, x_col, y_row, y_col };
    kernel.launch(&Work::new(device, None), Grid::items(rows * cols, group_size(device)), args)
}

fn group_size(device: &Device) -> usize {
    device.info().serial_or(device.info().vector_group())
}

fn options(device: &Device, element: ElementType, by_rows: bool) -> Options {
    Options::group_size(group_size(device))
        .element(element)
        .define("PIECE", DOT_PIECE)
        .define("WIDTH", width(device))
        .define("BY_ROWS", u8::from(by_rows))
        .define("LINES", LINES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{device::test_device, generate::Random, matrix::DenseView};

    fn values(len: usize, seed: u64) -> Vec<f32> {
        let mut random = Random::new(seed);
        (0..len).map(|_| (2.0 * random.unit() - 1.0) as f32).collect()
    }

    #[test]
    fn columns_have_the_bits_of_vectors() -> Result<()> {
        let device = test_device();
        // The matrices have no rows, less than a piece, a piece, a piece and a row, or two pieces
        // and a half.
        for (rows, cols) in [(0, 3), (5, 1), (1024, 4), (1025, 5), (2600, 9)] {
            for layout in [Layout::ByRows, Layout::ByColumns] {
                let tight = DenseShape::new(rows, cols, layout);
                let shape = tight.with_leading(tight.leading + 1);
                let (x, y) = (values(shape.len(), 1), values(tight.len(), 2));
                let (x, y) = (DenseView::new(shape, &x)?, DenseView::new(tight, &y)?);
                let (dx, mut dy) = (device.upload_dense(x)?, device.upload_dense(y)?);
                let dots = dx.column_dots(&dy)?;
                let alpha: Vec<f64> = (0..cols).map(|col| if col == 1 { 0.0 } else { 0.3 + col as f64 }).collect();
                let beta: Vec<f64> = (0..cols).map(|col| [0.0, 1.0, -0.7][col % 3]).collect();
                dy.axpby_columns(&alpha, &dx, &beta)?;
                let sums = dy.download()?;
                for col in 0..cols {
                    let column = |of: DenseView<'_, f32>| (0..rows).map(|row| of.get(row, col)).collect::<Vec<_>>();
                    let (x, mut y) = (device.upload_vector(&column(x))?, device.upload_vector(&column(y))?);
                    assert_eq!(dots[col].to_bits(), x.dot(&y)?.to_bits(), "{rows}x{cols} by {layout}, column {col}");
                    y.axpby(alpha[col], &x, beta[col])?;
                    let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                    let found: Vec<f32> = sums.column(col).iter().copied().collect();
                    assert_eq!(bits(&found), bits(&y.download()?), "{rows}x{cols} by {layout}, column {col}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn what_does_not_fit_is_refused() -> Result<()> {
        let device = test_device();
        let zeros = |rows, cols, layout| device.zero_dense::<f64>(DenseShape::new(rows, cols, layout));
        let (mut y, x) = (zeros(3, 2, Layout::ByRows)?, zeros(2, 3, Layout::ByRows)?);
        assert_eq!(y.column_dots(&x).unwrap_err().to_string(), "one matrix is 3x2, the other 2x3");
        let refused = y.axpby_columns(&[1.0; 2], &zeros(3, 2, Layout::ByColumns)?, &[1.0; 2]).unwrap_err();
        assert_eq!(refused.to_string(), "x is by columns, y by rows: one layout is expected");
        let refused = y.axpby_columns(&[1.0; 3], &zeros(3, 2, Layout::ByRows)?, &[1.0; 2]).unwrap_err();
        assert!(matches!(refused, Error::Length { array: "alpha", found: 3, expected: 2, .. }));
        Ok(())
    }
}
