//! Finds the symmetry of a matrix.
use crate::{Csc, Error, Result};
use serde::Serialize;

/// The symmetry found in the entries of a matrix. What a file declares about symmetry does not
/// matter. An empty square matrix has all three kinds of symmetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FoundSymmetry {
    /// There is an entry at (i, j) exactly if there is one at (j, i).
    pub pattern: bool,
    /// A = Aᵀ, entry by entry. NaN counts as equal to NaN.
    pub symmetric: bool,
    /// A = -Aᵀ. Entries on the diagonal are zero.
    pub skew_symmetric: bool,
}

/// Compares a matrix with its transpose.
///
/// ```
/// use blockmul::extra::analysis::symmetry;
/// use blockmul::Csc;
/// let found = symmetry(&Csc::from_triplets(2, 2, [(0, 1, 3.0), (1, 0, -3.0)])?);
/// assert!(found.pattern && found.skew_symmetric && !found.symmetric);
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn symmetry(matrix: &Csc<f64>) -> FoundSymmetry {
    const NONE: FoundSymmetry = FoundSymmetry { pattern: false, symmetric: false, skew_symmetric: false };
    if matrix.nrows() != matrix.ncols() {
        return NONE;
    }
    let (transposed, source) = matrix.pattern().transpose();
    if transposed != *matrix.pattern() {
        return NONE;
    }
    let values = matrix.values();
    let mirrored = |same: fn(f64, f64) -> bool| values.iter().zip(&source).all(|(&x, &from)| same(x, values[from]));
    FoundSymmetry {
        pattern: true,
        symmetric: mirrored(|x, y| x == y || x.is_nan() && y.is_nan()),
        skew_symmetric: mirrored(|x, y| x == -y || x.is_nan() && y.is_nan()),
    }
}

/// The largest difference between an element and its mirror image at which a matrix counts as
/// symmetric, divided by the largest element in their two rows. If a million products are summed in
/// two different orders, the two sums differ by less than this.
const ROUNDING: f64 = 1e-12;

/// The largest difference between an element and its mirror image in a square matrix that is
/// symmetric within rounding. If an entry has no counterpart, it is compared with 0.
///
/// ```
/// use blockmul::{Csc, extra::analysis::asymmetry};
/// let a = |above| Csc::from_triplets(2, 2, [(0, 1, above), (1, 0, 3.0)]);
/// assert_eq!(asymmetry(&a(3.0)?)?, 0.0);
/// let error = asymmetry(&a(4.0)?).unwrap_err();
/// assert_eq!(error.to_string(), "A has 3 at row 2, column 1, and 4 at row 1, column 2");
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// [`Error::Argument`] if the matrix is not square, or if an entry and its counterpart differ by
/// more than rounding; the message has their places, counted from 1; [`Error::Memory`].
pub fn asymmetry(a: &Csc<f64>) -> Result<f64> {
    let (rows, cols) = (a.nrows(), a.ncols());
    if rows != cols {
        return Err(Error::Argument(format!("A has {rows} rows and {cols} columns: it is not square")));
    }
    let transposed = a.try_transpose()?;
    let largest =
        |of: &Csc<f64>, col| of.values()[of.pattern().entries(col)].iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let largest: Vec<f64> = (0..a.ncols()).map(|at| largest(a, at).max(largest(&transposed, at))).collect();
    let mut most = 0.0f64;
    for (row, col, value) in a.entries() {
        let counterpart = transposed.pattern().column(col).binary_search(&(row as u32));
        let other = counterpart.map_or(0.0, |at| transposed.values()[transposed.pattern().entries(col).start + at]);
        let apart = if value == other { 0.0 } else { (value - other).abs() };
        // Rounding cannot explain a difference that is NaN.
        if apart.is_nan() || apart > ROUNDING * largest[row].max(largest[col]) {
            let (row, col) = (row + 1, col + 1);
            return Err(Error::Argument(format!(
                "A has {value} at row {row}, column {col}, and {other} at row {col}, column {row}"
            )));
        }
        most = most.max(apart);
    }
    Ok(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_and_values_are_judged_separately() -> crate::Result<()> {
        let flags = |triplets: &[(usize, usize, f64)]| {
            let found = symmetry(&Csc::from_triplets(3, 3, triplets.iter().copied())?);
            Ok::<_, crate::Error>((found.pattern, found.symmetric, found.skew_symmetric))
        };
        assert_eq!(flags(&[])?, (true, true, true));
        assert_eq!(flags(&[(0, 0, 2.0), (0, 2, 3.0), (2, 0, 3.0)])?, (true, true, false));
        assert_eq!(flags(&[(0, 0, 0.0), (0, 2, 3.0), (2, 0, -3.0)])?, (true, false, true));
        assert_eq!(flags(&[(0, 2, 3.0), (2, 0, 4.0)])?, (true, false, false));
        assert_eq!(flags(&[(0, 2, 3.0)])?, (false, false, false));
        assert_eq!(flags(&[(0, 2, f64::NAN), (2, 0, f64::NAN)])?, (true, true, true));
        let wide = symmetry(&Csc::from_triplets(2, 3, [(0, 0, 1.0)])?);
        assert!(!wide.pattern && !wide.symmetric);
        Ok(())
    }

    #[test]
    fn triangles_differ_by_rounding_alone() {
        let differ = |above: f64, below: f64| {
            let entries = [(0, 0, 8.0), (1, 0, below), (0, 1, above), (2, 2, 1e-3), (2, 1, 0.0)];
            asymmetry(&Csc::from_triplets(3, 3, entries).unwrap())
        };
        assert_eq!(differ(3.0, 3.0).unwrap(), 0.0);
        for (rows, cols) in [(2, 3), (3, 2)] {
            let error = asymmetry(&Csc::from_triplets(rows, cols, [(1, 1, 1.0)]).unwrap()).unwrap_err();
            assert!(error.to_string().contains("it is not square"), "{error}");
        }
        assert_eq!(differ(f64::INFINITY, f64::INFINITY).unwrap(), 0.0);
        let apart = differ(1.0, 1.0 + 7e-12).unwrap();
        assert!((apart - 7e-12).abs() < 1e-14, "of 8 in their rows: {apart}");
        for (above, below) in [(1.0, 1.0 + 9e-12), (1.0, 0.0), (f64::NAN, 1.0), (f64::NAN, f64::NAN)] {
            let text = differ(above, below).unwrap_err().to_string();
            assert_eq!(text, format!("A has {below} at row 2, column 1, and {above} at row 1, column 2"));
        }
    }
}
