//! Method `dense` (Parger 2020, section 4.3, "dense accumulator"), changed so that sums have one
//! order. A bitmap finds the rows of a column of C in ascending order. Then each row has a slot, to
//! which products are added: [`tasks`](crate::product::columns::tasks). Kernels:
//! `cl/product/columns/dense/count.cl`.
mod sums;

pub(in crate::product) use sums::dense_sums;

use super::tasks::{FoundRows, Patterns, Purpose, RowArrays};
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Local, Teams, Work, kernel},
    product::{
        terms::{Class, ColumnTask},
        tuning::AdaptiveTuning,
    },
    resident::InPattern,
};

kernel! {
    pub(super) struct CountRows = "count_narrow" in "ptx.cl", "team.cl", "product/columns/tasks/found.cl", "product/columns/tasks/bits.cl", "product/columns/dense/count.cl" {
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
    pub(super) struct CountWindows = "count_wide" in "ptx.cl", "team.cl", "product/columns/tasks/found.cl", "product/columns/tasks/bits.cl", "product/columns/dense/count.cl" {
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

/// Most products of a sampled column. Longer columns would take longer than all other samples.
const SAMPLE_PRODUCTS: u32 = 1 << 16;

/// The kernels that find rows.
pub(in crate::product) struct DenseCounts {
    narrow: Kernel<CountRows<'static>>,
    paired: Kernel<CountRows<'static>>,
    wide: Kernel<CountWindows<'static>>,
    big: Kernel<CountWindows<'static>>,
    teams: Teams,
    tuning: AdaptiveTuning,
    most_groups: usize,
}

impl DenseCounts {
    const NARROW_TEAMS: usize = 4;
    const PAIRED_TEAMS: usize = 2;
    const WIDE_TEAMS: usize = 4;
    const BIG_TEAMS: usize = 16;

    pub fn new(device: &Device, teams: Teams, tuning: &AdaptiveTuning) -> Result<Self> {
        let options = |wanted| teams.options(wanted).define("SAMPLE_PRODUCTS", SAMPLE_PRODUCTS);
        Ok(Self {
            narrow: Kernel::new(device, &options(Self::NARROW_TEAMS))?,
            paired: Kernel::rare(device, &options(Self::PAIRED_TEAMS))?,
            wide: Kernel::rare(device, &options(Self::WIDE_TEAMS))?,
            big: Kernel::rare(device, &options(Self::BIG_TEAMS))?,
            teams,
            tuning: *tuning,
            most_groups: tuning.most_groups(device.info()),
        })
    }

    /// Counts the entries of C in `samples` columns, spread evenly over all columns. Adds them to
    /// number `at` of `sums`, and their upper bound to the next number. Columns whose rows are in a
    /// range of more than `most_words` words of 32 rows are left out.
    pub fn sample(
        &self,
        work: &Work,
        patterns: Patterns<'_>,
        (samples, most_words): (usize, u32),
        (sums, at): (&mut Buffer<u32>, usize),
    ) -> Result<()> {
        let (list, lengths, place, rows) =
            (&work.buffer(0)?, &mut work.buffer(0)?, &mut work.buffer(0)?, &mut work.buffer(0)?);
        let (first, columns) = (patterns.b.ncols as u32, samples as u32);
        let windows = self.tuning.windows_of(most_words as usize) as u32;
        let task =
            ColumnTask { list, first, columns, listed: false, first_col: 0, windows, products: 0, widest: most_words };
        let into = RowArrays { lengths, place, rows, top: sums, top_at: at };
        self.in_windows(work, (&self.big, Self::BIG_TEAMS), patterns, task, Purpose::Sample, into)
    }

    /// Finds the rows of the columns of a class.
    pub fn run(
        &self,
        work: &Work,
        (class, task): (Class, ColumnTask<'_>),
        patterns: Patterns<'_>,
        purpose: Purpose,
        (lengths, found): (&mut Buffer<u32>, &mut FoundRows),
    ) -> Result<()> {
        let (into, tuning) = (found.arrays(lengths), &self.tuning);
        let few = |words| (&self.narrow, Self::NARROW_TEAMS, words);
        let is_paired = task.products <= tuning.paired_products * u64::from(task.columns)
            && task.widest as usize <= tuning.paired_words;
        match class {
            Class::Narrow => self.in_range(work, few(tuning.narrow_words), patterns, task, purpose, into),
            Class::Medium => self.in_range(work, few(tuning.medium_words), patterns, task, purpose, into),
            Class::Wide if is_paired => {
                let pair = (&self.paired, Self::PAIRED_TEAMS, tuning.paired_words);
                self.in_range(work, pair, patterns, task, purpose, into)
            }
            Class::Wide => self.in_windows(work, (&self.wide, Self::WIDE_TEAMS), patterns, task, purpose, into),
            _ => self.in_windows(work, (&self.big, Self::BIG_TEAMS), patterns, task, purpose, into),
        }
    }

    /// Finds rows by a bitmap of `words` words for each of the `teams` teams of a group.
    fn in_range(
        &self,
        work: &Work,
        (kernel, teams, words): (&Kernel<CountRows<'static>>, usize, usize),
        Patterns { a, b, first_row, last_row, products }: Patterns<'_>,
        ColumnTask { list, first, columns, listed, first_col, windows, widest, .. }: ColumnTask<'_>,
        purpose: Purpose,
        RowArrays { lengths, place, rows, top, top_at }: RowArrays<'_>,
    ) -> Result<()> {
        let (words, group_size) = (words.min(widest as usize), self.teams.group_size(teams));
        let teams = self.teams.in_group(teams);
        let groups = (columns as usize).div_ceil(teams).min(self.most_groups);
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
        kernel.launch(work, Grid::groups(groups, group_size), args)
    }

    /// Finds rows by a bitmap of a window for each group of `teams` teams.
    fn in_windows(
        &self,
        work: &Work,
        (kernel, teams): (&Kernel<CountWindows<'static>>, usize),
        Patterns { a, b, first_row, last_row, products }: Patterns<'_>,
        ColumnTask { list, first, columns, listed, first_col, windows, widest, .. }: ColumnTask<'_>,
        purpose: Purpose,
        RowArrays { lengths, place, rows, top, top_at }: RowArrays<'_>,
    ) -> Result<()> {
        let words = self.tuning.wide_words.min(widest as usize);
        let groups = (columns as usize * windows as usize).min(self.most_groups);
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
