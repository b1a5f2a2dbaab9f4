//! Sums of scalars on GPUs. Work-groups take stretches of consecutive runs with about equally many
//! products. Kernel: `cl/product/esc/blocks/scalars.cl`.
use super::{Places, arguments::SumArrays};
use crate::{
    OperandPair, Result,
    device::{Buffer, Device, Elem, Grid, In, InOut, Kernel, Local, Options, Out, Scalar, Sum, Work, kernel},
    element::{ElementType, Piece, Stretch},
    primitives::segmented_reduce::RUN_PIECE,
    product::{terms::Scaling, tuning::ScalarNumbers},
};

kernel! {
    struct CutStretches = "cut_stretches" in "ptx.cl", "product/esc/blocks/words.cl", "product/esc/blocks/scalars.cl" {
        run_end: In<u32>,
        stretch: Out<Stretch>,
        nnz: u32,
        stretches: u32,
    }
}

kernel! {
    struct SumScalars = "sum_scalars" in "ptx.cl", "product/esc/blocks/words.cl", "product/esc/blocks/scalars.cl" {
        run_end: In<u32>,
        stretch: In<Stretch>,
        piece: In<Piece>,
        pair: In<OperandPair>,
        a_values: In<Elem>,
        b_values: In<Elem>,
        parts: InOut<Sum>,
        c_values: InOut<Elem>,
        product: Local<Sum>,
        pieces: u32,
        first: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
}

/// The kernels.
pub(super) struct ScalarSums {
    cut: Kernel<CutStretches<'static>>,
    sum: Kernel<SumScalars<'static>>,
    numbers: ScalarNumbers,
    long_run: usize,
    group_size: usize,
    sum_bytes: usize,
}

impl ScalarSums {
    /// `options` are those of all kernels of block sums. Runs longer than `long_run` are summed in
    /// pieces.
    pub fn new(
        device: &Device,
        options: &Options,
        numbers: ScalarNumbers,
        ((long_run, group_size), element): ((usize, usize), ElementType),
    ) -> Result<Self> {
        let options = options
            .clone()
            .define("AHEAD", numbers.ahead)
            .define("STRETCH", numbers.stretch)
            .define("WIDE", 16 / element.arithmetic().bytes());
        Ok(Self {
            cut: Kernel::new(device, &options)?,
            sum: Kernel::new(device, &options)?,
            numbers,
            long_run,
            group_size,
            sum_bytes: element.arithmetic().bytes(),
        })
    }

    /// Cuts the runs that end at `run_end` into `stretches` stretches.
    pub fn stretches(&self, work: &Work, run_end: &Buffer<u32>, stretches: usize) -> Result<Buffer<Stretch>> {
        let mut stretch = work.buffer(stretches)?;
        let nnz = run_end.len() as u32;
        let args = CutStretches { run_end, stretch: &mut stretch, nnz, stretches: stretches as u32 };
        self.cut.launch(work, Grid::items(stretches, self.group_size), args)?;
        Ok(stretch)
    }

    /// Products that a group holds. They are a stretch with the rest of its last run, or a piece.
    /// See `PADDED` in the kernel file.
    fn held(&self, longest: usize) -> usize {
        let held = (self.numbers.stretch + longest.min(self.long_run)).max(longest.min(RUN_PIECE));
        held + held * self.sum_bytes / 128 + 1
    }

    pub fn run(&self, work: &Work, arrays: &mut SumArrays<'_>) -> Result<()> {
        let (a, b) = (arrays.a, arrays.b);
        let Places { runs, pairs, stretches, longest, first, stride } = *arrays.places;
        let Scaling { alpha, beta } = arrays.scaling;
        let args = SumScalars {
            run_end: runs.end,
            stretch: stretches,
            piece: runs.pieces,
            pair: pairs,
            a_values: &a.values,
            b_values: &b.values,
            parts: &mut *arrays.parts,
            c_values: &mut *arrays.c_values,
            product: self.held(longest as usize),
            pieces: runs.pieces.len() as u32,
            first,
            a_stride: a.stride as u32,
            b_stride: b.stride as u32,
            c_stride: stride as u32,
            alpha,
            beta,
        };
        self.sum.launch(work, Grid::groups(runs.pieces.len() + stretches.len(), self.group_size), args)
    }
}
