//! Entries in any order, made compressed columns: counted, placed, each column put in order.
//!
//! Beside the entries and the matrix itself there is nothing but the longest column out of order. Placing is stable, so
//! entries at the same place stay in the order of the file.
use super::entries::Entries;
use super::header::Header;
use crate::io::{Symmetry, grow, room};
use crate::{Csc, Pattern, Result};

/// The full matrix, or a place (row and column as in the file) where there are two entries and should be one.
pub(super) fn compress(
    header: &Header,
    entries: &Entries,
    sum_duplicates: bool,
) -> Result<std::result::Result<Csc<f64>, (u32, u32)>> {
    let (nrows, ncols) = (header.nrows as usize, header.ncols as usize);
    let mut col_ptr = room(ncols + 1, "columns")?;
    col_ptr.resize(ncols + 1, 0u64);
    for_each(header, entries, |_, col, _| col_ptr[col as usize + 1] += 1);
    (0..ncols).for_each(|col| col_ptr[col + 1] += col_ptr[col]);

    let nnz = col_ptr[ncols] as usize;
    let (mut row_idx, mut values) = (room(nnz, "entries")?, room(nnz, "entries")?);
    row_idx.resize(nnz, 0u32);
    values.resize(nnz, 0.0);
    for_each(header, entries, |row, col, value| {
        let place = &mut col_ptr[col as usize];
        row_idx[*place as usize] = row;
        values[*place as usize] = value;
        *place += 1;
    });
    // Each column's start has moved to its end, which is the next one's start.
    col_ptr.copy_within(..ncols, 1);
    col_ptr[0] = 0;

    let (mut start, mut kept, mut scratch) = (0, 0, Vec::new());
    for col in 0..ncols {
        let column = start..col_ptr[col + 1] as usize;
        start = column.end;
        order(&mut row_idx[column.clone()], &mut values[column.clone()], &mut scratch)?;
        let first = kept;
        for entry in column {
            let (row, value) = (row_idx[entry], values[entry]);
            if kept > first && row_idx[kept - 1] == row {
                if !sum_duplicates {
                    let col = col as u32;
                    let written =
                        if header.symmetry == Symmetry::General { (row, col) } else { (row.max(col), row.min(col)) };
                    return Ok(Err(written));
                }
                values[kept - 1] += value;
            } else {
                (row_idx[kept], values[kept]) = (row, value);
                kept += 1;
            }
        }
        col_ptr[col + 1] = kept as u64;
    }
    row_idx.truncate(kept);
    values.truncate(kept);
    Csc::new(Pattern::trusted(nrows, ncols, col_ptr, row_idx), values).map(Ok)
}

/// Every entry of the full matrix: those of the file, each followed by its mirror image if it has one.
fn for_each(header: &Header, entries: &Entries, mut take: impl FnMut(u32, u32, f64)) {
    for (entry, (&row, &col)) in entries.rows.iter().zip(&entries.cols).enumerate() {
        let value = entries.value(entry);
        take(row, col, value);
        match header.symmetry {
            Symmetry::Symmetric if row != col => take(col, row, value),
            Symmetry::SkewSymmetric => take(col, row, -value),
            _ => {}
        }
    }
}

/// Sorts a column by row, stably; most files are in order already.
fn order(rows: &mut [u32], values: &mut [f64], scratch: &mut Vec<(u32, f64)>) -> Result<()> {
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
