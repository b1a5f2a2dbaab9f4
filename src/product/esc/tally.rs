//! The counts by which the host allocates memory for runs and products. The host reads these counts
//! in the second of its two reads.
use crate::{
    Error, Result,
    device::{Buffer, Work, at_most},
};

/// The counts of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) struct Tally {
    /// For a task of [`Columns`](super::Columns), the number of runs, which are the entries of C;
    /// the number of products is known before. For a task of places of a mask, the number of
    /// products; the number of runs is known before.
    pub count: usize,
    /// Products of the longest run.
    pub longest: u32,
    /// Pieces of the runs longer than
    /// [`Tuning::long_run`](crate::product::tuning::Tuning::long_run).
    pub pieces: usize,
    /// Pieces of the runs longer than
    /// [`RUN_PIECE`](crate::primitives::segmented_reduce::RUN_PIECE).
    pub parts: usize,
}

impl Tally {
    /// Words of a record, in the order of the fields.
    pub const WORDS: usize = 4;

    /// Reads the tally from `record[start..]`, as soon as the device has computed it. No count may
    /// exceed `most`.
    pub fn read(work: &Work, record: &Buffer<u32>, start: usize, most: u64) -> Result<Self> {
        Self::checked(&work.read(record, start, Self::WORDS)?, most)
    }

    /// The tally from the words of a record.
    fn checked(words: &[u32], most: u64) -> Result<Self> {
        let names = ["runs or products", "products of a run", "pieces of runs", "parts of runs"];
        for (what, count) in names.into_iter().zip(words) {
            at_most(what, (*count).into(), most)?;
        }
        let &[count, longest, pieces, parts] = words else {
            return Err(Error::Contradiction(format!("a record of {} words", words.len())));
        };
        Ok(Self { count: count as usize, longest, pieces: pieces as usize, parts: parts as usize })
    }
}
