//! Compression of triplets into columns or rows.
use super::Pattern;
use crate::{
    Arithmetic, Element, Error, Result,
    element::{AnyValues, with_values},
    error::PatternError,
    host::memory,
};

/// The rows and columns of triplets, in the given order.
pub(super) struct Places {
    nrows: usize,
    ncols: usize,
    /// Whether the triplets are compressed into rows instead of columns.
    by_rows: bool,
    /// Column, row and index of each triplet; or row, column and index if `by_rows` is true.
    places: Vec<(u32, u32, usize)>,
}

impl Places {
    /// # Errors
    /// [`Error::Pattern`] if rows or columns exceed `u32`; [`Error::Memory`].
    pub fn new(nrows: usize, ncols: usize, by_rows: bool) -> Result<Self> {
        for (what, dimension) in [("rows", nrows), ("columns", ncols)] {
            if dimension as u64 > Pattern::MAX_LINES {
                return Err(PatternError::TooManyLines { what, dimension, limit: Pattern::MAX_LINES }.into());
            }
        }
        let (lines, what) = if by_rows { (nrows, "rows") } else { (ncols, "columns") };
        let offsets = size_of::<u64>() as u64 * (lines as u64 + 1);
        memory::check_large(|| format!("the offsets of {lines} {what}"), offsets)?;
        Ok(Self { nrows, ncols, by_rows, places: Vec::new() })
    }

    /// # Errors
    /// [`Error::Argument`] if the place is outside the matrix.
    pub fn push(&mut self, row: usize, col: usize) -> Result<()> {
        let Self { nrows, ncols, by_rows, ref places } = *self;
        if row >= nrows || col >= ncols {
            return Err(Error::Argument(format!(
                "entry ({row}, {col}) is outside a matrix of {nrows}x{ncols} entries"
            )));
        }
        let number = places.len();
        let (line, across) = if by_rows { (row, col) } else { (col, row) };
        self.places.push((line as u32, across as u32, number));
        Ok(())
    }

    /// Compresses the entries at these places, with `area` elements each, into columns (columns of
    /// the transpose if `by_rows` is true). Entries with the same row and column are added in the
    /// given order.
    pub fn compress(mut self, area: usize, elements: AnyValues) -> Result<(Pattern, AnyValues)> {
        self.places.sort_unstable(); // the index is the last key, so duplicates keep their order
        let Self { nrows, ncols, by_rows, places } = self;
        let (nrows, ncols) = if by_rows { (ncols, nrows) } else { (nrows, ncols) };
        let (mut col_ptr, mut row_idx) = (vec![0; ncols + 1], Vec::with_capacity(places.len()));
        let mut previous = None;
        for &(col, row, _) in &places {
            if previous != Some((col, row)) {
                row_idx.push(row);
                previous = Some((col, row));
            }
            col_ptr[col as usize + 1] = row_idx.len() as u64;
        }
        // A column without entries ends where the column before it ends.
        (0..ncols).for_each(|col| col_ptr[col + 1] = col_ptr[col + 1].max(col_ptr[col]));
        let values = with_values!(AnyValues, &elements, elements => sums(&places, area, elements));
        Ok((Pattern::new(nrows, ncols, col_ptr, row_idx)?, values))
    }
}

/// Adds the elements of the entries that have the same row and column.
fn sums<T: Element>(places: &[(u32, u32, usize)], area: usize, elements: &[T]) -> AnyValues {
    let mut values = Vec::with_capacity(elements.len());
    let mut previous = None;
    for &(col, row, from) in places {
        let entry = &elements[from * area..][..area];
        if previous == Some((col, row)) {
            let start = values.len() - area;
            values[start..].iter_mut().zip(entry).for_each(|(sum, &x): (&mut T, _)| {
                *sum = T::narrow(sum.widen().plus(x.widen()));
            });
        } else {
            values.extend_from_slice(entry);
            previous = Some((col, row));
        }
    }
    T::any(values)
}
