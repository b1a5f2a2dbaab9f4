//! Finding the runs of C: what methods that sort products implement.
use crate::{
    Error, Result,
    device::{Buffer, Work, at_most},
};

/// One way to find the runs of a part of C: what a new method implements.
///
/// A *task* is what a method computes at once. [`Esc`](super::esc::Esc) takes
/// [`Columns`](super::esc::Columns): it finds the pattern of C too.
/// [`Masked`](super::masked::Masked) takes places of a mask, which is that pattern. The verbs and
/// their order are the same for all: `count`, one read of the `record`, `place`.
pub(super) trait Algorithm {
    /// What is computed at once.
    type Task<'t>;
    /// What is passed on from counting to placing.
    type Counted;
    /// What is made: the products in the order of their runs, and the pattern of C unless given.
    type Placed;
    /// Counts the runs of a task. Reads nothing back.
    fn count(&self, work: &Work, task: &mut Self::Task<'_>) -> Result<Self::Counted>;
    /// The counts, as soon as the device has them.
    fn record<'c>(&self, counted: &'c Self::Counted) -> Record<'c>;
    /// Makes what has been counted. Reads nothing back.
    fn place(&self, work: &Work, task: &Self::Task<'_>, counted: Self::Counted, tally: Tally) -> Result<Self::Placed>;

    /// The verbs in their order, for a task alone; `most` bounds its counts. One read.
    fn run(&self, work: &Work, task: &mut Self::Task<'_>, most: u64) -> Result<Self::Placed> {
        let counted = self.count(work, task)?;
        let Record { words, start } = self.record(&counted);
        let tally = Tally::checked(&work.read(words, start, Tally::WORDS)?, most)?;
        self.place(work, task, counted, tally)
    }
}

/// Where the device counts what [`Tally`] reads.
pub(super) struct Record<'c> {
    pub words: &'c Buffer<u32>,
    pub start: usize,
}

/// The counts of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    /// What the task does not say: runs of columns, which are entries of C; products on places of a
    /// mask.
    pub count: usize,
    /// Products of the longest run.
    pub longest: u32,
    /// Pieces of the runs longer than [`Tuning::long_run`](super::tuning::Tuning::long_run).
    pub pieces: usize,
    /// Those of runs longer than [`RUN_PIECE`](crate::primitives::segmented_reduce::RUN_PIECE).
    pub parts: usize,
}

impl Tally {
    /// Words of a record, in the order of the fields.
    pub const WORDS: usize = 4;

    /// From its words, which `most` bounds.
    pub fn checked(words: &[u32], most: u64) -> Result<Self> {
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
