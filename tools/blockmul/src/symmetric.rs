//! Symmetric matrices of which one triangle is kept.
use crate::failure::Failure;
use crate::input::elements;
use crate::messages::Messages;
use blockmul::{
    BlockShape, Csc, Error, Part, Result as Outcome,
    element::ElementType,
    io::{MatrixFile, Symmetry},
    matrix::AnyMatrix,
};

/// A matrix, and what of it is kept on a device.
pub struct Halves {
    pub whole: AnyMatrix,
    /// One triangle, with the diagonal, if that is kept.
    triangle: Option<AnyMatrix>,
}

impl Halves {
    /// A matrix that is kept whole.
    pub fn whole(whole: impl Into<AnyMatrix>) -> Self {
        Self { whole: whole.into(), triangle: None }
    }

    /// What is kept.
    pub fn stored(&self) -> &AnyMatrix {
        self.triangle.as_ref().unwrap_or(&self.whole)
    }

    /// The same as elements, in blocks if there are any; those on the diagonal are kept whole.
    pub fn cut(self, element: ElementType, shape: BlockShape) -> Outcome<Self> {
        let Self { whole, triangle } = self;
        if shape == BlockShape::SCALAR {
            let triangle = triangle.map(|triangle| elements(element, triangle));
            return Ok(Self { whole: elements(element, whole), triangle });
        }
        let whole = elements(element, whole.to_blocks(shape)?);
        let triangle = triangle.map(|_| lower(&whole)).transpose()?;
        Ok(Self { whole, triangle })
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
        let (below, above) = entries(&read)
            .fold((false, false), |(below, above), (row, col, _)| (below || row > col, above || row < col));
        let both = below && above && symmetry != Symmetry::Symmetric;
        let most = if both { difference(&read)? } else { 0.0 };
        if most > 0.0 {
            messages.say(&format!("the triangles of A differ by {most:.1e} at most: the lower one is taken"));
        }
        let read = AnyMatrix::from(read);
        let triangle = if below && above { read.triangle(Part::Lower) } else { read };
        Ok(Self { whole: triangle.mirrored()?, triangle: Some(triangle) })
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
pub fn lower(a: &AnyMatrix) -> Outcome<AnyMatrix> {
    let (rows, cols, shape) = (a.nrows(), a.ncols(), a.shape());
    match rows == cols && shape.rows() == shape.cols() {
        true => Ok(a.triangle(Part::Lower)),
        false => Err(Error::Argument(format!("A is {rows} x {cols} blocks of {shape}, a symmetric matrix is square"))),
    }
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
}
