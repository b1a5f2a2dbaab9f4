//! Conversions between scalars and blocks. The conversions are compiled once for each size of an
//! element: 1, 2, 4 and 8 bytes.
use super::{AnyView, BlockShape, Pattern};
use crate::element::{AnySlice, AnyValues, move_values};

impl AnyView<'_> {
    /// Cuts the arrays of scalars into blocks of a shape that divides the matrix. A block is stored
    /// if it contains an entry.
    pub(super) fn cut(&self, shape: BlockShape) -> (Pattern, AnyValues) {
        let pattern = cut_pattern(self.pattern, shape);
        let values = move_values!(self.values, values => cut_values(self.pattern, values, &pattern, shape));
        (pattern, values)
    }

    /// The arrays of all scalars in the blocks, including zeros.
    pub(super) fn scalars(&self) -> (Pattern, AnyValues) {
        let (rows, cols) = (self.shape.rows(), self.shape.cols());
        let nnz = self.nnz() * self.shape.area();
        let (mut col_ptr, mut row_idx) = (vec![0], Vec::with_capacity(nnz));
        for block_col in 0..self.pattern.ncols() {
            for _ in 0..cols {
                for &row in self.pattern.column(block_col) {
                    let first = row * rows as u32;
                    row_idx.extend(first..first + rows as u32);
                }
                col_ptr.push(row_idx.len() as u64);
            }
        }
        let (nrows, ncols) = (self.pattern.nrows() * rows, self.pattern.ncols() * cols);
        let (shape, stride) = (self.shape, self.stride);
        let values = move_values!(self.values, values => scalar_values(self.pattern, values, shape, stride));
        (Pattern::trusted(nrows, ncols, col_ptr, row_idx), values)
    }

    /// Copies the blocks so that they begin `stride` elements apart, with zeros in between.
    pub(super) fn with_stride(&self, stride: usize) -> AnyValues {
        let (area, before) = (self.shape.area(), self.stride);
        move_values!(self.values, values => spread(values, (area, before), stride))
    }
}

fn cut_pattern(scalars: &Pattern, shape: BlockShape) -> Pattern {
    let (rows, cols) = (shape.rows() as u32, shape.cols());
    let (mut col_ptr, mut row_idx) = (vec![0], Vec::new());
    for block_col in 0..scalars.ncols() / cols {
        let start = row_idx.len();
        row_idx.extend((0..cols).flat_map(|col| scalars.column(block_col * cols + col)).map(|row| row / rows));
        row_idx[start..].sort_unstable();
        let mut kept = start;
        for i in start..row_idx.len() {
            if i == start || row_idx[i] != row_idx[i - 1] {
                row_idx[kept] = row_idx[i];
                kept += 1;
            }
        }
        row_idx.truncate(kept);
        col_ptr.push(kept as u64);
    }
    Pattern::trusted(scalars.nrows() / shape.rows(), scalars.ncols() / cols, col_ptr, row_idx)
}

fn cut_values<B: Copy + bytemuck::Zeroable>(
    scalars: &Pattern,
    values: &[B],
    blocks: &Pattern,
    shape: BlockShape,
) -> Vec<B> {
    let (rows, cols) = (shape.rows() as u32, shape.cols());
    let mut cut = vec![B::zeroed(); blocks.nnz() * shape.area()];
    for col in 0..scalars.ncols() {
        let mut block = blocks.entries(col / cols).start;
        for entry in scalars.entries(col) {
            let row = scalars.row_idx()[entry];
            while blocks.row_idx()[block] < row / rows {
                block += 1;
            }
            cut[block * shape.area() + col % cols * shape.rows() + (row % rows) as usize] = values[entry];
        }
    }
    cut
}

fn scalar_values<B: Copy>(blocks: &Pattern, values: &[B], shape: BlockShape, stride: usize) -> Vec<B> {
    let rows = shape.rows();
    let mut scalars = Vec::with_capacity(blocks.nnz() * shape.area());
    for col in 0..blocks.ncols() * shape.cols() {
        for entry in blocks.entries(col / shape.cols()) {
            scalars.extend_from_slice(&values[entry * stride + col % shape.cols() * rows..][..rows]);
        }
    }
    scalars
}

fn spread<B: Copy + bytemuck::Zeroable>(values: &[B], (area, before): (usize, usize), stride: usize) -> Vec<B> {
    let mut spread = vec![B::zeroed(); values.len() / before * stride];
    for (to, from) in spread.chunks_exact_mut(stride).zip(values.chunks_exact(before)) {
        to[..area].copy_from_slice(&from[..area]);
    }
    spread
}
