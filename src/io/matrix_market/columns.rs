//! Makes compressed columns from entries in any order, on all threads.
//!
//! The columns are cut into one range for each thread, with about the same number of entries. One
//! thread counts, places and sorts the entries of a range, in its own slice of every array. The
//! thread reads the parts of the file in their order. So placing is stable: entries with the same
//! row and column keep the file's order, for any number of ranges. In most files a part has entries
//! in only a few columns, so the threads of most ranges skip the part.
use std::ops::Range;

use bytemuck::Zeroable;
use rayon::prelude::*;

use super::header::Header;
use super::part::Part;
use crate::io::{Symmetry, ValueType, assemble::sort};
use crate::{Csc, Error, Pattern, Result};

/// The maximum number of groups of columns whose entries are counted to cut the ranges.
const MOST_BINS: u64 = 4096;

/// Builds the full matrix. If there are duplicates and they are not allowed, returns the row and
/// column of a duplicate, as in the file.
pub(super) fn compress(
    header: &Header,
    parts: &[Part],
    sum_duplicates: bool,
) -> Result<std::result::Result<Csc<f64>, (u32, u32)>> {
    let (nrows, ncols) = (header.nrows as usize, header.ncols as usize);
    let parts: Vec<_> = parts.par_iter().map(|part| Spanned::new(part, header)).collect();
    let ranges = cut(header, &parts);
    let nnz = ranges.iter().map(|range| range.entries).sum();
    let mut col_ptr = zeros::<u64>(ncols + 1, "columns")?;
    let (mut row_idx, mut values) = (zeros::<u32>(nnz, "entries")?, zeros::<f64>(nnz, "entries")?);

    let (mut ends, mut rows, mut numbers) = (&mut col_ptr[1..], &mut row_idx[..], &mut values[..]);
    let mut slices = Vec::new();
    for Cut { columns, entries } in &ranges {
        slices.push(ColumnSlices {
            columns: columns.clone(),
            ends: ends.split_off_mut(..columns.len()).unwrap_or_default(),
            rows: rows.split_off_mut(..*entries).unwrap_or_default(),
            values: numbers.split_off_mut(..*entries).unwrap_or_default(),
        });
    }
    let kept: Vec<_> =
        slices.into_par_iter().map(|mut range| range.fill(header, &parts, sum_duplicates)).collect::<Result<_>>()?;

    let mut end = 0;
    let mut start = 0;
    for (range, kept) in ranges.iter().zip(kept) {
        let kept = match kept {
            Ok(kept) => kept,
            Err(place) => return Ok(Err(place)),
        };
        // If entries were summed, there are gaps between the ranges.
        if end != start {
            row_idx.copy_within(start..start + kept, end);
            values.copy_within(start..start + kept, end);
        }
        col_ptr[range.columns.start as usize + 1..][..range.columns.len()].iter_mut().for_each(|to| *to += end as u64);
        end += kept;
        start += range.entries;
    }
    row_idx.truncate(end);
    values.truncate(end);
    Csc::new(Pattern::trusted(nrows, ncols, col_ptr, row_idx), values).map(Ok)
}

/// A range of columns and the number of its entries in the full matrix.
struct Cut {
    columns: Range<u32>,
    entries: usize,
}

/// A part of the file, with the range of columns that contains its entries and their mirror images.
struct Spanned<'a> {
    part: &'a Part,
    direct: Range<u32>,
    mirrored: Range<u32>,
}

impl<'a> Spanned<'a> {
    fn new(part: &'a Part, header: &Header) -> Self {
        let span = |lines: &[u32]| match (lines.iter().min(), lines.iter().max()) {
            (Some(&first), Some(&last)) => first..last + 1, // below Pattern::MAX_LINES
            _ => 0..0,
        };
        let mirrored = if header.symmetry == Symmetry::General { 0..0 } else { span(&part.rows) };
        Self { part, direct: span(&part.cols), mirrored }
    }

    /// Calls `take` with each entry of the full matrix in `columns` that comes from this part.
    /// Entries with the same row and column come in the order of the file. The mirror images of a
    /// symmetric file come first, because they are above the diagonal. So a column that the file
    /// lists from top to bottom is already sorted.
    fn for_each(&self, header: &Header, columns: &Range<u32>, mut take: impl FnMut(u32, u32, f64)) {
        let meet = |span: &Range<u32>| span.start < columns.end && columns.start < span.end;
        let Part { rows, cols, .. } = self.part;
        let value = |entry: usize| self.part.values.get(entry).copied().unwrap_or(1.0);
        if meet(&self.mirrored) {
            let negative = header.symmetry == Symmetry::SkewSymmetric;
            for (entry, (&row, &col)) in rows.iter().zip(cols).enumerate() {
                if columns.contains(&row) && row != col {
                    take(col, row, if negative { -value(entry) } else { value(entry) });
                }
            }
        }
        if meet(&self.direct) {
            for (entry, (&row, &col)) in rows.iter().zip(cols).enumerate() {
                if columns.contains(&col) {
                    take(row, col, value(entry));
                }
            }
        }
    }
}

/// Cuts the columns into one range for each thread, with about the same number of entries.
fn cut(header: &Header, parts: &[Spanned<'_>]) -> Vec<Cut> {
    let ncols = header.ncols as u32;
    let threads = rayon::current_num_threads();
    let width = (header.ncols.div_ceil(MOST_BINS)).max(1).next_power_of_two();
    let (shift, bins) = (width.trailing_zeros(), header.ncols.div_ceil(width) as usize);
    let count = |mut counts: Vec<usize>, part: &Spanned<'_>| {
        part.for_each(header, &(0..ncols), |_, col, _| counts[(col >> shift) as usize] += 1);
        counts
    };
    let add = |mut left: Vec<usize>, right: Vec<usize>| {
        left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
        left
    };
    let counts = parts.par_iter().fold(|| vec![0; bins], count).reduce(|| vec![0; bins], add);
    let share = counts.iter().sum::<usize>().div_ceil(threads);
    let (mut ranges, mut start, mut entries) = (Vec::new(), 0, 0);
    for (bin, count) in counts.iter().enumerate() {
        entries += count;
        let end = ((bin as u64 + 1) * width).min(header.ncols) as u32;
        if entries >= share.max(1) || bin + 1 == bins {
            ranges.push(Cut { columns: start..end, entries });
            (start, entries) = (end, 0);
        }
    }
    ranges
}

/// A range of columns and its slices of the matrix's arrays.
struct ColumnSlices<'a> {
    columns: Range<u32>,
    /// The end of each column in `rows`. At the start all ends are zero.
    ends: &'a mut [u64],
    rows: &'a mut [u32],
    values: &'a mut [f64],
}

impl ColumnSlices<'_> {
    /// Counts, places and sorts the entries. Returns the number of entries that are kept, at the
    /// front of the slices: all entries, unless duplicates were summed.
    fn fill(
        &mut self,
        header: &Header,
        parts: &[Spanned<'_>],
        sum_duplicates: bool,
    ) -> Result<std::result::Result<usize, (u32, u32)>> {
        let first = self.columns.start;
        for part in parts {
            part.for_each(header, &self.columns, |_, col, _| self.ends[(col - first) as usize] += 1);
        }
        // At first `ends` holds the start of each column. Placing moves it to the end of the
        // column.
        let mut before = 0;
        for end in &mut *self.ends {
            before += std::mem::replace(end, before);
        }
        let has_values = header.field != ValueType::Pattern;
        if !has_values {
            self.values.fill(1.0);
        }
        for part in parts {
            part.for_each(header, &self.columns, |row, col, value| {
                let place = &mut self.ends[(col - first) as usize];
                self.rows[*place as usize] = row;
                if has_values {
                    self.values[*place as usize] = value;
                }
                *place += 1;
            });
        }
        self.order(header, sum_duplicates)
    }

    /// Sorts each column and sums duplicates. If duplicates are not allowed, returns the row and
    /// column of the first duplicate.
    fn order(&mut self, header: &Header, sum_duplicates: bool) -> Result<std::result::Result<usize, (u32, u32)>> {
        let (mut start, mut kept, mut scratch) = (0, 0, Vec::new());
        for (col, end) in self.columns.clone().zip(&mut *self.ends) {
            let column = start..*end as usize;
            start = column.end;
            let ascends = self.rows[column.clone()].windows(2).all(|pair| pair[0] < pair[1]);
            if ascends && kept == column.start {
                kept = column.end;
                continue;
            }
            sort(&mut self.rows[column.clone()], &mut self.values[column.clone()], &mut scratch)?;
            let first = kept;
            for entry in column {
                let (row, value) = (self.rows[entry], self.values[entry]);
                if kept > first && self.rows[kept - 1] == row {
                    if !sum_duplicates {
                        let general = header.symmetry == Symmetry::General;
                        return Ok(Err(if general { (row, col) } else { (row.max(col), row.min(col)) }));
                    }
                    self.values[kept - 1] += value;
                } else {
                    (self.rows[kept], self.values[kept]) = (row, value);
                    kept += 1;
                }
            }
            *end = kept as u64;
        }
        Ok(Ok(kept))
    }
}

/// Zeroed memory. The system provides each page of zeroed memory when a thread first writes to the
/// page.
fn zeros<T: Zeroable>(count: usize, what: &str) -> Result<Vec<T>> {
    let (what, needed) = (|| format!("{what} of a file"), (count as u64).saturating_mul(size_of::<T>() as u64));
    crate::host::memory::check_large(what, needed)?;
    bytemuck::allocation::try_zeroed_vec(count).map_err(|()| Error::Memory {
        what: what(),
        needed,
        available: crate::host::memory::available().unwrap_or(0),
        place: "host".into(),
    })
}
