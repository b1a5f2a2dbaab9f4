//! Sums of block products, a part of stage 5. Operand pairs are multiplied here, and each sum is
//! written to its place in C. No array ever has products x block area elements (Polok 2015,
//! "Compression Stage"). Kernels: `cl/product/blocks/sums.cl`, `cl/product/blocks/tiles.cl`,
//! `cl/product/blocks/staged.cl`.
use super::{
    problem::{Scaling, Transposed},
    tuning::{BlockKernel, BlockTiles, BlockTuning, StagedTiles, Tuning},
};
use crate::{
    BlockShape, Element, OperandPair, Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Scalar, Scratch, Work, kernel},
    element::Piece,
    primitives::segmented_reduce::{RUN_PIECE, Runs},
    resident::DeviceCbc,
};

kernel! {
    struct SumTiles<T: Element> = "sum_tiles" in "product/blocks/words.cl", "product/blocks/tiles.cl" {
        run_end: In<u32>,
        piece: In<Piece>,
        pair: In<OperandPair>,
        a_values: In<T>,
        b_values: In<T>,
        parts: InOut<T::Arithmetic>,
        c_values: InOut<T>,
        nnz: u32,
        pieces: u32,
        first: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
    }
}

kernel! {
    struct SumStaged<T: Element> = "sum_staged" in "product/blocks/words.cl", "product/blocks/staged.cl" {
        run_end: In<u32>,
        piece: In<Piece>,
        pair: In<OperandPair>,
        a_values: In<T>,
        b_values: In<T>,
        parts: InOut<T::Arithmetic>,
        c_values: InOut<T>,
        nnz: u32,
        pieces: u32,
        first: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
    }
}

kernel! {
    struct SumSerial<T: Element> = "sum_serial" in "product/blocks/words.cl", "product/blocks/sums.cl" {
        run_end: In<u32>,
        pair: In<OperandPair>,
        a_values: In<T>,
        b_values: In<T>,
        c_values: InOut<T>,
        nnz: u32,
        first: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
    }
}

kernel! {
    struct SumPieces<T: Element> = "sum_pieces" in "product/blocks/words.cl", "product/blocks/sums.cl" {
        piece: In<Piece>,
        pair: In<OperandPair>,
        a_values: In<T>,
        b_values: In<T>,
        parts: InOut<T::Arithmetic>,
        c_values: InOut<T>,
        first: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
    }
}

kernel! {
    struct SumAnyBlocks<T: Element> = "sum_any_blocks" in "product/blocks/words.cl", "product/blocks/sums.cl" {
        run_end: In<u32>,
        pair: In<OperandPair>,
        a_values: In<T>,
        b_values: In<T>,
        c_values: InOut<T>,
        nnz: u32,
        first: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
        rows: u32,
        inner: u32,
        cols: u32,
    }
}

kernel! {
    struct SumAnyPieces<T: Element> = "sum_any_pieces" in "product/blocks/words.cl", "product/blocks/sums.cl" {
        piece: In<Piece>,
        pair: In<OperandPair>,
        a_values: In<T>,
        b_values: In<T>,
        parts: InOut<T::Arithmetic>,
        c_values: InOut<T>,
        pieces: u32,
        first: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
        rows: u32,
        inner: u32,
        cols: u32,
    }
}

kernel! {
    struct AddParts<T: Element> = "add_parts" in "product/blocks/words.cl", "product/blocks/sums.cl" {
        piece: In<Piece>,
        run_end: In<u32>,
        parts: In<T::Arithmetic>,
        c_values: InOut<T>,
        pieces: u32,
        first: u32,
        c_stride: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
        area: u32,
    }
}

pub(crate) struct BlockSums<T: Element> {
    a: BlockShape,
    b: BlockShape,
    kernels: Kernels<T>,
    add_parts: Kernel<AddParts<'static, T>>,
    tuning: BlockTuning,
    transposed: Transposed,
    empty_runs: bool,
}

enum Kernels<T: Element> {
    Tiles { kernel: Kernel<SumTiles<'static, T>>, tiles: BlockTiles },
    Staged { kernel: Kernel<SumStaged<'static, T>>, tiles: StagedTiles },
    Serial { runs: Kernel<SumSerial<'static, T>>, each: usize, pieces: Kernel<SumPieces<'static, T>> },
    Any { runs: Kernel<SumAnyBlocks<'static, T>>, pieces: Kernel<SumAnyPieces<'static, T>> },
}

/// The runs to sum, their operand pairs, and the places of the sums.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub runs: Runs<'a>,
    pub pairs: &'a Buffer<OperandPair>,
    /// Block of C that is the sum of the first run.
    pub first: u32,
    /// Elements from one block of C to the next.
    pub stride: usize,
}

impl<T: Element> BlockSums<T> {
    /// Kernels for blocks of shape `a` by blocks of shape `b`, after a transpose. No run may be
    /// empty.
    pub fn new(device: &Device, tuning: &Tuning, a: BlockShape, b: BlockShape, transposed: Transposed) -> Result<Self> {
        Self::compiled(device, tuning.blocks, (a, b), transposed, false)
    }

    /// The same kernels for runs that may be empty. The test for empty runs costs GPUs up to a
    /// sixth of the time.
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
                Kernels::Tiles { kernel: Kernel::new(device, &options)?, tiles }
            }
            BlockKernel::Staged(numbers) => {
                let tiles = StagedTiles::new::<T>(numbers, a, b);
                let options = sides()
                    .define("TILE_ROWS", tiles.rows)
                    .define("TILE_COLS", tiles.cols)
                    .define("TEAMS", tiles.teams)
                    .define("WIDE", 16 / size_of::<T::Arithmetic>());
                Kernels::Staged { kernel: Kernel::new(device, &options)?, tiles }
            }
            BlockKernel::Serial { runs } => {
                let options = sides().define("DEPTH", tuning.depth).define("RUNS", runs);
                let pieces = Kernel::rare(device, &options)?;
                Kernels::Serial { runs: Kernel::new(device, &options)?, each: runs, pieces }
            }
            BlockKernel::General => {
                Kernels::Any { runs: Kernel::new(device, &options)?, pieces: Kernel::rare(device, &options)? }
            }
        };
        Ok(Self { a, b, kernels, add_parts: Kernel::rare(device, &options)?, tuning, transposed, empty_runs })
    }

    /// Memory for the sums of `parts` pieces of runs that are cut.
    pub fn parts(&self, work: &Work, parts: usize) -> Result<Buffer<T::Arithmetic>> {
        work.buffer(parts * self.a.product(self.b).area())
    }

    /// The same memory, reserved for executions of a plan, which then allocate nothing.
    pub fn reserved_parts(&self, work: &Work, parts: usize) -> Result<Scratch<T::Arithmetic>> {
        Scratch::reserve(work, parts * self.a.product(self.b).area())
    }

    /// Computes the block of C of each run.
    pub fn run(
        &self,
        work: &Work,
        (a, b): (&DeviceCbc<T>, &DeviceCbc<T>),
        places: &Places<'_>,
        Scaling { alpha, beta }: Scaling<T::Arithmetic>,
        parts: &mut Buffer<T::Arithmetic>,
        c_values: &mut Buffer<T>,
    ) -> Result<()> {
        let Places { runs: Runs { end: run_end, pieces: piece }, pairs, first, stride } = *places;
        let (nnz, pieces) = (run_end.len(), piece.len());
        let (a_stride, b_stride, c_stride) = (a.stride as u32, b.stride as u32, stride as u32);
        let (rows, inner, cols) = (self.a.rows() as u32, self.a.cols() as u32, self.b.cols() as u32);
        let (area, group_size) = ((rows * cols) as usize, self.tuning.group_size);
        match &self.kernels {
            Kernels::Tiles { kernel, tiles } => {
                let teams = group_size / (self.b.cols() / tiles.cols);
                let groups = pieces.div_ceil(tiles.piece_teams) + nnz.div_ceil(teams * tiles.batch);
                let args = SumTiles {
                    run_end,
                    piece,
                    pair: pairs,
                    a_values: &a.values,
                    b_values: &b.values,
                    parts: &mut *parts,
                    c_values: &mut *c_values,
                    nnz: nnz as u32,
                    pieces: pieces as u32,
                    first,
                    a_stride,
                    b_stride,
                    c_stride,
                    alpha,
                    beta,
                };
                kernel.launch(work, Grid::groups(groups, group_size), args)?;
            }
            Kernels::Staged { kernel, tiles } => {
                let nnz = if self.empty_runs { nnz } else { 0 };
                let groups = pieces.div_ceil(tiles.teams) + nnz.div_ceil(group_size);
                let args = SumStaged {
                    run_end,
                    piece,
                    pair: pairs,
                    a_values: &a.values,
                    b_values: &b.values,
                    parts: &mut *parts,
                    c_values: &mut *c_values,
                    nnz: nnz as u32,
                    pieces: pieces as u32,
                    first,
                    a_stride,
                    b_stride,
                    c_stride,
                    alpha,
                    beta,
                };
                kernel.launch(work, Grid::groups(groups, group_size), args)?;
            }
            Kernels::Serial { runs, each, pieces: of_pieces } => {
                let args = SumSerial {
                    run_end,
                    pair: pairs,
                    a_values: &a.values,
                    b_values: &b.values,
                    c_values: &mut *c_values,
                    nnz: nnz as u32,
                    first,
                    a_stride,
                    b_stride,
                    c_stride,
                    alpha,
                    beta,
                };
                runs.launch(work, Grid::items(nnz.div_ceil(*each), group_size), args)?;
                let args = SumPieces {
                    piece,
                    pair: pairs,
                    a_values: &a.values,
                    b_values: &b.values,
                    parts: &mut *parts,
                    c_values: &mut *c_values,
                    first,
                    a_stride,
                    b_stride,
                    c_stride,
                    alpha,
                    beta,
                };
                of_pieces.launch(work, Grid::groups(pieces, group_size), args)?;
            }
            Kernels::Any { runs, pieces: of_pieces } => {
                let args = SumAnyBlocks {
                    run_end,
                    pair: pairs,
                    a_values: &a.values,
                    b_values: &b.values,
                    c_values: &mut *c_values,
                    nnz: nnz as u32,
                    first,
                    a_stride,
                    b_stride,
                    c_stride,
                    alpha,
                    beta,
                    rows,
                    inner,
                    cols,
                };
                runs.launch(work, Grid::items(nnz * area, group_size), args)?;
                let args = SumAnyPieces {
                    piece,
                    pair: pairs,
                    a_values: &a.values,
                    b_values: &b.values,
                    parts: &mut *parts,
                    c_values: &mut *c_values,
                    pieces: pieces as u32,
                    first,
                    a_stride,
                    b_stride,
                    c_stride,
                    alpha,
                    beta,
                    rows,
                    inner,
                    cols,
                };
                of_pieces.launch(work, Grid::items(pieces * area, group_size), args)?;
            }
        }
        if parts.len() == 0 {
            return Ok(());
        }
        let args = AddParts {
            piece,
            run_end,
            parts,
            c_values,
            pieces: pieces as u32,
            first,
            c_stride,
            alpha,
            beta,
            area: area as u32,
        };
        self.add_parts.launch(work, Grid::items(pieces * area, group_size), args)
    }
}
