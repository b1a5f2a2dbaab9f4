//! Conversions from and to `sprs`.
use super::pattern;
use crate::{Csc, Csr, Element, Error, Result};
use sprs::{CsMat, CsMatI, SpIndex};

/// Converts the matrix, by columns, to `sprs`. The function `to_other_types` of `sprs` then changes
/// the types of indices.
///
/// ```
/// use blockmul::{Csc, Csr};
/// let a = Csc::from_triplets(3, 2, [(0, 0, 1.0), (2, 1, 0.0)])?;
/// let there = sprs::CsMat::from(a.clone());
/// assert_eq!((there.is_csc(), there.shape(), there.nnz()), (true, (3, 2), 2));
/// assert_eq!(Csr::try_from(there.clone())?, a.to_csr()?);
/// assert_eq!(Csc::try_from(there)?, a);
/// # Ok::<(), blockmul::Error>(())
/// ```
impl<T: Element> From<Csc<T>> for CsMat<T> {
    fn from(matrix: Csc<T>) -> Self {
        let (pattern, values) = matrix.into_parts();
        let (offsets, rows) = pattern.wide();
        Self::try_new_csc((pattern.nrows(), pattern.ncols()), offsets, rows, values)
            .unwrap_or_else(|(.., why)| unreachable!("a pattern is valid: {why}"))
    }
}

/// Converts the matrix, by rows, to `sprs`.
impl<T: Element> From<Csr<T>> for CsMat<T> {
    fn from(matrix: Csr<T>) -> Self {
        Self::from(matrix.into_transpose()).transpose_into()
    }
}

/// Converts a matrix of `sprs`. A matrix that is stored by rows is transposed, and its values are
/// copied.
///
/// # Errors
/// See [`Pattern::new`](crate::matrix::Pattern::new); [`Error::TooLarge`] for an index above 32
/// bits; [`Error::Memory`] if the transpose does not fit the host.
impl<T: Element, I: SpIndex, P: SpIndex> TryFrom<CsMatI<T, I, P>> for Csc<T> {
    type Error = Error;
    fn try_from(matrix: CsMatI<T, I, P>) -> Result<Self> {
        match matrix.is_csc() {
            true => compressed(matrix),
            false => Csr::try_from(matrix)?.to_csc(),
        }
    }
}

/// Converts a matrix of `sprs`. A matrix that is stored by columns is transposed, and its values
/// are copied.
///
/// # Errors
/// The errors of the conversion to [`Csc`], whose messages then name columns instead of rows.
impl<T: Element, I: SpIndex, P: SpIndex> TryFrom<CsMatI<T, I, P>> for Csr<T> {
    type Error = Error;
    fn try_from(matrix: CsMatI<T, I, P>) -> Result<Self> {
        match matrix.is_csr() {
            true => compressed(matrix.transpose_into()).map(Self::from_transpose),
            false => Csc::try_from(matrix)?.to_csr(),
        }
    }
}

/// Converts a matrix that is stored by columns.
fn compressed<T: Element, I: SpIndex, P: SpIndex>(matrix: CsMatI<T, I, P>) -> Result<Csc<T>> {
    let offsets = matrix.proper_indptr().iter().map(|offset| offset.index_unchecked() as u64).collect();
    let rows = matrix.indices().iter().map(|row| row.index_unchecked());
    let pattern = pattern(matrix.rows(), matrix.cols(), offsets, rows)?;
    Csc::new(pattern, matrix.into_raw_storage().2)
}

#[cfg(test)]
mod tests {
    use super::{super::tests::*, *};
    use crate::error::PatternError;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn matrices_come_back(a in matrices()) {
            let dense = a.to_dense();
            let look = |columns: &CsMat<f64>, rows: &CsMat<f64>| {
                assert!(columns.is_csc() && rows.is_csr());
                for matrix in [columns, rows] {
                    assert_eq!((matrix.shape(), matrix.nnz()), (dense.shape(), a.nnz()));
                    assert!(matrix.iter().all(|(&x, place)| x == dense[place]));
                }
            };
            go_there_and_back(a.clone(), look)?;
            // The matrix is stored in the other order, and with other types of indices.
            let (columns, rows) = (CsMat::from(a.clone()), CsMat::from(a.to_csr()?));
            prop_assert_eq!((Csr::try_from(columns.clone())?, &Csc::try_from(rows)?), (a.to_csr()?, &a));
            prop_assert_eq!(&Csc::try_from(columns.to_other_types::<i16, f64, u32>())?, &a);
        }
    }

    #[test]
    fn unsorted_arrays_are_sorted_by_sprs_and_long_ones_refused() -> Result<()> {
        assert!(CsMat::try_new_csc((3, 1), vec![0, 2], vec![2, 0], vec![1.0, 2.0]).is_err());
        let sorted = CsMat::new_from_unsorted_csc((3, 1), vec![0, 2], vec![2, 0], vec![1.0, 2.0]).unwrap();
        assert_eq!(Csc::try_from(sorted)?.values(), [2.0, 1.0]);
        // More rows than 32 bits can number, with an entry in the last row, and without entries.
        let (most, rows) = (u64::from(u32::MAX), 1 << 33);
        let refused = Csc::try_from(CsMat::new_csc((rows, 1), vec![0, 1], vec![rows - 1], vec![1.0])).unwrap_err();
        assert!(matches!(refused, Error::TooLarge { value, limit, .. } if (value, limit) == (rows as u64 - 1, most)));
        let refused = Csr::<f64>::try_from(CsMat::new((1, rows), vec![0, 0], vec![], vec![])).unwrap_err();
        assert!(matches!(refused, Error::Pattern(PatternError::TooManyLines { dimension, .. }) if dimension == rows));
        Ok(())
    }
}
