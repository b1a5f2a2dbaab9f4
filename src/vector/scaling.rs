//! Rows and columns of a matrix multiplied by a vector's elements. Kernels: `cl/vector/scaling.cl`.
use super::check_vector;
use crate::{
    DeviceMatrix, DeviceVector, Element, Matrix, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Work, source},
    resident::DeviceCbc,
};

type RowsSignature<T> = (In<u32>, In<T>, InOut<T>, u32, u32);
type ColumnsSignature<T> = (In<u32>, In<T>, InOut<T>, u32, u32, u32);

/// Elements are independent: nothing here depends on the size.
const GROUP_SIZE: usize = 64;
/// Elements of a work-group, so that looking up its columns is a small part of its work.
const GROUP_ELEMENTS: usize = 1024;

impl<M: Matrix> DeviceMatrix<M> {
    /// A = A·diag(d): column j is multiplied by element j of `d`, which has as many as A has scalar columns.
    ///
    /// Returns when it is enqueued. Each product is rounded to the element type once.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length), [`Error::DeviceMismatch`](crate::Error::DeviceMismatch),
    /// [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn scale_columns(&mut self, d: &DeviceVector<M::Element>) -> Result<()> {
        let cols = self.ncols() * self.shape().cols();
        check_vector("d", d, self.device(), cols, || format!("A has {cols} scalar columns"))?;
        scale(&mut self.cbc, &d.values, M::ROW_MAJOR)
    }

    /// A = diag(d)·A: row i is multiplied by element i of `d`, which has as many as A has scalar rows.
    ///
    /// # Errors
    /// As [`DeviceMatrix::scale_columns`].
    pub fn scale_rows(&mut self, d: &DeviceVector<M::Element>) -> Result<()> {
        let rows = self.nrows() * self.shape().rows();
        check_vector("d", d, self.device(), rows, || format!("A has {rows} scalar rows"))?;
        scale(&mut self.cbc, &d.values, !M::ROW_MAJOR)
    }
}

fn scale<T: Element>(a: &mut DeviceCbc<T>, d: &Buffer<T>, rows: bool) -> Result<()> {
    let DeviceCbc { pattern, shape, stride, values } = a;
    let (device, nnz, stride) = (&pattern.device, pattern.nnz(), *stride as u32);
    let entries = (GROUP_ELEMENTS / shape.area()).max(1);
    let (work, grid) = (Work::new(device, None), Grid::groups(nnz.div_ceil(entries), GROUP_SIZE));
    let (source, options) = (source!("vector/scaling.cl"), Options::group_size(GROUP_SIZE).element::<T>());
    let options = options.define("ROWS", shape.rows()).define("COLS", shape.cols()).define("ENTRIES", entries);
    match rows {
        true => {
            let kernel: Kernel<RowsSignature<T>> = device.kernel(source, &options, "scale_rows")?;
            kernel.launch(&work, grid, (&pattern.row_idx, d, values, nnz as u32, stride))
        }
        false => {
            let kernel: Kernel<ColumnsSignature<T>> = device.kernel(source, &options, "scale_columns")?;
            let args = (&pattern.col_ptr, d, values, nnz as u32, pattern.ncols as u32, stride);
            kernel.launch(&work, grid, args)
        }
    }
}
