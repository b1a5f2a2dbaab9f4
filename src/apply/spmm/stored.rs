//! Sparse matrices in grouped coordinates (GCOO): made from dense and from compressed ones, and
//! back, and multiplied as they are. Kernels: `cl/apply/spmm/coordinates.cl`, `gcoo.cl`.
//!
//! | file | makes |
//! |---|---|
//! | [`from_dense`] | groups of the elements of a dense matrix |
//! | [`compressed`] | compressed rows and columns |
//! | [`plan`] | products with dense matrices |
mod compressed;
mod from_dense;
mod plan;

pub use plan::{ApplyGcoo, GcooOptions};

use super::{gcoo::Gcoo, pack::Pack};
use crate::{
    BlockShape, Device, DeviceDense, DeviceMatrix, Element, Error, Matrix, Result,
    device::{Buffer, Options, Work},
    matrix::DenseShape,
    resident::Fingerprint,
    vector::lines::Index,
};
use from_dense::Entries;
use std::sync::{Arc, OnceLock};

/// A sparse matrix on a device in grouped coordinates: groups of neighbouring rows, the entries of
/// a group by columns, so that those in one column follow one another (S. Shi, Q. Wang, X. Chu,
/// 2020, section III-A). Of a matrix of blocks, rows, columns and entries are those of blocks.
///
/// It is multiplied with dense matrices as it is, by [`multiply`](crate::multiply) and
/// [`ApplyGcoo`](crate::plan::ApplyGcoo). [`ApplyDense`](crate::plan::ApplyDense) makes its own
/// groups of a compressed matrix, if they pay. Triplets are compressed first, by
/// [`Csc::from_triplets`](crate::Csc::from_triplets).
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csr, Device, dense::DeviceGcoo, multiply};
/// use nalgebra::dmatrix;
/// let device = Device::auto()?;
/// // The matrix of the paper's Figure 2, in groups of two rows.
/// let a = dmatrix![
///     7.0, 0.0, 0.0, 8.0;
///     0.0, 10.0, 0.0, 0.0;
///     9.0, 0.0, 0.0, 0.0;
///     0.0, 0.0, 6.0, 3.0];
/// let grouped = DeviceGcoo::from_dense(&device.upload_dense(&a)?, 2)?;
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
}

/// The places of a [`DeviceGcoo`]'s entries.
struct Groups {
    device: Device,
    nrows: usize,
    ncols: usize,
    shape: BlockShape,
    group_rows: usize,
    /// Entries before each group, and of all.
    group_ptr: Buffer<u32>,
    other: Buffer<u32>,
    line: Buffer<u8>,
    fingerprint: OnceLock<Fingerprint>,
}

/// The arrays of a [`DeviceGcoo`], as the paper has them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GcooArrays<T> {
    /// Entries of the groups before each, and of all: `gIdxes` and, by differences, `nnzPerGroup`.
    pub group_ptr: Vec<u32>,
    /// Row of each entry.
    pub rows: Vec<u32>,
    /// Column of each entry, ascending in a group.
    pub cols: Vec<u32>,
    /// Value of each entry; blocks column-major.
    pub values: Vec<T>,
}

/// Refuses groups that are empty, and those with more lines than a byte can number.
fn check_group(lines: usize) -> Result<()> {
    match (1..=32).contains(&lines) {
        true => Ok(()),
        false => Err(Error::Argument(format!("groups of {lines} rows: 1 to 32 are supported"))),
    }
}

fn group_size(device: &Device) -> usize {
    device.info().numbers().elementwise_group
}

/// Options of `cl/apply/spmm/coordinates.cl`, with so many places across the lines in a chunk.
fn options<T: Element>(device: &Device, group_lines: usize, chunk: usize) -> Options {
    Options::group_size(group_size(device)).element::<T>().define("LINES", group_lines).define("CHUNK", chunk)
}

impl<T: Element> DeviceGcoo<T> {
    /// The elements of a dense matrix that are not 0, in groups of `group_rows` rows. Reads their
    /// number back.
    ///
    /// # Errors
    /// [`Error::Argument`] for groups of other than 1 to 32 rows, [`Error::TooLarge`] above
    /// 2^32 - 2^16 entries, [`Error::Memory`].
    pub fn from_dense(d: &DeviceDense<T>, group_rows: usize) -> Result<Self> {
        check_group(group_rows)?;
        let numbers = d.device().info().numbers();
        // Most items of a work-group would have no element of a short row.
        let together = numbers.dense_lanes > 1 && d.shape().cols > numbers.dense_chunk;
        Self::from_dense_by(d, group_rows, together)
    }

    /// As [`DeviceGcoo::from_dense`]; with `together` the items of a work-group share rows that are
    /// stored one after another.
    fn from_dense_by(d: &DeviceDense<T>, group_rows: usize, together: bool) -> Result<Self> {
        let work = Work::new(d.device(), None);
        let Entries { group_ptr, other, line, values } = from_dense::entries(&work, d, group_rows, together)?;
        let (device, DenseShape { rows, cols, .. }) = (d.device().clone(), d.shape());
        let shape = BlockShape::SCALAR;
        let groups = Groups {
            device,
            nrows: rows,
            ncols: cols,
            shape,
            group_rows,
            group_ptr,
            other,
            line,
            fingerprint: OnceLock::new(),
        };
        Ok(Self { groups: Arc::new(groups), values })
    }

    /// A matrix in groups of `group_rows` rows, of blocks in groups of so many rows of blocks.
    ///
    /// # Errors
    /// As [`DeviceGcoo::from_dense`].
    pub fn from_matrix<M: Matrix<Element = T>>(a: &DeviceMatrix<M>, group_rows: usize) -> Result<Self> {
        check_group(group_rows)?;
        let (device, shape) = (a.device(), a.shape());
        let work = Work::new(device, None);
        // Rows of a row-major matrix are the columns of its arrays, whose blocks are transposes.
        let index = Index::new(&work, &a.cbc.pattern, !M::ROW_MAJOR)?;
        let grouped = Gcoo::new(&work, &index, group_rows, u32::MAX as usize)?;
        let mut values = work.buffer(a.nnz() * shape.area())?;
        let pack = match M::ROW_MAJOR {
            true => Pack::transposing(device, true, shape)?,
            false => Pack::new(device, true, shape.area())?,
        };
        pack.run(&work, Some(&grouped.source), (&a.cbc).into(), &mut values)?;
        // Groups begin where their first lines do.
        let line_ptr = index.pattern().col_ptr.download(&work)?;
        let starts: Vec<u32> = line_ptr.iter().copied().step_by(group_rows).collect();
        let ends = (!a.nrows().is_multiple_of(group_rows)).then(|| a.nnz() as u32);
        let group_ptr = work.upload(&starts.into_iter().chain(ends).collect::<Vec<_>>())?;
        let Gcoo { other, line, .. } = grouped;
        let (device, nrows, ncols) = (device.clone(), a.nrows(), a.ncols());
        let groups =
            Groups { device, nrows, ncols, shape, group_rows, group_ptr, other, line, fingerprint: OnceLock::new() };
        Ok(Self { groups: Arc::new(groups), values })
    }

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

    /// Rows of a group.
    pub fn group_rows(&self) -> usize {
        self.groups.group_rows
    }

    /// The device the matrix lives on.
    pub fn device(&self) -> &Device {
        &self.groups.device
    }

    /// Bytes of device memory held.
    pub fn device_bytes(&self) -> u64 {
        self.groups.bytes() + self.values.bytes()
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

    /// Copies the arrays to the host.
    ///
    /// # Errors
    /// [`Error::OpenCl`], [`Error::Memory`].
    pub fn download(&self) -> Result<GcooArrays<T>> {
        let work = Work::new(self.device(), None);
        Ok(GcooArrays {
            group_ptr: self.groups.group_ptr.download(&work)?,
            rows: self.groups.rows::<T>(&work)?.download(&work)?,
            cols: self.groups.other.download(&work)?,
            values: self.values.download(&work)?,
        })
    }
}

impl Groups {
    fn nnz(&self) -> usize {
        self.other.len()
    }

    fn bytes(&self) -> u64 {
        self.group_ptr.bytes() + self.other.bytes() + self.line.bytes()
    }

    /// Whether the groups have their entries in the same places: immediately if they are the same
    /// arrays, otherwise by fingerprints. Each is computed once (one read-back).
    fn same_as<T: Element>(self: &Arc<Self>, of: &Arc<Self>) -> Result<bool> {
        let sizes = |of: &Self| (of.nrows, of.ncols, of.shape, of.group_rows, of.nnz());
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
        let found = Fingerprint::of(&work, &[&self.group_ptr, &self.other, &self.rows::<T>(&work)?])?;
        Ok(*self.fingerprint.get_or_init(|| found))
    }
}

impl<T: Element> std::fmt::Debug for DeviceGcoo<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Groups { nrows, ncols, shape, group_rows, .. } = &*self.groups;
        let nnz = self.nnz();
        write!(f, "DeviceGcoo({nrows}x{ncols} entries of {shape} in groups of {group_rows} rows, {nnz} entries)")
    }
}

#[cfg(test)]
mod tests;
