//! Symmetric matrices of which one triangle is kept.
use crate::failure::Failure;
use crate::input::elements;
use crate::messages::Messages;
use blockmul::{
    BlockShape, Cbc, Csc, Error, Result as Outcome,
    element::ElementType,
    io::{MatrixFile, Symmetry},
    matrix::{AnyMatrix, Pattern},
};

/// A matrix, and what of it is kept on a device.
pub struct Halves<M = AnyMatrix> {
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

impl Halves<Csc<f64>> {
    /// The same as elements, in blocks if there are any; those on the diagonal are kept whole.
    pub fn cut(self, element: ElementType, shape: BlockShape) -> Outcome<Halves> {
        let of = |matrix: AnyMatrix| elements(element, matrix);
        if shape == BlockShape::SCALAR {
            let triangle = self.triangle.map(|triangle| of(triangle.into()));
            return Ok(Halves { whole: of(self.whole.into()), triangle });
        }
        let whole = self.whole.to_blocks(shape)?;
        let triangle = self.triangle.map(|_| lower(&whole)).transpose()?;
        Ok(Halves { whole: of(whole.into()), triangle: triangle.map(|triangle| of(triangle.into())) })
    }

    /// The symmetric matrix that a file holds: the reader has made it whole if the file says that
    /// it is symmetric. Otherwise the file has one triangle, or two that agree within rounding, of
    /// which the lower one counts.
    pub fn new(file: MatrixFile, messages: &Messages) -> Result<Self, Failure> {
        let MatrixFile { matrix: read, symmetry, .. } = file;
        let (rows, cols) = (read.pattern().nrows(), read.pattern().ncols());
        if rows != cols {
            return Err(Failure::Usage(format!("--symmetric: A is {rows} x {cols}, a symmetric matrix is square")));
        }
        if symmetry == Symmetry::SkewSymmetric {
            return Err(Failure::Usage("--symmetric: the file of A says skew-symmetric".into()));
        }
        let lower = || Csc::from_triplets(rows, cols, entries(&read).filter(|(row, col, _)| row >= col));
        if symmetry == Symmetry::Symmetric {
            let lower = lower()?;
            return Ok(Self { whole: read, triangle: Some(lower) });
        }
        let (below, above) = entries(&read)
            .fold((false, false), |(below, above), (row, col, _)| (below || row > col, above || row < col));
        let triangle = match below && above {
            true => {
                let most = difference(&read)?;
                if most > 0.0 {
                    messages.say(&format!("the triangles of A differ by {most:.1e} at most: the lower one is taken"));
                }
                lower()?
            }
            false => read,
        };
        let mirrored = entries(&triangle).filter(|(row, col, _)| row != col).map(|(row, col, value)| (col, row, value));
        let whole = Csc::from_triplets(rows, cols, entries(&triangle).chain(mirrored))?;
        Ok(Self { whole, triangle: Some(triangle) })
    }
}

/// By how much the triangles of a symmetric matrix may differ, as a part of the largest element of
/// their rows: sums of a million products in two orders differ by less.
const ROUNDING: f64 = 1e-12;

/// The largest difference between the triangles of a square matrix, refused if it is more than
/// [`ROUNDING`]. An entry without a counterpart has one of 0.
fn difference(a: &Csc<f64>) -> Result<f64, Failure> {
    let transposed = a.try_transpose()?;
    let largest =
        |of: &Csc<f64>, col| of.values()[of.pattern().entries(col)].iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let largest: Vec<f64> = (0..a.ncols()).map(|at| largest(a, at).max(largest(&transposed, at))).collect();
    let mut most = 0.0f64;
    for (row, col, value) in entries(a) {
        let counterpart = transposed.pattern().column(col).binary_search(&(row as u32));
        let other = counterpart.map_or(0.0, |at| transposed.values()[transposed.pattern().entries(col).start + at]);
        let apart = if value == other { 0.0 } else { (value - other).abs() };
        // NaN is no difference of rounding.
        if apart.is_nan() || apart > ROUNDING * largest[row].max(largest[col]) {
            let (row, col) = (row + 1, col + 1);
            return Err(Failure::Usage(format!(
                "--symmetric: A has {value} at row {row}, column {col}, and {other} at row {col}, column {row}"
            )));
        }
        most = most.max(apart);
    }
    Ok(most)
}

/// The entries of a matrix: row, column, value.
pub fn entries(a: &Csc<f64>) -> impl Iterator<Item = (usize, usize, f64)> {
    let of_column =
        move |col| a.pattern().entries(col).map(move |e| (a.pattern().row_idx()[e] as usize, col, a.values()[e]));
    (0..a.pattern().ncols()).flat_map(of_column)
}

/// The blocks on the diagonal and below it.
pub fn lower(a: &Cbc<f64>) -> Outcome<Cbc<f64>> {
    let (rows, cols, shape) = (a.nrows(), a.ncols(), a.shape());
    if rows != cols || shape.rows() != shape.cols() {
        return Err(Error::Argument(format!("A is {rows} x {cols} blocks of {shape}, a symmetric matrix is square")));
    }
    let kept = |col: usize| a.pattern().entries(col).filter(move |&entry| a.pattern().row_idx()[entry] as usize >= col);
    of_columns(a, |col| kept(col).map(|entry| (a, entry)).collect())
}

/// The whole matrix of which `lower` has one triangle.
pub fn mirrored(lower: &Cbc<f64>) -> Outcome<Cbc<f64>> {
    let upper = lower.try_transpose()?;
    of_columns(lower, |col| {
        // The transpose ends at the diagonal, where the triangle begins.
        let above = upper.pattern().entries(col).filter(|&entry| (upper.pattern().row_idx()[entry] as usize) < col);
        let of_upper = above.map(|entry| (&upper, entry));
        of_upper.chain(lower.pattern().entries(col).map(|entry| (lower, entry))).collect()
    })
}

/// A matrix of the size of `a`, whose columns have these blocks.
fn of_columns<'a>(a: &Cbc<f64>, blocks: impl Fn(usize) -> Vec<(&'a Cbc<f64>, usize)>) -> Outcome<Cbc<f64>> {
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
    fn triangles_differ_by_rounding_alone() {
        let differ = |above: f64, below: f64| {
            let entries = [(0, 0, 8.0), (1, 0, below), (0, 1, above), (2, 2, 1e-3), (2, 1, 0.0)];
            difference(&Csc::from_triplets(3, 3, entries).unwrap())
        };
        assert_eq!(differ(3.0, 3.0).unwrap(), 0.0);
        assert_eq!(differ(f64::INFINITY, f64::INFINITY).unwrap(), 0.0);
        let apart = differ(1.0, 1.0 + 7e-12).unwrap();
        assert!((apart - 7e-12).abs() < 1e-14, "of 8 in their rows: {apart}");
        for (above, below) in [(1.0, 1.0 + 9e-12), (1.0, 0.0), (f64::NAN, 1.0), (f64::NAN, f64::NAN)] {
            let text = differ(above, below).unwrap_err().to_string();
            assert_eq!(text, format!("--symmetric: A has {below} at row 2, column 1, and {above} at row 1, column 2"));
        }
    }

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
