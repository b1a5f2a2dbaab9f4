//! Groups made from arrays of the host, which are checked, and the reverse.
use super::{
    DeviceGcoo, Grouping,
    groups::{Grouped, Groups},
};
use crate::{
    BlockShape, Device, Element, Error, Result, device::Work, element::ElementType, matrix::check_sides,
    resident::PatternArrays,
};
use std::sync::{Arc, OnceLock};

/// The arrays of a [`DeviceGcoo`], as in the paper.
#[derive(Debug, Clone, PartialEq)]
pub struct GcooArrays<T> {
    /// The number of entries before each group; the last element is the number of all entries. The
    /// paper's `gIdxes` is this array, and `nnzPerGroup` its differences.
    pub group_ptr: Vec<u32>,
    /// Row of each entry: ascending in a group of columns.
    pub rows: Vec<u32>,
    /// Column of each entry: ascending in a group of rows.
    pub cols: Vec<u32>,
    /// Value of each entry; blocks column-major.
    pub values: Vec<T>,
}

/// The bit that marks an entry whose place is that of the entry before it in its group.
const SAME: u8 = 0x80;

impl<T: Element> DeviceGcoo<T> {
    /// Makes a matrix of `nrows` x `ncols` entries from its arrays, which are checked. In a group
    /// of rows, entries are sorted by column, and in each column by row. In a group of columns,
    /// they are sorted by row, and in each row by column.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{BlockShape, Device, dense::{DeviceGcoo, GcooArrays, Grouping}};
    /// use nalgebra::dmatrix;
    /// let device = Device::auto()?;
    /// // The matrix of the paper's Figure 2, in groups of two columns.
    /// let arrays = GcooArrays {
    ///     group_ptr: vec![0, 3, 6],
    ///     rows: vec![0, 1, 2, 0, 3, 3],
    ///     cols: vec![0, 1, 0, 3, 2, 3],
    ///     values: vec![7.0, 10.0, 9.0, 8.0, 6.0, 3.0],
    /// };
    /// let (sides, by) = ((4, 4), Grouping::Columns(2));
    /// let a = DeviceGcoo::from_arrays(&device, sides, BlockShape::SCALAR, by, &arrays)?;
    /// let d = device.upload_dense(&dmatrix![1.0, 0.0, 1.0, 0.0])?;
    /// assert_eq!(blockmul::multiply(&d, &a)?.download()?, dmatrix![16.0, 0.0, 0.0, 8.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] with the first entry that is wrong, [`Error::Length`],
    /// [`Error::TooLarge`] for too many rows or columns, counted in scalars, [`Error::Memory`],
    /// [`Error::Unsupported`].
    pub fn from_arrays(
        device: &Device,
        (nrows, ncols): (usize, usize),
        shape: BlockShape,
        grouping: Grouping,
        arrays: &GcooArrays<T>,
    ) -> Result<Self> {
        device.require(T::TYPE)?;
        grouping.check()?;
        check_sides(nrows, ncols, shape)?;
        let coordinates = Coordinates { group_ptr: &arrays.group_ptr, rows: &arrays.rows, cols: &arrays.cols };
        let line = coordinates.lines((nrows, ncols), arrays.values.len(), shape, grouping)?;
        let work = Work::new(device, None);
        let groups = coordinates.upload(&work, T::TYPE, (nrows, ncols), shape, grouping, &line)?;
        let values = work.upload(&arrays.values)?.into_any();
        Ok(Self::of(Grouped { groups: Arc::new(groups), values, origin: None }))
    }

    /// Copies the arrays to the host: the groups, and the coordinates and the value of each entry.
    ///
    /// # Errors
    /// [`Error::OpenCl`], [`Error::Memory`].
    pub fn download(&self) -> Result<GcooArrays<T>> {
        let Grouped { groups, values, .. } = &self.grouped;
        let work = Work::new(self.device(), None);
        let [rows, cols] = groups.coordinates(&work)?;
        let group_ptr = groups.group_ptr.download(&work)?;
        Ok(GcooArrays { group_ptr, rows, cols, values: values.typed().download(&work)? })
    }
}

/// The group offsets, rows and columns of [`GcooArrays`], without values.
struct Coordinates<'a> {
    group_ptr: &'a [u32],
    rows: &'a [u32],
    cols: &'a [u32],
}

impl Groups {
    /// The rows of all entries, and their columns.
    fn coordinates(&self, work: &Work) -> Result<[Vec<u32>; 2]> {
        let (lines, other) = (self.line_of(work)?.download(work)?, self.other.download(work)?);
        Ok(if self.grouping.of_columns() { [other, lines] } else { [lines, other] })
    }
}

impl Coordinates<'_> {
    /// Uploads the places of entries, whose lines were checked.
    fn upload(
        &self,
        work: &Work,
        element: ElementType,
        (nrows, ncols): (usize, usize),
        shape: BlockShape,
        grouping: Grouping,
        line: &[u8],
    ) -> Result<Groups> {
        let other = if grouping.of_columns() { self.rows } else { self.cols };
        Ok(Groups {
            device: work.device().clone(),
            element,
            nrows,
            ncols,
            shape,
            grouping,
            group_ptr: work.upload(self.group_ptr)?,
            other: work.upload(other)?,
            line: work.upload(line)?,
            fingerprint: OnceLock::new(),
        })
    }

    /// The line of each entry in its group, with the bit [`SAME`]. Refuses arrays that do not
    /// describe such groups.
    fn lines(
        &self,
        (nrows, ncols): (usize, usize),
        values: usize,
        shape: BlockShape,
        grouping: Grouping,
    ) -> Result<Vec<u8>> {
        let (lines, across) = if grouping.of_columns() { (ncols, nrows) } else { (nrows, ncols) };
        let (groups, nnz) = (lines.div_ceil(grouping.lines()), self.rows.len());
        let length = |array, found, expected, why: String| match found == expected {
            true => Ok(()),
            false => Err(Error::Length { array, found, expected, why }),
        };
        PatternArrays::check_nnz(nnz as u64)?;
        length("group_ptr", self.group_ptr.len(), groups + 1, format!("{groups} groups of {grouping}, and 1"))?;
        length("cols", self.cols.len(), nnz, format!("{nnz} rows"))?;
        length("values", values, nnz * shape.area(), format!("{nnz} blocks of {shape}"))?;
        let refuse = |reason: String| Err(Error::Argument(format!("groups of {grouping}: {reason}")));
        if self.group_ptr[0] != 0 || self.group_ptr[groups] as usize != nnz {
            let ends = [self.group_ptr[0], self.group_ptr[groups]];
            return refuse(format!("group_ptr runs from {} to {}, not from 0 to {nnz}", ends[0], ends[1]));
        }
        if let Some(group) = (0..groups).find(|&group| self.group_ptr[group] > self.group_ptr[group + 1]) {
            let (start, end) = (self.group_ptr[group], self.group_ptr[group + 1]);
            return refuse(format!("group {group}: group_ptr falls from {start} to {end}"));
        }
        let (of_lines, other) = if grouping.of_columns() { (self.cols, self.rows) } else { (self.rows, self.cols) };
        let mut found = Vec::with_capacity(nnz);
        for group in 0..groups {
            let first = group * grouping.lines();
            let own = first..(first + grouping.lines()).min(lines);
            let mut before = None;
            for entry in self.group_ptr[group] as usize..self.group_ptr[group + 1] as usize {
                let (place, line, at) = (other[entry], of_lines[entry], (self.rows[entry], self.cols[entry]));
                if !own.contains(&(line as usize)) || place as usize >= across {
                    return refuse(format!("entry {entry} at {at:?} is not in group {group} of {nrows}x{ncols}"));
                }
                if before.is_some_and(|before| before >= (place, line)) {
                    return refuse(format!("entry {entry} at {at:?} does not ascend in group {group}"));
                }
                let same = before.is_some_and(|(of_before, _)| of_before == place);
                found.push((line as usize - first) as u8 | if same { SAME } else { 0 });
                before = Some((place, line));
            }
        }
        Ok(found)
    }
}
