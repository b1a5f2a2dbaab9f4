//! Finding the runs of C: the trait of methods that sort products.
use crate::{
    Error, Result,
    device::{Buffer, Work, at_most},
};

/// One way to find the runs of a part of C. A new method implements this trait.
///
/// A *task* is the part of C that a method computes at once. The tasks of [`Esc`](super::esc::Esc)
/// are [`Columns`](super::esc::Columns), whose pattern of C it finds too. The tasks of
/// [`Masked`](super::masked::Masked) are places of a mask, which is that pattern. The steps are the
/// same for all methods: `count`, one read of the `record`, `place`.
pub(super) trait Algorithm {
    /// The part of C that is computed at once.
    type Task<'t>;
    /// Results of counting that placing needs.
    type Counted;
    /// The result: the products in the order of their runs, and the pattern of C unless it is
    /// given.
    type Placed;
    /// Counts the runs of a task. Reads nothing back.
    fn count(&self, work: &Work, task: &mut Self::Task<'_>) -> Result<Self::Counted>;
    /// The counts, as soon as the device has them.
    fn record<'c>(&self, counted: &'c Self::Counted) -> Record<'c>;
    /// Puts the counted products in the order of their runs. Reads nothing back.
    fn place(&self, work: &Work, task: &Self::Task<'_>, counted: Self::Counted, tally: Tally) -> Result<Self::Placed>;

    /// Runs all steps for a single task. `most` bounds its counts. Takes one read.
    fn run(&self, work: &Work, task: &mut Self::Task<'_>, most: u64) -> Result<Self::Placed> {
        let counted = self.count(work, task)?;
        let Record { words, start } = self.record(&counted);
        let tally = Tally::checked(&work.read(words, start, Tally::WORDS)?, most)?;
        self.place(work, task, counted, tally)
    }
}

/// The place where the device writes the counts of a [`Tally`].
pub(super) struct Record<'c> {
    pub words: &'c Buffer<u32>,
    pub start: usize,
}

/// The counts of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    /// The number that the task does not give. If the task is columns, it is the number of runs,
    /// which are the entries of C. If the task is places of a mask, it is the number of products.
    pub count: usize,
    /// Products of the longest run.
    pub longest: u32,
    /// Pieces of the runs longer than [`Tuning::long_run`](super::tuning::Tuning::long_run).
    pub pieces: usize,
    /// Pieces of the runs longer than
    /// [`RUN_PIECE`](crate::primitives::segmented_reduce::RUN_PIECE).
    pub parts: usize,
}

impl Tally {
    /// Words of a record, in the order of the fields.
    pub const WORDS: usize = 4;

    /// Reads the tally from the words of a record. No count may exceed `most`.
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
