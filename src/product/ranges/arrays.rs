//! The device memory between the kernels of ranges.
use super::{Profile, RangeTuning};
use crate::{
    Result,
    device::{Buffer, Work, pool_bytes},
};

/// The kernels that take ranges, each with a count of those taken.
#[derive(Clone, Copy)]
pub(super) enum Phase {
    Count,
    Sums,
    Move,
}

impl Phase {
    pub const ALL: usize = Self::Move as usize + 1;
}

/// Words of 64 bits in a bitmap of so many rows, and lines of 64 words with tops of 64 lines: whole
/// cache lines.
pub(super) fn bitmap_words(nrows: usize) -> [usize; 2] {
    let above = |words: usize| words.div_ceil(64).next_multiple_of(8);
    let words = nrows.div_ceil(64).next_multiple_of(8);
    [words, above(words) + above(above(words))]
}

/// Places of the sums of so many rows, and one for the identity: whole cache lines.
pub(super) fn sum_places(nrows: usize) -> usize {
    (nrows + 1).next_multiple_of(16)
}

/// Words of the record of an analysis by `groups` groups, with so many samples.
pub(super) fn record_words(tuning: &RangeTuning, groups: usize, samples: usize) -> usize {
    Profile::WORDS * tuning.parts + if samples > 0 { 2 * groups } else { 0 }
}

/// Ranges of columns: where they begin, where their entries do, and how many were taken.
pub(super) struct Ranges {
    pub begin: Buffer<u32>,
    /// Where the entries of each range begin: a bound of their number before each until they are
    /// counted.
    pub from: Buffer<u32>,
    pub taken: Buffer<u32>,
}

impl Ranges {
    pub fn new(work: &Work, ranges: usize) -> Result<Self> {
        let array = || work.buffer(ranges + 1);
        Ok(Self { begin: array()?, from: array()?, taken: work.buffer(Phase::ALL)? })
    }

    /// The ranges that begin with these columns and entries; last come the ends.
    pub fn upload(work: &Work, begin: &[u32], from: &[u32]) -> Result<Self> {
        Ok(Self { begin: work.upload(begin)?, from: work.upload(from)?, taken: work.upload(&[0; Phase::ALL])? })
    }

    pub fn count(&self) -> u32 {
        self.begin.len() as u32 - 1
    }

    /// Bytes of so many ranges, in size classes.
    pub fn bytes(ranges: usize) -> u64 {
        2 * pool_bytes(4 * (ranges as u64 + 1)) + pool_bytes(4 * Phase::ALL as u64)
    }
}

/// The bitmaps of all work-groups.
pub(super) struct Bitmaps {
    pub words: Buffer<u64>,
    pub lines: Buffer<u64>,
    pub groups: usize,
}

impl Bitmaps {
    pub fn new(work: &Work, groups: usize, nrows: usize) -> Result<Self> {
        let [words, lines] = bitmap_words(nrows);
        Ok(Self { words: work.buffer(groups * words)?, lines: work.buffer(groups * lines)?, groups })
    }
}

/// Columns of C from their first on, to be written.
pub(in crate::product) struct ColumnsOfC<'c> {
    pub first_col: u32,
    pub col_ptr: &'c mut Buffer<u32>,
    pub row_idx: &'c mut Buffer<u32>,
    pub values: &'c mut Buffer,
}
