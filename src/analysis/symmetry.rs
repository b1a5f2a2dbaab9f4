//! Symmetry of a matrix.
use crate::Csc;
use serde::Serialize;

/// The symmetry found in a matrix, regardless of the file's declaration. An empty square matrix has
/// all three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FoundSymmetry {
    /// There is an entry at (i, j) if and only if there is one at (j, i).
    pub pattern: bool,
    /// A = Aᵀ, entry by entry; NaN mirrors NaN.
    pub symmetric: bool,
    /// A = -Aᵀ; a stored diagonal is zero.
    pub skew_symmetric: bool,
}

/// Compares a matrix with its transpose.
///
/// ```
/// use blockmul::analysis::symmetry;
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
}
