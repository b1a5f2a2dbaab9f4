//! Sums of scalars on GPUs. Work-groups take stretches of consecutive runs with about equally many
//! products. Kernel: `cl/product/esc/blocks/scalars.cl`.
use super::{
    Places,
    arguments::{InPairs, InPlaces, SumArrays},
};
use crate::{
    Result,
    device::{Buffer, Device, Elem, Grid, In, InOut, Kernel, Local, Options, Out, Sum, Work, kernel},
    element::{ElementType, Piece, Stretch},
    primitives::segmented_reduce::RUN_PIECE,
    product::tuning::{BlockTuning, ScalarNumbers},
};

kernel! {
    in "ptx.cl", "product/esc/blocks/words.cl", "product/esc/blocks/scalars.cl":
    struct CutStretches = "cut_stretches" { run_end: In<u32>, stretch: Out<Stretch>, nnz: u32, stretches: u32 }
    struct SumScalars = "sum_scalars" {
        run_end: In<u32>,
        stretch: In<Stretch>,
        piece: In<Piece>,
        pairs: InPairs<'static>,
        parts: InOut<Sum>,
        c_values: InOut<Elem>,
        product: Local<Sum>,
        pieces: u32,
        places: InPlaces<'static>,
    }
}

/// The kernels.
pub(super) struct ScalarSums {
    cut: Kernel<CutStretches<'static>>,
    sum: Kernel<SumScalars<'static>>,
    numbers: ScalarNumbers,
    /// Runs with more products than `long_run` are summed in pieces.
    long_run: usize,
    group_size: usize,
    sum_bytes: usize,
}

impl ScalarSums {
    /// `options` are the options that all kernels of block sums have.
    pub fn new(
        device: &Device,
        options: &Options,
        tuning: &BlockTuning,
        numbers: ScalarNumbers,
        element: ElementType,
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
            long_run: tuning.long_run,
            group_size: tuning.group_size,
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

    /// Number of products that a group holds: a stretch together with its whole last run, or a
    /// piece. See `PADDED` in the kernel file.
    fn held(&self, longest: usize) -> usize {
        let held = (self.numbers.stretch + longest.min(self.long_run)).max(longest.min(RUN_PIECE));
        held + held * self.sum_bytes / 128 + 1
    }

    pub fn run(&self, work: &Work, arrays: &mut SumArrays<'_>) -> Result<()> {
        let Places { runs, stretches, longest, .. } = *arrays.places;
        let args = SumScalars {
            run_end: runs.end,
            stretch: stretches,
            piece: runs.pieces,
            pairs: arrays.pairs(),
            places: arrays.places(),
            parts: &mut *arrays.parts,
            c_values: &mut *arrays.c_values,
            product: self.held(longest as usize),
            pieces: runs.pieces.len() as u32,
        };
        self.sum.launch(work, Grid::groups(runs.pieces.len() + stretches.len(), self.group_size), args)
    }
}
