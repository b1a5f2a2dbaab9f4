//! The result of a method: the runs of products that sum to the entries of C, and the pattern of C.
use crate::{device::Buffer, element::Piece, primitives::segmented_reduce::Runs};

/// The pattern of some columns of C.
pub(crate) struct CPattern {
    pub col_ptr: Buffer<u32>,
    pub row_idx: Buffer<u32>,
}

/// The pattern and the runs of some columns of C.
pub(crate) struct FoundColumns {
    pub pattern: CPattern,
    pub runs: FoundRuns,
}

/// The runs of some entries of C.
pub(crate) struct FoundRuns {
    /// The last product of each run.
    pub run_end: Buffer<u32>,
    /// The pieces of long runs: of runs with more products than
    /// [`Tuning::long_run`](crate::product::tuning::Tuning::long_run).
    pub pieces: Buffer<Piece>,
    /// Number of pieces that belong to a run of several pieces.
    pub parts: usize,
    /// The payload of each product, run after run.
    pub payload: Buffer,
    /// Products of the longest run.
    pub longest: u32,
}

impl FoundRuns {
    /// The runs as the kernels of sums take them.
    pub fn as_runs(&self) -> Runs<'_> {
        Runs { end: &self.run_end, pieces: &self.pieces }
    }
}
