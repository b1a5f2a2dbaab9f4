//! Columns of C that are computed in two passes, whichever method finds their rows. The first pass
//! finds the rows. They are kept in memory sized by an estimate: ascending in each column, with the
//! columns in any order. Rows that did not fit are found once more when their number is known. Then
//! the columns are cut into tasks of a limited number of rows. Each row of a task has a slot in
//! local memory. Teams of work-items add the products of one entry of B after another to the slots:
//! in ascending k, without atomics on values. Kernels: `cl/product/columns/tasks/`.
mod cut;
mod kind;
mod sums;

use crate::{
    Result,
    device::{Buffer, Work},
    element::ElementType,
    resident::{DeviceCbc, PatternArrays},
};
pub(in crate::product) use cut::{CutTasks, TakenTasks, Tasks};
pub(in crate::product) use kind::{Levels, TaskClass, TaskKind};
pub(in crate::product) use sums::{SlotKernel, SlotSums, TaskTeams};

/// The rows that were found.
pub(in crate::product) struct FoundRows {
    /// For each window of each column, the place of its rows in `rows`.
    pub place: Buffer<u32>,
    pub rows: Buffer<u32>,
    /// The number of `rows` that are taken.
    top: Buffer<u32>,
}

impl FoundRows {
    /// Makes room for `room` rows. `place` has a word for each window, and is empty if no rows are
    /// to be found.
    pub fn new(work: &Work, place: Buffer<u32>, room: usize) -> Result<Self> {
        let mut top = work.buffer(place.len().min(1))?;
        work.fill_zero(&mut top)?;
        Ok(Self { place, rows: work.buffer(room)?, top })
    }

    /// Adds room for `missing` rows that found no place.
    pub fn extended(self, work: &Work, missing: usize) -> Result<Self> {
        let room = self.rows.len();
        let mut rows = work.buffer(room + missing)?;
        work.copy(&self.rows, 0, &mut rows, 0, room)?;
        // Rows after the last row that was placed are given up.
        Ok(Self { rows, top: work.upload(&[room as u32])?, place: self.place })
    }

    /// The arrays by which rows are found.
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
    /// The columns whose rows found no place.
    Missing,
    /// Samples, whose rows are only counted.
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

/// Bytes of local memory in which a team keeps its steps.
pub(in crate::product) fn step_bytes(element: ElementType) -> usize {
    32 * (8 + element.arithmetic().bytes())
}
