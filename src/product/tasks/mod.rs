//! Columns of C that are computed in two passes, whatever method finds their rows. The rows are
//! kept, ascending, column after column in any order, in memory sized by an estimate. Rows that did
//! not fit are found once more when their number is known. Then the columns are cut into tasks: at
//! most so many rows, each of which has a slot in local memory. Teams of work-items add the
//! products of one entry of B after another to the slots: ascending k, no atomics on values.
//! Kernels: `cl/product/tasks/`.
mod cut;
mod sums;

use crate::{
    Result,
    device::{Buffer, Work},
    element::ElementType,
    resident::{DeviceCbc, PatternArrays},
};
pub(super) use cut::{CutTasks, TakenTasks, Tasks};
pub(super) use sums::{SlotSums, TaskTeams};

/// The rows that were found.
pub(super) struct FoundRows {
    /// Where the rows of each window of each column are in `rows`.
    pub place: Buffer<u32>,
    pub rows: Buffer<u32>,
    /// One number: how many of `rows` are taken.
    top: Buffer<u32>,
}

impl FoundRows {
    /// Room for `room` rows; `place` is for each window, and empty if no rows are looked for.
    pub fn new(work: &Work, place: Buffer<u32>, room: usize) -> Result<Self> {
        let mut top = work.buffer(place.len().min(1))?;
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

    /// The arrays by which rows are found.
    pub fn arrays<'a>(&'a mut self, lengths: &'a mut Buffer<u32>) -> RowArrays<'a> {
        let Self { place, rows, top } = self;
        RowArrays { lengths, place, rows, top, top_at: 0 }
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

/// What rows are found for. The numbers are those of `cl/product/tasks/found.cl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// All columns of a task.
    All,
    /// Those whose rows found no place.
    Missing,
    /// Samples, which are only counted.
    Sample,
}

/// The arrays that finding rows writes to.
pub(super) struct RowArrays<'a> {
    pub lengths: &'a mut Buffer<u32>,
    pub place: &'a mut Buffer<u32>,
    pub rows: &'a mut Buffer<u32>,
    pub top: &'a mut Buffer<u32>,
    pub top_at: usize,
}

/// The operands of the sums, and where their rows are.
pub(super) struct Factors<'a> {
    pub a: &'a DeviceCbc,
    pub b: &'a DeviceCbc,
    pub chunk_ptr: &'a Buffer<u32>,
    /// Where the rows of each window of each column are in `rows`.
    pub place: &'a Buffer<u32>,
    pub rows: &'a Buffer<u32>,
    /// The band's first column of B.
    pub first_col: u32,
    pub windows: usize,
}

/// Bytes of local memory in which a team keeps its steps.
pub(super) fn step_bytes(element: ElementType) -> usize {
    32 * (8 + element.arithmetic().bytes())
}
