//! Rows and columns of a matrix multiplied by a vector's elements. Kernels: `cl/vector/scaling.cl`.
use super::check_vector;
use crate::{
    DeviceMatrix, DeviceVector, Field, Matrix, Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Options, Work, kernel},
    resident::DeviceCbc,
    tuning::Numbers,
};

kernel! {
    struct ScaleRows = "scale_rows" in "vector/scaling.cl" {
        row_idx: In<u32>,
        factor: In<Elem>,
        values: InOut<Elem>,
        nnz: u32,
        stride: u32,
    }
}

kernel! {
    struct ScaleColumns = "scale_columns" in "vector/scaling.cl" {
        col_ptr: In<u32>,
        factor: In<Elem>,
        values: InOut<Elem>,
        nnz: u32,
        ncols: u32,
        stride: u32,
    }
}

impl<M: Matrix<Element: Field>> DeviceMatrix<M> {
    /// A = A·diag(d): column j is multiplied by element j of `d`. The length of `d` is the number
    /// of scalar columns of A.
    ///
    /// Returns when it is enqueued. Each product is rounded to the element type once.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length),
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch),
    /// [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn scale_columns(&mut self, d: &DeviceVector<M::Element>) -> Result<()> {
        let cols = self.ncols() * self.shape().cols();
        check_vector("d", d, self.device(), cols, || format!("A has {cols} scalar columns"))?;
        scale(&mut self.cbc, &d.values, M::ROW_MAJOR)
    }

    /// A = diag(d)·A: row i is multiplied by element i of `d`. The length of `d` is the number of
    /// scalar rows of A.
    ///
    /// # Errors
    /// As [`DeviceMatrix::scale_columns`].
    pub fn scale_rows(&mut self, d: &DeviceVector<M::Element>) -> Result<()> {
        let rows = self.nrows() * self.shape().rows();
        check_vector("d", d, self.device(), rows, || format!("A has {rows} scalar rows"))?;
        scale(&mut self.cbc, &d.values, !M::ROW_MAJOR)
    }
}

fn scale(a: &mut DeviceCbc, factor: &Buffer, rows: bool) -> Result<()> {
    let element = a.element();
    let DeviceCbc { pattern, shape, stride, values } = a;
    let (device, nnz, stride) = (&pattern.device, pattern.nnz() as u32, *stride as u32);
    let Numbers { elementwise_group: group_size, scaled_elements, .. } = device.info().numbers();
    let entries = (scaled_elements / shape.area()).max(1);
    let (work, grid) = (Work::new(device, None), Grid::groups(pattern.nnz().div_ceil(entries), group_size));
    let options = Options::group_size(group_size)
        .element(element)
        .define("ROWS", shape.rows())
        .define("COLS", shape.cols())
        .define("ENTRIES", entries);
    match rows {
        true => {
            let kernel: Kernel<ScaleRows<'_>> = Kernel::new(device, &options)?;
            let row_idx = &pattern.row_idx;
            kernel.launch(&work, grid, ScaleRows { row_idx, factor, values, nnz, stride })
        }
        false => {
            let kernel: Kernel<ScaleColumns<'_>> = Kernel::new(device, &options)?;
            let (col_ptr, ncols) = (&pattern.col_ptr, pattern.ncols as u32);
            kernel.launch(&work, grid, ScaleColumns { col_ptr, factor, values, nnz, ncols, stride })
        }
    }
}
