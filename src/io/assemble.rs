//! Makes compressed columns from entries in any order: count, place, then sort each column.
//!
//! Placing is stable, so entries with the same row and column keep the file's order and are summed
//! in this order.
use super::words::counted;
use super::{grow, room};
use crate::{Csc, Pattern, Result};

/// The end of the message that refuses entries with the same row and column.
pub(super) const HOW_TO_SUM: &str = "; ReadOptions::sum_duplicates adds up entries at the same place";

/// Compresses `entries` (row, column, value) in two passes. All entries must be inside the matrix.
/// If there are duplicates and they are not allowed, returns the row and column of a duplicate.
pub(super) fn compress(
    nrows: usize,
    ncols: usize,
    entries: impl Iterator<Item = (u32, u32, f64)> + Clone,
    sum_duplicates: bool,
) -> Result<std::result::Result<Csc<f64>, (u32, u32)>> {
    let mut col_ptr = room(ncols + 1, "columns")?;
    col_ptr.resize(ncols + 1, 0u64);
    entries.clone().for_each(|(_, col, _)| col_ptr[col as usize + 1] += 1);
    (0..ncols).for_each(|col| col_ptr[col + 1] += col_ptr[col]);

    let nnz = col_ptr[ncols] as usize;
    let (mut row_idx, mut values) = (room(nnz, "entries")?, room(nnz, "entries")?);
    row_idx.resize(nnz, 0u32);
    values.resize(nnz, 0.0);
    entries.for_each(|(row, col, value)| {
        let place = &mut col_ptr[col as usize];
        row_idx[*place as usize] = row;
        values[*place as usize] = value;
        *place += 1;
    });
    // While entries were placed, the offset of each column has moved from the column's start to its
    // end, which is the start of the next column.
    col_ptr.copy_within(..ncols, 1);
    col_ptr[0] = 0;

    let (mut start, mut kept, mut scratch) = (0, 0, Vec::new());
    for col in 0..ncols {
        let column = start..col_ptr[col + 1] as usize;
        start = column.end;
        sort(&mut row_idx[column.clone()], &mut values[column.clone()], &mut scratch)?;
        let first = kept;
        for entry in column {
            let (row, value) = (row_idx[entry], values[entry]);
            if kept == first || row_idx[kept - 1] != row {
                (row_idx[kept], values[kept]) = (row, value);
                kept += 1;
            } else if sum_duplicates {
                values[kept - 1] += value;
            } else {
                return Ok(Err((row, col as u32)));
            }
        }
        col_ptr[col + 1] = kept as u64;
    }
    row_idx.truncate(kept);
    values.truncate(kept);
    Csc::new(Pattern::trusted(nrows, ncols, col_ptr, row_idx), values).map(Ok)
}

/// Sorts a column by row, stably. In most files the columns are already sorted.
pub(super) fn sort(rows: &mut [u32], values: &mut [f64], scratch: &mut Vec<(u32, f64)>) -> Result<()> {
    if rows.is_sorted() {
        return Ok(());
    }
    scratch.clear();
    grow(scratch, rows.len(), "entries")?;
    scratch.extend(rows.iter().copied().zip(values.iter().copied()));
    scratch.sort_by_key(|&(row, _)| row);
    for (entry, &(row, value)) in scratch.iter().enumerate() {
        (rows[entry], values[entry]) = (row, value);
    }
    Ok(())
}

/// Refuses more rows or columns (`what`) than indices can address, or than `max_unproven` and the
/// number of `entries` allow.
pub(super) fn check_lines(what: &str, lines: u64, entries: u64, max_unproven: u64) -> std::result::Result<(), String> {
    if lines > Pattern::MAX_LINES {
        return Err(format!("{lines} {what}, at most {} are supported", Pattern::MAX_LINES));
    }
    match max_unproven.max(entries.saturating_mul(16)) {
        unproven if lines > unproven => Err(too_many_lines(what, lines, entries, "entry", unproven)),
        _ => Ok(()),
    }
}

/// The reason for refusing more rows or columns than the entries justify.
pub(super) fn too_many_lines(what: &str, lines: u64, entries: u64, item: &str, unproven: u64) -> String {
    let why = format!("{lines} {what} for {}, {unproven} at most", counted(entries as usize, item));
    format!("{why}; ReadOptions::max_unproven_lines allows more")
}
