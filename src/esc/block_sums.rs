//! The sums of blocks, a part of stage 5: operand pairs are multiplied here, and each sum is placed straight in C, so that no array ever
//! has products x block area elements (Polok 2015, "Compression Stage"). Kernels: `cl/esc/block_sums.cl`.
use super::{Tuning, compression::Operands, tuning::BlockKernel};
use crate::{
    BlockShape, Element, OperandPair, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, source},
    primitives::segmented_reduce::{RUN_PIECE, Runs},
};

type CompiledSignature<T> = (In<u32>, In<OperandPair>, In<T>, In<T>, Out<T>, u32, u32, u32, u32);
type GeneralSignature<T> = (In<u32>, In<OperandPair>, In<T>, In<T>, Out<T>, u32, u32, u32, u32, u32, u32, u32);
type LongSignature<T> = (In<u32>, In<u32>, In<OperandPair>, In<T>, In<T>, Out<T>, u32, u32, u32, u32, u32, u32);

pub(crate) struct BlockSums<T: Element> {
    runs: RunKernel<T>,
    long_runs: Kernel<LongSignature<T>>,
    group_size: usize,
}

enum RunKernel<T: Element> {
    Compiled(Kernel<CompiledSignature<T>>),
    General(Kernel<GeneralSignature<T>>),
}

impl<T: Element> BlockSums<T> {
    pub fn new(device: &Device, tuning: &Tuning, a: BlockShape, b: BlockShape) -> Result<Self> {
        let source = source!("esc/block_sums.cl");
        let options = Options::group_size(tuning.group_size).element::<T>().define("RUN_PIECE", RUN_PIECE);
        let sides = options.clone().define("ROWS", a.rows()).define("INNER", a.cols()).define("COLS", b.cols());
        Ok(Self {
            runs: match tuning.blocks {
                BlockKernel::Compiled => RunKernel::Compiled(device.kernel(source, &sides, "sum_blocks")?),
                BlockKernel::General => RunKernel::General(device.kernel(source, &options, "sum_any_blocks")?),
            },
            long_runs: device.kernel(source, &options, "sum_long_blocks")?,
            group_size: tuning.group_size,
        })
    }

    /// Writes the block of C of each run.
    pub fn run(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        runs: Runs<'_>,
        pairs: &Buffer<OperandPair>,
        c_values: &mut Buffer<T>,
    ) -> Result<()> {
        let (a, b, nnz) = (operands.a, operands.b, runs.end.len());
        let strides = (a.stride as u32, b.stride as u32, operands.c_stride as u32);
        let sides = (a.shape.rows() as u32, a.shape.cols() as u32, b.shape.cols() as u32);
        let area = a.shape.rows() * b.shape.cols();
        if operands.c_stride > area {
            work.fill_zero(c_values)?;
        }
        let (aw, bw) = (&a.values, &b.values);
        match &self.runs {
            RunKernel::Compiled(kernel) => kernel.launch(
                work,
                Grid::items(nnz * b.shape.cols(), self.group_size),
                (runs.end, pairs, aw, bw, c_values, nnz as u32, strides.0, strides.1, strides.2),
            )?,
            RunKernel::General(kernel) => kernel.launch(
                work,
                Grid::items(nnz * area, self.group_size),
                (
                    runs.end, pairs, aw, bw, c_values, nnz as u32, strides.0, strides.1, strides.2, sides.0, sides.1,
                    sides.2,
                ),
            )?,
        }
        let grid = Grid::groups((runs.long.len() - 1) * area, self.group_size);
        let args =
            (runs.end, runs.long, pairs, aw, bw, c_values, strides.0, strides.1, strides.2, sides.0, sides.1, sides.2);
        self.long_runs.launch(work, grid, args)
    }
}
