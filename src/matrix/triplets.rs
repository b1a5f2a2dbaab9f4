//! Compresses triplets into columns.
use super::Pattern;
use crate::{Element, Error, Result, error::PatternError, host::memory};

/// Compresses `(row, column, elements of the entry)`, with `area` elements each. Entries at the
/// same place are added in the order given.
pub(super) fn compress<T: Element, B: AsRef<[T]>>(
    nrows: usize,
    ncols: usize,
    area: usize,
    triplets: impl IntoIterator<Item = (usize, usize, B)>,
) -> Result<(Pattern, Vec<T>)> {
    for (what, dimension) in [("rows", nrows), ("columns", ncols)] {
        if dimension as u64 > Pattern::MAX_LINES {
            return Err(PatternError::TooManyLines { what, dimension, limit: Pattern::MAX_LINES }.into());
        }
    }
    let offsets = size_of::<u64>() as u64 * (ncols as u64 + 1);
    memory::check_large(|| format!("the offsets of {ncols} columns"), offsets)?;
    let (mut places, mut elements) = (Vec::new(), Vec::new());
    for (row, col, entry) in triplets {
        if row >= nrows || col >= ncols {
            return Err(Error::Argument(format!(
                "entry ({row}, {col}) is outside a matrix of {nrows}x{ncols} entries"
            )));
        }
        places.push((col as u32, row as u32, places.len()));
        elements.extend_from_slice(entry.as_ref());
    }
    places.sort_unstable(); // the entry's number is the last key, so duplicates keep their order
    let (mut col_ptr, mut row_idx, mut values) =
        (vec![0; ncols + 1], Vec::with_capacity(places.len()), Vec::<T>::with_capacity(elements.len()));
    let mut previous = None;
    for (col, row, from) in places {
        let entry = &elements[from * area..][..area];
        if previous == Some((col, row)) {
            let start = values.len() - area;
            values[start..].iter_mut().zip(entry).for_each(|(sum, &x)| *sum = T::narrow(sum.widen() + x.widen()));
        } else {
            row_idx.push(row);
            values.extend_from_slice(entry);
            previous = Some((col, row));
        }
        col_ptr[col as usize + 1] = row_idx.len() as u64;
    }
    // Columns without entries end where the column before ends.
    (0..ncols).for_each(|col| col_ptr[col + 1] = col_ptr[col + 1].max(col_ptr[col]));
    Ok((Pattern::new(nrows, ncols, col_ptr, row_idx)?, values))
}
