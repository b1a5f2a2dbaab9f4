//! Gather (Polok 2015, Algorithm 3, lines 50-51, 53-68, 70-72 and 74). Gather finds the end and the
//! row of each run, the start of each column of C, and the pieces of long runs.
//!
//! Gather runs before compression, because the sums need the ends of runs and are then written to
//! their places in C. Writing sums directly to C is the fusion that the paper suggests at the end
//! of "Implementation". Kernels: `cl/product/esc/gather.cl`. Cuts: `cl/product/esc/pieces.cl`.
use super::tail_counts::Tails;
use super::{analysis::BandSegments, tally::Tally};
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Out, Work, kernel},
    element::Piece,
    primitives::segmented_reduce::RUN_PIECE,
    product::{
        terms::CPattern,
        tuning::{TileTuning, Tuning},
    },
};

kernel! {
    in "product/esc/pieces.cl", "product/esc/gather.cl":
    struct GatherRuns = "gather_runs" {
        row: In<u32>,
        tail_flags: In<u32>,
        tail_ptr: In<u32>,
        run_end: Out<u32>,
        c_row_idx: Out<u32>,
        products: u32,
    }
    struct GatherEnds = "gather_ends" {
        segment_ptr: In<u32>,
        run_end: In<u32>,
        tail_ptr: InOut<u32>,
        c_col_ptr: Out<u32>,
        piece: Out<Piece>,
        cols: u32,
        products: u32,
        long_runs: u32,
    }
}

pub(super) struct Gather {
    runs: Kernel<GatherRuns<'static>>,
    ends: Kernel<GatherEnds<'static>>,
    tiles: TileTuning,
}

impl Gather {
    pub fn new(device: &Device, tuning: &Tuning) -> Result<Self> {
        let options = tuning.tiles.options().define("LONG_RUN", tuning.long_run()).define("RUN_PIECE", RUN_PIECE);
        Ok(Self { runs: Kernel::new(device, &options)?, ends: Kernel::new(device, &options)?, tiles: tuning.tiles })
    }

    /// Finds the pattern of C, the ends of runs, and the pieces of long runs. `rows` are the rows
    /// of the sorted expansion.
    pub fn run(
        &self,
        work: &Work,
        rows: &Buffer<u32>,
        segments: &BandSegments,
        tails: Tails,
        &Tally { count: nnz, pieces, .. }: &Tally,
    ) -> Result<(CPattern, Buffer<u32>, Buffer<Piece>)> {
        work.stage("gather");
        let Tails { tail_flags, mut tail_ptr } = tails;
        let (products, cols) = (rows.len() as u32, segments.ptr.len() - 1);
        let (mut run_end, mut row_idx, mut col_ptr) = (work.buffer(nnz)?, work.buffer(nnz)?, work.buffer(cols + 1)?);
        let grid = Grid::groups(self.tiles.count(products), self.tiles.group_size);
        let args = GatherRuns {
            row: rows,
            tail_flags: &tail_flags,
            tail_ptr: &tail_ptr,
            run_end: &mut run_end,
            c_row_idx: &mut row_idx,
            products,
        };
        self.runs.launch(work, grid, args)?;
        let mut piece = work.buffer(pieces)?;
        let long_runs = if pieces > 0 { nnz } else { 0 };
        let grid = Grid::items((cols + 1).max(long_runs), self.tiles.group_size);
        let args = GatherEnds {
            segment_ptr: &segments.ptr,
            run_end: &run_end,
            tail_ptr: &mut tail_ptr,
            c_col_ptr: &mut col_ptr,
            piece: &mut piece,
            cols: cols as u32,
            products,
            long_runs: long_runs as u32,
        };
        self.ends.launch(work, grid, args)?;
        Ok((CPattern { col_ptr, row_idx }, run_end, piece))
    }
}
