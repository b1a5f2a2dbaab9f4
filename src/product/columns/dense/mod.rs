//! Method `dense` (Parger 2020, section 4.3, "dense accumulator"), changed so that the products of
//! a sum have a fixed order. A bitmap finds the rows of a column of C in ascending order. Then each
//! row has a slot, to which products are added: [`tasks`](crate::product::columns::tasks). Kernels:
//! `cl/product/columns/dense/count.cl`.
mod sums;

pub(in crate::product) use sums::dense_sums;

use super::tasks::{InColumns, InRows, Patterns, Purpose, RowArrays, RowTask};
use crate::{
    Result,
    device::{Buffer, Device, Grid, Kernel, Local, Teams, Work, kernel},
    product::{
        terms::{Class, ColumnTask},
        tuning::AdaptiveTuning,
    },
};

kernel! {
    in "ptx.cl", "team.cl", "product/columns/tasks/found.cl", "product/columns/tasks/bits.cl", "product/columns/dense/count.cl":
    pub(super) struct CountRows = "count_narrow" {
        rows: InRows<'static>,
        bitmaps: Local<u32>,
        top_at: u32,
        columns: InColumns<'static>,
    }
    pub(super) struct CountWindows = "count_wide" {
        rows: InRows<'static>,
        bits: Local<u32>,
        top_at: u32,
        columns: InColumns<'static>,
    }
}

/// Most products of a sampled column. A column with more products would take longer than all other
/// samples together.
pub(in crate::product) const SAMPLE_PRODUCTS: u32 = 1 << 16;

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

    /// Counts the entries of C in `samples` columns, spread evenly over all columns. Adds the
    /// number of these entries to `sums[at]`, and the upper bound of this number to `sums[at + 1]`.
    /// Columns whose rows are in a range of more than `most_words` words of 32 rows are left out.
    pub fn sample(
        &self,
        work: &Work,
        patterns: Patterns<'_>,
        samples: usize,
        most_words: u32,
        sums: &mut Buffer<u32>,
        at: usize,
    ) -> Result<()> {
        let (list, lengths, place, rows) =
            (&work.buffer(0)?, &mut work.buffer(0)?, &mut work.buffer(0)?, &mut work.buffer(0)?);
        let (first, columns) = (patterns.b.ncols as u32, samples as u32);
        let windows = self.tuning.windows_of(most_words as usize) as u32;
        let columns = ColumnTask { first, windows, widest: most_words, ..ColumnTask::of_all(list, columns) };
        let into = RowArrays { lengths, place, rows, top: sums, top_at: at };
        let task = RowTask { patterns, columns, purpose: Purpose::Sample, into };
        self.in_windows(work, &self.big, Self::BIG_TEAMS, task)
    }

    /// Finds the rows of the columns of a class.
    pub fn run(&self, work: &Work, class: Class, task: RowTask<'_>) -> Result<()> {
        let (tuning, columns) = (&self.tuning, &task.columns);
        let is_paired = columns.products <= tuning.paired_products * u64::from(columns.columns)
            && columns.widest as usize <= tuning.paired_words;
        match class {
            Class::Narrow => self.in_range(work, &self.narrow, Self::NARROW_TEAMS, tuning.narrow_words, task),
            Class::Medium => self.in_range(work, &self.narrow, Self::NARROW_TEAMS, tuning.medium_words, task),
            Class::Wide if is_paired => {
                self.in_range(work, &self.paired, Self::PAIRED_TEAMS, tuning.paired_words, task)
            }
            Class::Wide => self.in_windows(work, &self.wide, Self::WIDE_TEAMS, task),
            _ => self.in_windows(work, &self.big, Self::BIG_TEAMS, task),
        }
    }

    /// Finds rows by bitmaps of `words` words. Each of the `teams` teams of a work-group has one
    /// bitmap.
    fn in_range(
        &self,
        work: &Work,
        kernel: &Kernel<CountRows<'static>>,
        teams: usize,
        words: usize,
        task: RowTask<'_>,
    ) -> Result<()> {
        let (words, group_size) = (words.min(task.columns.widest as usize), self.teams.group_size(teams));
        let teams = self.teams.in_group(teams);
        let groups = (task.columns.columns as usize).div_ceil(teams).min(self.most_groups);
        let top_at = task.into.top_at as u32;
        let (rows, columns) = task.arguments(words);
        let args = CountRows { rows, bitmaps: words * teams, top_at, columns };
        kernel.launch(work, Grid::groups(groups, group_size), args)
    }

    /// Finds rows by bitmaps of one window. Each work-group of `teams` teams has one bitmap.
    fn in_windows(
        &self,
        work: &Work,
        kernel: &Kernel<CountWindows<'static>>,
        teams: usize,
        task: RowTask<'_>,
    ) -> Result<()> {
        let words = self.tuning.wide_words.min(task.columns.widest as usize);
        let groups = (task.columns.columns as usize * task.columns.windows as usize).min(self.most_groups);
        let top_at = task.into.top_at as u32;
        let (rows, columns) = task.arguments(words);
        let args = CountWindows { rows, bits: words, top_at, columns };
        kernel.launch(work, Grid::groups(groups, self.teams.group_size(teams)), args)
    }
}
