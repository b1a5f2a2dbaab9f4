//! Conversions from and to the sparse matrices of other libraries. The conversions of a library are
//! in the feature with its name.
//!
//! Values are moved. Indices are copied, because these libraries number entries by `usize` or by
//! any integer. A matrix by columns becomes a [`Csc`](super::Csc), a matrix by rows a
//! [`Csr`](super::Csr). None of the libraries has matrices of blocks; `to_blocks` and `to_scalars`
//! convert between scalars and blocks.
#[cfg(feature = "faer")]
mod faer;
#[cfg(feature = "nalgebra-sparse")]
mod nalgebra_sparse;
#[cfg(feature = "sprs")]
mod sprs;

use super::Pattern;
use crate::{Error, Result};

/// Validates the offsets of the columns and the row of each entry.
fn pattern(nrows: usize, ncols: usize, col_ptr: Vec<u64>, rows: impl Iterator<Item = usize>) -> Result<Pattern> {
    let limit = u64::from(u32::MAX);
    let too_large = |row: usize| Error::TooLarge { what: "the index of an entry", value: row as u64, limit };
    let row_idx = rows.map(|row| u32::try_from(row).map_err(|_| too_large(row))).collect::<Result<_>>()?;
    Pattern::new(nrows, ncols, col_ptr, row_idx)
}

impl Pattern {
    /// Converts offsets and rows to `usize`.
    fn wide(&self) -> (Vec<usize>, Vec<usize>) {
        let offsets = self.col_ptr().iter().map(|&offset| offset as usize).collect();
        (offsets, self.row_idx().iter().map(|&row| row as usize).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Csc, Csr};
    use proptest::prelude::*;

    /// Matrices with empty rows and columns, without any rows or columns, and with entries that are
    /// 0.
    pub fn matrices() -> impl Strategy<Value = Csc<f64>> {
        let of_sides = |(rows, cols): (usize, usize)| {
            let most = if rows * cols == 0 { 0 } else { 20 };
            let entry = (0..rows.max(1), 0..cols.max(1), -2i8..3);
            prop::collection::vec(entry, 0..=most).prop_map(move |entries| {
                Csc::from_triplets(rows, cols, entries.into_iter().map(|(i, j, x)| (i, j, x.into()))).unwrap()
            })
        };
        (0usize..7, 0usize..7).prop_flat_map(of_sides)
    }

    /// Converts a matrix, by columns and by rows, to matrices of another library and back.
    pub fn go_there_and_back<C, R>(a: Csc<f64>, look: impl Fn(&C, &R)) -> Result<(), TestCaseError>
    where
        C: From<Csc<f64>>,
        R: From<Csr<f64>>,
        Csc<f64>: TryFrom<C, Error = crate::Error>,
        Csr<f64>: TryFrom<R, Error = crate::Error>,
    {
        let (by_columns, by_rows) = (a.clone(), a.to_csr()?);
        let places = (by_columns.values().as_ptr(), by_rows.values().as_ptr());
        let (columns, rows) = (C::from(by_columns), R::from(by_rows));
        look(&columns, &rows);
        let (by_columns, by_rows) = (Csc::try_from(columns)?, Csr::try_from(rows)?);
        prop_assert_eq!((by_columns.values().as_ptr(), by_rows.values().as_ptr()), places, "values are moved");
        prop_assert_eq!((&by_columns, by_rows), (&a, a.to_csr()?));
        Ok(())
    }
}
