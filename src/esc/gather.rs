//! Stage 6 of 6, gather (Polok 2015, Algorithm 3, lines 50-67 and 70-74): where each run ends and in which row, where each column of C
//! begins. It comes before the sums, which need the ends, and they place what they add up in C: the fusion the paper suggests at the end
//! of "Implementation". Kernels: `cl/esc/gather.cl`.
use super::{Tuning, setup::BandSegments, tail_counts::Tails, tuning::TileTuning};
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, Kernel, Out, Work, source},
};

type GatherSignature = (In<u32>, In<u32>, In<u32>, Out<u32>, Out<u32>, u32);
type ColumnEndsSignature = (In<u32>, In<u32>, In<u32>, Out<u32>, u32, u32);

pub(crate) struct Gather {
    gather: Kernel<GatherSignature>,
    column_ends: Kernel<ColumnEndsSignature>,
    tiles: TileTuning,
}

/// Where the runs of a sorted expansion are, and with them the pattern of C.
pub(crate) struct Gathered {
    pub col_ptr: Buffer<u32>,
    pub row_idx: Buffer<u32>,
    /// The last product of each run.
    pub run_end: Buffer<u32>,
}

impl Gather {
    pub fn new(device: &Device, tuning: &Tuning) -> Result<Self> {
        let options = tuning.tiles.options();
        let gather = source!("esc/gather.cl");
        Ok(Self {
            gather: device.kernel(gather, &options, "gather")?,
            column_ends: device.kernel(gather, &options, "column_ends")?,
            tiles: tuning.tiles,
        })
    }

    /// Finds the runs, and where the columns of C begin. `rows` are those of the sorted expansion.
    pub fn run(&self, work: &Work, rows: &Buffer<u32>, segments: &BandSegments, tails: &Tails) -> Result<Gathered> {
        work.stage("gather");
        let (products, cols) = (rows.len() as u32, segments.ptr.len() - 1);
        let (mut run_end, mut row_idx) = (work.buffer(tails.nnz)?, work.buffer(tails.nnz)?);
        let grid = Grid::groups(self.tiles.count(products), self.tiles.group_size);
        let args = (rows, &tails.flags, &tails.tail_ptr, &mut run_end, &mut row_idx, products);
        self.gather.launch(work, grid, args)?;
        let mut col_ptr = work.buffer(cols + 1)?;
        let args = (&segments.ptr, &tails.tail_ptr, &run_end, &mut col_ptr, cols as u32, products);
        self.column_ends.launch(work, Grid::items(cols + 1, self.tiles.group_size), args)?;
        Ok(Gathered { col_ptr, row_idx, run_end })
    }
}
