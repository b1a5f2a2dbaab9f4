//! Symmetric matrices of which one triangle is kept.
use crate::failure::Failure;
use crate::operands::Operand;
use blockmul::{
    BlockShape, Cbc, Csc, Element, Error, Result as Outcome,
    io::{MatrixFile, Symmetry},
    matrix::Pattern,
};

/// A matrix, and what of it is kept on a device.
pub struct Halves<M> {
    pub whole: M,
    /// One triangle, with the diagonal, if that is kept.
    triangle: Option<M>,
}

impl<M> Halves<M> {
    /// A matrix that is kept whole.
    pub fn whole(whole: M) -> Self {
        Self { whole, triangle: None }
    }

    /// What is kept.
    pub fn stored(&self) -> &M {
        self.triangle.as_ref().unwrap_or(&self.whole)
    }
}

impl<T: Element> Halves<Csc<T>> {
    /// The same in blocks; those on the diagonal are kept whole.
    pub fn cut(self, shape: BlockShape) -> Outcome<Halves<Cbc<T>>> {
        let whole = <Cbc<T> as Operand>::cut(self.whole, shape)?;
        let triangle = self.triangle.map(|_| lower(&whole)).transpose()?;
        Ok(Halves { whole, triangle })
    }

    /// The symmetric matrix that a file holds: the reader has made it whole if the file says that
    /// it is symmetric, otherwise the file has one triangle.
    pub fn new(read: Csc<T>, file: &MatrixFile) -> Result<Self, Failure> {
        let (rows, cols) = (read.pattern().nrows(), read.pattern().ncols());
        if rows != cols {
            return Err(Failure::Usage(format!("--symmetric: A is {rows} x {cols}, a symmetric matrix is square")));
        }
        if file.symmetry == Symmetry::SkewSymmetric {
            return Err(Failure::Usage("--symmetric: the file of A says skew-symmetric".into()));
        }
        if file.symmetry == Symmetry::Symmetric {
            let lower = Csc::from_triplets(rows, cols, entries(&read).filter(|(row, col, _)| row >= col))?;
            return Ok(Self { whole: read, triangle: Some(lower) });
        }
        let (below, above) = entries(&read)
            .fold((false, false), |(below, above), (row, col, _)| (below || row > col, above || row < col));
        if below && above {
            return Err(Failure::Usage(
                "--symmetric: A has entries below its diagonal and above it, and its file does not say symmetric"
                    .into(),
            ));
        }
        let mirrored = entries(&read).filter(|(row, col, _)| row != col).map(|(row, col, value)| (col, row, value));
        let whole = Csc::from_triplets(rows, cols, entries(&read).chain(mirrored))?;
        Ok(Self { whole, triangle: Some(read) })
    }
}

/// The entries of a matrix: row, column, value.
pub fn entries<T: Element>(a: &Csc<T>) -> impl Iterator<Item = (usize, usize, T)> {
    let of_column =
        move |col| a.pattern().entries(col).map(move |e| (a.pattern().row_idx()[e] as usize, col, a.values()[e]));
    (0..a.pattern().ncols()).flat_map(of_column)
}

/// The blocks on the diagonal and below it.
pub fn lower<T: Element>(a: &Cbc<T>) -> Outcome<Cbc<T>> {
    let (rows, cols, shape) = (a.nrows(), a.ncols(), a.shape());
    if rows != cols || shape.rows() != shape.cols() {
        return Err(Error::Argument(format!("A is {rows} x {cols} blocks of {shape}, a symmetric matrix is square")));
    }
    let kept = |col: usize| a.pattern().entries(col).filter(move |&entry| a.pattern().row_idx()[entry] as usize >= col);
    of_columns(a, |col| kept(col).map(|entry| (a, entry)).collect())
}

/// The whole matrix of which `lower` has one triangle.
pub fn mirrored<T: Element>(lower: &Cbc<T>) -> Outcome<Cbc<T>> {
    let upper = lower.try_transpose()?;
    of_columns(lower, |col| {
        // The transpose ends at the diagonal, where the triangle begins.
        let above = upper.pattern().entries(col).filter(|&entry| (upper.pattern().row_idx()[entry] as usize) < col);
        let of_upper = above.map(|entry| (&upper, entry));
        of_upper.chain(lower.pattern().entries(col).map(|entry| (lower, entry))).collect()
    })
}

/// A matrix of the size of `a`, whose columns have these blocks.
fn of_columns<'a, T: Element>(a: &Cbc<T>, blocks: impl Fn(usize) -> Vec<(&'a Cbc<T>, usize)>) -> Outcome<Cbc<T>> {
    let (mut col_ptr, mut row_idx, mut values) = (vec![0u64], Vec::new(), Vec::new());
    for col in 0..a.ncols() {
        for (of, entry) in blocks(col) {
            row_idx.push(of.pattern().row_idx()[entry]);
            values.extend_from_slice(&of.values()[entry * of.stride()..][..of.shape().area()]);
        }
        col_ptr.push(row_idx.len() as u64);
    }
    Cbc::new(Pattern::new(a.nrows(), a.ncols(), col_ptr, row_idx)?, a.shape(), values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_and_its_mirror_image_are_the_whole() -> Outcome<()> {
        let scalars = [(0, 0, 1.0), (2, 0, 2.0), (1, 1, 3.0), (3, 2, 4.0)];
        let above = [(0, 2, 2.0), (2, 3, 4.0)];
        let whole = Csc::from_triplets(4, 4, scalars.into_iter().chain(above))?;
        for side in [1, 2] {
            let whole = whole.to_blocks(BlockShape::new(side, side)?)?;
            let triangle = lower(&whole)?;
            assert!(triangle.nnz() < whole.nnz() && triangle.blocks().all(|(row, col, _)| row >= col));
            assert_eq!(mirrored(&triangle)?.to_dense(), whole.to_dense());
        }
        Ok(())
    }
}
