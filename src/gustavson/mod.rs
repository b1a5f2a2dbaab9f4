//! Products on the host, by columns and without a device: Gustavson's algorithm (ACM TOMS 4, 1978).
//!
//! [`Factors::multiply`] computes scalars in one pass: it adds each product to the sum of its row
//! and sets the row's bit, and the bits give the rows in order. A column whose rows are those of
//! the column before, each one further, needs no bits (`shifted`). Blocks take two passes, and so
//! do products in bands, whose sizes must be known before their memory: [`Factors::find`] finds the
//! rows of each column by bits alone, then the sums of these rows are computed in a dense column.
//! Columns are shared out by their products, among the threads of the ambient rayon pool; what
//! threads compute in one pass is put together as it is made (`in_order`).
//!
//! Sums are formed in the kernels' order, so that results are equal to the bit: the terms of an
//! entry in ascending k, within a block product over the inner index, each multiplication rounded
//! before the addition, and cut into pieces of 1024 products. The model in the tests has the same
//! in a few lines, on one thread.
//!
//! The element of the factors is a value. Their sums are formed in three types (`numbers`), for
//! which the code is compiled, with operations that are inlined for plus-times.
mod factors;
mod far;
mod growing;
mod in_order;
mod near;
mod numbers;
mod once;
mod parts;
mod room;
mod rows;
mod shifted;
mod sums;
#[cfg(test)]
mod tests;

use growing::{Growing, Places};
use rows::{Extent, RowSet};

pub(crate) use factors::{Factor, Factors};
pub(crate) use parts::Found;

use crate::{Error, Pattern, Result, host::memory};
use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

/// Multiplications for each thread that takes part in a product. To wake another one up takes as
/// long as a thousand, but the calling one does not wait for it. On a CPU device products of the
/// host take half the time from here on, probably because the device's threads, which copy C,
/// start sooner if a core is awake.
const OF_THREAD: u64 = 500;

/// The same of weighing columns, for which the calling thread waits.
const WEIGHED_ALONE: u64 = 20_000;

/// Parts of a product for each thread, or more, so that no thread waits long for the last one.
const PARTS: usize = 8;

/// Products and columns of a part at most, if columns can be divided so. Parts are copied to C:
/// from the caches, but not so small that several threads first write to the same large page of it,
/// which the system would then clear for each.
const PART: u64 = 1 << 20;

/// Offsets of columns: those of the host, or of the arrays of a device.
#[derive(Clone, Copy)]
pub(crate) enum Offsets<'a> {
    Host(&'a [u64]),
    Device(&'a [u32]),
}

impl<'a> Offsets<'a> {
    /// The offsets of some columns.
    pub fn of_columns(self, cols: Range<usize>) -> Self {
        match self {
            Self::Host(offsets) => Self::Host(&offsets[cols.start..=cols.end]),
            Self::Device(offsets) => Self::Device(&offsets[cols.start..=cols.end]),
        }
    }

    fn columns(self) -> usize {
        match self {
            Self::Host(offsets) => offsets.len() - 1,
            Self::Device(offsets) => offsets.len() - 1,
        }
    }

    /// The entries from the first of these columns to the last.
    #[inline(always)]
    fn range(self, first: usize, end: usize) -> Range<usize> {
        match self {
            Self::Host(offsets) => offsets[first] as usize..offsets[end] as usize,
            Self::Device(offsets) => offsets[first] as usize..offsets[end] as usize,
        }
    }
}

/// The pattern of a factor, borrowed from a host matrix or mapped from a device.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub nrows: usize,
    pub col_ptr: Offsets<'a>,
    pub row_idx: &'a [u32],
}

/// Whether so many entries of C fit the memory.
pub(crate) type Fits<'f> = &'f (dyn Fn(u64) -> Result<()> + Sync);

/// In what the products of a column of scalars are added.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Addition {
    /// Rows near each other: in a window of sums.
    Window,
    /// In sums of all rows.
    AllRows,
    /// Few, whose rows are far apart: sorted by row.
    Sorted,
}

impl Addition {
    fn of(extent: &Extent) -> Self {
        match (extent.is_near(), extent.is_sparse()) {
            (true, _) => Self::Window,
            (false, false) => Self::AllRows,
            (false, true) => Self::Sorted,
        }
    }
}

impl<'a> From<&'a Pattern> for Columns<'a> {
    fn from(pattern: &'a Pattern) -> Self {
        Self { nrows: pattern.nrows(), col_ptr: Offsets::Host(pattern.col_ptr()), row_idx: pattern.row_idx() }
    }
}

impl<'a> Columns<'a> {
    pub fn ncols(&self) -> usize {
        self.col_ptr.columns()
    }

    #[inline(always)]
    pub fn entries(&self, col: usize) -> Range<usize> {
        self.col_ptr.range(col, col + 1)
    }

    #[inline(always)]
    fn column(&self, col: usize) -> &'a [u32] {
        &self.row_idx[self.entries(col)]
    }

    /// Products of the column of A·B, of which this is A.
    pub fn products(&self, b: Columns<'_>, col: usize) -> u64 {
        b.column(col).iter().map(|&k| self.entries(k as usize).len() as u64).sum()
    }

    /// Entries of some columns of A·B, of which this is A.
    pub fn entries_of(self, b: Columns<'_>, cols: impl IntoIterator<Item = usize>) -> u64 {
        let (mut set, mut rows) = (RowSet::new(self.nrows), Vec::new());
        cols.into_iter().for_each(|col| set.find(self, b.column(col), &mut rows));
        rows.len() as u64
    }

    /// The rows from the first to the last of the column, and in what scalars are added.
    pub fn range_of(&self, b: Columns<'_>, col: usize) -> (u64, Addition) {
        let of_a = b.column(col).iter().map(|&k| self.column(k as usize));
        let of = |extent: Extent| (u64::from(extent.last - extent.first) + 1, Addition::of(&extent));
        Extent::of(of_a).map_or((0, Addition::Window), of)
    }
}

/// Gives the items to as many threads as there are, of which this one is the first: it need not
/// wait until another wakes up. Each thread that has an item gets a state of its own, made for its
/// number. Returns these states, or the first error.
fn share_out<I: Send, S: Send>(
    items: impl ExactSizeIterator<Item = I> + Send,
    state: impl Fn(usize) -> S + Sync,
    work: impl Fn(&mut S, I) -> Result<()> + Sync,
) -> Result<Vec<Option<S>>> {
    memory::keep_small();
    let threads = items.len().min(rayon::current_num_threads());
    let items = Mutex::new(items);
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let states: Vec<Mutex<Option<S>>> = (0..threads).map(|_| Mutex::new(None)).collect();
    on_threads(threads, &|number| {
        // Of no other thread.
        let mut own = states[number].lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(item) = next() {
            work(own.get_or_insert_with(|| state(number)), item)?;
        }
        Ok(())
    })?;
    Ok(states.into_iter().map(|own| own.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
}

/// Calls `work` with the number of each thread on that thread. Returns the first error.
fn on_threads(threads: usize, work: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
    let failed = Mutex::new(None::<Error>);
    let run = |number: usize| {
        if let Err(error) = work(number) {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    };
    rayon::in_place_scope(|scope| {
        let run = &run;
        (1..threads).for_each(|number| scope.spawn(move |_| run(number)));
        if threads > 0 {
            run(0);
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
