//! Groups of blocks on a device.
use super::{BlockGroups, Cells, Group};
use crate::{
    Device, DeviceMatrix, DevicePattern, Error, Matrix, Result,
    device::{Mapped, Work},
    error::Dimensions,
    planned::prepared::same_device,
};

/// A matrix of groups of blocks that lives on a device; its host form is [`BlockGroups`].
pub struct DeviceGroups<M: Matrix> {
    pub(crate) cells: Cells<DeviceMatrix<M>>,
    pub(crate) device: Device,
}

/// The structure of a matrix of groups on a device: the grid of groups and the pattern of each. A handle.
#[derive(Debug, Clone)]
pub struct GroupsPattern {
    pub(crate) cells: Cells<DevicePattern>,
    pub(crate) device: Device,
}

impl Device {
    /// Copies every group to the device.
    ///
    /// # Errors
    /// As [`Device::upload`].
    pub fn upload_groups<M: Matrix>(&self, groups: &BlockGroups<M>) -> Result<DeviceGroups<M>> {
        self.require::<M::Element>()?;
        Ok(DeviceGroups { cells: groups.cells.try_map(|m| self.upload(m))?, device: self.clone() })
    }
}

impl<M: Matrix> DeviceGroups<M> {
    /// From matrices that are on `device` already, row after row.
    ///
    /// # Errors
    /// As [`BlockGroups::new`]; [`Error::DeviceMismatch`].
    pub fn new(
        device: &Device,
        row_groups: Vec<Group>,
        col_groups: Vec<Group>,
        cells: Vec<Option<DeviceMatrix<M>>>,
    ) -> Result<Self> {
        cells.iter().flatten().try_for_each(|m| same_device(device, m.device()))?;
        let size = |m: &DeviceMatrix<M>| of_pattern(&m.pattern());
        Ok(Self { cells: Cells::new(row_groups, col_groups, cells, size)?, device: device.clone() })
    }

    /// Zeros on a pattern.
    ///
    /// # Errors
    /// As [`DeviceMatrix::zeros`].
    pub fn zeros(pattern: &GroupsPattern) -> Result<Self> {
        Ok(Self { cells: pattern.cells.try_map(DeviceMatrix::zeros)?, device: pattern.device.clone() })
    }

    /// Copies every group to the host; waits for the commands that make them.
    ///
    /// # Errors
    /// As [`DeviceMatrix::download`].
    pub fn download(&self) -> Result<BlockGroups<M>> {
        let Cells { rows, cols, .. } = &self.cells;
        BlockGroups::new(rows.clone(), cols.clone(), self.cells.try_map(DeviceMatrix::download)?.into_cells())
    }

    /// The groups of rows.
    pub fn row_groups(&self) -> &[Group] {
        &self.cells.rows
    }

    /// The groups of columns.
    pub fn col_groups(&self) -> &[Group] {
        &self.cells.cols
    }

    /// The matrix of a cell, where there is one.
    pub fn get(&self, row_group: usize, col_group: usize) -> Option<&DeviceMatrix<M>> {
        self.cells.get(row_group, col_group)
    }

    /// The same, to write values to.
    pub fn get_mut(&mut self, row_group: usize, col_group: usize) -> Option<&mut DeviceMatrix<M>> {
        self.cells.get_mut(row_group, col_group)
    }

    /// Has `fill` write the values of every matrix there is, row after row, where the device has them: see
    /// [`DeviceMatrix::write_values_with`].
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn write_values_with<R>(&mut self, fill: impl FnOnce(Vec<&mut [M::Element]>) -> R) -> Result<R> {
        let work = Work::new(&self.device, None);
        let mut mapped = self.cells.iter_mut().map(|(_, m)| work.map(&mut m.cbc.values)).collect::<Result<Vec<_>>>()?;
        let done = fill(mapped.iter_mut().map(|values| &mut values[..]).collect());
        mapped.into_iter().try_for_each(Mapped::unmap)?;
        Ok(done)
    }

    /// The matrices of all cells, row after row, given away.
    pub fn into_cells(self) -> Vec<Option<DeviceMatrix<M>>> {
        self.cells.into_cells()
    }

    /// Where the blocks are: for plans, and for further matrices with the same pattern.
    pub fn pattern(&self) -> GroupsPattern {
        GroupsPattern { cells: self.cells.map(DeviceMatrix::pattern), device: self.device.clone() }
    }

    /// Stored blocks of all groups.
    pub fn nnz(&self) -> usize {
        self.cells.iter().map(|(_, m)| m.nnz()).sum()
    }

    /// The device the groups live on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Bytes of device memory held.
    pub fn device_bytes(&self) -> u64 {
        self.cells.iter().map(|(_, m)| m.device_bytes()).sum()
    }
}

impl GroupsPattern {
    /// The groups of rows.
    pub fn row_groups(&self) -> &[Group] {
        &self.cells.rows
    }

    /// The groups of columns.
    pub fn col_groups(&self) -> &[Group] {
        &self.cells.cols
    }

    /// The pattern of a cell, where it has one.
    pub fn get(&self, row_group: usize, col_group: usize) -> Option<&DevicePattern> {
        self.cells.get(row_group, col_group)
    }

    /// Stored blocks of all groups.
    pub fn nnz(&self) -> usize {
        self.cells.iter().map(|(_, pattern)| pattern.nnz()).sum()
    }

    /// The device the pattern lives on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Refuses a matrix, called `name`, that has another pattern.
    pub(crate) fn check<M: Matrix>(&self, name: &str, matrix: &DeviceGroups<M>) -> Result<()> {
        let (want, have) = (&self.cells, &matrix.cells);
        if (&want.rows, &want.cols) != (&have.rows, &have.cols) {
            return Err(Error::Argument(format!(
                "{name} has not the pattern of the plan: groups of {} by {} in place of {} by {}",
                told(&have.rows),
                told(&have.cols),
                told(&want.rows),
                told(&want.cols)
            )));
        }
        for row in 0..want.rows.len() {
            for col in 0..want.cols.len() {
                match (want.get(row, col), have.get(row, col)) {
                    (Some(pattern), Some(m)) => pattern.check(&format!("group ({row}, {col}) of {name}"), &m.cbc)?,
                    (None, None) => {}
                    (pattern, _) => {
                        let (has, plans) = if pattern.is_some() { ("no", "one") } else { ("a", "none") };
                        return Err(Error::Argument(format!(
                            "{name} has {has} group ({row}, {col}), the plan has {plans}"
                        )));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Groups for messages: how many blocks of which side.
pub(crate) fn told(groups: &[Group]) -> String {
    let one = |group: &Group| format!("{} of {}", group.blocks, group.side);
    format!("[{}]", groups.iter().map(one).collect::<Vec<_>>().join(", "))
}

pub(crate) fn of_pattern(pattern: &DevicePattern) -> Dimensions {
    let shape = pattern.shape();
    Dimensions { nrows: pattern.nrows(), ncols: pattern.ncols(), block_rows: shape.rows(), block_cols: shape.cols() }
}

impl<M: Matrix> std::fmt::Debug for DeviceGroups<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rows, cols) = (told(self.row_groups()), told(self.col_groups()));
        write!(f, "DeviceGroups({rows} by {cols}, {} blocks on {:?})", self.nnz(), self.device)
    }
}
