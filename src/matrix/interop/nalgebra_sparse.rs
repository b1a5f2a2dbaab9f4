//! Conversions from and to `nalgebra-sparse`.
use super::{super::Pattern, pattern};
use crate::{Csc, Csr, Element, Error, Result};
use nalgebra_sparse::{CscMatrix, CsrMatrix, pattern::SparsityPattern};

impl Pattern {
    /// Converts the pattern to `nalgebra-sparse`.
    pub(crate) fn sparsity_pattern(&self) -> SparsityPattern {
        let (offsets, rows) = self.wide();
        SparsityPattern::try_from_offsets_and_indices(self.ncols(), self.nrows(), offsets, rows)
            .unwrap_or_else(|why| unreachable!("a pattern is valid: {why}"))
    }
}

/// Converts the matrix to `nalgebra-sparse`.
///
/// ```
/// use blockmul::Csc;
/// use nalgebra_sparse::CscMatrix;
/// let a = Csc::from_triplets(3, 2, [(0, 0, 1.0), (2, 1, 0.0)])?;
/// let there = CscMatrix::from(a.clone());
/// assert_eq!((there.nrows(), there.ncols(), there.values()), (3, 2, a.values()));
/// assert_eq!(Csc::try_from(there)?, a);
/// # Ok::<(), blockmul::Error>(())
/// ```
impl<T: Element> From<Csc<T>> for CscMatrix<T> {
    fn from(matrix: Csc<T>) -> Self {
        let (pattern, values) = matrix.into_parts();
        Self::try_from_pattern_and_values(pattern.sparsity_pattern(), values)
            .unwrap_or_else(|why| unreachable!("a value for each entry: {why}"))
    }
}

/// Converts the matrix, by rows, to `nalgebra-sparse`.
impl<T: Element> From<Csr<T>> for CsrMatrix<T> {
    fn from(matrix: Csr<T>) -> Self {
        CscMatrix::from(matrix.into_transpose()).transpose_as_csr()
    }
}

/// Converts a matrix of `nalgebra-sparse`.
///
/// # Errors
/// [`Error::TooLarge`] if the row of an entry does not fit 32 bits; [`Error::Pattern`] if the
/// matrix has more than [`Pattern::MAX_LINES`](crate::Pattern::MAX_LINES) rows or columns.
impl<T: Element> TryFrom<CscMatrix<T>> for Csc<T> {
    type Error = Error;
    fn try_from(matrix: CscMatrix<T>) -> Result<Self> {
        let (of, values) = matrix.into_pattern_and_values();
        let offsets = of.major_offsets().iter().map(|&offset| offset as u64).collect();
        let rows = of.minor_indices().iter().copied();
        Self::new(pattern(of.minor_dim(), of.major_dim(), offsets, rows)?, values)
    }
}

/// Converts a matrix of `nalgebra-sparse`, by rows.
///
/// # Errors
/// The errors of the conversion to [`Csc`], whose messages then name columns instead of rows.
impl<T: Element> TryFrom<CsrMatrix<T>> for Csr<T> {
    type Error = Error;
    fn try_from(matrix: CsrMatrix<T>) -> Result<Self> {
        Csc::try_from(matrix.transpose_as_csc()).map(Self::from_transpose)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::*, *};
    use nalgebra::DMatrix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn matrices_come_back(a in matrices()) {
            let (dense, nnz) = (a.to_dense(), a.nnz());
            let look = |columns: &CscMatrix<f64>, rows: &CsrMatrix<f64>| {
                assert_eq!((columns.nnz(), rows.nnz()), (nnz, nnz));
                assert_eq!((&DMatrix::from(columns), &DMatrix::from(rows)), (&dense, &dense));
            };
            go_there_and_back(a, look)?;
        }
    }

    #[test]
    fn large_indices_are_refused() {
        let row = 1 << 32;
        let matrix = CscMatrix::try_from_csc_data(row + 1, 1, vec![0, 1], vec![row], vec![1.0]).unwrap();
        assert!(matches!(Csc::try_from(matrix), Err(Error::TooLarge { value, .. }) if value == row as u64));
        let matrix = CsrMatrix::try_from_csr_data(1, row + 1, vec![0, 0], vec![], Vec::<f64>::new()).unwrap();
        assert!(matches!(Csr::try_from(matrix), Err(Error::Pattern(_))));
    }
}
