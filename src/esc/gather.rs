//! Stage 6 of 6, gather (Polok 2015, Algorithm 3, lines 70-74): the row indices of C, in the place of its runs' ends. The sums are in C
//! already: the fusion the paper suggests at the end of "Implementation". Kernel: `cl/esc/gather.cl`.
use super::Tuning;
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Work, source},
};

type Signature = (In<u32>, InOut<u32>, u32);

pub(crate) struct Gather {
    kernel: Kernel<Signature>,
    group_size: usize,
}

impl Gather {
    pub fn new(device: &Device, tuning: &Tuning) -> Result<Self> {
        let options = Options::group_size(tuning.group_size);
        Ok(Self { kernel: device.kernel(source!("esc/gather.cl"), &options, "gather")?, group_size: tuning.group_size })
    }

    /// Replaces the end of each run by its row.
    pub fn run(&self, work: &Work, rows: &Buffer<u32>, run_end: Buffer<u32>) -> Result<Buffer<u32>> {
        work.stage("gather");
        let (nnz, mut row_idx) = (run_end.len(), run_end);
        self.kernel.launch(work, Grid::items(nnz, self.group_size), (rows, &mut row_idx, nnz as u32))?;
        Ok(row_idx)
    }
}
