//! Sparse matrices in grouped coordinates (GCOO): made from dense and from compressed ones, and
//! back, and multiplied as they are. Kernels: `cl/apply/spmm/coordinates.cl`, `gcoo.cl`.
//!
//! | file | makes |
//! |---|---|
//! | [`grouping`] | the lines that are grouped |
//! | [`groups`] | groups of any elements |
//! | [`from_matrix`] | groups of a compressed matrix, and of its new values |
//! | [`from_dense`] | groups of the elements of a dense matrix |
//! | [`arrays`] | groups of arrays of the host, and these again |
//! | [`compressed`] | compressed rows and columns |
//! | [`to_dense`] | a dense matrix |
//! | [`plan`], [`way`] | products with dense matrices |
mod arrays;
mod compressed;
mod from_dense;
mod from_matrix;
mod grouping;
mod groups;
mod plan;
mod to_dense;
mod way;

pub use arrays::GcooArrays;
pub use grouping::Grouping;
pub use plan::{ApplyGcoo, GcooOptions};

use crate::{
    BlockShape, Csc, Csr, Device, DeviceDense, DeviceMatrix, Element, Error, Matrix, Result,
    device::Work,
    element::ElementType,
    matrix::{HostMatrix, Layout},
};
use groups::{Grouped, Groups};
use std::marker::PhantomData;

/// A sparse matrix on a device in grouped coordinates: groups of neighbouring rows, the entries of
/// a group by columns, so that those in one column follow one another (S. Shi, Q. Wang, X. Chu,
/// 2020, section III-A); or groups of columns, their entries by rows. Of a matrix of blocks, rows,
/// columns and entries are those of blocks.
///
/// It is multiplied with dense matrices as it is, by [`multiply`](crate::multiply) and
/// [`ApplyGcoo`](crate::plan::ApplyGcoo). [`ApplyDense`](crate::plan::ApplyDense) makes its own
/// groups of a compressed matrix, if they pay. Triplets are compressed first, by
/// [`Csc::from_triplets`](crate::Csc::from_triplets); [`DeviceGcoo::download`] returns coordinates.
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

    /// A matrix in groups.
    ///
    /// # Errors
    /// As [`DeviceGcoo::from_dense`].
    pub fn from_matrix<M: HostMatrix<Word = T>>(a: &DeviceMatrix<M>, grouping: Grouping) -> Result<Self> {
        grouping.check()?;
        Ok(Self::of(Grouped::from_matrix(&a.pattern(), &a.cbc, grouping)?))
    }

    /// Takes the values that the compressed matrix has now, or another one of its pattern: one pass
    /// over them. Plans stay valid. Returns when it is enqueued.
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
    /// [`Error::PlanPattern`] for a matrix of another pattern; [`Error::Argument`] for one of
    /// another type, and for groups that were not made by [`DeviceGcoo::from_matrix`];
    /// [`Error::OpenCl`].
    pub fn update<M: HostMatrix<Word = T>>(&mut self, a: &DeviceMatrix<M>) -> Result<()> {
        let Grouped { values, origin, .. } = &mut self.grouped;
        let Some(origin) = origin else {
            return Err(Error::Argument("these groups were not made of a compressed matrix".into()));
        };
        origin.pattern().check_kind(a.kind())?;
        origin.update(&a.cbc, values)
    }

    /// Rows, counted in entries (blocks).
    pub fn nrows(&self) -> usize {
        self.grouped.groups.nrows
    }

    /// Columns, counted in entries (blocks).
    pub fn ncols(&self) -> usize {
        self.grouped.groups.ncols
    }

    /// Entries (blocks).
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

    /// The device the matrix lives on.
    pub fn device(&self) -> &Device {
        &self.grouped.groups.device
    }

    /// Bytes of device memory held. Groups of a compressed matrix have 4 more for each entry, the
    /// place of its value there, and hold the pattern of that matrix, which it may hold, too.
    pub fn device_bytes(&self) -> u64 {
        self.grouped.bytes()
    }

    pub(super) fn element_type(&self) -> ElementType {
        self.grouped.values.element()
    }
}

impl<T: Element> DeviceGcoo<T> {
    /// The elements of a dense matrix that are not 0, in groups. Reads their number back.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for groups of other than 1 to 32 lines,
    /// [`Error::TooLarge`](crate::Error::TooLarge) above 2^32 - 2^16 entries,
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn from_dense(d: &DeviceDense<T>, grouping: Grouping) -> Result<Self> {
        grouping.check()?;
        Ok(Self::of(Grouped::from_dense(d.device(), (d.shape(), &d.values), grouping)?))
    }

    /// The same matrix in compressed rows.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::OpenCl`]; [`Error::BlockShape`] for a matrix of blocks, which
    /// becomes a [`Bsr`](crate::Bsr) by [`DeviceGcoo::to_matrix`].
    pub fn to_rows(&self) -> Result<DeviceMatrix<Csr<T>>> {
        self.to_matrix()
    }

    /// The same matrix in compressed columns.
    ///
    /// # Errors
    /// As [`DeviceGcoo::to_rows`].
    pub fn to_columns(&self) -> Result<DeviceMatrix<Csc<T>>> {
        self.to_matrix()
    }

    /// The same matrix, compressed.
    ///
    /// # Errors
    /// As [`DeviceGcoo::to_rows`].
    pub fn to_matrix<M: Matrix<Element = T>>(&self) -> Result<DeviceMatrix<M>> {
        let shape = self.shape();
        if !M::BLOCKS && shape != BlockShape::SCALAR {
            return Err(Error::BlockShape { rows: shape.rows(), cols: shape.cols() });
        }
        Ok(DeviceMatrix::new(self.grouped.compressed(M::ROW_MAJOR)?))
    }

    /// The same matrix with its zeros, in a layout.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory), [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn to_dense(&self, layout: Layout) -> Result<DeviceDense<T>> {
        let (shape, values) = self.grouped.to_dense(layout)?;
        Ok(DeviceDense { shape, values: values.into_typed(), device: self.device().clone() })
    }

    /// Replaces all values, in the order of [`GcooArrays::values`]; plans stay valid. Waits until
    /// they are copied.
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
