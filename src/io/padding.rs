//! Removes the zeros that pad the blocks of a file.
use super::{BlockLayout, MatrixFile};
use crate::BlockShape;

impl MatrixFile {
    /// Removes the zeros in blocks larger than 1x1, and returns their number.
    ///
    /// A file of blocks stores every element of a block. If such a file is read as a matrix of
    /// scalars, the zeros that pad its blocks become entries that are not intended: edges of a
    /// graph, or lengths of 0 in [min-plus](crate::Semiring::MinPlus). A matrix without a layout,
    /// or with blocks of 1x1, keeps its zeros.
    ///
    /// ```
    /// use blockmul::io::{ReadOptions, matrix_market::read_from};
    /// let banner = "%%MatrixMarket matrix coordinate real general\n%%blockmul blocks 2x1\n";
    /// let text = format!("{banner}2 1 2\n1 1 5\n2 1 0\n");
    /// let mut file = read_from(text.as_bytes(), "example.mtx", &ReadOptions::default())?;
    /// assert_eq!((file.matrix.nnz(), file.drop_padding(), file.matrix.nnz()), (2, 1, 1));
    /// # Ok::<(), blockmul::Error>(())
    /// ```
    pub fn drop_padding(&mut self) -> u64 {
        let Some(layout) = self.layout.as_ref().filter(|layout| layout.uniform() != Some(BlockShape::SCALAR)) else {
            return 0;
        };
        let is_padding =
            |row: u32, col: usize, value: f64| value == 0.0 && !layout.is_scalar_at(row.into(), col as u64);
        // A matrix without zeros, as most are, is not copied.
        let before = self.matrix.nnz();
        if self.matrix.values().contains(&0.0) {
            self.matrix = self.matrix.with_entries(|row, col, value| !is_padding(row, col, value));
        }
        (before - self.matrix.nnz()) as u64
    }
}

impl BlockLayout {
    /// Whether the block that contains the scalar at a row and a column is 1x1.
    fn is_scalar_at(&self, row: u64, col: u64) -> bool {
        let is_one = |ends: &[u64], at: u64| {
            let line = ends.partition_point(|&end| end <= at);
            let start = if line == 0 { 0 } else { ends[line - 1] };
            (start, ends.get(line)) == (at, Some(&(at + 1)))
        };
        match self {
            Self::Uniform(shape) => *shape == BlockShape::SCALAR,
            Self::Mixed { row_ends, col_ends } => is_one(row_ends, row) && is_one(col_ends, col),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csc;
    use crate::io::{FileFormat, Symmetry, ValueType};

    fn file(layout: Option<BlockLayout>) -> MatrixFile {
        let entries = [(0, 0, 0.0), (1, 0, 2.0), (2, 1, -0.0), (2, 2, 0.0), (1, 2, f64::NAN)];
        MatrixFile {
            matrix: Csc::from_triplets(3, 3, entries).unwrap(),
            format: FileFormat::MatrixMarket,
            layout,
            field: ValueType::Real,
            element: crate::element::ElementType::F64,
            symmetry: Symmetry::General,
            stored: 5,
            is_array: false,
            groups: None,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn zeros_of_blocks_are_left_out_and_those_of_scalars_stay() {
        let places = |mut file: MatrixFile| {
            let dropped = file.drop_padding();
            let matrix = file.matrix;
            let of = |col| matrix.pattern().column(col).iter().map(move |&row| (row, col)).collect::<Vec<_>>();
            (dropped, (0..3).flat_map(of).collect::<Vec<_>>())
        };
        let all = vec![(0, 0), (1, 0), (2, 1), (1, 2), (2, 2)];
        assert_eq!(places(file(None)), (0, all.clone()));
        assert_eq!(places(file(Some(BlockLayout::Uniform(BlockShape::SCALAR)))), (0, all));
        let three = BlockLayout::Uniform(BlockShape::new(3, 3).unwrap());
        assert_eq!(places(file(Some(three))), (3, vec![(1, 0), (1, 2)]));
        // The last row and the last column of the matrix are in blocks of width 1, so (2, 2) is a
        // 1x1 block.
        let mixed = BlockLayout::of_ends(vec![2, 3], vec![2, 3]);
        assert_eq!(places(file(Some(mixed))), (2, vec![(1, 0), (1, 2), (2, 2)]));
    }
}
