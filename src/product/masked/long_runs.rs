//! The runs of products that sum to the places of a mask: counts them, and cuts long runs into
//! pieces. Kernels: `cl/product/masked/run_record.cl`, `cl/product/masked/long_pieces.cl`.
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Out, Work, kernel},
    element::Piece,
    primitives::segmented_reduce::RUN_PIECE,
    product::{esc::Tally, tuning::Tuning},
};

kernel! {
    struct RunRecord = "run_record" in "product/masked/tally.cl", "product/masked/run_record.cl" {
        run_end: In<u32>,
        record: InOut<u32>,
        runs: u32,
    }
}

kernel! {
    struct LongPieces = "long_pieces" in "product/esc/pieces.cl", "product/masked/long_pieces.cl" {
        run_end: In<u32>,
        piece: Out<Piece>,
        record: InOut<u32>,
        runs: u32,
    }
}

/// The kernels of runs.
pub(super) struct LongRuns {
    record: Kernel<RunRecord<'static>>,
    cut: Kernel<LongPieces<'static>>,
    group_size: usize,
}

/// The options of kernels that handle runs.
pub(super) fn options_of_runs(tuning: &Tuning) -> Options {
    tuning.tiles.options().define("LONG_RUN", tuning.long_run()).define("RUN_PIECE", RUN_PIECE)
}

impl LongRuns {
    /// The two kernels are requested when they are launched.
    pub fn new(device: &Device, tuning: &Tuning) -> Result<Self> {
        let options = options_of_runs(tuning);
        let group_size = tuning.tiles.group_size;
        Ok(Self { record: Kernel::rare(device, &options)?, cut: Kernel::rare(device, &options)?, group_size })
    }

    /// A record for the counts of runs, and for [`LongRuns::pieces`].
    pub fn new_record(work: &Work) -> Result<Buffer<u32>> {
        let mut record = work.buffer(Tally::WORDS + 2)?;
        work.fill_zero(&mut record)?;
        Ok(record)
    }

    /// Counts the runs that end at `run_end`.
    pub fn count(&self, work: &Work, run_end: &Buffer<u32>) -> Result<Buffer<u32>> {
        let mut record = Self::new_record(work)?;
        let runs = run_end.len();
        let args = RunRecord { run_end, record: &mut record, runs: runs as u32 };
        self.record.launch(work, Grid::items(runs, self.group_size), args)?;
        Ok(record)
    }

    /// The pieces of long runs. The record gives the number of pieces.
    pub fn pieces(
        &self,
        work: &Work,
        run_end: &Buffer<u32>,
        mut record: Buffer<u32>,
        pieces: usize,
    ) -> Result<Buffer<Piece>> {
        let mut piece = work.buffer(pieces)?;
        if pieces > 0 {
            work.stage("gather");
            let runs = run_end.len();
            let args = LongPieces { run_end, piece: &mut piece, record: &mut record, runs: runs as u32 };
            self.cut.launch(work, Grid::items(runs, self.group_size), args)?;
        }
        Ok(piece)
    }
}
