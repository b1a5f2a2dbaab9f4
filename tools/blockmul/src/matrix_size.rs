//! Sizes of matrices and vectors, for reports and messages.
use blockmul::{
    BlockShape, DeviceMatrix,
    matrix::{AnyView, HostMatrix, Pattern},
};
use serde::Serialize;

/// The size of a matrix: `rows` and `cols` count scalars, `nnz` entries (blocks).
#[derive(Serialize, Default, Clone, Copy)]
pub struct Size {
    rows: usize,
    cols: usize,
    nnz: usize,
    pub block: [usize; 2],
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

    /// The size of a matrix that has the columns of both, side by side.
    pub fn and(self, columns: Self) -> Self {
        Self { cols: self.cols + columns.cols, nnz: self.nnz + columns.nnz, ..self }
    }

    /// Number of elements of an entry (block).
    pub fn area(&self) -> usize {
        self.block[0] * self.block[1]
    }

    /// The word for entries: `entries`, or `blocks` with their shape.
    pub fn entries(&self) -> String {
        match self.block {
            [1, 1] => "entries".into(),
            [rows, cols] => format!("blocks of {rows}x{cols}"),
        }
    }

    /// The size of a matrix on a device.
    pub fn on_device<M: HostMatrix>(matrix: &DeviceMatrix<M>) -> Self {
        Self::new(matrix.nrows(), matrix.ncols(), matrix.nnz(), matrix.shape())
    }

    /// The size of a matrix of places, each a block.
    pub fn in_blocks(pattern: &Pattern, shape: BlockShape) -> Self {
        Self::new(pattern.nrows(), pattern.ncols(), pattern.nnz(), shape)
    }

    /// The size of a vector.
    pub fn of_vector(len: usize) -> Self {
        Self::of_dense(len, 1)
    }

    /// The size of a dense matrix.
    pub fn of_dense(rows: usize, cols: usize) -> Self {
        Self { rows, cols, nnz: rows * cols, block: [1, 1] }
    }

    pub fn of<'m>(matrix: impl Into<AnyView<'m>>) -> Self {
        let view = matrix.into();
        Self::new(view.nrows(), view.ncols(), view.nnz(), view.shape())
    }

    /// The size of a matrix of `rows` x `cols` blocks.
    fn new(rows: usize, cols: usize, nnz: usize, shape: BlockShape) -> Self {
        let block = [shape.rows(), shape.cols()];
        Self { rows: rows * block[0], cols: cols * block[1], nnz, block }
    }
}
