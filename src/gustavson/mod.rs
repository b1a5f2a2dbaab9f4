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
mod factors;
mod far;
mod growing;
mod in_order;
mod near;
mod once;
mod parts;
mod rows;
mod shifted;
mod sums;
#[cfg(test)]
mod tests;

use growing::{Growing, Places};
use rows::{Extent, RowSet};

pub(crate) use factors::{Factors, Operand};
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

/// The type of offsets: `u64` on the host, `u32` in the arrays of a device.
pub(crate) trait Offset: Copy + Sync + Into<u64> {}

impl<O: Copy + Sync + Into<u64>> Offset for O {}

/// The pattern of a factor, borrowed from a host matrix or mapped from a device.
pub(crate) struct Columns<'a, O> {
    pub nrows: usize,
    pub col_ptr: &'a [O],
    pub row_idx: &'a [u32],
}

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

impl<O> Clone for Columns<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Columns<'_, O> {}

impl<'a> From<&'a Pattern> for Columns<'a, u64> {
    fn from(pattern: &'a Pattern) -> Self {
        Self { nrows: pattern.nrows(), col_ptr: pattern.col_ptr(), row_idx: pattern.row_idx() }
    }
}

impl<'a, O: Offset> Columns<'a, O> {
    pub fn ncols(&self) -> usize {
        self.col_ptr.len() - 1
    }

    fn entries(&self, col: usize) -> Range<usize> {
        self.col_ptr[col].into() as usize..self.col_ptr[col + 1].into() as usize
    }

    fn column(&self, col: usize) -> &'a [u32] {
        &self.row_idx[self.entries(col)]
    }

    /// Products of the column of A·B, of which this is A.
    pub fn products(&self, b: Columns<'_, O>, col: usize) -> u64 {
        b.column(col).iter().map(|&k| self.entries(k as usize).len() as u64).sum()
    }

    /// Entries of some columns of A·B, of which this is A.
    pub fn entries_of(self, b: Columns<'_, O>, cols: impl IntoIterator<Item = usize>) -> u64 {
        let (mut set, mut rows) = (RowSet::new(self.nrows), Vec::new());
        cols.into_iter().for_each(|col| set.find(self, b.column(col), &mut rows));
        rows.len() as u64
    }

    /// The rows from the first to the last of the column, and in what scalars are added.
    pub fn range_of(&self, b: Columns<'_, O>, col: usize) -> (u64, Addition) {
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
    let (items, failed) = (Mutex::new(items), Mutex::new(None::<Error>));
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take = |number: usize, own: &mut Option<S>| {
        while let Some(item) = next() {
            let Err(error) = work(own.get_or_insert_with(|| state(number)), item) else { continue };
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            break;
        }
    };
    let mut states: Vec<Option<S>> = std::iter::repeat_with(|| None).take(threads).collect();
    rayon::in_place_scope(|scope| {
        let mut all = states.iter_mut().enumerate();
        let first = all.next();
        let take = &take;
        all.for_each(|(number, own)| scope.spawn(move |_| take(number, own)));
        first.into_iter().for_each(|(number, own)| take(number, own));
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(states), Err)
}
