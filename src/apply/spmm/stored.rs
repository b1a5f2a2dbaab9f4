//! Sparse matrices stored in grouped coordinates (GCOO): conversions from and to dense and
//! compressed matrices, and products. Kernels: `cl/apply/spmm/coordinates.cl`, `gcoo.cl`.
//!
//! | file | makes |
//! |---|---|
//! | [`groups`] | groups without element types |
//! | [`from_matrix`] | groups made from a compressed matrix, and updates of their values |
//! | [`from_dense`] | groups made from the elements of a dense matrix |
//! | [`arrays`] | groups made from arrays of the host, and the reverse |
//! | [`compressed`] | compressed rows and columns made from groups |
//! | [`to_dense`] | a dense matrix made from groups |
//! | [`plan`], [`way`] | products with dense matrices |
mod arrays;
mod compressed;
mod from_dense;
mod from_matrix;
mod groups;
mod plan;
mod to_dense;
mod way;

pub use plan::{ApplyGcoo, GcooOptions};

use crate::{
    BlockShape, Csc, Csr, Device, DeviceDense, DeviceMatrix, Element, Error, Matrix, Result,
    device::Work,
    element::ElementType,
    matrix::{Grouping, HostMatrix, Layout},
};
use groups::{Grouped, Groups};
use std::marker::PhantomData;

/// A sparse matrix on a device in grouped coordinates (S. Shi, Q. Wang, X. Chu, 2020, section
/// III-A). A group is some neighbouring rows. The entries of a group are sorted by column, so that
/// entries in one column follow one another. Groups may also be neighbouring columns, with their
/// entries sorted by row. In a matrix of blocks, an entry is a block, and a row is a row of blocks.
///
/// [`multiply`](crate::multiply) and [`ApplyGcoo`](crate::plan::ApplyGcoo) multiply grouped
/// matrices with dense matrices. For a compressed matrix, [`ApplyDense`](crate::plan::ApplyDense)
/// makes groups itself if that saves time. [`Csc::from_triplets`](crate::Csc::from_triplets)
/// compresses triplets first; [`DeviceGcoo::download`] returns coordinates.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csr, Device, dense::{DeviceGcoo, Grouping}, multiply};
/// use nalgebra::dmatrix;
/// let device = Device::auto()?;
/// // The matrix of the paper's Figure 2, in groups of two rows.
/// let a = dmatrix![
///     7.0, 0.0, 0.0, 8.0;
///     0.0, 10.0, 0.0, 0.0;
///     9.0, 0.0, 0.0, 0.0;
///     0.0, 0.0, 6.0, 3.0];
/// let grouped = DeviceGcoo::from_dense(&device.upload_dense(&a)?, Grouping::Rows(2))?;
/// let host = grouped.download()?;
/// assert_eq!(host.group_ptr, [0, 3, 6]);
/// assert_eq!(host.values, [7.0, 10.0, 8.0, 9.0, 6.0, 3.0]);
/// assert_eq!((host.rows, host.cols), (vec![0, 1, 0, 2, 3, 3], vec![0, 1, 3, 0, 2, 3]));
/// let compressed: Csr<f64> = grouped.to_rows()?.download()?;
/// assert_eq!(compressed.values(), [7.0, 8.0, 10.0, 9.0, 6.0, 3.0]);
///
/// let d = device.upload_dense(&dmatrix![1.0; 1.0; 0.0; 2.0])?;
/// assert_eq!(multiply(&grouped, &d)?.download()?, dmatrix![23.0; 10.0; 9.0; 6.0]);
/// # Ok(())
/// # }
/// ```
pub struct DeviceGcoo<T: 'static> {
    grouped: Grouped,
    element: PhantomData<fn() -> T>,
}

impl<T: 'static> DeviceGcoo<T> {
    fn of(grouped: Grouped) -> Self {
        Self { grouped, element: PhantomData }
    }

    /// Groups a compressed matrix.
    ///
    /// # Errors
    /// See [`DeviceGcoo::from_dense`].
    pub fn from_matrix<M: HostMatrix<Word = T>>(a: &DeviceMatrix<M>, grouping: Grouping) -> Result<Self> {
        grouping.check()?;
        Ok(Self::of(Grouped::from_matrix(&a.pattern(), &a.cbc, grouping)?))
    }

    /// Replaces the values by those of `a`, in one pass. `a` is the compressed matrix that was
    /// grouped, or another matrix on its pattern. Plans stay valid. Returns when the copy is
    /// enqueued.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, dense::{DeviceGcoo, Grouping}};
    /// let device = Device::auto()?;
    /// let mut a = device.upload(&Csc::from_triplets(2, 2, [(1, 0, 3.0), (0, 1, 2.0)])?)?;
    /// let mut grouped = DeviceGcoo::from_matrix(&a, Grouping::Rows(2))?;
    /// a.write_values(&[5.0, 7.0])?;
    /// grouped.update(&a)?;
    /// assert_eq!(grouped.download()?.values, [5.0, 7.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::PlanPattern`] if `a` has another pattern; [`Error::Argument`] if it has another
    /// type, or if the groups were not made by [`DeviceGcoo::from_matrix`];
    /// [`Error::OpenCl`].
    pub fn update<M: HostMatrix<Word = T>>(&mut self, a: &DeviceMatrix<M>) -> Result<()> {
        let Grouped { values, origin, .. } = &mut self.grouped;
        let Some(origin) = origin else {
            return Err(Error::Argument("these groups were not made of a compressed matrix".into()));
        };
        origin.pattern().check_kind(a.kind())?;
        origin.update(&a.cbc, values)
    }

    /// Number of rows, counted in entries (blocks).
    pub fn nrows(&self) -> usize {
        self.grouped.groups.nrows
    }

    /// Number of columns, counted in entries (blocks).
    pub fn ncols(&self) -> usize {
        self.grouped.groups.ncols
    }

    /// Number of entries (blocks).
    pub fn nnz(&self) -> usize {
        self.grouped.groups.nnz()
    }

    /// Shape of the blocks; 1x1 for scalars.
    pub fn shape(&self) -> BlockShape {
        self.grouped.groups.shape
    }

    /// The lines that are grouped.
    pub fn grouping(&self) -> Grouping {
        self.grouped.groups.grouping
    }

    /// The device that holds the matrix.
    pub fn device(&self) -> &Device {
        &self.grouped.groups.device
    }

    /// Bytes of device memory held. Groups made from a compressed matrix also store, in 4 bytes,
    /// the index of each entry in that matrix, and they keep the matrix's pattern. The compressed
    /// matrix and the groups may share the pattern's memory.
    pub fn device_bytes(&self) -> u64 {
        self.grouped.bytes()
    }

    pub(super) fn element_type(&self) -> ElementType {
        self.grouped.values.element()
    }
}

impl<T: Element> DeviceGcoo<T> {
    /// Groups the nonzero elements of a dense matrix. Reads the number of nonzero elements back.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) unless a group has 1 to 32 lines,
    /// [`Error::TooLarge`](crate::Error::TooLarge) above 2^32 - 2^16 entries,
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn from_dense(d: &DeviceDense<T>, grouping: Grouping) -> Result<Self> {
        grouping.check()?;
        Ok(Self::of(Grouped::from_dense(d.device(), d.buffer(), grouping)?))
    }

    /// Converts to compressed rows.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::OpenCl`]; [`Error::BlockShape`] for a matrix of blocks, which
    /// [`DeviceGcoo::to_matrix`] converts to a [`Bsr`](crate::Bsr).
    pub fn to_rows(&self) -> Result<DeviceMatrix<Csr<T>>> {
        self.to_matrix()
    }

    /// Converts to compressed columns.
    ///
    /// # Errors
    /// See [`DeviceGcoo::to_rows`].
    pub fn to_columns(&self) -> Result<DeviceMatrix<Csc<T>>> {
        self.to_matrix()
    }

    /// Converts to the compressed matrix type M.
    ///
    /// # Errors
    /// See [`DeviceGcoo::to_rows`].
    pub fn to_matrix<M: Matrix<Element = T>>(&self) -> Result<DeviceMatrix<M>> {
        let shape = self.shape();
        if !M::BLOCKS && shape != BlockShape::SCALAR {
            return Err(Error::BlockShape { rows: shape.rows(), cols: shape.cols() });
        }
        Ok(DeviceMatrix::new(self.grouped.compressed(M::ROW_MAJOR)?))
    }

    /// Converts to a dense matrix in a layout.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory), [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn to_dense(&self, layout: Layout) -> Result<DeviceDense<T>> {
        let (shape, values) = self.grouped.to_dense(layout)?;
        Ok(DeviceDense { shape, values: values.into_typed(), device: self.device().clone() })
    }

    /// Replaces all values, in the order of
    /// [`GcooArrays::values`](crate::dense::GcooArrays::values). Plans stay valid. Waits until the
    /// values are copied.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::OpenCl`].
    pub fn write_values(&mut self, values: &[T]) -> Result<()> {
        let expected = self.grouped.values.len();
        if values.len() != expected {
            let why = format!("{} blocks of {}", self.nnz(), self.shape());
            return Err(Error::Length { array: "values", found: values.len(), expected, why });
        }
        Work::new(self.device(), None).write(values, self.grouped.values.typed_mut())
    }
}

impl<T: 'static> std::fmt::Debug for DeviceGcoo<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Groups { nrows, ncols, shape, grouping, .. } = &*self.grouped.groups;
        let nnz = self.nnz();
        write!(f, "DeviceGcoo({nrows}x{ncols} entries of {shape} in groups of {grouping}, {nnz} entries)")
    }
}

#[cfg(test)]
mod tests;
