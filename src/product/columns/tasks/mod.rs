//! Columns of C that are computed in two passes, whichever method finds their rows. The first pass
//! finds the rows, and keeps them in memory whose size is estimated. Rows ascend within a column,
//! and the columns are in any order. Rows that did not fit this memory are found once more when
//! their number is known. When all rows are found, the columns are cut into tasks of a limited
//! number of rows. Each row of a task has a slot in local memory. Teams of work-items add the
//! products of one entry of B after another to the slots, without atomics on values. So the terms
//! of a sum are added in the order of the entries of B. Kernels: `cl/product/columns/tasks/`.
mod cut;
mod kind;
mod sums;

use crate::{
    Result,
    device::{Buffer, In, InOut, Work, arguments},
    element::ElementType,
    product::terms::{ColumnTask, InTask},
    resident::{DeviceCbc, InPattern, PatternArrays},
};
pub(in crate::product) use cut::{CutTasks, TakenTasks, Tasks};
pub(in crate::product) use kind::{Levels, TaskClass, TaskKind};
pub(in crate::product) use sums::{SlotKernel, SlotSums, TaskArguments, TaskSums};

/// The rows that were found.
pub(in crate::product) struct FoundRows {
    /// For each window of each column, the place of its rows in `rows`.
    pub place: Buffer<u32>,
    pub rows: Buffer<u32>,
    /// The number of used elements of `rows`.
    top: Buffer<u32>,
}

impl FoundRows {
    /// Allocates memory for `room` rows. `place` has a word for each window, and is empty if no
    /// rows are to be found.
    pub fn new(work: &Work, place: Buffer<u32>, room: usize) -> Result<Self> {
        let mut top = work.buffer(place.len().min(1))?;
        work.fill_zero(&mut top)?;
        Ok(Self { place, rows: work.buffer(room)?, top })
    }

    /// Allocates memory for `missing` more rows, which did not fit before.
    pub fn extended(self, work: &Work, missing: usize) -> Result<Self> {
        let room = self.rows.len();
        let mut rows = work.buffer(room + missing)?;
        work.copy(&self.rows, 0, &mut rows, 0, room)?;
        // Rows after the last row that was placed are discarded.
        Ok(Self { rows, top: work.upload(&[room as u32])?, place: self.place })
    }

    /// The arrays into which kernels write the rows that they find.
    pub fn arrays<'a>(&'a mut self, lengths: &'a mut Buffer<u32>) -> RowArrays<'a> {
        let Self { place, rows, top } = self;
        RowArrays { lengths, place, rows, top, top_at: 0 }
    }
}

/// The patterns of the factors, and the places of the rows of each column of C.
#[derive(Clone, Copy)]
pub(in crate::product) struct Patterns<'a> {
    pub a: &'a PatternArrays,
    pub b: &'a PatternArrays,
    pub first_row: &'a Buffer<u32>,
    pub last_row: &'a Buffer<u32>,
    pub products: &'a Buffer<u32>,
}

/// The columns whose rows are found. The numbers are those of `cl/product/columns/tasks/found.cl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) enum Purpose {
    /// All columns of a task.
    All,
    /// The columns whose rows did not fit the memory.
    Missing,
    /// Sampled columns, whose rows are only counted.
    Sample,
}

/// The arrays to which the rows are written.
pub(in crate::product) struct RowArrays<'a> {
    pub lengths: &'a mut Buffer<u32>,
    pub place: &'a mut Buffer<u32>,
    pub rows: &'a mut Buffer<u32>,
    pub top: &'a mut Buffer<u32>,
    pub top_at: usize,
}

impl RowArrays<'_> {
    /// Borrows the arrays again, for one of several launches.
    pub fn again(&mut self) -> RowArrays<'_> {
        let Self { lengths, place, rows, top, top_at } = self;
        RowArrays { lengths, place, rows, top, top_at: *top_at }
    }
}

/// Columns of C whose rows are to be found.
pub(in crate::product) struct RowTask<'a> {
    pub patterns: Patterns<'a>,
    pub columns: ColumnTask<'a>,
    pub purpose: Purpose,
    pub into: RowArrays<'a>,
}

arguments! {
    /// The patterns of the factors, and the arrays to which the rows are written.
    pub(in crate::product) struct InRows {
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
    }
}

arguments! {
    /// Words of a bitmap or table, the number of rows that fit the memory, and the columns.
    pub(in crate::product) struct InColumns {
        words: u32,
        room: u32,
        task: InTask<'static>,
        purpose: u32,
    }
}

impl<'a> RowTask<'a> {
    /// The arguments of a kernel that finds rows by bitmaps or tables of `words` words.
    pub fn arguments(self, words: usize) -> (InRows<'a>, InColumns<'a>) {
        let Self { patterns, columns, purpose, into } = self;
        let Patterns { a, b, first_row, last_row, products } = patterns;
        let RowArrays { lengths, place, rows, top, .. } = into;
        let (words, room, task) = (words as u32, rows.len() as u32, InTask::from(&columns));
        let found = InColumns { words, room, task, purpose: purpose as u32 };
        (InRows { a, b, list: columns.list, first_row, last_row, products, lengths, place, top, rows }, found)
    }
}

/// The operands of the sums, and the places of their rows.
pub(in crate::product) struct TaskFactors<'a> {
    pub a: &'a DeviceCbc,
    pub b: &'a DeviceCbc,
    pub chunk_ptr: &'a Buffer<u32>,
    /// For each window of each column, the place of its rows in `rows`.
    pub place: &'a Buffer<u32>,
    pub rows: &'a Buffer<u32>,
    /// The band's first column of B.
    pub first_col: u32,
    pub windows: usize,
}

/// Bytes of local memory in which a team keeps its steps: the stretches of columns of A that it
/// adds.
pub(in crate::product) fn step_bytes(element: ElementType) -> usize {
    32 * (8 + element.arithmetic().bytes())
}
