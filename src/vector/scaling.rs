//! Scaling of the rows or columns of a matrix by a vector. Kernels: `cl/vector/scaling.cl`.
use super::check_vector;
use crate::{
    DeviceMatrix, DeviceVector, Error, Field, Matrix, Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Options, Work, kernel},
    element::Any,
    matrix::{AnyMatrix, HostMatrix},
    resident::DeviceCbc,
};

kernel! {
    in "vector/scaling.cl":
    struct ScaleRows = "scale_rows" { row_idx: In<u32>, factor: In<Elem>, values: InOut<Elem>, nnz: u32, stride: u32 }
    struct ScaleColumns = "scale_columns" {
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
    /// Returns when the operation is enqueued. Each product is rounded to the element type once.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length),
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch),
    /// [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn scale_columns(&mut self, d: &DeviceVector<M::Element>) -> Result<()> {
        scale_columns(self, d)
    }

    /// A = diag(d)·A: row i is multiplied by element i of `d`. The length of `d` is the number of
    /// scalar rows of A.
    ///
    /// # Errors
    /// See [`DeviceMatrix::scale_columns`].
    pub fn scale_rows(&mut self, d: &DeviceVector<M::Element>) -> Result<()> {
        scale_rows(self, d)
    }
}

impl DeviceMatrix<AnyMatrix> {
    /// A = A·diag(d): column j is multiplied by element j of `d`, which has A's element type. The
    /// length of `d` is the number of scalar columns of A. Returns when the operation is enqueued.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, element::AnyValues, matrix::AnyMatrix};
    /// let device = Device::auto()?;
    /// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 3.0f32), (1, 1, 4.0)])?);
    /// let mut a = device.upload(&a)?;
    /// a.scale_columns(&device.upload_any_vector(&AnyValues::F32(vec![2.0, 0.5]))?)?;
    /// assert_eq!(a.download()?.values(), &AnyValues::F32(vec![6.0, 2.0]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for integers and if `d` has another element
    /// type,
    /// [`Error::Length`](crate::Error::Length),
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch),
    /// [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn scale_columns(&mut self, d: &DeviceVector<Any>) -> Result<()> {
        check_factors(self, d)?;
        scale_columns(self, d)
    }

    /// A = diag(d)·A: row i is multiplied by element i of `d`, which has A's element type. The
    /// length of `d` is the number of scalar rows of A. Returns when the operation is enqueued.
    ///
    /// # Errors
    /// See `scale_columns`.
    pub fn scale_rows(&mut self, d: &DeviceVector<Any>) -> Result<()> {
        check_factors(self, d)?;
        scale_rows(self, d)
    }
}

/// Refuses integers, and factors of another element type than the matrix's.
fn check_factors(a: &DeviceMatrix<AnyMatrix>, d: &DeviceVector<Any>) -> Result<()> {
    let (element, found) = (a.element(), d.element());
    element.check_real("scalings")?;
    match element == found {
        true => Ok(()),
        false => Err(Error::Argument(format!("d has elements of {found}, A has elements of {element}"))),
    }
}

fn scale_columns<M: HostMatrix>(a: &mut DeviceMatrix<M>, d: &DeviceVector<M::Word>) -> Result<()> {
    let cols = a.ncols() * a.shape().cols();
    check_vector("d", d, a.device(), cols, || format!("A has {cols} scalar columns"))?;
    let rows_of_arrays = a.kind().is_row_major();
    scale(&mut a.cbc, d.values.any(), rows_of_arrays)
}

fn scale_rows<M: HostMatrix>(a: &mut DeviceMatrix<M>, d: &DeviceVector<M::Word>) -> Result<()> {
    let rows = a.nrows() * a.shape().rows();
    check_vector("d", d, a.device(), rows, || format!("A has {rows} scalar rows"))?;
    let rows_of_arrays = !a.kind().is_row_major();
    scale(&mut a.cbc, d.values.any(), rows_of_arrays)
}

/// Number of elements that a work-group scales. Finding the columns of 1024 elements is a small
/// part of the work.
const SCALED_ELEMENTS: usize = 1024;

fn scale(a: &mut DeviceCbc, factor: &Buffer, rows: bool) -> Result<()> {
    let element = a.element();
    let DeviceCbc { pattern, shape, stride, values } = a;
    let (device, nnz, stride) = (&pattern.device, pattern.nnz() as u32, *stride as u32);
    let group_size = device.info().elementwise_group();
    let entries = (SCALED_ELEMENTS / shape.area()).max(1);
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
