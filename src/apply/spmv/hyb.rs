//! HYB. The head of a row is its entries up to a width, padded to this width. The tail of a row is
//! its entries beyond the width. Tails are stored row after row. Kernels: `cl/apply/spmv/hyb.cl`.
//!
//! A work-item adds the head of a scalar row. A work-group adds a tile of short tails, or a piece
//! of a long tail. The sum of a tail starts from the sum of its head, so terms are added in
//! ascending order.
use super::{
    Format, Layout, PackedOrder, Rows, Sums,
    profile::check_places,
    split::Split,
    tails::{Parts, TailKernels},
    terms::{InTerms, RowTerms},
};
use crate::{
    Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Scratch, Sum, Work, kernel},
    element::Piece,
    primitives::segmented_reduce::RUN_PIECE,
    vector::{
        InOutScaled, ScaledInto,
        line_sums::Stored,
        lines::{ELEMENTS, Limits, Shares},
    },
};

kernel! {
    in "ptx.cl", "once.cl", "apply/spmv/values.cl", "apply/spmv/row.cl", "apply/spmv/hyb.cl":
    struct SumHeads = "sum_heads" {
        terms: InTerms<u32>,
        line_before: In<u32>,
        head: InOut<Sum>,
        y: InOutScaled,
        rows: u32,
        width: u32,
    }
    struct SumTails = "sum_tails" {
        tail_ptr: In<u32>,
        tile_line: In<u32>,
        tail_row: In<u32>,
        terms: InTerms<u32>,
        head: In<Sum>,
        y: InOutScaled,
        heads: u64,
        tile: u32,
    }
    struct SumTailPieces = "sum_tail_pieces" {
        piece: In<Piece>,
        tail_ptr: In<u32>,
        tail_row: In<u32>,
        terms: InTerms<u32>,
        head: In<Sum>,
        parts: InOut<Sum>,
        y: InOutScaled,
        heads: u64,
    }
    struct AddTailParts = "add_tail_parts" { cut: In<Piece>, tail_row: In<u32>, parts: In<Sum>, y: InOutScaled }
}

pub(super) struct Hyb {
    rows: usize,
    /// Number of sums.
    sums: usize,
    parts: Parts,
    shares: Shares,
    /// Entries in a tile of tails.
    tile: usize,
    heads: Kernel<SumHeads<'static>>,
    tails: Kernel<SumTails<'static>>,
    pieces: Kernel<SumTailPieces<'static>>,
    add_parts: Kernel<AddTailParts<'static>>,
    /// The sums of the heads of rows that have a tail.
    head: Scratch,
    /// The sums of the pieces of long tails.
    part: Scratch,
    /// Whether executions leave the index of the values unread.
    packed: bool,
    /// Work-items of a group that adds heads; `tail_group` is for tails.
    group_size: usize,
    tail_group: usize,
}

/// Cuts rows at the width that a split chooses.
pub(super) fn cut(work: &Work, rows: &Rows, split: Split, format: Format) -> Result<Parts> {
    let (kernels, value_bytes) = (TailKernels::new(rows.device(), rows)?, rows.value_bytes());
    let lengths = kernels.count(work, rows)?;
    let width = split.width(&lengths, value_bytes);
    let places = lengths.rows * u64::from(width) + lengths.beyond(width);
    check_places(format, [lengths.rows, lengths.entries, lengths.longest], places, value_bytes)?;
    kernels.place(work, rows, &lengths, width)
}

impl Hyb {
    pub fn new(work: &Work, rows: &Rows, split: Split) -> Result<Self> {
        let parts = cut(work, rows, split, Format::Hyb)?;
        let device = rows.device();
        let (group_size, tail_group) =
            (device.info().vector_group(), device.info().serial_or(device.info().vector_group()));
        let entries = (ELEMENTS / rows.block.area()).max(1);
        let options = |group_size| {
            let options = rows.options_through(Options::group_size(group_size), true);
            let heads = rows.len() as u64 * u64::from(parts.width);
            rows.by_item(options, heads, rows.len(), parts.width.into(), false).define("TILE", entries)
        };
        let of_tails = options(tail_group);
        let heads = Kernel::new(device, &options(group_size))?;
        let tails = Kernel::new(device, &of_tails)?;
        let (pieces, add_parts) = (Kernel::new(device, &of_tails)?, Kernel::new(device, &of_tails)?);

        // A tail in a tile must end within the first piece of its row.
        let (before, lines) = (parts.width as usize, parts.tail_row.len());
        // If fewer than 4 blocks fit, each tail has a group of its own: a few large blocks keep a
        // group busy.
        let tile = if entries < 4 { 0 } else { entries.min(RUN_PIECE - before) };
        let shares = Shares::new(work, &parts.tail_ptr, [lines, parts.tails], Limits::of_tiles(tile), before)?;
        let of_block = rows.block.sums;
        let head = Scratch::reserve_of(work, rows.elements.sum(), lines * of_block)?;
        let part = Scratch::reserve_of(work, rows.elements.sum(), shares.parts * of_block)?;
        let (packed, rows, sums) = (rows.packed, rows.len(), rows.sums());
        Ok(Self {
            rows,
            sums,
            parts,
            shares,
            tile,
            heads,
            tails,
            pieces,
            add_parts,
            head,
            part,
            packed,
            group_size,
            tail_group,
        })
    }
}

impl Sums for Hyb {
    fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, mut y: ScaledInto<'_>) -> Result<()> {
        let Parts { width, col, source, line_before, tail_ptr, tail_row, .. } = &self.parts;
        let terms = RowTerms { col, source: (!self.packed).then_some(source), a, x };
        let Shares { tile_line, pieces: piece, cuts: cut, .. } = &self.shares;
        let heads = self.rows as u64 * u64::from(*width);
        let (head, parts) = (&mut *self.head.take(work)?, &mut *self.part.take(work)?);
        let args = SumHeads { terms, line_before, head, y: y.again(), rows: self.rows as u32, width: *width };
        self.heads.launch(work, Grid::items(self.sums, self.group_size), args)?;
        let tile = self.tile as u32;
        let args = SumTails { tail_ptr, tile_line, tail_row, terms, head, y: y.again(), heads, tile };
        self.tails.launch(work, Grid::groups(self.shares.tiles(), self.tail_group), args)?;
        let args = SumTailPieces { piece, tail_ptr, tail_row, terms, head, parts, y: y.again(), heads };
        self.pieces.launch(work, Grid::groups(piece.len(), self.tail_group), args)?;
        let args = AddTailParts { cut, tail_row, parts, y };
        self.add_parts.launch(work, Grid::groups(cut.len(), self.tail_group), args)
    }

    fn order(&self) -> PackedOrder<'_> {
        let layout = Layout::Sliced { heads: self.rows * self.parts.width as usize, height: self.rows.max(1) };
        PackedOrder { places: self.parts.source.len(), source: Some(&self.parts.source), layout }
    }

    fn bytes(&self) -> u64 {
        self.parts.bytes() + self.shares.bytes() + self.head.bytes() + self.part.bytes()
    }
}
