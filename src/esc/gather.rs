//! Stage 6 of 6, gather (Polok 2015, Algorithm 3, lines 70-74): the row indices of C, in the place of its runs' ends. The sums are in C
//! already: the fusion the paper suggests at the end of "Implementation". Kernel: `cl/esc/gather.cl`.
use super::{Operands, Tuning, compression::Compressed};
use crate::{
    Element, Result,
    device::{Buffer, Device, DeviceCbc, Grid, In, InOut, Kernel, Options, Work, source},
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

    /// Replaces the end of each run by its row, which completes C.
    pub fn run<T: Element>(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        rows: &Buffer<u32>,
        compressed: Compressed<T>,
    ) -> Result<DeviceCbc<T>> {
        work.stage("gather");
        let Compressed { col_ptr, run_end: mut row_idx, values } = compressed;
        let nnz = row_idx.len();
        self.kernel.launch(work, Grid::items(nnz, self.group_size), (rows, &mut row_idx, nnz as u32))?;
        Ok(operands.product(col_ptr, row_idx, values))
    }
}
