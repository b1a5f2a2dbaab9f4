//! The matrices that products are planned for: matrices, and matrices of groups. A plan treats a
//! matrix as a grid of one cell.
use super::operand::{OnDevice, OperandTypes};
use crate::{
    Device, DeviceMatrix, DevicePattern, Error, Result,
    groups::{BlockGroups, Cells, DeviceGroups, Group, GroupsPattern},
    matrix::{AnyType, HostMatrix, MatrixType},
    product::terms::{ViewWeights, Weights},
    resident::{DeviceCbc, DeviceView},
};

/// A matrix that products are planned for: any [`Matrix`](crate::Matrix) or
/// [`AnyMatrix`](crate::matrix::AnyMatrix), or [`BlockGroups`] of one.
pub trait Plannable: Grid {}

impl<K: Grid> Plannable for K {}

/// The weights of a factor.
pub(crate) type WeightsOf<'a, K> = <<K as Grid>::Device as OperandTypes>::Weights<'a>;

/// The arrays of each cell.
pub(crate) type CellArrays<'a> = Cells<&'a DeviceCbc>;

/// A borrowed matrix on a device as a grid of cells. The element type and the format are values.
#[derive(Clone)]
pub struct GridView<'a> {
    pub(crate) of: AnyType,
    pub(crate) cells: Cells<DeviceView<'a>>,
}

/// The arrays of a grid, to write to.
pub struct GridMut<'a>(pub(crate) Cells<&'a mut DeviceCbc>);

/// The arrays of a grid.
pub struct GridArrays(pub(crate) Cells<DeviceCbc>);

/// Matrices as grids of cells. Only this module implements `Grid`.
pub trait Grid: Sized + 'static {
    /// The host matrix of each cell.
    type Matrix: HostMatrix;
    /// The matrix on a device.
    type Device: OnDevice<Pattern = Self::Pattern> + 'static;
    /// The pattern of the matrix.
    type Pattern: OnDevice + Clone + std::fmt::Debug;

    #[doc(hidden)]
    fn of_cells(device: &Device, cells: Cells<DevicePattern>) -> Result<Self::Pattern>;
    #[doc(hidden)]
    fn of_arrays(device: &Device, of: AnyType, arrays: GridArrays) -> Result<Self::Device>;
    #[doc(hidden)]
    fn view(of: &Self::Device) -> GridView<'_>;
    #[doc(hidden)]
    fn arrays_mut(of: &mut Self::Device) -> GridMut<'_>;
    #[doc(hidden)]
    fn weights<'a>(of: WeightsOf<'a, Self>) -> Vec<ViewWeights<'a>>;
}

impl<M: HostMatrix> Grid for M {
    type Matrix = M;
    type Device = DeviceMatrix<M>;
    type Pattern = DevicePattern;

    fn of_cells(_: &Device, cells: Cells<DevicePattern>) -> Result<DevicePattern> {
        only(cells)
    }

    fn of_arrays(_: &Device, of: AnyType, arrays: GridArrays) -> Result<DeviceMatrix<M>> {
        Ok(DeviceMatrix::of_any(only(arrays.0)?, of))
    }

    fn view(of: &DeviceMatrix<M>) -> GridView<'_> {
        GridView::of_matrix(of.view())
    }

    fn arrays_mut(of: &mut DeviceMatrix<M>) -> GridMut<'_> {
        GridMut(Cells::one(NO_GROUP, NO_GROUP, &mut of.cbc))
    }

    fn weights<'a>(of: WeightsOf<'a, Self>) -> Vec<ViewWeights<'a>> {
        vec![of.views()]
    }
}

impl<M: HostMatrix> Grid for BlockGroups<M> {
    type Matrix = M;
    type Device = DeviceGroups<M>;
    type Pattern = GroupsPattern;

    fn of_cells(device: &Device, cells: Cells<DevicePattern>) -> Result<GroupsPattern> {
        Ok(GroupsPattern { cells, device: device.clone() })
    }

    fn of_arrays(device: &Device, of: AnyType, arrays: GridArrays) -> Result<DeviceGroups<M>> {
        let of = MatrixType::of_any(of);
        Ok(DeviceGroups { cells: arrays.0.into_map(|cbc| DeviceMatrix::of_type(cbc, of)), of, device: device.clone() })
    }

    fn view(of: &DeviceGroups<M>) -> GridView<'_> {
        GridView { of: of.of.any(), cells: of.cells.map(DeviceMatrix::view) }
    }

    fn arrays_mut(of: &mut DeviceGroups<M>) -> GridMut<'_> {
        GridMut(of.cells.map_mut(|m| &mut m.cbc))
    }

    fn weights<'a>(of: WeightsOf<'a, Self>) -> Vec<ViewWeights<'a>> {
        of.iter().map(|weights| Weights::views(*weights)).collect()
    }
}

impl<'a> GridView<'a> {
    pub(crate) fn of_matrix(matrix: DeviceView<'a>) -> Self {
        Self { of: matrix.type_of(), cells: Cells::one(NO_GROUP, NO_GROUP, matrix) }
    }

    pub(crate) fn arrays(&self) -> CellArrays<'a> {
        self.cells.map(|cell| cell.cbc)
    }
}

/// A placeholder for a group of a matrix, where sizes are not used.
const NO_GROUP: Group = Group { blocks: 0, side: 1 };

/// The only cell of a grid of one cell.
pub(in crate::product) fn only<X>(cells: Cells<X>) -> Result<X> {
    let found = cells.into_cells().pop().flatten();
    found.ok_or_else(|| Error::Contradiction("a product of two matrices has no cell".into()))
}
