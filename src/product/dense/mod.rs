//! Method `dense` (Parger 2020, section 4.3, "dense accumulator"), changed so that sums have one
//! order. A bitmap finds the rows of a column of C, ascending. Then each row has a slot, and teams
//! of work-items add the products of one entry of B after another to the slots: ascending k, no
//! atomics on values. Kernels: `cl/product/dense/`.
//!
//! Rows found by the bitmap are kept, column after column in any order, in memory sized by an
//! estimate. Rows that did not fit are found once more when their number is known.
mod sums;
mod tasks;

use crate::{
    Element, Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Local, Teams, Work, kernel},
    product::adaptive::{AdaptiveTuning, Class, ColumnTask},
    resident::{InPattern, PatternArrays},
};
pub(super) use sums::{DenseSums, Factors, TaskTeams};
pub(super) use tasks::{CutTasks, Tasks};

kernel! {
    pub(super) struct CountRows = "count_narrow" in "team.cl", "product/dense/count.cl" {
        a: InPattern,
        b: InPattern,
        list: In<u32>,
        first_row: In<u32>,
        last_row: In<u32>,
        products: In<u32>,
        lengths: InOut<u32>,
        place: InOut<u32>,
        top: InOut<u32>,
        rows: InOut<u32>,
        bitmaps: Local<u32>,
        top_at: u32,
        words: u32,
        room: u32,
        first: u32,
        columns: u32,
        listed: u32,
        first_col: u32,
        windows: u32,
        purpose: u32,
    }
}

kernel! {
    pub(super) struct CountWindows = "count_wide" in "team.cl", "product/dense/count.cl" {
        a: InPattern,
        b: InPattern,
        list: In<u32>,
        first_row: In<u32>,
        last_row: In<u32>,
        products: In<u32>,
        lengths: InOut<u32>,
        place: InOut<u32>,
        top: InOut<u32>,
        rows: InOut<u32>,
        bits: Local<u32>,
        top_at: u32,
        words: u32,
        room: u32,
        first: u32,
        columns: u32,
        listed: u32,
        first_col: u32,
        windows: u32,
        purpose: u32,
    }
}

/// The rows that bitmaps found.
pub(super) struct FoundRows {
    /// Where the rows of each window of each column are in `rows`.
    pub place: Buffer<u32>,
    pub rows: Buffer<u32>,
    /// One number: how many of `rows` are taken.
    top: Buffer<u32>,
}

impl FoundRows {
    /// Room for `room` rows; `place` is for each window.
    pub fn new(work: &Work, place: Buffer<u32>, room: usize) -> Result<Self> {
        let mut top = work.buffer(1)?;
        work.fill_zero(&mut top)?;
        Ok(Self { place, rows: work.buffer(room)?, top })
    }

    /// The same with room for `missing` rows that found no place.
    pub fn extended(self, work: &Work, missing: usize) -> Result<Self> {
        let room = self.rows.len();
        let mut rows = work.buffer(room + missing)?;
        work.copy(&self.rows, 0, &mut rows, 0, room)?;
        // What lies behind the last row that was placed is given up.
        Ok(Self { rows, top: work.upload(&[room as u32])?, place: self.place })
    }
}

/// The patterns of the factors, and where the rows of each column of C are.
#[derive(Clone, Copy)]
pub(super) struct Patterns<'a> {
    pub a: &'a PatternArrays,
    pub b: &'a PatternArrays,
    pub first_row: &'a Buffer<u32>,
    pub last_row: &'a Buffer<u32>,
    pub products: &'a Buffer<u32>,
}

/// The arrays that finding rows writes to.
struct Into<'a> {
    lengths: &'a mut Buffer<u32>,
    place: &'a mut Buffer<u32>,
    rows: &'a mut Buffer<u32>,
    top: &'a mut Buffer<u32>,
    top_at: usize,
}

/// What rows are found for. The numbers are those of the kernel file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// All columns of a task.
    All,
    /// Those whose rows found no place.
    Missing,
    /// Samples, which are only counted.
    Sample,
}

/// The kernels that find rows.
pub(super) struct DenseCounts {
    narrow: Kernel<CountRows<'static>>,
    wide: Kernel<CountWindows<'static>>,
    big: Kernel<CountWindows<'static>>,
    teams: Teams,
    tuning: AdaptiveTuning,
    compute_units: usize,
}

impl DenseCounts {
    const NARROW_TEAMS: usize = 4;
    const WIDE_TEAMS: usize = 4;
    const BIG_TEAMS: usize = 16;

    pub fn new(device: &Device, teams: Teams, tuning: &AdaptiveTuning) -> Result<Self> {
        let options = |wanted| teams.options(wanted).define("SAMPLE_PRODUCTS", Self::SAMPLE_PRODUCTS);
        Ok(Self {
            narrow: Kernel::new(device, &options(Self::NARROW_TEAMS))?,
            wide: Kernel::rare(device, &options(Self::WIDE_TEAMS))?,
            big: Kernel::rare(device, &options(Self::BIG_TEAMS))?,
            teams,
            tuning: *tuning,
            compute_units: device.info().compute_units as usize,
        })
    }

    /// Most products of a sample: others would take longer than all else.
    const SAMPLE_PRODUCTS: u32 = 1 << 16;

    /// Counts the entries of C in `samples` columns, spread evenly over all, and adds them to
    /// `sums` at `at`, and the bound of them to the next number.
    pub fn sample(
        &self,
        work: &Work,
        patterns: Patterns<'_>,
        samples: usize,
        (sums, at): (&mut Buffer<u32>, usize),
    ) -> Result<()> {
        let (list, lengths, place, rows) =
            (&work.buffer(0)?, &mut work.buffer(0)?, &mut work.buffer(0)?, &mut work.buffer(0)?);
        let (first, columns) = (patterns.b.ncols as u32, samples as u32);
        let windows = self.tuning.windows(patterns.a.nrows) as u32;
        let task = ColumnTask { list, first, columns, listed: false, first_col: 0, windows };
        let into = Into { lengths, place, rows, top: sums, top_at: at };
        self.in_windows(work, (&self.big, Self::BIG_TEAMS), patterns, task, Purpose::Sample, into)
    }

    /// Finds the rows of columns of a class.
    pub fn run(
        &self,
        work: &Work,
        (class, task): (Class, ColumnTask<'_>),
        patterns: Patterns<'_>,
        purpose: Purpose,
        (lengths, found): (&mut Buffer<u32>, &mut FoundRows),
    ) -> Result<()> {
        let FoundRows { place, rows, top } = found;
        let into = Into { lengths, place, rows, top, top_at: 0 };
        match class {
            Class::Narrow => self.in_range(work, self.tuning.narrow_words, patterns, task, purpose, into),
            Class::Medium => self.in_range(work, self.tuning.medium_words, patterns, task, purpose, into),
            Class::Wide => self.in_windows(work, (&self.wide, Self::WIDE_TEAMS), patterns, task, purpose, into),
            _ => self.in_windows(work, (&self.big, Self::BIG_TEAMS), patterns, task, purpose, into),
        }
    }

    /// By a bitmap of `words` words for each team.
    fn in_range(
        &self,
        work: &Work,
        words: usize,
        Patterns { a, b, first_row, last_row, products }: Patterns<'_>,
        ColumnTask { list, first, columns, listed, first_col, windows }: ColumnTask<'_>,
        purpose: Purpose,
        Into { lengths, place, rows, top, top_at }: Into<'_>,
    ) -> Result<()> {
        let (words, teams) = (words.min(a.nrows.div_ceil(32)), self.teams.in_group(Self::NARROW_TEAMS));
        let groups = (columns as usize).div_ceil(teams).min(self.tuning.groups * self.compute_units);
        let room = rows.len() as u32;
        let args = CountRows {
            a,
            b,
            list,
            first_row,
            last_row,
            products,
            lengths,
            place,
            top,
            rows,
            bitmaps: words * teams,
            top_at: top_at as u32,
            words: words as u32,
            room,
            first,
            columns,
            listed: listed.into(),
            first_col,
            windows,
            purpose: purpose as u32,
        };
        self.narrow.launch(work, Grid::groups(groups, self.teams.group_size(Self::NARROW_TEAMS)), args)
    }

    /// By a bitmap of a window for each group of `teams` teams.
    fn in_windows(
        &self,
        work: &Work,
        (kernel, teams): (&Kernel<CountWindows<'static>>, usize),
        Patterns { a, b, first_row, last_row, products }: Patterns<'_>,
        ColumnTask { list, first, columns, listed, first_col, windows }: ColumnTask<'_>,
        purpose: Purpose,
        Into { lengths, place, rows, top, top_at }: Into<'_>,
    ) -> Result<()> {
        let words = self.tuning.wide_words.min(a.nrows.div_ceil(32));
        let groups = (columns as usize * windows as usize).min(self.tuning.groups * self.compute_units);
        let room = rows.len() as u32;
        let args = CountWindows {
            a,
            b,
            list,
            first_row,
            last_row,
            products,
            lengths,
            place,
            top,
            rows,
            bits: words,
            top_at: top_at as u32,
            words: words as u32,
            room,
            first,
            columns,
            listed: listed.into(),
            first_col,
            windows,
            purpose: purpose as u32,
        };
        kernel.launch(work, Grid::groups(groups, self.teams.group_size(teams)), args)
    }
}

/// Bytes of local memory in which a team keeps its steps.
pub(super) fn step_bytes<T: Element>() -> usize {
    32 * (8 + size_of::<T::Arithmetic>())
}
