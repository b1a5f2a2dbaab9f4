//! The sums of blocks, a part of stage 5: operand pairs are multiplied here, and each sum is placed straight in C, so that no array ever
//! has products x block area elements (Polok 2015, "Compression Stage"). Kernels: `cl/esc/block_sums.cl`.
use super::{Tuning, tuning::BlockKernel};
use crate::{
    BlockShape, Element, OperandPair, Result,
    device::{Buffer, Device, DeviceCbc, Grid, In, InOut, Kernel, Options, Scalar, Work, source},
    primitives::segmented_reduce::{RUN_PIECE, Runs},
};
use num_traits::{One, Zero};

/// Pairs, A, B, C; runs and the block of C the first one makes; elements from one block to the next in A, B, C; alpha and beta.
type CompiledSignature<T, V> =
    (In<u32>, In<OperandPair>, In<T>, In<T>, InOut<T>, u32, u32, u32, u32, u32, Scalar<V>, Scalar<V>);
/// The same, and the sides of the blocks.
type AnySignature<T, V> =
    (In<u32>, In<OperandPair>, In<T>, In<T>, InOut<T>, u32, u32, u32, u32, u32, Scalar<V>, Scalar<V>, u32, u32, u32);
/// The same for the runs listed.
type LongSignature<T, V> = (
    In<u32>,
    In<u32>,
    In<OperandPair>,
    In<T>,
    In<T>,
    InOut<T>,
    u32,
    u32,
    u32,
    u32,
    Scalar<V>,
    Scalar<V>,
    u32,
    u32,
    u32,
);

pub(crate) struct BlockSums<T: Element> {
    a: BlockShape,
    b: BlockShape,
    runs: RunKernel<T>,
    long_runs: Kernel<LongSignature<T, T::Arithmetic>>,
    group_size: usize,
}

enum RunKernel<T: Element> {
    Compiled(Kernel<CompiledSignature<T, T::Arithmetic>>),
    Any(Kernel<AnySignature<T, T::Arithmetic>>),
}

/// Where the sums come from and go to.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub runs: Runs<'a>,
    pub pairs: &'a Buffer<OperandPair>,
    /// Block of C that the first run makes.
    pub first: u32,
    /// Elements from one block of C to the next.
    pub stride: usize,
}

/// C becomes alpha·A·B + beta·C; where beta is 0, C is not read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scaling<V> {
    pub alpha: V,
    pub beta: V,
}

impl<V: One + Zero> Scaling<V> {
    /// C becomes A·B.
    pub fn plain() -> Self {
        Self { alpha: V::one(), beta: V::zero() }
    }
}

/// Whether the stored blocks of A and of B are the transposes of those to multiply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Transposed {
    pub a: bool,
    pub b: bool,
}

impl<T: Element> BlockSums<T> {
    /// For blocks of shape `a` by blocks of shape `b`, once transposed.
    pub fn new(device: &Device, tuning: &Tuning, a: BlockShape, b: BlockShape, transposed: Transposed) -> Result<Self> {
        let source = source!("esc/block_sums.cl");
        let options = Options::group_size(tuning.group_size)
            .element::<T>()
            .define("RUN_PIECE", RUN_PIECE)
            .define("A_TRANSPOSED", u8::from(transposed.a))
            .define("B_TRANSPOSED", u8::from(transposed.b));
        let sides = options.clone().define("ROWS", a.rows()).define("INNER", a.cols()).define("COLS", b.cols());
        Ok(Self {
            a,
            b,
            runs: match tuning.blocks {
                BlockKernel::Compiled => RunKernel::Compiled(device.kernel(source, &sides, "sum_blocks")?),
                BlockKernel::General => RunKernel::Any(device.kernel(source, &options, "sum_any_blocks")?),
            },
            long_runs: device.kernel(source, &options, "sum_long_blocks")?,
            group_size: tuning.group_size,
        })
    }

    /// Writes the block of C of each run.
    pub fn run(
        &self,
        work: &Work,
        (a, b): (&DeviceCbc<T>, &DeviceCbc<T>),
        places: &Places<'_>,
        Scaling { alpha, beta }: Scaling<T::Arithmetic>,
        c_values: &mut Buffer<T>,
    ) -> Result<()> {
        let Places { runs: Runs { end, long }, pairs, first, stride } = *places;
        let (n, av, bv, cv) = (end.len(), &a.values, &b.values, c_values);
        let (sa, sb, sc) = (a.stride as u32, b.stride as u32, stride as u32);
        let (rows, inner, cols) = (self.a.rows() as u32, self.a.cols() as u32, self.b.cols() as u32);
        let area = self.a.product(self.b).area();
        match &self.runs {
            RunKernel::Compiled(kernel) => {
                let grid = Grid::items(n * self.b.cols(), self.group_size);
                kernel.launch(work, grid, (end, pairs, av, bv, &mut *cv, n as u32, first, sa, sb, sc, alpha, beta))?;
            }
            RunKernel::Any(kernel) => {
                let grid = Grid::items(n * area, self.group_size);
                let args = (end, pairs, av, bv, &mut *cv, n as u32, first, sa, sb, sc, alpha, beta, rows, inner, cols);
                kernel.launch(work, grid, args)?;
            }
        }
        let grid = Grid::groups((long.len() - 1) * area, self.group_size);
        let args = (end, long, pairs, av, bv, cv, first, sa, sb, sc, alpha, beta, rows, inner, cols);
        self.long_runs.launch(work, grid, args)
    }
}
