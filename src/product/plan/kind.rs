//! The matrices that products are planned for: matrices, and matrices of groups. A plan treats a
//! matrix as a grid of one cell.
use super::cell::FactorGrid;
use crate::{
    Device, DeviceMatrix, DevicePattern, Error, Result,
    groups::{BlockGroups, Cells, DeviceGroups, Group, GroupsPattern, describe_groups},
    matrix::{HostMatrix, MatrixType},
    product::{operand::OperandTypes, terms::DeviceWeights},
    resident::DeviceCbc,
};

/// A matrix that products are planned for: any [`Matrix`](crate::Matrix) or
/// [`AnyMatrix`](crate::matrix::AnyMatrix), or [`BlockGroups`] of one.
pub trait Plannable: Grid {}

impl<K: Grid> Plannable for K {}

/// The weights of a factor.
pub(crate) type WeightsOf<'a, K> = <<K as Grid>::Device as OperandTypes>::Weights<'a>;

/// The arrays of each cell.
pub(crate) type Arrays<'a> = Cells<&'a DeviceCbc>;

/// Matrices as grids of cells. Implemented here only.
pub trait Grid: Sized + 'static {
    /// The host matrix of each cell.
    type Matrix: HostMatrix;
    /// The matrix on a device.
    type Device: OperandTypes<Pattern = Self::Pattern> + 'static;
    /// Its pattern.
    type Pattern: Clone + std::fmt::Debug;

    #[doc(hidden)]
    fn cells(pattern: &Self::Pattern) -> Cells<DevicePattern>;
    #[doc(hidden)]
    fn device(pattern: &Self::Pattern) -> &Device;
    #[doc(hidden)]
    fn of_cells(device: &Device, cells: Cells<DevicePattern>) -> Result<Self::Pattern>;
    #[doc(hidden)]
    fn of_matrices(
        device: &Device,
        of: MatrixType<Self::Matrix>,
        cells: Cells<DeviceMatrix<Self::Matrix>>,
    ) -> Result<Self::Device>;
    #[doc(hidden)]
    fn matrices(of: &Self::Device) -> Cells<&DeviceMatrix<Self::Matrix>>;
    #[doc(hidden)]
    fn matrices_mut(of: &mut Self::Device) -> Cells<&mut DeviceMatrix<Self::Matrix>>;
    /// Refuses a matrix, called `name`, that has another pattern or another type.
    #[doc(hidden)]
    fn check(pattern: &Self::Pattern, of: MatrixType<Self::Matrix>, name: &str, matrix: &Self::Device) -> Result<()>;
    #[doc(hidden)]
    fn weights<'a, 'b>(of: &'b WeightsOf<'a, Self>) -> &'b [DeviceWeights<'a, Self::Matrix>];
    /// Refuses grids whose inner groups differ. The sizes of cells that meet are compared where
    /// their product is planned.
    #[doc(hidden)]
    fn check_inner(a: FactorGrid<'_>, b: FactorGrid<'_>) -> Result<()>;
}

impl<M: HostMatrix> Grid for M {
    type Matrix = M;
    type Device = DeviceMatrix<M>;
    type Pattern = DevicePattern;

    fn cells(pattern: &DevicePattern) -> Cells<DevicePattern> {
        let shape = pattern.shape();
        let rows = Group { blocks: pattern.nrows(), side: shape.rows() };
        let cols = Group { blocks: pattern.ncols(), side: shape.cols() };
        Cells::one(rows, cols, pattern.clone())
    }

    fn device(pattern: &DevicePattern) -> &Device {
        pattern.device()
    }

    fn of_cells(_: &Device, cells: Cells<DevicePattern>) -> Result<DevicePattern> {
        only(cells)
    }

    fn of_matrices(_: &Device, _: MatrixType<M>, cells: Cells<DeviceMatrix<M>>) -> Result<DeviceMatrix<M>> {
        only(cells)
    }

    fn matrices(of: &DeviceMatrix<M>) -> Cells<&DeviceMatrix<M>> {
        one_cell(of)
    }

    fn matrices_mut(of: &mut DeviceMatrix<M>) -> Cells<&mut DeviceMatrix<M>> {
        one_cell(of)
    }

    fn check(pattern: &DevicePattern, of: MatrixType<M>, name: &str, matrix: &DeviceMatrix<M>) -> Result<()> {
        matrix.check(name, pattern, of)
    }

    fn weights<'a, 'b>(of: &'b WeightsOf<'a, Self>) -> &'b [DeviceWeights<'a, M>] {
        std::slice::from_ref(of)
    }

    fn check_inner(_: FactorGrid<'_>, _: FactorGrid<'_>) -> Result<()> {
        Ok(())
    }
}

impl<M: HostMatrix> Grid for BlockGroups<M> {
    type Matrix = M;
    type Device = DeviceGroups<M>;
    type Pattern = GroupsPattern;

    fn cells(pattern: &GroupsPattern) -> Cells<DevicePattern> {
        pattern.cells.clone()
    }

    fn device(pattern: &GroupsPattern) -> &Device {
        &pattern.device
    }

    fn of_cells(device: &Device, cells: Cells<DevicePattern>) -> Result<GroupsPattern> {
        Ok(GroupsPattern { cells, device: device.clone() })
    }

    fn of_matrices(device: &Device, of: MatrixType<M>, cells: Cells<DeviceMatrix<M>>) -> Result<DeviceGroups<M>> {
        Ok(DeviceGroups { cells, of, device: device.clone() })
    }

    fn matrices(of: &DeviceGroups<M>) -> Cells<&DeviceMatrix<M>> {
        of.cells.map(|m| m)
    }

    fn matrices_mut(of: &mut DeviceGroups<M>) -> Cells<&mut DeviceMatrix<M>> {
        of.cells.map_mut(|m| m)
    }

    fn check(pattern: &GroupsPattern, of: MatrixType<M>, name: &str, matrix: &DeviceGroups<M>) -> Result<()> {
        matrix.check(name, pattern, of)
    }

    fn weights<'a, 'b>(of: &'b WeightsOf<'a, Self>) -> &'b [DeviceWeights<'a, M>] {
        of
    }

    fn check_inner(a: FactorGrid<'_>, b: FactorGrid<'_>) -> Result<()> {
        let (cols, rows) = (a.cols(), b.rows());
        if cols != rows {
            return Err(Error::Argument(format!(
                "cannot multiply: A has blocks in groups of {} columns, B in groups of {} rows",
                describe_groups(cols),
                describe_groups(rows)
            )));
        }
        Ok(())
    }
}

/// The arrays of each cell.
pub(super) fn arrays<K: Plannable>(of: &K::Device) -> Arrays<'_> {
    K::matrices(of).into_map(|m| &m.cbc)
}

/// The arrays of each cell, to write to.
pub(super) fn arrays_mut<K: Plannable>(of: &mut K::Device) -> Cells<&mut DeviceCbc> {
    K::matrices_mut(of).into_map(|m| &mut m.cbc)
}

/// A grid of one cell. Its size is not used.
fn one_cell<X>(x: X) -> Cells<X> {
    let group = Group { blocks: 0, side: 1 };
    Cells::one(group, group, x)
}

/// The cell of a grid of one.
fn only<X>(cells: Cells<X>) -> Result<X> {
    let found = cells.into_cells().pop().flatten();
    found.ok_or_else(|| Error::Contradiction("a product of two matrices has no cell".into()))
}
