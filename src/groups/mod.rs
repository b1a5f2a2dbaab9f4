//! Matrices of several groups of blocks: a Jacobian of bundle adjustment is [J_camera | J_point], blocks of 2x9 beside blocks of 2x3.
//!
//! A grid of groups of rows by groups of columns; each cell is a block matrix with blocks of its own shape, or empty. Everything is done
//! group by group with the products of one block shape: C(g, h) is the sum over the inner groups k of A(g, k)·B(k, h), each product summed
//! as [`multiply`](crate::multiply) does, the products then added in ascending k.
mod cells;
mod device;

pub(crate) use cells::Cells;
pub use cells::Group;
pub use device::{DeviceGroups, GroupsPattern};
pub(crate) use device::{of_pattern, told};

use crate::{Cbc, Error, Matrix, Result, error::Dimensions, matrix::dense_zeros};
use nalgebra::DMatrix;

/// A matrix made of groups of blocks, each group with a block shape of its own, on the host.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::groups::{BlockGroups, Group};
/// use blockmul::product::GramParts;
/// use blockmul::{Cbc, Device, Part, Planned, Product, generate};
/// // 5 cameras of 9 parameters, 40 points of 3, each point seen by 2 cameras: J is 80x5 blocks of 2x9 beside 80x40 blocks of 2x3.
/// let j: BlockGroups<Cbc<f64>> = generate::bundle_adjustment_jacobian(5, 40, 2, 9, Default::default(), 1)?;
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
    /// From the groups of rows and of columns and the matrices of the cells, row after row.
    ///
    /// # Errors
    /// [`Error::Length`] for another number of cells, [`Error::Argument`] for a matrix whose size or block shape is not that of its
    /// groups, [`Error::BlockShape`], [`Error::TooLarge`].
    pub fn new(row_groups: Vec<Group>, col_groups: Vec<Group>, cells: Vec<Option<M>>) -> Result<Self> {
        Ok(Self { cells: Cells::new(row_groups, col_groups, cells, dimensions)? })
    }

    /// Matrices side by side: [J_camera | J_point].
    ///
    /// # Errors
    /// [`Error::Argument`] when there is none, or when one has other rows than the first.
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

    /// The matrix of a cell, where there is one.
    pub fn get(&self, row_group: usize, col_group: usize) -> Option<&M> {
        self.cells.get(row_group, col_group)
    }

    /// The matrices of all cells, row after row, given back.
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

    /// The transpose: groups of columns become groups of rows, and every matrix is transposed; without padding between blocks.
    pub fn transpose(&self) -> Self {
        let Cells { rows, cols, .. } = &self.cells;
        let place = |i: usize| self.get(i % rows.len(), i / rows.len()).map(transposed);
        let cells = (0..rows.len() * cols.len()).map(place).collect();
        Self::new(cols.clone(), rows.clone(), cells).unwrap_or_else(|_| unreachable!("a grid, mirrored"))
    }

    /// The matrix with its zeros.
    ///
    /// # Panics
    /// If there is no memory of that size.
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

/// Size and block shape.
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
        // 2^32 rows and columns of scalars, in two groups each: 2^64 elements, which is 0 in 64 bits.
        let groups = vec![Group { blocks: 1 << 26, side: 32 }; 2];
        let of: BlockGroups<Cbc<f64>> = BlockGroups::new(groups.clone(), groups, vec![None; 4]).unwrap();
        of.to_dense();
    }
}
