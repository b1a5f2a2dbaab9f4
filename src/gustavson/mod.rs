//! Products on the host, column by column, without a device: Gustavson's algorithm (ACM TOMS 4,
//! 1978).
//!
//! [`Factors::multiply`] computes products of scalars in one pass. The one pass adds each product
//! to the sum of its row and sets the row's bit. The bits then give the rows in order. If the rows
//! of a column are those of the column before, each increased by one, no bits are needed
//! (`shifted`). Products of blocks take two passes. Products in bands take two passes, too, because
//! the size of a band must be known before its memory is allocated. First [`Factors::find`] finds
//! the rows of each column by bits alone, then the sums of these rows are computed in a dense
//! column. Columns are divided by their products among the threads of the current rayon pool. In
//! one pass, the results of threads are joined as they are made (`in_order`).
//!
//! Sums have the order of the kernels, so that results are equal to the bit. The terms of an entry
//! of C are added in the order of the entries of B, and the terms of a block product in the order
//! of the inner index. Each multiplication is rounded before the addition, and sums are cut into
//! pieces of 1024 products. The model in the tests computes sums in this order in a few lines, on
//! one thread.
//!
//! [`multiply_on_host`] multiplies by a dense matrix, row by row.
//!
//! The element type of the factors is known at run time only. Sums are computed in three types
//! (`numbers`), for which the code is compiled. The operations of plus-times are inlined.
mod dense;
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

pub use dense::multiply_on_host;
pub(crate) use factors::Factors;
pub(crate) use parts::Found;

use crate::{
    BlockShape, Error, Pattern, Result,
    element::AnySlice,
    host::{Interrupt, memory},
    matrix::AnyView,
};
use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

/// Multiplications for each thread that takes part in a product. Waking up another thread takes as
/// long as a thousand multiplications, but the calling thread does not wait for it. On a CPU device
/// products on the host take half the time from `OF_THREAD` multiplications on, probably because
/// the device's threads, which copy C, start sooner if a core is awake.
const OF_THREAD: u64 = 500;

/// Weighing columns means counting their products. If weighing all columns takes less time than
/// `WEIGHED_ALONE` multiplications, the calling thread does it alone, because it waits for the
/// result.
const WEIGHED_ALONE: u64 = 20_000;

/// Least number of parts of a product for each thread, so that no thread waits long for the last
/// part.
const PARTS: usize = 8;

/// Maximum number of products and of columns in a part, unless a single column has more. Parts are
/// copied to C from the caches. Parts must not be so small that several threads first write to the
/// same large page of C, because the system would then clear it for each thread.
const PART: u64 = 1 << 20;

/// Offsets of columns, as 64-bit numbers of the host or 32-bit numbers of a device.
#[derive(Clone, Copy)]
pub(crate) enum Offsets<'a> {
    Host(&'a [u64]),
    Device(&'a [u32]),
}

impl<'a> Offsets<'a> {
    /// The offsets of the columns `cols`.
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

    /// The range of entries from column `first` to before column `end`.
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

/// A factor of a product: its pattern and its blocks.
#[derive(Clone, Copy)]
pub(crate) struct Factor<'a> {
    pub columns: Columns<'a>,
    pub shape: BlockShape,
    /// Number of elements from one block to the next.
    pub stride: usize,
    pub values: AnySlice<'a>,
}

impl<'a> From<AnyView<'a>> for Factor<'a> {
    fn from(AnyView { pattern, shape, stride, values, .. }: AnyView<'a>) -> Self {
        Self { columns: pattern.into(), shape, stride, values }
    }
}

/// A function that fails if the given number of entries of C does not fit the memory.
pub(crate) type Fits<'f> = &'f (dyn Fn(u64) -> Result<()> + Sync);

/// The way in which the products of a column of scalars are added.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Addition {
    /// Rows that are near each other are added in a window of sums.
    Window,
    /// Products are added in an array of sums for all rows.
    AllRows,
    /// A few products whose rows are far apart are sorted by row.
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

    /// Number of products of column `col` of A·B. `self` is A.
    pub fn products(&self, b: Columns<'_>, col: usize) -> u64 {
        b.column(col).iter().map(|&k| self.entries(k as usize).len() as u64).sum()
    }

    /// Number of entries of some columns of A·B. `self` is A.
    pub fn entries_of(self, b: Columns<'_>, cols: impl IntoIterator<Item = usize>) -> u64 {
        let (mut set, mut rows) = (RowSet::new(self.nrows), Vec::new());
        cols.into_iter().for_each(|col| set.find(self, b.column(col), &mut rows));
        rows.len() as u64
    }

    /// The number of rows from the first to the last of the column, and the way in which scalars
    /// are added.
    pub fn range_of(&self, b: Columns<'_>, col: usize) -> (u64, Addition) {
        let of_a = b.column(col).iter().map(|&k| self.column(k as usize));
        let of = |extent: Extent| (u64::from(extent.last - extent.first) + 1, Addition::of(&extent));
        Extent::of(of_a).map_or((0, Addition::Window), of)
    }
}

/// Divides the items among threads. The calling thread begins at once, without waiting for other
/// threads to wake up. Each thread that has an item gets a state of its own, made for its number.
/// Returns the states of all threads, or the first error.
fn share_out<I: Send, S: Send>(
    items: impl ExactSizeIterator<Item = I> + Send,
    state: impl Fn(usize) -> S + Sync,
    work: impl Fn(&mut S, I) -> Result<()> + Sync,
) -> Result<Vec<Option<S>>> {
    memory::keep_small();
    let interrupt = Interrupt::current();
    let threads = items.len().min(rayon::current_num_threads());
    let items = Mutex::new(items);
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let states: Vec<Mutex<Option<S>>> = (0..threads).map(|_| Mutex::new(None)).collect();
    on_threads(threads, &|number| {
        // No other thread locks this state.
        let mut own = states[number].lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(item) = next() {
            interrupt.as_ref().map_or(Ok(()), Interrupt::check)?;
            work(own.get_or_insert_with(|| state(number)), item)?;
        }
        Ok(())
    })?;
    Ok(states.into_iter().map(|own| own.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
}

/// Calls `work` on each thread with the thread's number. Returns the first error.
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
