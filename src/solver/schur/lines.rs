//! Products of Z with vectors: r = b_c - Z·y, summed along the rows of Z, and x_p = L⁻ᵀ·(y -
//! Zᵀ·x_c), summed along the columns of Z. Kernels: `cl/solver/schur/lines.cl`.
//!
//! Long rows or columns (lines) are cut into pieces of [`RUN_PIECE`] terms, and a work-group adds
//! one piece. If a line is short, one work-item adds all terms of an element.
use super::{
    factor::Factors,
    numbers::{GROUP, LINE_BYTES, SchurNumbers},
    structure::scan,
};
use crate::{
    BlockShape, Result,
    device::{Buffer, Device, Elem, Grid, In, Kernel, Options, Out, Scratch, Work, kernel},
    element::{ElementType, Piece},
    primitives::segmented_reduce::RUN_PIECE,
    resident::PatternArrays,
};
use std::sync::Arc;

kernel! {
    in "solver/schur/lines.cl":
    struct CountPieces = "count_pieces" { line_ptr: In<u32>, piece_ptr: Out<u32>, lines: u32 }
    struct MakePieces = "make_pieces" {
        line_ptr: In<u32>,
        piece_ptr: In<u32>,
        piece: Out<Piece>,
        lines: u32,
        pieces: u32,
    }
    struct SumPieces = "sum_pieces" {
        piece: In<Piece>,
        other: In<u32>,
        source: In<u32>,
        z: In<Elem>,
        x: In<Elem>,
        parts: Out<Elem>,
    }
    struct ReduceRows = "reduce_rows" {
        line_ptr: In<u32>,
        other: In<u32>,
        source: In<u32>,
        piece_ptr: In<u32>,
        parts: In<Elem>,
        z: In<Elem>,
        x: In<Elem>,
        b: In<Elem>,
        r: Out<Elem>,
        lines: u32,
    }
    struct BackSubstitute = "back_substitute" {
        line_ptr: In<u32>,
        other: In<u32>,
        piece_ptr: In<u32>,
        parts: In<Elem>,
        z: In<Elem>,
        x: In<Elem>,
        y: In<Elem>,
        factor: In<Elem>,
        x_p: Out<Elem>,
        lines: u32,
    }
}

/// The rows or the columns of Z.
struct Lines {
    /// The pattern of Z or of its transpose. The columns of the pattern are the lines.
    pattern: Arc<PatternArrays>,
    piece_ptr: Buffer<u32>,
    pieces: Buffer<Piece>,
    /// Memory for the sums of the pieces.
    parts: Scratch,
    sum_pieces: Kernel<SumPieces<'static>>,
}

/// Number of points that a work-group processes.
fn points(side: usize) -> usize {
    GROUP / side
}

/// Options of `count_pieces` and `make_pieces`, which do not depend on shapes.
fn sharing(device: &Device, group_size: usize) -> Options {
    let SchurNumbers { schur_short_line: long } = device.info().numbers();
    Options::group_size(group_size).define("LONG", long).define("PIECE", RUN_PIECE)
}

/// Options of the kernels that sum rows or columns of blocks of `shape`, in work-groups of
/// `group_size`.
fn sums(device: &Device, element: ElementType, group_size: usize, shape: BlockShape, by_rows: bool) -> Options {
    let depth = LINE_BYTES / (shape.area() * element.bytes());
    sharing(device, group_size)
        .element(element)
        .define("C", shape.rows())
        .define("P", shape.cols())
        .define("BY_ROWS", u8::from(by_rows))
        .define("DEPTH", depth.clamp(1, 64))
        .define("POINTS", points(shape.cols()))
}

fn count_pieces(device: &Device) -> Result<Kernel<CountPieces<'static>>> {
    Kernel::new(device, &sharing(device, GROUP))
}

/// Requests the kernels of [`ReducedRightSide`] and of [`BackSubstitution`].
pub(super) fn ask(device: &Device, element: ElementType, shape: BlockShape) -> Result<()> {
    scan(device)?;
    count_pieces(device)?;
    ReducedRightSide::kernel(device, element, shape)?;
    BackSubstitution::kernel(device, element, shape).map(drop)
}

impl Lines {
    fn new(
        work: &Work,
        element: ElementType,
        shape: BlockShape,
        pattern: Arc<PatternArrays>,
        by_rows: bool,
    ) -> Result<Self> {
        let (device, cols) = (work.device(), pattern.ncols);
        let (line_ptr, lines) = (&pattern.col_ptr, cols as u32);
        let count = count_pieces(device)?;
        let make: Kernel<MakePieces<'_>> = Kernel::rare(device, &sharing(device, GROUP))?;
        let sum_pieces = Kernel::rare(device, &sums(device, element, GROUP, shape, by_rows))?;
        let mut piece_ptr = work.buffer(cols + 1)?;
        let args = CountPieces { line_ptr, piece_ptr: &mut piece_ptr, lines };
        count.launch(work, Grid::items(cols + 1, GROUP), args)?;
        scan(device)?.run(work, &mut piece_ptr)?;
        let n = work.read_count(&piece_ptr, cols, "pieces of lines", (pattern.nnz() + cols) as u64)? as usize;
        let mut pieces = work.buffer(n)?;
        let args = MakePieces { line_ptr, piece_ptr: &piece_ptr, piece: &mut pieces, lines, pieces: n as u32 };
        make.launch(work, Grid::items(n, GROUP), args)?;
        let parts = Scratch::of(device, element.word(), n * if by_rows { shape.rows() } else { shape.cols() })?;
        Ok(Self { pattern, piece_ptr, pieces, parts, sum_pieces })
    }

    /// Sums the pieces of long lines. `source` gives the entry of Z for each term.
    fn sum_pieces(
        &self,
        work: &Work,
        source: Option<&Buffer<u32>>,
        z: &Buffer,
        x: &Buffer,
        parts: &mut Buffer,
    ) -> Result<()> {
        let other = &self.pattern.row_idx;
        let (piece, source) = (&self.pieces, source.unwrap_or(other));
        let args = SumPieces { piece, other, source, z, x, parts };
        self.sum_pieces.launch(work, Grid::groups(self.pieces.len(), GROUP), args)
    }

    fn bytes(&self) -> u64 {
        self.piece_ptr.bytes() + self.pieces.bytes() + self.parts.bytes()
    }
}

/// Computes r = b_c - Z·y.
pub(super) struct ReducedRightSide {
    lines: Lines,
    source: Buffer<u32>,
    kernel: Kernel<ReduceRows<'static>>,
    side: usize,
}

impl ReducedRightSide {
    /// Prepares for a Z with blocks of `shape`. `transpose` is the transpose of its pattern, and
    /// `source` gives the entry of Z for each entry of the transpose.
    pub fn new(
        work: &Work,
        element: ElementType,
        shape: BlockShape,
        transpose: Arc<PatternArrays>,
        source: Buffer<u32>,
    ) -> Result<Self> {
        let lines = Lines::new(work, element, shape, transpose, true)?;
        let kernel = Self::kernel(work.device(), element, shape)?;
        Ok(Self { lines, source, kernel, side: shape.rows() })
    }

    fn kernel(device: &Device, element: ElementType, shape: BlockShape) -> Result<Kernel<ReduceRows<'static>>> {
        Kernel::new(device, &sums(device, element, GROUP, shape, true))
    }

    pub fn run(&self, work: &Work, z: &Buffer, y: &Buffer, b: &Buffer, r: &mut Buffer) -> Result<()> {
        work.stage("rhs");
        let Lines { pattern, piece_ptr, parts, .. } = &self.lines;
        let parts = &mut *parts.take(work)?;
        self.lines.sum_pieces(work, Some(&self.source), z, y, parts)?;
        let cameras = pattern.ncols;
        let args = ReduceRows {
            line_ptr: &pattern.col_ptr,
            other: &pattern.row_idx,
            source: &self.source,
            piece_ptr,
            parts,
            z,
            x: y,
            b,
            r,
            lines: cameras as u32,
        };
        self.kernel.launch(work, Grid::items(cameras * self.side, GROUP), args)
    }

    pub fn bytes(&self) -> u64 {
        self.lines.bytes() + self.source.bytes() + self.lines.pattern.bytes()
    }
}

/// Computes x_p = L⁻ᵀ·(y - Zᵀ·x_c).
pub(super) struct BackSubstitution {
    lines: Lines,
    kernel: Kernel<BackSubstitute<'static>>,
    side: usize,
}

impl BackSubstitution {
    /// Prepares for a Z with blocks of `shape` and this pattern.
    pub fn new(work: &Work, element: ElementType, shape: BlockShape, pattern: Arc<PatternArrays>) -> Result<Self> {
        let lines = Lines::new(work, element, shape, pattern, false)?;
        let kernel = Self::kernel(work.device(), element, shape)?;
        Ok(Self { lines, kernel, side: shape.cols() })
    }

    fn kernel(device: &Device, element: ElementType, shape: BlockShape) -> Result<Kernel<BackSubstitute<'static>>> {
        Kernel::new(device, &sums(device, element, Self::group_size(device), shape, false))
    }

    fn group_size(device: &Device) -> usize {
        device.info().serial_or(GROUP)
    }

    pub fn run(&self, work: &Work, z: &Buffer, x_c: &Buffer, factors: &Factors, x_p: &mut Buffer) -> Result<()> {
        work.stage("back_substitution");
        let Lines { pattern, piece_ptr, parts, .. } = &self.lines;
        let parts = &mut *parts.take(work)?;
        self.lines.sum_pieces(work, None, z, x_c, parts)?;
        let args = BackSubstitute {
            line_ptr: &pattern.col_ptr,
            other: &pattern.row_idx,
            piece_ptr,
            parts,
            z,
            x: x_c,
            y: &factors.y,
            factor: &factors.l,
            x_p,
            lines: pattern.ncols as u32,
        };
        let device = work.device();
        let grid = Grid::groups(pattern.ncols.div_ceil(points(self.side)), Self::group_size(device));
        self.kernel.launch(work, grid, args)
    }

    pub fn bytes(&self) -> u64 {
        self.lines.bytes()
    }
}
