//! Stage 6 of 6, gather (Polok 2015, Algorithm 3, lines 50-67 and 70-74): where each run ends and in which row, where each column of C
//! begins, and how long runs are cut. It comes before the sums, which need the ends, and they place what they add up in C: the fusion the paper suggests at the end
//! of "Implementation". Kernels: `cl/product/esc/gather.cl`.
use super::{setup::BandSegments, tail_counts::Tails};
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Out, Work, source},
    element::Piece,
    primitives::segmented_reduce::{RUN_PIECE, Runs},
    product::tuning::{TileTuning, Tuning},
};

type RunsSignature = (In<u32>, In<u32>, In<u32>, Out<u32>, Out<u32>, u32);
type EndsSignature = (In<u32>, In<u32>, InOut<u32>, Out<u32>, Out<Piece>, u32, u32, u32);

pub(crate) struct Gather {
    runs: Kernel<RunsSignature>,
    ends: Kernel<EndsSignature>,
    tiles: TileTuning,
}

/// Where the runs of a sorted expansion are, and with them the pattern of C.
pub(crate) struct Gathered {
    pub col_ptr: Buffer<u32>,
    pub row_idx: Buffer<u32>,
    /// The last product of each run.
    pub run_end: Buffer<u32>,
    /// The pieces of runs longer than [`Tuning::long_run`].
    pub pieces: Buffer<Piece>,
    /// How many of them are parts of a run that is cut.
    pub parts: usize,
}

impl Gathered {
    pub fn runs(&self) -> Runs<'_> {
        Runs { end: &self.run_end, pieces: &self.pieces }
    }

    /// Columns and rows of C; the rest is given back.
    pub fn into_pattern(self) -> (Buffer<u32>, Buffer<u32>) {
        (self.col_ptr, self.row_idx)
    }
}

impl Gather {
    pub fn new(device: &Device, tuning: &Tuning) -> Result<Self> {
        let options = tuning.tiles.options().define("LONG_RUN", tuning.long_run()).define("RUN_PIECE", RUN_PIECE);
        Ok(Self {
            runs: device.kernel(source!("product/esc/gather.cl"), &options, "gather_runs")?,
            ends: device.kernel(source!("product/esc/gather.cl"), &options, "gather_ends")?,
            tiles: tuning.tiles,
        })
    }

    /// Finds the runs, and where the columns of C begin. `rows` are those of the sorted expansion.
    pub fn run(&self, work: &Work, rows: &Buffer<u32>, segments: &BandSegments, tails: Tails) -> Result<Gathered> {
        work.stage("gather");
        let Tails { flags, mut tail_ptr, nnz, pieces, parts, .. } = tails;
        let (products, cols) = (rows.len() as u32, segments.ptr.len() - 1);
        let (mut run_end, mut row_idx, mut col_ptr) = (work.buffer(nnz)?, work.buffer(nnz)?, work.buffer(cols + 1)?);
        let grid = Grid::groups(self.tiles.count(products), self.tiles.group_size);
        self.runs.launch(work, grid, (rows, &flags, &tail_ptr, &mut run_end, &mut row_idx, products))?;
        let mut piece = work.buffer(pieces)?;
        let long_runs = if pieces > 0 { nnz } else { 0 };
        let grid = Grid::items((cols + 1).max(long_runs), self.tiles.group_size);
        let (cols, long_runs) = (cols as u32, long_runs as u32);
        let args = (&segments.ptr, &run_end, &mut tail_ptr, &mut col_ptr, &mut piece, cols, products, long_runs);
        self.ends.launch(work, grid, args)?;
        Ok(Gathered { col_ptr, row_idx, run_end, pieces: piece, parts })
    }
}
