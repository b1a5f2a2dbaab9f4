//! Sparse matrices in grouped coordinates (GCOO), made from dense and from compressed ones, and
//! back. Kernels: `cl/apply/spmm/coordinates.cl`, `gcoo.cl`.
mod from_dense;

use super::{gcoo::Gcoo, pack::Pack};
use crate::{
    Csc, Csr, Device, DeviceDense, DeviceMatrix, Element, Error, Matrix, Result,
    device::{Buffer, Grid, In, Kernel, Options, Out, Work, kernel},
    matrix::DenseShape,
    primitives::radix_sort::{Elements, RadixSort, RadixTuning, Sorted},
    resident::{DeviceCbc, PatternArrays},
    vector::lines::Index,
};
use from_dense::Entries;

kernel! {
    struct Split = "split" in "apply/spmm/coordinates.cl" {
        group_ptr: In<u32>,
        g_line: In<u8>,
        line_of: Out<u32>,
        groups: u32,
        nnz: u32,
    }
}

kernel! {
    struct Gather<T: Element> = "gather" in "apply/spmm/coordinates.cl" {
        entry_idx: In<u32>,
        partner: In<u32>,
        values: In<T>,
        other: Out<u32>,
        sorted: Out<T>,
        nnz: u32,
    }
}

/// A sparse matrix of scalars on a device in grouped coordinates: groups of neighbouring rows, the
/// entries of a group by columns, so that those in one column follow one another (S. Shi, Q. Wang,
/// X. Chu, 2020, section III-A).
///
/// It is a format to convert from and to. [`ApplyDense`](crate::plan::ApplyDense) makes its own
/// groups of a compressed matrix, if they pay.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csr, Device, dense::DeviceGcoo};
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
/// # Ok(())
/// # }
/// ```
pub struct DeviceGcoo<T: Element> {
    device: Device,
    nrows: usize,
    ncols: usize,
    group_lines: usize,
    /// Entries before each group, and of all.
    group_ptr: Buffer<u32>,
    other: Buffer<u32>,
    line: Buffer<u8>,
    values: Buffer<T>,
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
    /// Value of each entry.
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
    /// [`Error::Argument`] for groups of other than 1 to 32 rows, [`Error::TooLarge`] from 2^32 - 1
    /// entries on, [`Error::Memory`].
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
        Ok(Self { device, nrows: rows, ncols: cols, group_lines: group_rows, group_ptr, other, line, values })
    }

    /// A matrix of scalars in groups of `group_rows` rows.
    ///
    /// # Errors
    /// As [`DeviceGcoo::from_dense`]; [`Error::Argument`] for a matrix of blocks.
    pub fn from_matrix<M: Matrix<Element = T>>(a: &DeviceMatrix<M>, group_rows: usize) -> Result<Self> {
        check_group(group_rows)?;
        if a.shape().area() != 1 {
            return Err(Error::Argument(format!("gcoo groups rows of scalars: A has blocks of {}", a.shape())));
        }
        let device = a.device();
        let work = Work::new(device, None);
        // Rows of a row-major matrix are the columns of its arrays.
        let index = Index::new(&work, &a.cbc.pattern, !M::ROW_MAJOR)?;
        let groups = Gcoo::new(&work, &index, group_rows, u32::MAX as usize)?;
        let mut values = work.buffer(a.nnz())?;
        Pack::new(device, true, 1)?.run(&work, Some(&groups.source), (&a.cbc).into(), &mut values)?;
        // Groups begin where their first lines do.
        let line_ptr = index.pattern().col_ptr.download(&work)?;
        let starts: Vec<u32> = line_ptr.iter().copied().step_by(group_rows).collect();
        let ends = (!a.nrows().is_multiple_of(group_rows)).then(|| a.nnz() as u32);
        let group_ptr = work.upload(&starts.into_iter().chain(ends).collect::<Vec<_>>())?;
        let Gcoo { other, line, .. } = groups;
        let (device, nrows, ncols) = (device.clone(), a.nrows(), a.ncols());
        Ok(Self { device, nrows, ncols, group_lines: group_rows, group_ptr, other, line, values })
    }

    /// Rows.
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Columns.
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// Entries.
    pub fn nnz(&self) -> usize {
        self.other.len()
    }

    /// Bytes of device memory held.
    pub fn device_bytes(&self) -> u64 {
        self.group_ptr.bytes() + self.other.bytes() + self.line.bytes() + self.values.bytes()
    }

    /// Copies the arrays to the host.
    ///
    /// # Errors
    /// [`Error::OpenCl`], [`Error::Memory`].
    pub fn download(&self) -> Result<GcooArrays<T>> {
        let work = Work::new(&self.device, None);
        Ok(GcooArrays {
            group_ptr: self.group_ptr.download(&work)?,
            rows: self.rows(&work)?.download(&work)?,
            cols: self.other.download(&work)?,
            values: self.values.download(&work)?,
        })
    }

    /// The same matrix in compressed rows.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::OpenCl`].
    pub fn to_rows(&self) -> Result<DeviceMatrix<Csr<T>>> {
        let work = Work::new(&self.device, None);
        let rows = self.rows(&work)?;
        let (ptr, other, values) = self.compressed(&work, &rows, &self.other, self.nrows)?;
        let pattern = PatternArrays::new(&self.device, self.ncols, self.nrows, ptr, other);
        Ok(DeviceMatrix::new(DeviceCbc { pattern, shape: crate::BlockShape::SCALAR, stride: 1, values }))
    }

    /// The same matrix in compressed columns.
    ///
    /// # Errors
    /// As [`DeviceGcoo::to_rows`].
    pub fn to_columns(&self) -> Result<DeviceMatrix<Csc<T>>> {
        let work = Work::new(&self.device, None);
        let rows = self.rows(&work)?;
        let (ptr, other, values) = self.compressed(&work, &self.other, &rows, self.ncols)?;
        let pattern = PatternArrays::new(&self.device, self.nrows, self.ncols, ptr, other);
        Ok(DeviceMatrix::new(DeviceCbc { pattern, shape: crate::BlockShape::SCALAR, stride: 1, values }))
    }

    fn kernel_options(&self) -> Options {
        options::<T>(&self.device, self.group_lines, self.device.info().numbers().dense_chunk)
    }

    /// The row of each entry.
    fn rows(&self, work: &Work) -> Result<Buffer<u32>> {
        let mut line_of = work.buffer(self.nnz())?;
        let split: Kernel<Split<'_>> = Kernel::new(&self.device, &self.kernel_options())?;
        let (groups, nnz) = (self.nrows.div_ceil(self.group_lines) as u32, self.nnz() as u32);
        let args = Split { group_ptr: &self.group_ptr, g_line: &self.line, line_of: &mut line_of, groups, nnz };
        split.launch(work, Grid::items(self.nnz(), group_size(&self.device)), args)?;
        Ok(line_of)
    }

    /// Offsets of `lines` lines, the other index of each entry, and the values, by a stable sort:
    /// in a line entries keep the order of groups, which is ascending in both indices.
    fn compressed(
        &self,
        work: &Work,
        line_of: &Buffer<u32>,
        partner: &Buffer<u32>,
        lines: usize,
    ) -> Result<(Buffer<u32>, Buffer<u32>, Buffer<T>)> {
        let (device, entries) = (&self.device, self.nnz());
        let (grid, nnz) = (Grid::items(entries, group_size(device)), entries as u32);
        let sort = RadixSort::new(device, RadixTuning::new(device.info()))?;
        let gather: Kernel<Gather<'_, T>> = Kernel::new(device, &self.kernel_options())?;
        let Sorted { key, order, .. } = sort.run(work, Elements { key: line_of, keys: lines, order: None })?;
        let ptr = sort.starts(work, &key, lines)?;
        let (mut other, mut sorted) = (work.buffer(entries)?, work.buffer(entries)?);
        let values = &self.values;
        let args = Gather { entry_idx: &order, partner, values, other: &mut other, sorted: &mut sorted, nnz };
        gather.launch(work, grid, args)?;
        Ok((ptr, other, sorted))
    }
}

impl<T: Element> std::fmt::Debug for DeviceGcoo<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rows, cols, lines) = (self.nrows, self.ncols, self.group_lines);
        write!(f, "DeviceGcoo({rows}x{cols} in groups of {lines} rows, {} entries)", self.nnz())
    }
}

#[cfg(test)]
mod tests;
