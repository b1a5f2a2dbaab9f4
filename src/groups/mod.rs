//! Matrices of several groups of blocks. A Jacobian of bundle adjustment is [J_camera | J_point]:
//! blocks of 2x9 beside blocks of 2x3.
//!
//! A matrix is a grid of groups of rows by groups of columns. Each cell is empty, or a block matrix
//! with blocks of its own shape. Every operation works group by group with products of one block
//! shape. C(g, h) is the sum over the inner groups k of A(g, k)·B(k, h). Each product is summed as
//! [`multiply`](crate::multiply) does; then the products are added in ascending k.
mod cells;
mod device;

pub(crate) use cells::Cells;
pub use cells::Group;
pub(crate) use device::describe_groups;
pub use device::{DeviceGroups, GroupsPattern};

use crate::{Cbc, Error, Matrix, Result, error::Dimensions, matrix::dense_zeros};
use nalgebra::DMatrix;

/// A matrix of groups of blocks on the host; each group has its own block shape.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::groups::{BlockGroups, Group};
/// use blockmul::product::GramParts;
/// use blockmul::{Cbc, Device, Part, Planned, Product, generate};
/// // 5 cameras of 9 parameters, 40 points of 3, each point seen by 2 cameras.
/// // J is 80x5 blocks of 2x9 beside 80x40 blocks of 2x3.
/// let j: BlockGroups<Cbc<f64>> =
///     generate::bundle_adjustment_jacobian(5, 40, 2, 9, Default::default(), 1)?;
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
#[derive(Debug, Clone, PartialEq)]
pub struct BlockGroups<M> {
    pub(crate) cells: Cells<M>,
}

impl<M: Matrix> BlockGroups<M> {
    /// Makes a matrix from the groups of rows and of columns and the matrices of the cells, row
    /// after row.
    ///
    /// # Errors
    /// [`Error::Length`] for another number of cells; [`Error::Argument`] if the size or block
    /// shape of a matrix is not that of its groups; [`Error::BlockShape`]; [`Error::TooLarge`].
    pub fn new(row_groups: Vec<Group>, col_groups: Vec<Group>, cells: Vec<Option<M>>) -> Result<Self> {
        Ok(Self { cells: Cells::new(row_groups, col_groups, cells, dimensions)? })
    }

    /// Puts matrices side by side: [J_camera | J_point].
    ///
    /// # Errors
    /// [`Error::Argument`] if there is no matrix, or if the rows of one differ from those of the
    /// first.
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

    /// Rows, counted in scalars.
    pub fn scalar_rows(&self) -> usize {
        self.cells.rows.iter().map(|group| group.scalars()).sum()
    }

    /// Columns, counted in scalars.
    pub fn scalar_cols(&self) -> usize {
        self.cells.cols.iter().map(|group| group.scalars()).sum()
    }

    /// Stored blocks of all groups.
    pub fn nnz(&self) -> usize {
        self.cells.iter().map(|(_, m)| m.as_cbc().pattern.nnz()).sum()
    }

    /// The transpose. Groups of columns become groups of rows, and every matrix is transposed. The
    /// result has no padding between blocks.
    pub fn transpose(&self) -> Self {
        let Cells { rows, cols, .. } = &self.cells;
        let place = |i: usize| self.get(i % rows.len(), i / rows.len()).map(transposed);
        let cells = (0..rows.len() * cols.len()).map(place).collect();
        Self::new(cols.clone(), rows.clone(), cells).unwrap_or_else(|_| unreachable!("a grid, mirrored"))
    }

    /// The dense matrix.
    ///
    /// # Panics
    /// If there is not enough memory.
    pub fn to_dense(&self) -> DMatrix<M::Element> {
        let starts = |groups: &[Group]| -> Vec<usize> {
            let scan = |start: &mut usize, group: &Group| Some(std::mem::replace(start, *start + group.scalars()));
            groups.iter().scan(0, scan).collect()
        };
        let (rows, cols) = (starts(&self.cells.rows), starts(&self.cells.cols));
        let mut dense = dense_zeros(self.scalar_rows(), self.scalar_cols());
        for ((row, col), m) in self.cells.iter() {
            let arrays = m.as_cbc().to_dense();
            let part = if M::ROW_MAJOR { arrays.transpose() } else { arrays };
            dense.view_mut((rows[row], cols[col]), part.shape()).copy_from(&part);
        }
        dense
    }
}

/// Size and block shape of a matrix, as it is read by rows and columns.
pub(crate) fn dimensions<M: Matrix>(m: &M) -> Dimensions {
    let of = m.as_cbc().dimensions();
    if M::ROW_MAJOR { of.transposed() } else { of }
}

fn groups_of(of: &Dimensions) -> (Group, Group) {
    (Group { blocks: of.nrows, side: of.block_rows }, Group { blocks: of.ncols, side: of.block_cols })
}

/// The transpose of any matrix.
pub(crate) fn transposed<M: Matrix>(m: &M) -> M {
    let view = m.as_cbc();
    Cbc::with_stride(view.pattern.clone(), view.shape, view.stride, view.values.to_vec())
        .and_then(|arrays| M::from_cbc(arrays.transpose()))
        .unwrap_or_else(|_| unreachable!("the arrays of a matrix"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
