//! The device memory that passes from one kernel of ranges to the next.
use super::{RangeProfile, RangeTuning};
use crate::{
    Result,
    device::{Buffer, Work, pool_bytes},
};

/// The kernels whose work-groups take ranges. Each kernel counts the ranges that were taken.
#[derive(Clone, Copy)]
pub(super) enum Phase {
    Count,
    Sums,
    Move,
}

impl Phase {
    pub const ALL: usize = Self::Move as usize + 1;
}

/// Words of a bitmap of `nrows` rows, and words of its lines and tops. A bitmap has words of 64
/// bits, lines of 64 words and tops of 64 lines. The two numbers of words fill whole cache lines.
pub(super) fn bitmap_words(nrows: usize) -> [usize; 2] {
    let above = |words: usize| words.div_ceil(64).next_multiple_of(8);
    let words = nrows.div_ceil(64).next_multiple_of(8);
    [words, above(words) + above(above(words))]
}

/// Number of elements of an array with a sum for each of `nrows` rows, and one identity of the
/// addition. The array fills whole cache lines.
pub(super) fn sum_places(nrows: usize) -> usize {
    (nrows + 1).next_multiple_of(16)
}

/// Words of the record of an analysis by `groups` groups with `samples` samples.
pub(super) fn record_words(tuning: &RangeTuning, groups: usize, samples: usize) -> usize {
    RangeProfile::WORDS * tuning.parts + if samples > 0 { 2 * groups } else { 0 }
}

/// Ranges of columns: their first columns, their first entries, and counters of the ranges that
/// work-groups have taken.
pub(super) struct Ranges {
    pub begin: Buffer<u32>,
    /// The first entry of each range. Until entries are counted, the first entries are upper
    /// bounds.
    pub from: Buffer<u32>,
    pub taken: Buffer<u32>,
}

impl Ranges {
    pub fn new(work: &Work, ranges: usize) -> Result<Self> {
        let array = || work.buffer(ranges + 1);
        Ok(Self { begin: array()?, from: array()?, taken: work.buffer(Phase::ALL)? })
    }

    /// Uploads ranges that begin with columns `begin` and entries `from`. The last element of each
    /// array is the end of the last range.
    pub fn upload(work: &Work, begin: &[u32], from: &[u32]) -> Result<Self> {
        Ok(Self { begin: work.upload(begin)?, from: work.upload(from)?, taken: work.upload(&[0; Phase::ALL])? })
    }

    pub fn count(&self) -> u32 {
        self.begin.len() as u32 - 1
    }

    /// Bytes of `ranges` ranges, rounded up to the pool's size classes.
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

/// The arrays of some columns of C, which kernels write. The arrays begin with the first of these
/// columns.
pub(in crate::product) struct ColumnsOfC<'c> {
    pub first_col: u32,
    pub col_ptr: &'c mut Buffer<u32>,
    pub row_idx: &'c mut Buffer<u32>,
    pub values: &'c mut Buffer,
}
