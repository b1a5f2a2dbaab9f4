//! Sizes of matrices and vectors, for reports and messages.
use blockmul::{
    BlockShape, DeviceMatrix,
    groups::{BlockGroups, Group},
    matrix::{AnyMatrix, AnyView, HostMatrix, Pattern},
};
use serde::Serialize;

/// The size of a matrix: `rows` and `cols` count scalars, `nnz` entries (blocks).
#[derive(Serialize, Default, Clone, Copy)]
pub struct Size {
    rows: usize,
    cols: usize,
    nnz: usize,
    /// Rows and columns of each entry, or `None` for blocks of several shapes.
    pub block: Option<[usize; 2]>,
    /// Number of stored elements, counting all elements of blocks.
    #[serde(skip)]
    elements: usize,
}

impl Size {
    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn cols(&self) -> usize {
        self.cols
    }

    pub fn nnz(&self) -> usize {
        self.nnz
    }

    /// The size of a matrix that consists of both matrices, side by side.
    pub fn and(self, columns: Self) -> Self {
        let elements = self.elements + columns.elements;
        Self { cols: self.cols + columns.cols, nnz: self.nnz + columns.nnz, elements, ..self }
    }

    pub fn elements(&self) -> usize {
        self.elements
    }

    /// The word for entries: `entries`, or `blocks` with their shape.
    pub fn entries(&self) -> String {
        match self.block {
            Some([1, 1]) => "entries".into(),
            Some([rows, cols]) => format!("blocks of {rows}x{cols}"),
            None => "blocks of several shapes".into(),
        }
    }

    /// The size of a matrix on a device.
    pub fn on_device<M: HostMatrix>(matrix: &DeviceMatrix<M>) -> Self {
        Self::new(matrix.nrows(), matrix.ncols(), matrix.nnz(), matrix.shape())
    }

    /// The size of a matrix that has a block of `shape` at each place of `pattern`.
    pub fn in_blocks(pattern: &Pattern, shape: BlockShape) -> Self {
        Self::new(pattern.nrows(), pattern.ncols(), pattern.nnz(), shape)
    }

    /// The size of a vector.
    pub fn of_vector(len: usize) -> Self {
        Self::of_dense(len, 1)
    }

    /// The size of a dense matrix.
    pub fn of_dense(rows: usize, cols: usize) -> Self {
        Self::new(rows, cols, rows * cols, BlockShape::SCALAR)
    }

    /// The size of a matrix of groups of blocks.
    pub fn of_groups(groups: &BlockGroups<AnyMatrix>) -> Self {
        let (rows, cols) = (groups.row_groups(), groups.col_groups());
        let places = (0..rows.len()).flat_map(|row| (0..cols.len()).map(move |col| (row, col)));
        let cells = places.filter_map(|(row, col)| groups.get(row, col));
        let block = match (rows, cols) {
            ([Group { side: rows, .. }], [Group { side: cols, .. }]) => Some([*rows, *cols]),
            _ => None,
        };
        Self {
            rows: groups.scalar_rows(),
            cols: groups.scalar_cols(),
            nnz: groups.nnz(),
            block,
            elements: cells.map(|cell| cell.nnz() * cell.shape().area()).sum(),
        }
    }

    pub fn of<'m>(matrix: impl Into<AnyView<'m>>) -> Self {
        let view = matrix.into();
        Self::new(view.nrows(), view.ncols(), view.nnz(), view.shape())
    }

    /// The size of a matrix of `rows` x `cols` blocks.
    fn new(rows: usize, cols: usize, nnz: usize, shape: BlockShape) -> Self {
        let block = [shape.rows(), shape.cols()];
        Self { rows: rows * block[0], cols: cols * block[1], nnz, block: Some(block), elements: nnz * shape.area() }
    }
}
