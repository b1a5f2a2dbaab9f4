//! Lines of A times D, one slot of work-items for each line. A line is a row of A, or a row of
//! blocks. Kernels: `cl/apply/spmm/lines.cl`.
//!
//! All scalar rows of a block row multiply the same rows of D. The slot loads each of these rows of
//! D once, for all rows of the block row.
use super::{
    Dense, DenseNumbers, Execution, Operands, Request,
    block_tiles::BlockTiles,
    numbers::KEPT_ROWS,
    operands::{InEntries, InOperands, InOutC},
    staged::Staged,
    tuning::{self, Pass},
};
use crate::{
    BlockShape, Device, Result,
    apply::LEAST_SHARES,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Scalar, Scratch, Sum, Work, kernel},
    element::{ElementType, Piece, Scaling},
    primitives::segmented_reduce::RUN_PIECE,
    vector::lines::{self, Index, LongLines},
};
use std::sync::OnceLock;

kernel! {
    struct SumLines = "sum_lines"
        in "apply/spmm/turn.cl", "apply/spmm/vectors.cl", "apply/spmm/lines.cl"
    {
        entries: InEntries,
        operands: InOperands,
        c: InOutC,
        tile_line: In<u32>,
        piece: In<Piece>,
        parts: InOut<Sum>,
        pieces: u32,
        tasks: u32,
        column: u32,
        columns: u32,
        share: u32,
        shares_last: u32,
        part_width: u32,
        past: u32,
    }
}

kernel! {
    struct AddParts = "add_parts"
        in "apply/spmm/turn.cl", "apply/spmm/vectors.cl", "apply/spmm/lines.cl"
    {
        cut: In<Piece>,
        parts: In<Sum>,
        c: InOutC,
        cuts: u32,
        columns: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
}

/// Lines that are not cut in pieces.
struct Tiles {
    /// The first line of each tile. If no line is in a tile, the buffer has one element.
    line: Buffer<u32>,
    /// Number of lines that are in tiles.
    lines: usize,
}

/// The division of lines among work-groups, and the kernels that add them.
pub(super) struct LineSums {
    tiles: Tiles,
    pieces: Buffer<Piece>,
    cuts: Buffer<Piece>,
    parts: Scratch,
    kernels: Kernels,
    /// Kernels that add the pieces of long lines, for C by rows and by columns, or `None` if no
    /// line is cut.
    add_parts: Option<[Kernel<AddParts<'static>>; 2]>,
    side: usize,
    cache_bytes: usize,
    /// If C has at least `past_bytes` bytes, a CPU writes it past its caches.
    past_bytes: usize,
    n: usize,
    group_size: usize,
}

/// The kernels of whole lines. In an array, the first is for C by rows and the second for C by
/// columns.
enum Kernels {
    /// Kernels for blocks, and for scalars on CPUs. For blocks on a GPU and C by columns, the lines
    /// that are not long have a kernel of their own if the sums of a work-group fit local memory.
    Plain([Variants<SumLines<'static>>; 2], Option<Box<BlockTiles>>),
    /// Kernels for scalars on GPUs.
    Staged(Box<Staged>),
}

/// A kernel for each pass over the columns of D. The kernels in `aligned` are for D and C with
/// aligned rows, and those in `any` for all other matrices. Most plans use only the kernels in
/// `aligned` or only the kernels in `any`.
pub(super) struct Variants<S> {
    device: Device,
    options: Box<OptionsOf>,
    aligned: Option<Vec<Variant<S>>>,
    any: Vec<Variant<S>>,
}

/// Makes the options of the kernel for a pass.
type OptionsOf = dyn Fn(&Pass) -> Options + Send + Sync;

/// A pass, and its kernel as soon as it is needed.
type Variant<S> = (Pass, OnceLock<Kernel<S>>);

impl<S: crate::device::Arguments> Variants<S> {
    /// Prepares kernels for `n` columns of D without compiling any.
    pub fn new(
        device: &Device,
        element: ElementType,
        numbers: DenseNumbers,
        n: usize,
        held: usize,
        options: impl Fn(&Pass) -> Options + Send + Sync + 'static,
    ) -> Self {
        let passes = |aligned| {
            let passes = tuning::passes(element, numbers, n, held, aligned)?;
            Some(passes.into_iter().map(|pass| (pass, OnceLock::new())).collect::<Vec<_>>())
        };
        let (aligned, any) = (passes(true), passes(false).unwrap_or_default());
        Self { device: device.clone(), options: Box::new(options), aligned, any }
    }

    pub fn passes(&self) -> impl Iterator<Item = &Pass> {
        self.aligned.iter().flatten().chain(&self.any).map(|(pass, _)| pass)
    }

    fn kernel<'a>(&'a self, (pass, kernel): &'a Variant<S>) -> Result<&'a Kernel<S>> {
        match kernel.get() {
            Some(kernel) => Ok(kernel),
            None => {
                let made = Kernel::rare(&self.device, &(self.options)(pass))?;
                Ok(kernel.get_or_init(|| made))
            }
        }
    }

    /// Starts to compile the kernels for matrices without gaps.
    pub fn ask(&self) -> Result<()> {
        let mut wanted = self.aligned.as_ref().unwrap_or(&self.any).iter();
        wanted.try_for_each(|variant| self.kernel(variant).map(|kernel| kernel.ask(&self.device)))
    }

    /// Returns the aligned passes if the leading dimensions of D, and of a C stored by rows, allow
    /// them, and else the passes for any matrices.
    pub fn for_operands(
        &self,
        operands: &Operands<'_>,
        c: &Dense<&mut Buffer>,
    ) -> impl Iterator<Item = Result<(&Pass, &Kernel<S>)>> + use<'_, S> {
        let (d, c) = (operands.d.leading, if c.by_columns { 0 } else { c.leading });
        let fits = |passes: &&Vec<Variant<S>>| {
            passes.iter().all(|(pass, _)| [d, c].iter().all(|leading| leading.is_multiple_of(pass.slot.vec)))
        };
        let passes = self.aligned.as_ref().filter(fits).unwrap_or(&self.any);
        passes.iter().map(|variant| self.kernel(variant).map(|kernel| (&variant.0, kernel)))
    }
}

/// Whether entries are staged in local memory. Staged lines are in tiles of a fixed number of
/// lines.
fn is_staged(shape: BlockShape, request: &Request) -> bool {
    request.numbers.dense_lanes > 1 && shape == BlockShape::SCALAR
}

impl LineSums {
    /// Divides the lines of an index among work-groups.
    pub fn new(work: &Work, index: &Index, shape: BlockShape, request: &Request) -> Result<Self> {
        let pattern = index.pattern();
        let long = tuning::longest(&request.numbers, pattern);
        let info = work.device().info();
        let most = match shape {
            BlockShape::SCALAR => request.numbers.dense_tile,
            _ => request.numbers.dense_block_tile,
        };
        let share = (pattern.nnz() + pattern.ncols).div_ceil(LEAST_SHARES * info.compute_units as usize);
        // A small matrix is divided among all compute units.
        let tile = share.clamp(most.min(RUN_PIECE), most);
        let staged = is_staged(shape, request);
        let line = if staged { work.buffer(1)? } else { lines::stretches(work, pattern, tile)? };
        let tiles = Tiles { line, lines: pattern.ncols };
        let in_pieces = LongLines::new(work, index, long)?;
        let whole = [pattern.ncols - in_pieces.len(), pattern.nnz() - in_pieces.entries];
        let request = match staged {
            true => Request { numbers: tuning::of_lines(request.numbers, whole), ..*request },
            false => *request,
        };
        Self::over(work, tiles, in_pieces, shape, long, &request)
    }

    /// Divides only the pieces of long lines among work-groups.
    pub fn of_pieces(work: &Work, long: LongLines, shape: BlockShape, request: &Request) -> Result<Self> {
        Self::over(work, Tiles { line: work.buffer(1)?, lines: 0 }, long, shape, RUN_PIECE, request)
    }

    fn over(
        work: &Work,
        tiles: Tiles,
        LongLines { pieces, cuts, parts, .. }: LongLines,
        shape: BlockShape,
        long: usize,
        request: &Request,
    ) -> Result<Self> {
        let (device, info, request) = (work.device(), work.device().info(), *request);
        let (side, depth) = request.sides(shape);
        let held = tuning::held_lines(side);
        let options = move |options: Options| {
            options
                .define("THROUGH", u8::from(request.through))
                .define("LONG", long)
                .define("SIDE", side)
                .define("DEPTH", depth)
                .define("ACROSS", u8::from(request.across))
                .define("HELD", held)
                .define("KEPT_ROWS", KEPT_ROWS)
        };
        let plain = |by_columns| {
            let options = move |pass: &Pass| {
                options(pass.slot.options(request.element, request.semiring, by_columns)).define("TILED", 0)
            };
            Variants::new(device, request.element, request.numbers, request.n, held, options)
        };
        let kernels = match is_staged(shape, &request) {
            true => Kernels::Staged(Box::new(Staged::new(device, (long, pieces.len()), &request))),
            false => {
                let of_blocks = BlockTiles::new(device, (side, held), &request, options);
                Kernels::Plain([plain(false), plain(true)], of_blocks.map(Box::new))
            }
        };
        let group_size = info.vector_group();
        let alone = tuning::Slot { group_size, lanes: 1, vec: 1, vectors: 1, aligned: false, ahead: 1 };
        let add = |by_columns| -> Result<_> {
            Kernel::rare(
                device,
                &options(alone.options(request.element, request.semiring, by_columns)).define("TILED", 0),
            )
        };
        let add_parts = if cuts.len() > 0 { Some([add(false)?, add(true)?]) } else { None };
        Ok(Self {
            parts: Scratch::reserve_of(work, request.element.arithmetic().word(), parts * side * request.n)?,
            tiles,
            pieces,
            cuts,
            kernels,
            add_parts,
            side,
            cache_bytes: request.numbers.dense_cache_bytes,
            past_bytes: request.numbers.dense_past_bytes,
            n: request.n,
            group_size,
        })
    }

    /// Starts to compile the kernels that write C by columns, or by rows.
    pub fn ask(&self, device: &Device, c_by_columns: bool) -> Result<()> {
        match &self.kernels {
            Kernels::Staged(staged) if self.tiles.lines + self.pieces.len() > 0 => staged.ask(c_by_columns)?,
            Kernels::Plain(plain, Some(tiles)) if c_by_columns => {
                if self.tiles.lines > 0 {
                    tiles.ask()?;
                }
                if self.pieces.len() > 0 {
                    plain[1].ask()?;
                }
            }
            Kernels::Plain(plain, _) if self.tasks() > 0 => plain[usize::from(c_by_columns)].ask()?,
            Kernels::Staged(_) | Kernels::Plain(..) => {}
        }
        self.add_parts.iter().for_each(|add_parts| add_parts[usize::from(c_by_columns)].ask(device));
        Ok(())
    }

    fn tasks(&self) -> usize {
        self.pieces.len() + self.tiles.line.len() - 1
    }

    /// C = alpha·A·D + beta·C, for D stored by rows.
    pub fn run(&self, work: &Work, mut of: Execution<'_>) -> Result<()> {
        let parts = &mut *self.parts.take(work)?;
        let by_columns = usize::from(of.c.by_columns);
        match &self.kernels {
            Kernels::Staged(staged) => staged.run(work, self.tiles.lines, &self.pieces, parts, of.again())?,
            Kernels::Plain([_, plain], Some(tiles)) if of.c.by_columns => {
                self.sum_lines(work, plain, self.pieces.len(), parts, of.again())?;
                tiles.run(work, self.tiles.lines, of.again())?;
            }
            Kernels::Plain(plain, _) => self.sum_lines(work, &plain[by_columns], self.tasks(), parts, of.again())?,
        }
        let Some(add_parts) = &self.add_parts else { return Ok(()) };
        let Scaling { alpha, beta } = of.operands.scaling;
        let cuts = self.cuts.len();
        let args = AddParts { cut: &self.cuts, parts, c: of.c, cuts: cuts as u32, columns: self.n as u32, alpha, beta };
        add_parts[by_columns].launch(work, Grid::items(cuts * self.side * self.n, self.group_size), args)
    }

    /// Computes the first `tasks` tasks: the pieces of long lines, and then tiles.
    fn sum_lines(
        &self,
        work: &Work,
        kernels: &Variants<SumLines<'static>>,
        tasks: usize,
        parts: &mut Buffer,
        Execution { entries, operands, mut c }: Execution<'_>,
    ) -> Result<()> {
        let past = u32::from(c.values.word().bytes() * c.values.len() >= self.past_bytes);
        for variant in kernels.for_operands(&operands, &c) {
            let (pass, kernel) = variant?;
            let Pass { column, columns, share, slot } = *pass;
            let args = SumLines {
                entries,
                operands,
                c: c.again(),
                tile_line: &self.tiles.line,
                piece: &self.pieces,
                parts: &mut *parts,
                pieces: self.pieces.len() as u32,
                tasks: tasks as u32,
                column: column as u32,
                columns: columns as u32,
                share: share as u32,
                shares_last: slot.shares_last(self.cache_bytes, &operands.d),
                part_width: self.n as u32,
                past,
            };
            kernel.launch(work, Grid::items(pass.items(tasks)?, slot.group_size), args)?;
        }
        Ok(())
    }

    /// Bytes of device memory held in addition to the index.
    pub fn bytes(&self) -> u64 {
        self.tiles.line.bytes() + self.pieces.bytes() + self.cuts.bytes() + self.parts.bytes()
    }
}
