//! Lines of blocks times D on a GPU, for a C stored by columns. The sums of neighbouring lines are
//! exchanged in local memory, so that neighbouring work-items write neighbouring elements of a
//! column. Kernel: `sum_block_tiles` of `cl/apply/spmm/lines.cl`.
use super::{
    DenseNumbers, Execution, Request,
    lines::Variants,
    numbers::SUM_BYTES,
    operands::{InEntries, InOperands, InOutC},
    tuning::Pass,
};
use crate::{
    Device, Result,
    device::{Grid, Options, Work, at_most, kernel},
};

kernel! {
    struct SumBlockTiles = "sum_block_tiles"
        in "apply/spmm/turn.cl", "apply/spmm/vectors.cl", "apply/spmm/lines.cl"
    {
        entries: InEntries,
        operands: InOperands,
        c: InOutC,
        lines: u32,
        columns: u32,
        shares_last: u32,
    }
}

/// Sums of the lines that are not long. A work-group takes one line for each of its slots.
pub(super) struct BlockTiles {
    kernels: Variants<SumBlockTiles<'static>>,
    cache_bytes: usize,
    n: usize,
}

impl BlockTiles {
    /// Kernels for blocks of `side` scalar lines. A work-item adds `held` of these lines at once.
    /// Returns `None` on CPUs and if the sums do not fit local memory.
    pub fn new(
        device: &Device,
        (side, held): (usize, usize),
        request: &Request,
        options: impl Fn(Options) -> Options + Send + Sync + 'static,
    ) -> Option<Self> {
        if request.numbers.dense_lanes == 1 {
            return None;
        }
        let (element, semiring) = (request.element, request.semiring);
        let of_tile = move |pass: &Pass| options(pass.slot.options(element, semiring, true)).define("TILED", 1);
        let numbers = DenseNumbers { dense_vectors: 1, ..request.numbers };
        let kernels = Variants::new(device, element, numbers, request.n, held, of_tile);
        let fit = kernels.passes().all(|Pass { slot, .. }| {
            let bytes = slot.group_size * slot.vec * side * request.element.arithmetic().bytes();
            bytes <= SUM_BYTES
        });
        fit.then_some(Self { kernels, cache_bytes: numbers.dense_cache_bytes, n: request.n })
    }

    /// Starts to compile the kernels.
    pub fn ask(&self) -> Result<()> {
        self.kernels.ask()
    }

    /// Computes the sums of `lines` lines.
    pub fn run(&self, work: &Work, lines: usize, Execution { entries, operands, mut c }: Execution<'_>) -> Result<()> {
        for variant in self.kernels.for_operands(&operands, &c) {
            let (Pass { slot, .. }, kernel) = variant?;
            let groups = lines.div_ceil(slot.slots()) * self.n.div_ceil(slot.width());
            at_most("work-groups of a product with a dense matrix", groups as u64, u32::MAX.into())?;
            let args = SumBlockTiles {
                entries,
                operands,
                c: c.again(),
                lines: lines as u32,
                columns: self.n as u32,
                shares_last: slot.shares_last(self.cache_bytes, &operands.d),
            };
            kernel.launch(work, Grid::groups(groups, slot.group_size), args)?;
        }
        Ok(())
    }
}
