//! Matrices of groups of blocks on a device.
use super::{BlockGroups, Cells, Group, type_of_cells};
use crate::{
    Device, DeviceMatrix, DevicePattern, Error, Matrix, Result,
    device::{Mapped, Work},
    element::ElementType,
    matrix::{AnyMatrix, HostMatrix, Kind, MatrixKind, MatrixType},
    planned::prepared::same_device,
    resident::DeviceCbc,
};

/// A matrix of groups of blocks on a device; its host form is [`BlockGroups`].
pub struct DeviceGroups<M: HostMatrix> {
    pub(crate) cells: Cells<DeviceMatrix<M>>,
    pub(crate) of: MatrixType<M>,
    pub(crate) device: Device,
}

/// The structure of a matrix of groups on a device: the grid of groups and the pattern of each
/// cell. Cloning copies only a handle.
#[derive(Debug, Clone)]
pub struct GroupsPattern {
    pub(crate) cells: Cells<DevicePattern>,
    pub(crate) device: Device,
}

impl Device {
    /// Copies every group to the device.
    ///
    /// # Errors
    /// See [`Device::upload`].
    pub fn upload_groups<M: HostMatrix>(&self, groups: &BlockGroups<M>) -> Result<DeviceGroups<M>> {
        self.require(groups.of.element)?;
        Ok(DeviceGroups { cells: groups.cells.try_map(|m| self.upload(m))?, of: groups.of, device: self.clone() })
    }
}

impl<M: Matrix> DeviceGroups<M> {
    /// A matrix of zeros with this pattern.
    ///
    /// # Errors
    /// See [`DeviceMatrix::zeros`].
    pub fn zeros(pattern: &GroupsPattern) -> Result<Self> {
        Self::zeros_of(pattern, MatrixType::OF)
    }

    /// Calls `fill` with the values of all cells, row after row, mapped for writing: see
    /// [`DeviceMatrix::write_values_with`].
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn write_values_with<R>(&mut self, fill: impl FnOnce(Vec<&mut [M::Element]>) -> R) -> Result<R> {
        let work = Work::new(&self.device, None);
        let mut mapped =
            self.cells.iter_mut().map(|(_, m)| work.map(m.cbc.values.typed_mut())).collect::<Result<Vec<_>>>()?;
        let done = fill(mapped.iter_mut().map(|values| &mut values[..]).collect());
        mapped.into_iter().try_for_each(Mapped::unmap)?;
        Ok(done)
    }

    /// The same matrix with element type and format known at run time only.
    pub fn into_any(self) -> DeviceGroups<AnyMatrix> {
        let MatrixType { kind, element } = self.of;
        let of = MatrixType { kind: kind.get(), element };
        DeviceGroups { cells: self.cells.into_map(DeviceMatrix::into_any), of, device: self.device }
    }
}

/// Groups of matrices whose element type and format are known at run time only.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device, Product, groups::BlockGroups, matrix::AnyMatrix};
/// let device = Device::auto()?;
/// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 2.0f32), (1, 0, 3.0), (1, 1, 5.0)])?);
/// let j = device.upload_groups(&BlockGroups::side_by_side([a.clone(), a])?)?;
/// let h = Product::gram(&j).run()?.into_typed::<Csc<f32>>()?;
/// assert_eq!(h.get(0, 1).unwrap().download()?.values(), [13.0, 15.0, 15.0, 25.0]);
/// # Ok(())
/// # }
/// ```
impl DeviceGroups<AnyMatrix> {
    /// A matrix of zeros with this pattern.
    ///
    /// # Errors
    /// See [`DeviceMatrix::zeros`].
    pub fn zeros_any(pattern: &GroupsPattern, kind: MatrixKind, element: ElementType) -> Result<Self> {
        Self::zeros_of(pattern, MatrixType { kind, element })
    }

    /// The matrix as groups of type `M`. Nothing is copied.
    ///
    /// # Errors
    /// [`Error::Argument`] if a group has another element type or format.
    pub fn into_typed<M: Matrix>(self) -> Result<DeviceGroups<M>> {
        let cells = self.cells.try_into_map(DeviceMatrix::into_typed)?;
        Ok(DeviceGroups { cells, of: MatrixType::OF, device: self.device })
    }
}

impl<M: HostMatrix> DeviceGroups<M> {
    /// Makes a matrix of groups from matrices that are on `device` already. The matrices are listed
    /// row after row.
    ///
    /// # Errors
    /// See [`BlockGroups::new`]; [`Error::DeviceMismatch`].
    pub fn new(
        device: &Device,
        row_groups: Vec<Group>,
        col_groups: Vec<Group>,
        cells: Vec<Option<DeviceMatrix<M>>>,
    ) -> Result<Self> {
        cells.iter().flatten().try_for_each(|m| same_device(device, m.device()))?;
        let size = |m: &DeviceMatrix<M>| m.pattern().dimensions();
        let cells = Cells::new(row_groups, col_groups, cells, size)?;
        Ok(Self { of: type_of_cells(&cells, DeviceMatrix::type_of)?, cells, device: device.clone() })
    }

    fn zeros_of(pattern: &GroupsPattern, of: MatrixType<M>) -> Result<Self> {
        let cells = pattern.cells.try_map(|cell| DeviceMatrix::zeros_of(cell, of))?;
        Ok(Self { cells, of, device: pattern.device.clone() })
    }

    /// Copies every group to the host. Waits for the commands that compute them.
    ///
    /// # Errors
    /// See [`DeviceMatrix::download`].
    pub fn download(&self) -> Result<BlockGroups<M>> {
        Ok(BlockGroups { cells: self.cells.try_map(DeviceMatrix::download)?, of: self.of })
    }

    /// The groups of rows.
    pub fn row_groups(&self) -> &[Group] {
        &self.cells.rows
    }

    /// The groups of columns.
    pub fn col_groups(&self) -> &[Group] {
        &self.cells.cols
    }

    /// The matrix of a cell, if it has one.
    pub fn get(&self, row_group: usize, col_group: usize) -> Option<&DeviceMatrix<M>> {
        self.cells.get(row_group, col_group)
    }

    /// The matrix of a cell, if it has one, for writing values.
    pub fn get_mut(&mut self, row_group: usize, col_group: usize) -> Option<&mut DeviceMatrix<M>> {
        self.cells.get_mut(row_group, col_group)
    }

    /// Returns the matrices of all cells, row after row.
    pub fn into_cells(self) -> Vec<Option<DeviceMatrix<M>>> {
        self.cells.into_cells()
    }

    /// The pattern of the blocks, for plans and for further matrices on it.
    pub fn pattern(&self) -> GroupsPattern {
        GroupsPattern { cells: self.cells.map(DeviceMatrix::pattern), device: self.device.clone() }
    }

    /// Number of stored blocks of all groups.
    pub fn nnz(&self) -> usize {
        self.cells.iter().map(|(_, m)| m.nnz()).sum()
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.of.element
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

    /// The pattern of a cell, if it has one.
    pub fn get(&self, row_group: usize, col_group: usize) -> Option<&DevicePattern> {
        self.cells.get(row_group, col_group)
    }

    /// Number of stored blocks of all groups.
    pub fn nnz(&self) -> usize {
        self.cells.iter().map(|(_, pattern)| pattern.nnz()).sum()
    }

    /// The device the pattern lives on.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

/// Refuses a matrix, called `name`, whose cells do not have the plan's pattern.
pub(crate) fn check_cells<'a>(
    want: &Cells<DevicePattern>,
    name: &str,
    [rows, cols]: [&[Group]; 2],
    cell: &dyn Fn(usize, usize) -> Option<&'a DeviceCbc>,
) -> Result<()> {
    if [&want.rows[..], &want.cols] != [rows, cols] {
        return Err(Error::Argument(format!(
            "{name} does not have the pattern of the plan: groups of {} by {} in place of {} by {}",
            describe_groups(rows),
            describe_groups(cols),
            describe_groups(&want.rows),
            describe_groups(&want.cols)
        )));
    }
    for row in 0..want.rows.len() {
        for col in 0..want.cols.len() {
            match (want.get(row, col), cell(row, col)) {
                (Some(pattern), Some(m)) => pattern.check(&format!("group ({row}, {col}) of {name}"), m)?,
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

/// Describes groups in messages, as numbers of blocks and their sides: "[5 of 9, 40 of 3]".
pub(crate) fn describe_groups(groups: &[Group]) -> String {
    let one = |group: &Group| format!("{} of {}", group.blocks, group.side);
    format!("[{}]", groups.iter().map(one).collect::<Vec<_>>().join(", "))
}

impl<M: HostMatrix> std::fmt::Debug for DeviceGroups<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rows, cols) = (describe_groups(self.row_groups()), describe_groups(self.col_groups()));
        write!(f, "DeviceGroups({rows} by {cols}, {} blocks on {:?})", self.nnz(), self.device)
    }
}
