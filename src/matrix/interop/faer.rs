//! Conversions from and to `faer`.
use super::{super::Pattern, pattern};
use crate::{Csc, Csr, Element, Error, Result};
use faer::{
    Index,
    sparse::{SparseColMat, SparseRowMat, SymbolicSparseColMat},
};

impl Pattern {
    /// Converts the pattern to `faer`.
    pub(crate) fn symbolic(&self) -> SymbolicSparseColMat<usize> {
        let (offsets, rows) = self.wide();
        SymbolicSparseColMat::new_checked(self.nrows(), self.ncols(), offsets, None, rows)
    }
}

/// Converts the matrix to `faer`.
///
/// ```
/// use blockmul::Csc;
/// use faer::sparse::SparseColMat;
/// let a = Csc::from_triplets(3, 2, [(0, 0, 1.0), (2, 1, 0.0)])?;
/// let there = SparseColMat::from(a.clone());
/// assert_eq!((there.nrows(), there.ncols(), there.val()), (3, 2, a.values()));
/// assert_eq!(Csc::try_from(there)?, a);
/// # Ok::<(), blockmul::Error>(())
/// ```
impl<T: Element> From<Csc<T>> for SparseColMat<usize, T> {
    fn from(matrix: Csc<T>) -> Self {
        let (pattern, values) = matrix.into_parts();
        Self::new(pattern.symbolic(), values)
    }
}

/// Converts the matrix, by rows, to `faer`.
impl<T: Element> From<Csr<T>> for SparseRowMat<usize, T> {
    fn from(matrix: Csr<T>) -> Self {
        SparseColMat::from(matrix.into_transpose()).into_transpose()
    }
}

/// Converts a matrix of `faer`. Values are copied only if its arrays have gaps.
///
/// # Errors
/// The errors of [`Pattern::new`], because `faer` allows columns whose rows do not ascend.
/// [`Error::TooLarge`] for an index above 32 bits.
impl<T: Element, I: Index> TryFrom<SparseColMat<I, T>> for Csc<T> {
    type Error = Error;
    fn try_from(matrix: SparseColMat<I, T>) -> Result<Self> {
        let (symbolic, values) = matrix.into_parts();
        let columns = || (0..symbolic.ncols()).map(|col| symbolic.col_range(col));
        let entries = || columns().flatten();
        let ends = columns().scan(0, |end, column| {
            *end += column.len() as u64;
            Some(*end)
        });
        let rows = entries().map(|entry| symbolic.row_idx()[entry].zx());
        let pattern = pattern(symbolic.nrows(), symbolic.ncols(), std::iter::once(0).chain(ends).collect(), rows)?;
        let values = match entries().eq(0..values.len()) {
            true => values,
            false => entries().map(|entry| values[entry]).collect(),
        };
        Self::new(pattern, values)
    }
}

/// Converts a matrix of `faer`, by rows. Values are copied only if its arrays have gaps.
///
/// # Errors
/// The errors of the conversion to [`Csc`], whose messages then name columns instead of rows.
impl<T: Element, I: Index> TryFrom<SparseRowMat<I, T>> for Csr<T> {
    type Error = Error;
    fn try_from(matrix: SparseRowMat<I, T>) -> Result<Self> {
        Csc::try_from(matrix.into_transpose()).map(Self::from_transpose)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::*, *};
    use crate::error::PatternError;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn matrices_come_back(a in matrices()) {
            let (dense, nnz) = (a.to_dense(), a.nnz());
            let look = |columns: &SparseColMat<usize, f64>, rows: &SparseRowMat<usize, f64>| {
                let (by_columns, by_rows) = (columns.to_dense(), rows.to_dense());
                assert_eq!((columns.val().len(), rows.val().len(), columns.shape()), (nnz, nnz, dense.shape()));
                for col in 0..dense.ncols() {
                    for row in 0..dense.nrows() {
                        assert_eq!((by_columns[(row, col)], by_rows[(row, col)]), (dense[(row, col)], dense[(row, col)]));
                    }
                }
            };
            go_there_and_back(a, look)?;
        }
    }

    /// Tests the matrix [5 . | . 7 | . 9] with unused elements before, between and after the
    /// columns.
    #[test]
    fn gaps_are_left_out() -> Result<()> {
        let symbolic = SymbolicSparseColMat::<u32>::new_checked(
            2,
            3,
            vec![1, 3, 4, 5],
            Some(vec![1, 1, 1]),
            vec![0, 0, 9, 1, 1, 7],
        );
        let matrix = SparseColMat::new(symbolic, vec![1.0, 5.0, 2.0, 7.0, 9.0, 3.0]);
        let want = Csc::from_triplets(2, 3, [(0, 0, 5.0), (1, 1, 7.0), (1, 2, 9.0)])?;
        assert_eq!(Csr::try_from(matrix.clone().into_transpose())?.into_transpose(), want);
        assert_eq!(Csc::try_from(matrix)?, want);
        Ok(())
    }

    #[test]
    fn columns_that_do_not_ascend_and_large_indices_are_refused() {
        let of_rows = |nrows, rows: Vec<usize>| {
            let symbolic = SymbolicSparseColMat::new_unsorted_checked(nrows, 1, vec![0, rows.len()], None, rows);
            let values = vec![1.0; symbolic.row_idx().len()];
            Csc::try_from(SparseColMat::new(symbolic, values)).unwrap_err()
        };
        for rows in [vec![2, 0], vec![1, 1]] {
            assert!(matches!(of_rows(3, rows), Error::Pattern(PatternError::RowOrder { column: 0, entry: 1, .. })));
        }
        assert!(matches!(of_rows(1 << 33, vec![1 << 32]), Error::TooLarge { value, .. } if value == 1 << 32));
    }
}
