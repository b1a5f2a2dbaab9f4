//! [`Pattern`]: the places of a matrix's entries, which are validated once.
use crate::error::{PatternError, Result};
use crate::host::memory;
use rayon::prelude::*;
use std::ops::Range;

/// The structure of a compressed-column matrix: `col_ptr` and `row_idx` of the grid of entries
/// (blocks).
///
/// The constructor validates the arrays: `col_ptr` starts at 0, never decreases and ends at `nnz`;
/// rows ascend strictly within a column and are below `nrows`. Kernels index memory with the
/// numbers of a pattern, so only validated patterns are sent to a device.
///
/// ```
/// use blockmul::matrix::Pattern;
/// let pattern = Pattern::new(3, 2, vec![0, 2, 3], vec![0, 2, 1])?;
/// assert_eq!((pattern.nnz(), pattern.column(0)), (3, &[0, 2][..]));
/// let error = Pattern::new(3, 2, vec![0, 2, 3], vec![2, 0, 1]).unwrap_err();
/// assert!(error.to_string().contains("column 0, entry 1: row 0 follows row 2"));
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    nrows: usize,
    ncols: usize,
    col_ptr: Vec<u64>,
    row_idx: Vec<u32>,
}

impl Pattern {
    /// Maximum number of rows or columns. A device counts the `columns + 1` offsets in 32 bits.
    pub const MAX_LINES: u64 = u32::MAX as u64 - 1;

    /// Makes a pattern from `col_ptr` (`ncols + 1` offsets) and `row_idx` (one row for each entry),
    /// which are validated. Large arrays are validated on all threads of the current rayon pool.
    ///
    /// # Errors
    /// [`Error::Pattern`](crate::Error::Pattern) with the column and the entry.
    pub fn new(nrows: usize, ncols: usize, col_ptr: Vec<u64>, row_idx: Vec<u32>) -> Result<Self> {
        for (what, dimension) in [("rows", nrows), ("columns", ncols)] {
            if dimension as u64 > Self::MAX_LINES {
                return Err(PatternError::TooManyLines { what, dimension, limit: Self::MAX_LINES }.into());
            }
        }
        if col_ptr.len() != ncols + 1 {
            return Err(PatternError::ColPtrLength { found: col_ptr.len(), expected: ncols + 1 }.into());
        }
        if col_ptr[0] != 0 {
            return Err(PatternError::ColPtrStart { found: col_ptr[0] }.into());
        }
        // All offsets are checked before they are used to index row_idx.
        if let Some(column) = col_ptr.windows(2).position(|ends| ends[0] > ends[1]) {
            return Err(PatternError::ColPtrFalls { column, start: col_ptr[column], end: col_ptr[column + 1] }.into());
        }
        if col_ptr[ncols] != row_idx.len() as u64 {
            return Err(PatternError::ColPtrEnd { found: col_ptr[ncols], nnz: row_idx.len() }.into());
        }
        if is_valid(nrows, &col_ptr, &row_idx) {
            return Ok(Self { nrows, ncols, col_ptr, row_idx });
        }
        for column in 0..ncols {
            check_column(
                column,
                nrows,
                col_ptr[column],
                &row_idx[col_ptr[column] as usize..col_ptr[column + 1] as usize],
            )?;
        }
        Ok(Self { nrows, ncols, col_ptr, row_idx })
    }

    /// Makes a pattern from arrays that this crate has computed. The arrays are checked in debug
    /// builds only.
    pub(crate) fn trusted(nrows: usize, ncols: usize, col_ptr: Vec<u64>, row_idx: Vec<u32>) -> Self {
        debug_assert!(Self::new(nrows, ncols, col_ptr.clone(), row_idx.clone()).is_ok());
        Self { nrows, ncols, col_ptr, row_idx }
    }

    /// Rows of the grid of entries (blocks).
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Columns of the grid of entries (blocks).
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// Stored entries (blocks).
    pub fn nnz(&self) -> usize {
        self.row_idx.len()
    }

    /// The `ncols + 1` offsets of the columns in [`Pattern::row_idx`].
    pub fn col_ptr(&self) -> &[u64] {
        &self.col_ptr
    }

    /// Row of each entry.
    pub fn row_idx(&self) -> &[u32] {
        &self.row_idx
    }

    /// The indices of the entries of column `column`.
    pub fn entries(&self, column: usize) -> std::ops::Range<usize> {
        self.col_ptr[column] as usize..self.col_ptr[column + 1] as usize
    }

    /// A lower bound of the number of entries in the product with `b`. Each column of the product
    /// has at least as many entries as the longest column of `self` that contributes to it.
    pub(crate) fn least_entries_of_product(&self, b: &Self) -> u64 {
        let longest = |col| b.column(col).iter().map(|&k| self.column(k as usize).len() as u64).max().unwrap_or(0);
        (0..b.ncols()).map(longest).fold(0u64, u64::saturating_add)
    }

    /// Rows of the entries of column `column`, ascending.
    pub fn column(&self, column: usize) -> &[u32] {
        &self.row_idx[self.entries(column)]
    }

    /// Returns the arrays.
    pub fn into_parts(self) -> (Vec<u64>, Vec<u32>) {
        (self.col_ptr, self.row_idx)
    }

    /// Like [`Pattern::transpose`], but returns an error if the transpose does not fit the host.
    /// The transpose has an offset for each row of this pattern, even if there are few entries.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn try_transpose(&self) -> Result<(Self, Vec<usize>)> {
        self.check_transpose(0)?;
        Ok(self.transpose())
    }

    /// Refuses a transpose that does not fit the host's memory. `entry` is the number of bytes of
    /// the values of an entry.
    pub(super) fn check_transpose(&self, entry: usize) -> Result<()> {
        let (offsets, entries) = (self.nrows as u64 + 1, self.nnz() as u64);
        let of_entry = (size_of::<u32>() + size_of::<usize>() + entry) as u64;
        let needed = (2 * size_of::<u64>() as u64 * offsets).saturating_add(entries.saturating_mul(of_entry));
        memory::check_large(|| format!("the transpose of a matrix of {} rows", self.nrows), needed)
    }

    /// The pattern of the transpose. The function also returns, for each entry of the transpose,
    /// the index of the same entry in this pattern.
    pub fn transpose(&self) -> (Self, Vec<usize>) {
        let mut next = vec![0u64; self.nrows + 1];
        self.row_idx.iter().for_each(|&row| next[row as usize + 1] += 1);
        (0..self.nrows).for_each(|row| next[row + 1] += next[row]);
        let col_ptr = next.clone();
        let (mut row_idx, mut source) = (vec![0; self.nnz()], vec![0; self.nnz()]);
        for column in 0..self.ncols {
            for entry in self.entries(column) {
                let to = &mut next[self.row_idx[entry] as usize];
                row_idx[*to as usize] = column as u32;
                source[*to as usize] = entry;
                *to += 1;
            }
        }
        (Self::trusted(self.ncols, self.nrows, col_ptr, row_idx), source)
    }
}

/// Whether the rows of every column ascend and are below `nrows`. The loop over rows has no exit,
/// so that compilers can turn it into vectors. [`check_column`] finds the first wrong entry.
fn is_valid(nrows: usize, col_ptr: &[u64], row_idx: &[u32]) -> bool {
    let (falls, _) = of_parts(row_idx.len(), |part| {
        let row_idx = &row_idx[part.start..row_idx.len().min(part.end + 1)];
        let next = row_idx.get(1..).unwrap_or_default();
        // A part has so few entries that 32 bits are enough to count them.
        (row_idx.iter().zip(next).fold(0, |falls, (row, next)| falls + u32::from(row >= next)).into(), true)
    });
    // Rows may fall only where a column begins. If they ascend, the last of a column is the
    // largest.
    let (allowed, are_inside) = of_parts(col_ptr.len() - 1, |part| {
        let columns = col_ptr[part.start..=part.end].windows(2).filter(|ends| ends[0] < ends[1]);
        columns.fold((0, true), |(falls, are_inside), ends| {
            let (first, last) = (ends[0] as usize, row_idx[ends[1] as usize - 1]);
            let falls_here = first > 0 && row_idx[first - 1] >= row_idx[first];
            (falls + u64::from(falls_here), are_inside & ((last as usize) < nrows))
        })
    });
    falls == allowed && are_inside
}

/// The sum of the counts of parts of `len` elements, and whether all parts are as they should be.
fn of_parts(len: usize, of: impl Fn(Range<usize>) -> (u64, bool) + Sync) -> (u64, bool) {
    const PART: usize = 1 << 16;
    // Waking up threads takes as long as some parts.
    const FEW: usize = 8;
    let part = |number: usize| of(number * PART..len.min((number + 1) * PART));
    let both = |(count, is_right): (u64, bool), (more, is_other): (u64, bool)| (count + more, is_right & is_other);
    match len.div_ceil(PART) {
        many if many > FEW => (0..many).into_par_iter().map(part).reduce(|| (0, true), both),
        all => (0..all).map(part).fold((0, true), both),
    }
}

fn check_column(column: usize, nrows: usize, start: u64, rows: &[u32]) -> std::result::Result<(), PatternError> {
    let mut previous = None;
    for (entry, &row) in (start..).zip(rows) {
        if row as usize >= nrows {
            return Err(PatternError::RowOutOfRange { column, entry, row, nrows });
        }
        if let Some(previous) = previous.filter(|&p| p >= row) {
            return Err(PatternError::RowOrder { column, entry, previous, row });
        }
        previous = Some(row);
    }
    Ok(())
}
