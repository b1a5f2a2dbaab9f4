//! Sparse matrices in grouped coordinates (GCOO): made from dense and from compressed ones, and
//! back, and multiplied as they are. Kernels: `cl/apply/spmm/coordinates.cl`, `gcoo.cl`.
//!
//! | file | makes |
//! |---|---|
//! | [`grouping`] | the lines that are grouped |
//! | [`from_matrix`] | groups of a compressed matrix, and of its new values |
//! | [`from_dense`] | groups of the elements of a dense matrix |
//! | [`arrays`] | groups of arrays of the host, and these again |
//! | [`compressed`] | compressed rows and columns |
//! | [`to_dense`] | a dense matrix |
//! | [`plan`] | products with dense matrices |
mod arrays;
mod compressed;
mod from_dense;
mod from_matrix;
mod grouping;
mod plan;
mod to_dense;

pub use arrays::GcooArrays;
pub use grouping::Grouping;
pub use plan::{ApplyGcoo, GcooOptions};

use crate::{
    BlockShape, Device, Element, Error, Result,
    device::{Buffer, Options, Work},
    resident::Fingerprint,
};
use from_matrix::Origin;
use std::sync::{Arc, OnceLock};

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
pub struct DeviceGcoo<T: Element> {
    groups: Arc<Groups>,
    /// Blocks column-major.
    values: Buffer<T>,
    /// Of a compressed matrix: how its values are read.
    origin: Option<Box<Origin<T>>>,
}

/// The places of a [`DeviceGcoo`]'s entries.
struct Groups {
    device: Device,
    nrows: usize,
    ncols: usize,
    shape: BlockShape,
    grouping: Grouping,
    /// Entries before each group, and of all.
    group_ptr: Buffer<u32>,
    other: Buffer<u32>,
    line: Buffer<u8>,
    fingerprint: OnceLock<Fingerprint>,
}

fn group_size(device: &Device) -> usize {
    device.info().numbers().elementwise_group
}

/// Options of `cl/apply/spmm/coordinates.cl`, with so many places across the lines in a chunk.
fn options<T: Element>(device: &Device, group_lines: usize, chunk: usize) -> Options {
    Options::group_size(group_size(device)).element::<T>().define("LINES", group_lines).define("CHUNK", chunk)
}

impl<T: Element> DeviceGcoo<T> {
    /// Rows, counted in entries (blocks).
    pub fn nrows(&self) -> usize {
        self.groups.nrows
    }

    /// Columns, counted in entries (blocks).
    pub fn ncols(&self) -> usize {
        self.groups.ncols
    }

    /// Entries (blocks).
    pub fn nnz(&self) -> usize {
        self.groups.nnz()
    }

    /// Shape of the blocks; 1x1 for scalars.
    pub fn shape(&self) -> BlockShape {
        self.groups.shape
    }

    /// The lines that are grouped.
    pub fn grouping(&self) -> Grouping {
        self.groups.grouping
    }

    /// The device the matrix lives on.
    pub fn device(&self) -> &Device {
        &self.groups.device
    }

    /// Bytes of device memory held. Groups of a compressed matrix have 4 more for each entry, the
    /// place of its value there, and hold the pattern of that matrix, which it may hold, too.
    pub fn device_bytes(&self) -> u64 {
        let of_origin = self.origin.as_ref().map_or(0, |origin| origin.bytes());
        self.groups.bytes() + self.values.bytes() + of_origin
    }

    /// Replaces all values, in the order of [`GcooArrays::values`]; plans stay valid. Waits until
    /// they are copied.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::OpenCl`].
    pub fn write_values(&mut self, values: &[T]) -> Result<()> {
        let expected = self.values.len();
        if values.len() != expected {
            let why = format!("{} blocks of {}", self.nnz(), self.shape());
            return Err(Error::Length { array: "values", found: values.len(), expected, why });
        }
        Work::new(self.device(), None).write(values, &mut self.values)
    }
}

impl Groups {
    fn nnz(&self) -> usize {
        self.other.len()
    }

    /// Number of lines.
    fn lines(&self) -> usize {
        if self.grouping.of_columns() { self.ncols } else { self.nrows }
    }

    /// Places of each line.
    fn across(&self) -> usize {
        if self.grouping.of_columns() { self.nrows } else { self.ncols }
    }

    /// Number of groups.
    fn len(&self) -> usize {
        self.lines().div_ceil(self.grouping.lines())
    }

    fn bytes(&self) -> u64 {
        self.group_ptr.bytes() + self.other.bytes() + self.line.bytes()
    }

    /// Whether the groups have their entries in the same places: immediately if they are the same
    /// arrays, otherwise by fingerprints. Each is computed once (one read-back).
    fn same_as<T: Element>(self: &Arc<Self>, of: &Arc<Self>) -> Result<bool> {
        let sizes = |of: &Self| (of.nrows, of.ncols, of.shape, of.grouping, of.nnz());
        let same = Arc::ptr_eq(self, of);
        Ok(same
            || self.device.same_as(&of.device)
                && sizes(self) == sizes(of)
                && self.fingerprint::<T>()? == of.fingerprint::<T>()?)
    }

    fn fingerprint<T: Element>(&self) -> Result<Fingerprint> {
        if let Some(known) = self.fingerprint.get() {
            return Ok(*known);
        }
        let work = Work::new(&self.device, None);
        let found = Fingerprint::of(&work, &[&self.group_ptr, &self.other, &self.line_of::<T>(&work)?])?;
        Ok(*self.fingerprint.get_or_init(|| found))
    }
}

impl<T: Element> std::fmt::Debug for DeviceGcoo<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Groups { nrows, ncols, shape, grouping, .. } = &*self.groups;
        let nnz = self.nnz();
        write!(f, "DeviceGcoo({nrows}x{ncols} entries of {shape} in groups of {grouping}, {nnz} entries)")
    }
}

#[cfg(test)]
mod tests;
