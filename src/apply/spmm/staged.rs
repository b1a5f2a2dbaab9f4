//! Lines of scalars times D on a GPU. A slot of work-items takes a line and stages its entries in
//! local memory. Kernel: `cl/apply/spmm/staged.cl`.
//!
//! A piece of a long line has a slot of its own. Each item of a piece's slot has one column and
//! loads many rows of D ahead, because the time of the slot grows with the rounds of its longest
//! piece. Pieces and the tiles of other lines are one launch, so that the last pieces do not run
//! alone.
use super::{
    DenseNumbers, Execution, Request,
    lines::Variants,
    operands::{InEntries, InOperands, InOutC},
    tuning::{Pass, Slot},
};
use crate::{
    Device, Result,
    device::{Buffer, Grid, In, InOut, Sum, Teams, Work, at_most, kernel},
    element::{ElementType, Piece},
};

kernel! {
    struct SumStaged = "sum_staged"
        in "ptx.cl", "apply/spmm/turn.cl", "apply/spmm/vectors.cl", "apply/spmm/staged.cl"
    {
        entries: InEntries,
        operands: InOperands,
        c: InOutC,
        piece: In<Piece>,
        parts: InOut<Sum>,
        lines: u32,
        taken: u32,
        pieces: u32,
        piece_groups: u32,
        columns: u32,
        shares_last: u32,
        piece_shares_last: u32,
    }
}

pub(super) struct Staged {
    /// The kernels for C by rows, and for C by columns.
    kernels: [Variants<SumStaged<'static>>; 2],
    of_piece: Slot,
    element: ElementType,
    numbers: DenseNumbers,
    n: usize,
}

impl Staged {
    /// Kernels for all lines. Lines of more than `long` entries are cut into pieces; `pieces` is
    /// the number of all pieces.
    pub fn new(device: &Device, (long, pieces): (usize, usize), request: &Request) -> Self {
        let &Request { element, numbers, n, semiring, through, .. } = request;
        let of_piece = Slot::of_piece(&numbers, n);
        let kernels = |by_columns| {
            let of_device = device.clone();
            let options = move |Pass { slot, .. }: &Pass| {
                let options = slot
                    .options(element, semiring, by_columns)
                    .define("THROUGH", u8::from(through))
                    .define("LONG", long)
                    .define("TILE", slot.tile_lines(element, &numbers, &of_piece, by_columns))
                    .define("STAGED", slot.staged_in_turn(&numbers))
                    .define("PIECES", u8::from(pieces > 0))
                    .define("PIECE_LANES", of_piece.lanes)
                    .define("PIECE_AHEAD", of_piece.ahead)
                    .define("PIECE_STAGED", of_piece.staged_in_turn(&numbers));
                Teams::options_of(of_device.info(), options)
            };
            // The sums of a tile must fit local memory.
            let vectors = if by_columns { 1 } else { numbers.dense_vectors };
            Variants::new(device, element, DenseNumbers { dense_vectors: vectors, ..numbers }, n, 1, options)
        };
        Self { kernels: [kernels(false), kernels(true)], of_piece, element, numbers, n }
    }

    /// Starts to compile the kernels that write C by columns, or by rows.
    pub fn ask(&self, c_by_columns: bool) -> Result<()> {
        self.kernels[usize::from(c_by_columns)].ask()
    }

    /// Computes the sums of `lines` lines into C. The sums of pieces go to `parts`, or into C if
    /// the piece is a whole line.
    pub fn run(
        &self,
        work: &Work,
        lines: usize,
        piece: &Buffer<Piece>,
        parts: &mut Buffer,
        Execution { entries, operands, mut c }: Execution<'_>,
    ) -> Result<()> {
        let piece_slots = piece.len() * self.n.div_ceil(self.of_piece.width());
        let mut piece_groups = piece_slots.div_ceil(self.of_piece.slots());
        for variant in self.kernels[usize::from(c.by_columns)].for_operands(&operands, &c) {
            let (Pass { slot, .. }, kernel) = variant?;
            let tile = slot.tile_lines(self.element, &self.numbers, &self.of_piece, c.by_columns);
            let groups = piece_groups + lines.div_ceil(tile) * self.n.div_ceil(slot.width());
            let most = groups.max(piece_slots) as u64;
            at_most("work-groups of a product with a dense matrix", most, u32::MAX.into())?;
            let args = SumStaged {
                entries,
                operands,
                c: c.again(),
                piece,
                parts: &mut *parts,
                lines: lines as u32,
                taken: (tile / slot.slots()) as u32,
                pieces: piece.len() as u32,
                piece_groups: piece_groups as u32,
                columns: self.n as u32,
                shares_last: slot.shares_last(self.numbers.dense_cache_bytes, &operands.d),
                piece_shares_last: self.of_piece.shares_last(self.numbers.dense_cache_bytes, &operands.d),
            };
            kernel.launch(work, Grid::groups(groups, slot.group_size), args)?;
            // Further passes compute other columns of the tiles. The first pass has computed all
            // columns of the pieces.
            piece_groups = 0;
        }
        Ok(())
    }
}
