//! Method `hash` (Parger 2020, section 4.3), changed so that the products of a sum have a fixed
//! order. A hash table finds the rows of a column of C, which are then put in order and cut into
//! pieces. In each piece another table finds the place of each row, and products are added to these
//! places in the order of the entries of B: [`tasks`](crate::product::columns::tasks). Atomics put
//! rows into tables, and never add values. Kernels: `cl/product/columns/hash/` finds the rows,
//! `cl/product/columns/tasks/sums.cl` adds the products.
//!
//! The tables of columns with few rows are in local memory. For columns whose rows do not fit local
//! memory, each work-group has a table in global memory. The table serves one column after another,
//! so no group waits for a table.
mod sums;
#[cfg(test)]
mod tests;

pub(in crate::product) use sums::hash_sums;

use super::tasks::{InColumns, InRows, RowTask};
use crate::{
    DeviceInfo, Result,
    device::{Device, Grid, InOut, Kernel, Local, Teams, Work, kernel, pool_bytes},
    product::{terms::Class, tuning::AdaptiveTuning},
};

kernel! {
    in "ptx.cl", "team.cl", "product/columns/tasks/found.cl", "product/columns/hash/slots.cl", "product/columns/hash/table.cl", "product/columns/tasks/bits.cl", "product/columns/hash/order.cl", "product/columns/hash/count.cl":
    struct CountLocal = "count_local" { rows: InRows<'static>, table: Local<u32>, columns: InColumns<'static> }
    struct CountGlobal = "count_global" {
        rows: InRows<'static>,
        tables: InOut<u32>,
        cursor: InOut<u32>,
        part: Local<u32>,
        table_words: u64,
        entries: u32,
        columns: InColumns<'static>,
    }
}

/// Most rows of a column whose table in local memory has `words` words. A table with the most rows
/// is four fifths full.
pub(in crate::product) fn most_rows(words: usize) -> usize {
    words / 5 * 4
}

/// Tables in global memory, for columns of C with more rows than a table in local memory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) struct GlobalTables {
    /// Most rows of a column; 0 if no column needs a table.
    entries: u64,
    /// Most tables: the number of work-groups that may be resident.
    groups: u64,
    /// Most bytes of all tables. If a single table takes more than `most_bytes`, there is one
    /// table.
    most_bytes: u64,
}

impl GlobalTables {
    /// Number of work-groups whose local memory fits a compute unit together. Each of these
    /// work-groups has a table.
    const RESIDENT: u64 = 4;

    /// The tables for columns with `products` products in all and at most `longest` each. C has
    /// `nrows` rows.
    pub fn new(info: &DeviceInfo, tuning: &AdaptiveTuning, [longest, products]: [u64; 2], nrows: usize) -> Self {
        let entries = longest.min(nrows as u64);
        Self {
            entries: if entries > most_rows(tuning.hash_words[2]) as u64 { entries } else { 0 },
            groups: Self::RESIDENT * u64::from(info.compute_units),
            // The tables take no more memory than tables for all columns would if every product had
            // a row of its own. The tables take at most half of the largest buffer, because bytes
            // are rounded up.
            most_bytes: tuning.hash_bytes.min(8 * products).min(info.max_alloc_bytes / 2),
        }
    }

    /// Words of a table. While rows are sorted, the two halves of a table are lists of rows.
    fn table_words(&self) -> u64 {
        2 * self.entries
    }

    /// Number of tables.
    fn count(&self) -> u64 {
        (self.most_bytes / (4 * self.table_words())).clamp(1, self.groups)
    }

    /// Words of all tables.
    fn words(&self) -> u64 {
        self.count() * self.table_words()
    }

    /// Bytes that are allocated for all tables, rounded up to the pool's size classes.
    pub fn bytes(&self) -> u64 {
        if self.entries > 0 { pool_bytes(4 * self.words()) + pool_bytes(4) } else { 0 }
    }
}

/// The kernels that find rows.
pub(in crate::product) struct HashCounts {
    local: [Kernel<CountLocal<'static>>; 3],
    global: Kernel<CountGlobal<'static>>,
    teams: Teams,
    tuning: AdaptiveTuning,
    most_groups: usize,
}

impl HashCounts {
    /// Teams of a work-group of each class. The last number of teams is also for tables in global
    /// memory.
    const TEAMS: [usize; 3] = [1, 4, 16];

    pub fn new(device: &Device, teams: Teams, tuning: &AdaptiveTuning) -> Result<Self> {
        let [small, medium, large] = Self::TEAMS.map(|of_group| Kernel::rare(device, &teams.options(of_group)));
        Ok(Self {
            local: [small?, medium?, large?],
            global: Kernel::rare(device, &teams.options(Self::TEAMS[2]))?,
            teams,
            tuning: *tuning,
            most_groups: tuning.most_groups(device.info()),
        })
    }

    /// Finds the rows of the columns of a class. Columns of [`Class::HashedGlobal`] have at most as
    /// many rows as `tables` were made for.
    pub fn run(&self, work: &Work, class: Class, task: RowTask<'_>, tables: GlobalTables) -> Result<()> {
        let size = Class::HASHED.iter().position(|&hashed| hashed == class).unwrap_or(Self::TEAMS.len());
        match self.local.get(size) {
            Some(kernel) => {
                let (words, group_size) = (self.tuning.hash_words[size], self.teams.group_size(Self::TEAMS[size]));
                let groups = (task.columns.columns as usize).min(self.most_groups);
                let (rows, columns) = task.arguments(words);
                kernel.launch(work, Grid::groups(groups, group_size), CountLocal { rows, table: words, columns })
            }
            None => self.in_global(work, task, tables),
        }
    }

    fn in_global(&self, work: &Work, task: RowTask<'_>, global: GlobalTables) -> Result<()> {
        let words = self.tuning.hash_words[2];
        let mut cursor = work.buffer(1)?;
        work.fill_zero(&mut cursor)?;
        let mut tables = work.buffer(global.words() as usize)?;
        let groups = (task.columns.columns as usize).min(global.count() as usize);
        let (rows, columns) = task.arguments(words);
        let args = CountGlobal {
            rows,
            tables: &mut tables,
            cursor: &mut cursor,
            part: words,
            table_words: global.table_words(),
            entries: global.entries as u32,
            columns,
        };
        self.global.launch(work, Grid::groups(groups, self.teams.group_size(Self::TEAMS[2])), args)
    }
}
