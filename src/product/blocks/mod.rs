//! The sums of blocks, a part of stage 5: operand pairs are multiplied here, and each sum is placed straight in C, so that no array ever
//! has products x block area elements (Polok 2015, "Compression Stage"). Kernels: `cl/product/blocks/sums.cl`,
//! `cl/product/blocks/tiles.cl`, `cl/product/blocks/staged.cl`.
use super::tuning::{BlockKernel, BlockTiles, BlockTuning, StagedTiles, Tuning};
use crate::{
    BlockShape, Element, OperandPair, Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Scalar, Work, source},
    element::Piece,
    primitives::segmented_reduce::{RUN_PIECE, Runs},
    resident::DeviceCbc,
};

/// Runs or pieces, pairs, A, B, C; how many and the block of C the first run makes; elements from one block to the next in A, B, C; alpha
/// and beta.
type RunsSignature<T, V> =
    (In<u32>, In<OperandPair>, In<T>, In<T>, InOut<T>, u32, u32, u32, u32, u32, Scalar<V>, Scalar<V>);
/// The same, and the sides of the blocks.
type AnyRunsSignature<T, V> =
    (In<u32>, In<OperandPair>, In<T>, In<T>, InOut<T>, u32, u32, u32, u32, u32, Scalar<V>, Scalar<V>, u32, u32, u32);
/// The same for pieces, whose sums may be parts.
type PiecesSignature<T, V> =
    (In<Piece>, In<OperandPair>, In<T>, In<T>, InOut<V>, InOut<T>, u32, u32, u32, u32, Scalar<V>, Scalar<V>);
type AnyPiecesSignature<T, V> = (
    In<Piece>,
    In<OperandPair>,
    In<T>,
    In<T>,
    InOut<V>,
    InOut<T>,
    u32,
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
/// Runs and pieces at once: how many of each.
type TilesSignature<T, V> = (
    In<u32>,
    In<Piece>,
    In<OperandPair>,
    In<T>,
    In<T>,
    InOut<V>,
    InOut<T>,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    Scalar<V>,
    Scalar<V>,
);
type PartsSignature<T, V> = (In<Piece>, In<u32>, In<V>, InOut<T>, u32, u32, u32, Scalar<V>, Scalar<V>, u32);

pub(crate) struct BlockSums<T: Element> {
    a: BlockShape,
    b: BlockShape,
    kernels: Kernels<T>,
    add_parts: Kernel<PartsSignature<T, T::Arithmetic>>,
    tuning: BlockTuning,
    transposed: Transposed,
    empty_runs: bool,
}

enum Kernels<T: Element> {
    Tiles {
        kernel: Kernel<TilesSignature<T, T::Arithmetic>>,
        tiles: BlockTiles,
    },
    Staged {
        kernel: Kernel<TilesSignature<T, T::Arithmetic>>,
        tiles: StagedTiles,
    },
    Serial {
        runs: Kernel<RunsSignature<T, T::Arithmetic>>,
        each: usize,
        pieces: Kernel<PiecesSignature<T, T::Arithmetic>>,
    },
    Any {
        runs: Kernel<AnyRunsSignature<T, T::Arithmetic>>,
        pieces: Kernel<AnyPiecesSignature<T, T::Arithmetic>>,
    },
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

impl<V: nalgebra::RealField> Scaling<V> {
    /// Numbers of the caller's, rounded to the arithmetic type.
    pub fn new(alpha: f64, beta: f64) -> Self {
        Self { alpha: nalgebra::convert(alpha), beta: nalgebra::convert(beta) }
    }

    /// C becomes A·B.
    pub fn plain() -> Self {
        Self::new(1.0, 0.0)
    }
}

/// Whether the stored blocks of A and of B are the transposes of those to multiply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Transposed {
    pub a: bool,
    pub b: bool,
}

impl<T: Element> BlockSums<T> {
    /// For blocks of shape `a` by blocks of shape `b`, once transposed. No run is empty.
    pub fn new(device: &Device, tuning: &Tuning, a: BlockShape, b: BlockShape, transposed: Transposed) -> Result<Self> {
        Self::compiled(device, tuning.blocks, (a, b), transposed, false)
    }

    /// The same where runs may be empty; asking costs GPUs up to a sixth of the time.
    pub fn with_empty_runs(&self, device: &Device) -> Result<Self> {
        Self::compiled(device, self.tuning, (self.a, self.b), self.transposed, true)
    }

    fn compiled(
        device: &Device,
        tuning: BlockTuning,
        (a, b): (BlockShape, BlockShape),
        transposed: Transposed,
        empty_runs: bool,
    ) -> Result<Self> {
        let source = source!("product/blocks/words.cl", "product/blocks/sums.cl");
        let options = Options::group_size(tuning.group_size)
            .element::<T>()
            .define("LONG_RUN", tuning.long_run)
            .define("RUN_PIECE", RUN_PIECE)
            .define("A_TRANSPOSED", u8::from(transposed.a))
            .define("B_TRANSPOSED", u8::from(transposed.b))
            .define("EMPTY_RUNS", u8::from(empty_runs));
        let sides = || options.clone().define("ROWS", a.rows()).define("INNER", a.cols()).define("COLS", b.cols());
        let kernels = match tuning.kernel {
            BlockKernel::Tiles => {
                let tiles = BlockTiles::new::<T>(tuning.group_size, a, b);
                let options = sides()
                    .define("TILE_COLS", tiles.cols)
                    .define("BATCH", tiles.batch)
                    .define("PIECE_ROWS", tiles.piece_rows)
                    .define("PIECE_TEAMS", tiles.piece_teams)
                    .define("PIECE_DEPTH", tiles.piece_depth)
                    .define("WIDE", 16 / size_of::<T::Arithmetic>());
                let source = source!("product/blocks/words.cl", "product/blocks/tiles.cl");
                Kernels::Tiles { kernel: device.kernel(source, &options, "sum_tiles")?, tiles }
            }
            BlockKernel::Staged => {
                let tiles = StagedTiles::new::<T>(a, b);
                let options = sides()
                    .define("TILE_ROWS", tiles.rows)
                    .define("TILE_COLS", tiles.cols)
                    .define("TEAMS", tiles.teams)
                    .define("WIDE", 16 / size_of::<T::Arithmetic>());
                let source = source!("product/blocks/words.cl", "product/blocks/staged.cl");
                Kernels::Staged { kernel: device.kernel(source, &options, "sum_staged")?, tiles }
            }
            BlockKernel::Serial { runs } => {
                let options = sides().define("DEPTH", tuning.depth).define("RUNS", runs);
                let pieces = device.rare_kernel(source, &options, "sum_pieces")?;
                Kernels::Serial { runs: device.kernel(source, &options, "sum_serial")?, each: runs, pieces }
            }
            BlockKernel::General => Kernels::Any {
                runs: device.kernel(source, &options, "sum_any_blocks")?,
                pieces: device.rare_kernel(source, &options, "sum_any_pieces")?,
            },
        };
        Ok(Self {
            a,
            b,
            kernels,
            add_parts: device.rare_kernel(source, &options, "add_parts")?,
            tuning,
            transposed,
            empty_runs,
        })
    }

    /// Room for the sums of `parts` pieces of runs that are cut.
    pub fn parts(&self, work: &Work, parts: usize) -> Result<Buffer<T::Arithmetic>> {
        work.buffer(parts * self.a.product(self.b).area())
    }

    /// Writes the block of C of each run.
    pub fn run(
        &self,
        work: &Work,
        (a, b): (&DeviceCbc<T>, &DeviceCbc<T>),
        places: &Places<'_>,
        Scaling { alpha, beta }: Scaling<T::Arithmetic>,
        parts: &mut Buffer<T::Arithmetic>,
        cv: &mut Buffer<T>,
    ) -> Result<()> {
        let Places { runs: Runs { end, pieces }, pairs, first, stride } = *places;
        let (n, m, av, bv) = (end.len(), pieces.len(), &a.values, &b.values);
        let (sa, sb, sc) = (a.stride as u32, b.stride as u32, stride as u32);
        let (rows, inner, cols) = (self.a.rows() as u32, self.a.cols() as u32, self.b.cols() as u32);
        let (area, group_size) = ((rows * cols) as usize, self.tuning.group_size);
        match &self.kernels {
            Kernels::Tiles { kernel, tiles } => {
                let teams = group_size / (self.b.cols() / tiles.cols);
                let groups = m.div_ceil(tiles.piece_teams) + n.div_ceil(teams * tiles.batch);
                let (n, m) = (n as u32, m as u32);
                let args = (end, pieces, pairs, av, bv, &mut *parts, &mut *cv, n, m, first, sa, sb, sc, alpha, beta);
                kernel.launch(work, Grid::groups(groups, group_size), args)?;
            }
            Kernels::Staged { kernel, tiles } => {
                let n = if self.empty_runs { n } else { 0 };
                let groups = m.div_ceil(tiles.teams) + n.div_ceil(group_size);
                let (n, m) = (n as u32, m as u32);
                let args = (end, pieces, pairs, av, bv, &mut *parts, &mut *cv, n, m, first, sa, sb, sc, alpha, beta);
                kernel.launch(work, Grid::groups(groups, group_size), args)?;
            }
            Kernels::Serial { runs, each, pieces: of_pieces } => {
                let args = (end, pairs, av, bv, &mut *cv, n as u32, first, sa, sb, sc, alpha, beta);
                runs.launch(work, Grid::items(n.div_ceil(*each), group_size), args)?;
                let args = (pieces, pairs, av, bv, &mut *parts, &mut *cv, first, sa, sb, sc, alpha, beta);
                of_pieces.launch(work, Grid::groups(m, group_size), args)?;
            }
            Kernels::Any { runs, pieces: of_pieces } => {
                let args = (end, pairs, av, bv, &mut *cv, n as u32, first, sa, sb, sc, alpha, beta, rows, inner, cols);
                runs.launch(work, Grid::items(n * area, group_size), args)?;
                let (m32, grid) = (m as u32, Grid::items(m * area, group_size));
                let args = (
                    pieces,
                    pairs,
                    av,
                    bv,
                    &mut *parts,
                    &mut *cv,
                    m32,
                    first,
                    sa,
                    sb,
                    sc,
                    alpha,
                    beta,
                    rows,
                    inner,
                    cols,
                );
                of_pieces.launch(work, grid, args)?;
            }
        }
        if parts.len() == 0 {
            return Ok(());
        }
        let args = (pieces, end, &*parts, cv, m as u32, first, sc, alpha, beta, area as u32);
        self.add_parts.launch(work, Grid::items(m * area, group_size), args)
    }
}
