//! Conversions that only move elements. The conversions of this module are compiled once for each
//! size of an element: 1, 2, 4 and 8 bytes.

use super::{AnyMatrix, AnyView, BlockShape, Pattern, pattern_of};
use crate::{
    Error, Result,
    element::{AnySlice, AnyValues, move_values},
};
use std::ops::Range;

impl AnyView<'_> {
    /// Copies the blocks of some entries, without padding. `None` stands for a block of zeros.
    pub(crate) fn blocks_or_zeros(&self, entries: &[Option<usize>]) -> AnyValues {
        let sizes = (self.stride, self.shape.area());
        move_values!(self.values, values => gather_or_zeros(values, sizes, entries))
    }

    /// The matrix that consists of some entries, whose numbers are given in ascending order. The
    /// result has no padding.
    pub(crate) fn with_entries(&self, entries: &[usize]) -> AnyMatrix {
        let (stride, area) = (self.stride, self.shape.area());
        let values = move_values!(self.values, values => gather(values, (stride, area), entries));
        AnyMatrix::of_arrays(self.kind, pattern_of(self.pattern, entries), self.shape, area, values)
    }

    /// The matrix that consists of some consecutive columns, or rows if this matrix is row-major.
    /// The result has no padding.
    ///
    /// ```
    /// use blockmul::{Csc, matrix::AnyMatrix};
    /// let a = AnyMatrix::from(Csc::from_triplets(3, 3, [(0, 0, 1.0), (2, 1, 5.0), (1, 2, 7.0)])?);
    /// let last = a.view().lines(1..3)?;
    /// assert_eq!((last.ncols(), last.values().numbers()), (2, vec![5.0, 7.0]));
    /// # Ok::<(), blockmul::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if the columns or rows are out of range.
    pub fn lines(&self, lines: Range<usize>) -> Result<AnyMatrix> {
        let all = self.pattern.ncols();
        if lines.start > lines.end || lines.end > all {
            let what = if self.kind.is_row_major() { "rows" } else { "columns" };
            return Err(Error::Argument(format!("{what} {lines:?} of a matrix with {all}")));
        }
        let ends = &self.pattern.col_ptr()[lines.start..=lines.end];
        let entries = ends[0] as usize..ends[lines.len()] as usize;
        let col_ptr = ends.iter().map(|end| end - ends[0]).collect();
        let row_idx = self.pattern.row_idx()[entries.clone()].to_vec();
        let pattern = Pattern::trusted(self.pattern.nrows(), lines.len(), col_ptr, row_idx);
        let (stride, area) = (self.stride, self.shape.area());
        let entries: Vec<usize> = entries.collect();
        let values = move_values!(self.values, values => gather(values, (stride, area), &entries));
        Ok(AnyMatrix::of_arrays(self.kind, pattern, self.shape, area, values))
    }

    /// The transpose in the same format; its blocks are transposed and have no padding.
    pub(crate) fn transposed(&self) -> AnyMatrix {
        let (pattern, source) = self.pattern.transpose();
        let (shape, stride) = (self.shape, self.stride);
        let values = move_values!(self.values, values => transposed_blocks(values, shape, stride, &source));
        AnyMatrix::of_arrays(self.kind, pattern, shape.transpose(), shape.area(), values)
    }
}

/// Copies some blocks and transposes each block.
fn transposed_blocks<B: Copy>(values: &[B], shape: BlockShape, stride: usize, entries: &[usize]) -> Vec<B> {
    let (rows, area) = (shape.rows(), shape.area());
    if area == 1 {
        return entries.iter().map(|&entry| values[entry * stride]).collect();
    }
    let mut transposed = Vec::with_capacity(entries.len() * area);
    for &entry in entries {
        let block = &values[entry * stride..][..area];
        (0..rows).for_each(|row| transposed.extend(block[row..].iter().step_by(rows)));
    }
    transposed
}

/// Copies the blocks of some entries, one after another.
pub(super) fn gather<B: Copy>(values: &[B], (stride, area): (usize, usize), entries: &[usize]) -> Vec<B> {
    let mut gathered = Vec::with_capacity(entries.len() * area);
    entries.iter().for_each(|&entry| gathered.extend_from_slice(&values[entry * stride..][..area]));
    gathered
}

/// Copies the blocks of some entries without padding, with zeros for `None`.
fn gather_or_zeros<B: Copy + bytemuck::Zeroable>(
    values: &[B],
    (stride, area): (usize, usize),
    entries: &[Option<usize>],
) -> Vec<B> {
    let mut gathered = vec![B::zeroed(); entries.len() * area];
    for (block, entry) in gathered.chunks_exact_mut(area).zip(entries) {
        if let Some(entry) = entry {
            block.copy_from_slice(&values[entry * stride..][..area]);
        }
    }
    gathered
}
