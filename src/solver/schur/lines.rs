//! Products of Z with vectors: r = b_c - Z·y by its rows, x_p = L⁻ᵀ·(y - Zᵀ·x_c) by its columns. Kernels: `cl/solver/schur/lines.cl`.
//!
//! Long lines are cut into pieces of [`RUN_PIECE`] terms, each a work-group's; short ones are added by a work-item per element.
use super::{factor::Factor, structure::scan};
use crate::{
    BlockShape, DeviceKind, Element, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, source},
    element::Piece,
    primitives::segmented_reduce::RUN_PIECE,
    resident::PatternArrays,
};
use std::sync::Arc;

type CountSignature = (In<u32>, Out<u32>, u32);
type MakeSignature = (In<u32>, In<u32>, Out<Piece>, u32, u32);
type PiecesSignature<T> = (In<Piece>, In<u32>, In<u32>, In<T>, In<T>, Out<T>);
type RowsSignature<T> = (In<u32>, In<u32>, In<u32>, In<u32>, In<T>, In<T>, In<T>, In<T>, Out<T>, u32);
type BackSignature<T> = (In<u32>, In<u32>, In<u32>, In<T>, In<T>, In<T>, In<T>, In<T>, Out<T>, u32);

/// Work-items of a group: at least the longest side of a block.
const GROUP_SIZE: usize = 64;
/// Terms from which on a line has work-groups to itself: on a GPU an item adds a block in about a microsecond, most of it waiting for memory.
const LONG: usize = 32;
/// Local memory for the products of a group, in bytes.
const LOCAL_BYTES: usize = 16 << 10;

/// The lines of Z in one direction.
struct Lines<T: Element> {
    /// Columns of Z, or of its transpose.
    pattern: Arc<PatternArrays>,
    piece_ptr: Buffer<u32>,
    pieces: Buffer<Piece>,
    parts: Buffer<T>,
    sum_pieces: Kernel<PiecesSignature<T>>,
}

/// Points of a work-group.
fn points(side: usize) -> usize {
    GROUP_SIZE / side
}

/// Options of `count_pieces` and `make_pieces`, which are the same for all shapes.
fn sharing(device: &Device, group_size: usize) -> Options {
    Options::group_size(group_size)
        .define("LONG", if device.info().kind == DeviceKind::Cpu { RUN_PIECE } else { LONG })
        .define("PIECE", RUN_PIECE)
}

/// Options of the kernels that sum rows or columns in blocks of `shape`, in groups of `group_size`.
fn sums<T: Element>(device: &Device, group_size: usize, shape: BlockShape, by_rows: bool) -> Options {
    sharing(device, group_size)
        .element::<T>()
        .define("C", shape.rows())
        .define("P", shape.cols())
        .define("BY_ROWS", u8::from(by_rows))
        .define("DEPTH", (LOCAL_BYTES / (shape.area() * size_of::<T>())).clamp(1, 64))
        .define("POINTS", points(shape.cols()))
}

fn count_pieces(device: &Device) -> Result<Kernel<CountSignature>> {
    device.kernel(source!("solver/schur/lines.cl"), &sharing(device, GROUP_SIZE), "count_pieces")
}

/// Asks for the kernels of [`Rows`] and of [`Columns`].
pub(super) fn ask<T: Element>(device: &Device, shape: BlockShape) -> Result<()> {
    scan(device)?;
    count_pieces(device)?;
    Rows::<T>::kernel(device, shape)?;
    Columns::<T>::kernel(device, shape).map(drop)
}

impl<T: Element> Lines<T> {
    fn new(work: &Work, shape: BlockShape, pattern: Arc<PatternArrays>, by_rows: bool) -> Result<Self> {
        let (device, lines, source) = (work.device(), pattern.ncols, source!("solver/schur/lines.cl"));
        let count = count_pieces(device)?;
        let make: Kernel<MakeSignature> = device.rare_kernel(source, &sharing(device, GROUP_SIZE), "make_pieces")?;
        let sum_pieces = device.rare_kernel(source, &sums::<T>(device, GROUP_SIZE, shape, by_rows), "sum_pieces")?;
        let mut piece_ptr = work.buffer(lines + 1)?;
        let args = (&pattern.col_ptr, &mut piece_ptr, lines as u32);
        count.launch(work, Grid::items(lines + 1, GROUP_SIZE), args)?;
        scan(device)?.run(work, &mut piece_ptr)?;
        let n = work.read_count(&piece_ptr, lines, "pieces of lines", (pattern.nnz() + lines) as u64)? as usize;
        let mut pieces = work.buffer(n)?;
        let args = (&pattern.col_ptr, &piece_ptr, &mut pieces, lines as u32, n as u32);
        make.launch(work, Grid::items(n, GROUP_SIZE), args)?;
        let parts = work.buffer(n * if by_rows { shape.rows() } else { shape.cols() })?;
        Ok(Self { pattern, piece_ptr, pieces, parts, sum_pieces })
    }

    /// The sums of the pieces of long lines; `source` is the entry of Z behind each term.
    fn sum_pieces(&mut self, work: &Work, source: Option<&Buffer<u32>>, z: &Buffer<T>, x: &Buffer<T>) -> Result<()> {
        let other = &self.pattern.row_idx;
        let args = (&self.pieces, other, source.unwrap_or(other), z, x, &mut self.parts);
        self.sum_pieces.launch(work, Grid::groups(self.pieces.len(), GROUP_SIZE), args)
    }

    fn bytes(&self) -> u64 {
        self.piece_ptr.bytes() + self.pieces.bytes() + self.parts.bytes()
    }
}

/// r = b_c - Z·y.
pub(super) struct Rows<T: Element> {
    lines: Lines<T>,
    source: Buffer<u32>,
    kernel: Kernel<RowsSignature<T>>,
    side: usize,
}

impl<T: Element> Rows<T> {
    /// For Z in blocks of `shape`, on a pattern whose transpose is this, its entries those of `source`.
    pub fn new(work: &Work, shape: BlockShape, transpose: Arc<PatternArrays>, source: Buffer<u32>) -> Result<Self> {
        let lines = Lines::new(work, shape, transpose, true)?;
        let kernel = Self::kernel(work.device(), shape)?;
        Ok(Self { lines, source, kernel, side: shape.rows() })
    }

    fn kernel(device: &Device, shape: BlockShape) -> Result<Kernel<RowsSignature<T>>> {
        device.kernel(source!("solver/schur/lines.cl"), &sums::<T>(device, GROUP_SIZE, shape, true), "reduce_rows")
    }

    pub fn run(&mut self, work: &Work, z: &Buffer<T>, y: &Buffer<T>, b: &Buffer<T>, r: &mut Buffer<T>) -> Result<()> {
        work.stage("rhs");
        self.lines.sum_pieces(work, Some(&self.source), z, y)?;
        let Lines { pattern, piece_ptr, parts, .. } = &self.lines;
        let cameras = pattern.ncols;
        let args = (&pattern.col_ptr, &pattern.row_idx, &self.source, piece_ptr, parts, z, y, b, r, cameras as u32);
        self.kernel.launch(work, Grid::items(cameras * self.side, GROUP_SIZE), args)
    }

    pub fn bytes(&self) -> u64 {
        self.lines.bytes() + self.source.bytes() + self.lines.pattern.bytes()
    }
}

/// x_p = L⁻ᵀ·(y - Zᵀ·x_c).
pub(super) struct Columns<T: Element> {
    lines: Lines<T>,
    kernel: Kernel<BackSignature<T>>,
    side: usize,
}

impl<T: Element> Columns<T> {
    /// For Z in blocks of `shape` on `pattern`.
    pub fn new(work: &Work, shape: BlockShape, pattern: Arc<PatternArrays>) -> Result<Self> {
        let lines = Lines::new(work, shape, pattern, false)?;
        let kernel = Self::kernel(work.device(), shape)?;
        Ok(Self { lines, kernel, side: shape.cols() })
    }

    fn kernel(device: &Device, shape: BlockShape) -> Result<Kernel<BackSignature<T>>> {
        let options = sums::<T>(device, Self::group_size(device), shape, false);
        device.kernel(source!("solver/schur/lines.cl"), &options, "back_substitute")
    }

    fn group_size(device: &Device) -> usize {
        device.info().serial_or(GROUP_SIZE)
    }

    pub fn run(
        &mut self,
        work: &Work,
        z: &Buffer<T>,
        x_c: &Buffer<T>,
        factor: &Factor<T>,
        x_p: &mut Buffer<T>,
    ) -> Result<()> {
        work.stage("back_substitution");
        self.lines.sum_pieces(work, None, z, x_c)?;
        let Lines { pattern, piece_ptr, parts, .. } = &self.lines;
        let (count, Factor { y, factor, .. }) = (pattern.ncols, factor);
        let args = (&pattern.col_ptr, &pattern.row_idx, piece_ptr, parts, z, x_c, y, factor, x_p, count as u32);
        let grid = Grid::groups(count.div_ceil(points(self.side)), Self::group_size(work.device()));
        self.kernel.launch(work, grid, args)
    }

    pub fn bytes(&self) -> u64 {
        self.lines.bytes()
    }
}
