//! Sums of block products, a part of compression. Operand pairs are multiplied here, and each sum
//! is written to its place in C. No array holds the block products before they are summed (Polok
//! 2015, "Compression Stage"). Kernels: `cl/product/esc/blocks/sums.cl` with `runs.cl`,
//! `cl/product/esc/blocks/tiles.cl`, `cl/product/esc/blocks/staged.cl`,
//! `cl/product/esc/blocks/scalars.cl`.
mod arguments;
mod scalars;
#[cfg(test)]
mod tests;

use crate::{
    DeviceKind, OperandPair, Result,
    device::{Buffer, Device, Grid, Kernel, Options, Scratch, Teams, Work},
    element::{Stretch, WordType},
    primitives::segmented_reduce::{RUN_PIECE, Runs},
    product::{
        terms::{Scaling, Spec},
        tuning::{BlockKernel, BlockTiles, BlockTuning, PAIRS_AHEAD, StagedTiles, Tuning, sides_are_compiled},
    },
    resident::DeviceCbc,
};
use arguments::{AddParts, SumAnyBlocks, SumAnyPieces, SumArrays, SumPieces, SumSerial, SumStaged, SumTiles};
use scalars::ScalarSums;

pub(crate) struct BlockSums {
    spec: Spec,
    kernels: Kernels,
    add_parts: Kernel<AddParts<'static>>,
    tuning: BlockTuning,
    empty_runs: bool,
}

enum Kernels {
    Tiles { kernel: Kernel<SumTiles>, tiles: BlockTiles },
    Staged { kernel: Kernel<SumStaged>, tiles: StagedTiles },
    Scalars(ScalarSums),
    Serial { runs: Kernel<SumSerial<'static>>, each: usize, pieces: Kernel<SumPieces<'static>> },
    Any { runs: Kernel<SumAnyBlocks<'static>>, pieces: Kernel<SumAnyPieces<'static>> },
}

/// The options of every kernel that sums runs of products.
fn of_runs(options: Options, &Spec { element, transposed, semiring, .. }: &Spec, empty_runs: bool) -> Options {
    options
        .element_in(element, semiring)
        .define("RUN_PIECE", RUN_PIECE)
        .define("A_TRANSPOSED", u8::from(transposed.a))
        .define("B_TRANSPOSED", u8::from(transposed.b))
        .define("EMPTY_RUNS", u8::from(empty_runs))
}

/// Adds the options of kernels that are compiled for the sides of the blocks.
fn of_sides(options: Options, &Spec { a, b, .. }: &Spec) -> Options {
    options.define("ROWS", a.rows()).define("INNER", a.cols()).define("COLS", b.cols())
}

/// Adds the options of kernels whose items sum whole blocks.
fn asking_ahead(options: Options, device: &Device) -> Options {
    let info = device.info();
    let ahead = if info.kind == DeviceKind::Cpu { PAIRS_AHEAD } else { 0 };
    options.define("PAIRS_AHEAD", ahead)
}

/// Adds the options of kernels of other folders that sum runs of A·B by
/// `cl/product/esc/blocks/runs.cl`. The kernels are compiled for the sides of the blocks, unless
/// the sides are too long for that.
pub(in crate::product) fn options_of_runs(options: Options, device: &Device, spec: &Spec) -> Options {
    let options = of_runs(options, spec, false);
    match sides_are_compiled((spec.a, spec.b)) {
        true => asking_ahead(of_sides(options, spec), device),
        false => options,
    }
}

/// The runs to sum, their operand pairs, and the places of the sums.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub runs: Runs<'a>,
    pub pairs: &'a Buffer<OperandPair>,
    /// Stretches of these runs, made by [`BlockSums::stretches`].
    pub stretches: &'a Buffer<Stretch>,
    /// Products of the longest run.
    pub longest: u32,
    /// Block of C that is the sum of the first run.
    pub first: u32,
    /// Elements from one block of C to the next.
    pub stride: usize,
}

impl BlockSums {
    /// Kernels for the shapes of a product whose runs are never empty.
    pub fn new(device: &Device, tuning: &Tuning, spec: &Spec) -> Result<Self> {
        Self::compiled(device, tuning.blocks, spec, false)
    }

    /// Kernels for a product whose runs may be empty. The test for empty runs costs GPUs up to a
    /// sixth of the time.
    pub fn with_empty_runs(device: &Device, tuning: &Tuning, spec: &Spec) -> Result<Self> {
        Self::compiled(device, tuning.blocks, spec, true)
    }

    fn compiled(device: &Device, tuning: BlockTuning, spec: &Spec, empty_runs: bool) -> Result<Self> {
        let &Spec { element, a, b, .. } = spec;
        let options = Teams::options_of(device.info(), Options::group_size(tuning.group_size));
        let options = of_runs(options, spec, empty_runs).define("LONG_RUN", tuning.long_run);
        let sides = || of_sides(options.clone(), spec);
        let kernels = match tuning.kernel {
            BlockKernel::Tiles => {
                let tiles = BlockTiles::new(element, tuning.group_size, a, b);
                let options = sides()
                    .define("TILE_COLS", tiles.cols)
                    .define("BATCH", tiles.batch)
                    .define("PIECE_ROWS", tiles.piece_rows)
                    .define("PIECE_TEAMS", tiles.piece_teams)
                    .define("PIECE_DEPTH", tiles.piece_depth)
                    .define("WIDE", 16 / element.arithmetic().bytes());
                Kernels::Tiles { kernel: Kernel::new(device, &options)?, tiles }
            }
            BlockKernel::Staged(numbers) => {
                let tiles = StagedTiles::new(element, numbers, a, b);
                let options = sides()
                    .define("TILE_ROWS", tiles.rows)
                    .define("TILE_COLS", tiles.cols)
                    .define("TEAMS", tiles.teams)
                    .define("WIDE", 16 / element.arithmetic().bytes());
                Kernels::Staged { kernel: Kernel::new(device, &options)?, tiles }
            }
            BlockKernel::Scalars(numbers) => {
                Kernels::Scalars(ScalarSums::new(device, &options, &tuning, numbers, element)?)
            }
            BlockKernel::Serial { runs } => {
                let options = asking_ahead(sides(), device).define("RUNS", runs);
                let pieces = Kernel::rare(device, &options)?;
                Kernels::Serial { runs: Kernel::new(device, &options)?, each: runs, pieces }
            }
            BlockKernel::General => {
                Kernels::Any { runs: Kernel::new(device, &options)?, pieces: Kernel::rare(device, &options)? }
            }
        };
        Ok(Self { spec: *spec, kernels, add_parts: Kernel::rare(device, &options)?, tuning, empty_runs })
    }

    fn sum_word(&self) -> WordType {
        self.spec.element.arithmetic().word()
    }

    /// Memory for the sums of the `parts` parts of runs that are cut.
    pub fn parts(&self, work: &Work, parts: usize) -> Result<Buffer> {
        work.buffer_of(self.sum_word(), parts * self.spec.a.product(self.spec.b).area())
    }

    /// Memory for the sums of the `parts` parts of runs that are cut. The memory is reserved for
    /// executions of a plan, which then allocate nothing.
    pub fn reserved_parts(&self, work: &Work, parts: usize) -> Result<Scratch> {
        Scratch::reserve_of(work, self.sum_word(), parts * self.spec.a.product(self.spec.b).area())
    }

    /// Cuts runs into stretches, which work-groups take. The runs end at `run_end` and have
    /// `products` products in all. Returns an empty array if the kernels take no stretches.
    pub fn stretches(&self, work: &Work, run_end: &Buffer<u32>, products: usize) -> Result<Buffer<Stretch>> {
        match &self.kernels {
            Kernels::Scalars(sums) => {
                let stretches = self.tuning.stretches(products as u64, run_end.len() as u64);
                sums.stretches(work, run_end, stretches as usize)
            }
            _ => work.buffer(0),
        }
    }

    /// Computes the block of C of each run.
    pub fn run(
        &self,
        work: &Work,
        (a, b): (&DeviceCbc, &DeviceCbc),
        places: &Places<'_>,
        scaling: Scaling,
        parts: &mut Buffer,
        c_values: &mut Buffer,
    ) -> Result<()> {
        let (nnz, pieces) = (places.runs.end.len(), places.runs.pieces.len());
        let (area, group_size) = (self.spec.a.product(self.spec.b).area(), self.tuning.group_size);
        let sides = [self.spec.a.rows(), self.spec.a.cols(), self.spec.b.cols()].map(|side| side as u32);
        let mut arrays = SumArrays { a, b, places, scaling, parts, c_values, sides };
        match &self.kernels {
            Kernels::Tiles { kernel, tiles } => {
                let teams = group_size / (self.spec.b.cols() / tiles.cols);
                let groups = pieces.div_ceil(tiles.piece_teams) + nnz.div_ceil(teams * tiles.batch);
                kernel.launch(work, Grid::groups(groups, group_size), arrays.tiles(nnz))?;
            }
            Kernels::Staged { kernel, tiles } => {
                // All runs are in the pieces, except for empty ones.
                let nnz = if self.empty_runs { nnz } else { 0 };
                let groups = pieces.div_ceil(tiles.teams) + nnz.div_ceil(group_size);
                kernel.launch(work, Grid::groups(groups, group_size), arrays.tiles(nnz))?;
            }
            Kernels::Scalars(sums) => sums.run(work, &mut arrays)?,
            Kernels::Serial { runs, each, pieces: of_pieces } => {
                runs.launch(work, Grid::items(nnz.div_ceil(*each), group_size), arrays.serial())?;
                of_pieces.launch(work, Grid::groups(pieces, group_size), arrays.pieces())?;
            }
            Kernels::Any { runs, pieces: of_pieces } => {
                runs.launch(work, Grid::items(nnz * area, group_size), arrays.any_blocks())?;
                of_pieces.launch(work, Grid::items(pieces * area, group_size), arrays.any_pieces())?;
            }
        }
        if arrays.parts.len() == 0 {
            return Ok(());
        }
        self.add_parts.launch(work, Grid::items(pieces * area, group_size), arrays.add_parts())
    }
}
