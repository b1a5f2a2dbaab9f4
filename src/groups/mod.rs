//! Matrices of several groups of blocks. An example is the Jacobian of bundle adjustment, [J_camera
//! | J_point], which has blocks of 2x9 beside blocks of 2x3.
//!
//! A matrix is a grid of groups of rows by groups of columns. Each cell is empty, or a block matrix
//! whose blocks have a shape of their own. Every operation works cell by cell, with products of one
//! block shape. C(g, h) is the sum of A(g, k)·B(k, h) over the inner groups k. Each of these
//! products is summed as [`multiply`](crate::multiply) does; then the products are added in the
//! order of the inner groups.
mod cells;
mod device;

pub(crate) use cells::Cells;
pub use cells::Group;
pub use device::{DeviceGroups, GroupsPattern};
pub(crate) use device::{check_cells, describe_groups};

use crate::{
    Csc, Error, Matrix, Result,
    element::ElementType,
    error::Dimensions,
    matrix::{AnyMatrix, HostMatrix, Kind, MatrixType, dense_zeros},
};
use nalgebra::DMatrix;

/// A matrix of groups of blocks on the host; each group has its own block shape.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::groups::{BlockGroups, Group};
/// use blockmul::product::GramParts;
/// use blockmul::{BlockShape, Cbc, Device, Part, Planned, Product, generate};
/// // 5 cameras of 9 parameters, 40 points of 3, each point seen by 2 cameras.
/// // J is 80x5 blocks of 2x9 beside 80x40 blocks of 2x3.
/// let (cameras, points, views, shape) = (5, 40, 2, BlockShape::new(9, 3)?);
/// let seen = generate::Visibility { cameras, points, views, shape, ..Default::default() };
/// let j: BlockGroups<Cbc<f64>> = seen.jacobian()?;
/// assert_eq!(j.col_groups(), [Group { blocks: 5, side: 9 }, Group { blocks: 40, side: 3 }]);
///
/// let device = Device::auto()?;
/// let j = device.upload_groups(&j)?;
/// // The Hessian JᵀJ: the lower triangle of the cameras' U, W = JcᵀJp, and the points' V.
/// let parts = GramParts { diagonal: Part::Lower, between: Part::Upper };
/// let plan = Product::gram(&j).part(parts).plan()?; // structure, once
/// let mut h = plan.output()?;
/// plan.execute(&j, &mut h)?; // values, many times
/// let (w, v) = (h.get(0, 1).unwrap(), h.get(1, 1).unwrap());
/// assert_eq!((w.nrows(), w.ncols(), w.nnz()), (5, 40, 80));
/// assert_eq!(v.nnz(), 40); // block-diagonal
/// assert_eq!(plan.cost().products, 3 * 80); // each row of two blocks takes three products
/// # Ok(())
/// # }
/// ```
///
/// Groups of [`AnyMatrix`] have one element type, and are all stored by rows or all by columns.
///
/// ```
/// use blockmul::{Csc, groups::BlockGroups, element::ElementType, matrix::AnyMatrix};
/// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0)])?);
/// let j = BlockGroups::side_by_side([a.clone(), a.cast(ElementType::F64)])?;
/// assert_eq!((j.element(), j.nnz()), (ElementType::F64, 4));
/// let error = BlockGroups::side_by_side([a.clone(), a.cast(ElementType::F32)]).unwrap_err();
/// assert!(error.to_string().contains("group (0, 1) is a Csc<f32>, group (0, 0) a Csc<f64>"));
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BlockGroups<M: HostMatrix> {
    pub(crate) cells: Cells<M>,
    pub(crate) of: MatrixType<M>,
}

impl<M: HostMatrix> BlockGroups<M> {
    /// Makes a matrix from the groups of rows, the groups of columns, and the matrices of the
    /// cells, row after row.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of cells is wrong; [`Error::Argument`] if the size or block
    /// shape of a matrix does not fit its groups, if two [`AnyMatrix`] differ in element type or
    /// order, or if there is no matrix; [`Error::BlockShape`]; [`Error::TooLarge`].
    pub fn new(row_groups: Vec<Group>, col_groups: Vec<Group>, cells: Vec<Option<M>>) -> Result<Self> {
        let cells = Cells::new(row_groups, col_groups, cells, dimensions)?;
        Ok(Self { of: type_of_cells(&cells, |m| MatrixType::of(m.view()))?, cells })
    }

    /// Puts matrices side by side: [J_camera | J_point].
    ///
    /// # Errors
    /// [`Error::Argument`] if there is no matrix, or if the rows of a matrix differ from the rows
    /// of the first.
    pub fn side_by_side(matrices: impl IntoIterator<Item = M>) -> Result<Self> {
        let matrices: Vec<M> = matrices.into_iter().collect();
        let first = matrices.first().ok_or_else(|| Error::Argument("no matrices to put side by side".into()))?;
        let rows = groups_of(&dimensions(first)).0;
        let cols = matrices.iter().map(|m| groups_of(&dimensions(m)).1).collect();
        Self::new(vec![rows], cols, matrices.into_iter().map(Some).collect())
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
    pub fn get(&self, row_group: usize, col_group: usize) -> Option<&M> {
        self.cells.get(row_group, col_group)
    }

    /// Returns the matrices of all cells, row after row.
    pub fn into_cells(self) -> Vec<Option<M>> {
        self.cells.into_cells()
    }

    /// Number of rows, counted in scalars.
    pub fn scalar_rows(&self) -> usize {
        self.cells.rows.iter().map(|group| group.scalars()).sum()
    }

    /// Number of columns, counted in scalars.
    pub fn scalar_cols(&self) -> usize {
        self.cells.cols.iter().map(|group| group.scalars()).sum()
    }

    /// Number of stored blocks of all groups.
    pub fn nnz(&self) -> usize {
        self.cells.iter().map(|(_, m)| m.view().nnz()).sum()
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.of.element
    }

    /// The transpose. Groups of columns become groups of rows, and every matrix is transposed. The
    /// result has no padding between blocks.
    pub fn transpose(&self) -> Self {
        let cells = self.cells.try_transpose(|m| M::from_any(m.view().transposed()));
        Self { cells: cells.unwrap_or_else(|_| unreachable!("a transpose has the same type")), of: self.of }
    }
}

impl<M: Matrix> BlockGroups<M> {
    /// The same matrix with element type and format known at run time only.
    pub fn into_any(self) -> BlockGroups<AnyMatrix> {
        let MatrixType { kind, element } = self.of;
        BlockGroups { cells: self.cells.into_map(AnyMatrix::of_typed), of: MatrixType { kind: kind.get(), element } }
    }

    /// Converts to a dense matrix.
    ///
    /// # Panics
    /// If there is not enough memory.
    pub fn to_dense(&self) -> DMatrix<M::Element> {
        let (rows, cols) = (starts(&self.cells.rows), starts(&self.cells.cols));
        let mut dense = dense_zeros(self.scalar_rows(), self.scalar_cols());
        for ((row, col), m) in self.cells.iter() {
            let arrays = m.as_cbc().to_dense();
            let part = if M::ROW_MAJOR { arrays.transpose() } else { arrays };
            dense.view_mut((rows[row], cols[col]), part.shape()).copy_from(&part);
        }
        dense
    }

    /// Converts to a matrix of scalars. Every element of a stored block becomes an entry, even if
    /// it is zero.
    ///
    /// # Errors
    /// [`Error::Memory`] if it does not fit the host.
    pub fn to_scalars(&self) -> Result<Csc<M::Element>> {
        let (rows, cols) = (starts(&self.cells.rows), starts(&self.cells.cols));
        let mut entries = Vec::new();
        for ((row, col), m) in self.cells.iter() {
            let scalars = AnyMatrix::of_typed(m.clone()).to_scalars();
            let arrays = scalars.as_cbc::<M::Element>()?;
            for line in 0..arrays.pattern.ncols() {
                for entry in arrays.pattern.entries(line) {
                    let other = arrays.pattern.row_idx()[entry] as usize;
                    let (i, j) = if M::ROW_MAJOR { (line, other) } else { (other, line) };
                    entries.push((rows[row] + i, cols[col] + j, arrays.values[entry]));
                }
            }
        }
        Csc::from_triplets(self.scalar_rows(), self.scalar_cols(), entries)
    }
}

/// Number of scalars before each group.
fn starts(groups: &[Group]) -> Vec<usize> {
    let scan = |start: &mut usize, group: &Group| Some(std::mem::replace(start, *start + group.scalars()));
    groups.iter().scan(0, scan).collect()
}

impl BlockGroups<AnyMatrix> {
    /// The matrix as groups of type `M`. Nothing is copied.
    ///
    /// # Errors
    /// [`Error::Argument`] if a group has another element type or format.
    pub fn typed<M: Matrix>(self) -> Result<BlockGroups<M>> {
        Ok(BlockGroups { cells: self.cells.try_into_map(AnyMatrix::typed)?, of: MatrixType::OF })
    }
}

/// Size and block shape of a matrix as seen by rows and columns, whatever its storage order.
fn dimensions<M: HostMatrix>(m: &M) -> Dimensions {
    m.view().dimensions()
}

fn groups_of(of: &Dimensions) -> (Group, Group) {
    (Group { blocks: of.nrows, side: of.block_rows }, Group { blocks: of.ncols, side: of.block_cols })
}

/// The common type of the matrices in a grid, which must agree in element type and order. The
/// common type has blocks if at least one matrix has blocks.
fn type_of_cells<X, M: HostMatrix>(cells: &Cells<X>, of: impl Fn(&X) -> MatrixType<M>) -> Result<MatrixType<M>> {
    if let Some(known) = M::TYPE {
        return Ok(known);
    }
    let mut found = cells.iter().map(|(place, x)| (place, of(x)));
    let no_cell = || {
        Error::Argument(
            "groups of matrices whose element and format are values: at least one matrix is required".into(),
        )
    };
    let (first, of_first) = found.next().ok_or_else(no_cell)?;
    found.try_fold(of_first, |all, (place, of)| {
        let differ = |_| {
            let why = "elements must be the same, and all groups stored by rows, or all by columns";
            Error::Argument(format!("group {place:?} is a {of:?}, group {first:?} a {of_first:?}: {why}"))
        };
        all.times(of).map_err(differ)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cbc;

    #[test]
    #[should_panic(expected = "a dense matrix of 4294967296x4294967296 elements fits no memory")]
    fn a_dense_matrix_whose_elements_have_no_number_is_not_made() {
        // 2^32 rows and columns of scalars, in two groups each: the number of elements, 2^64, is 0
        // in 64 bits.
        let groups = vec![Group { blocks: 1 << 26, side: 32 }; 2];
        let of: BlockGroups<Cbc<f64>> = BlockGroups::new(groups.clone(), groups, vec![None; 4]).unwrap();
        of.to_dense();
    }
}
