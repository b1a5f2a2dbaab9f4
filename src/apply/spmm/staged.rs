//! Lines of scalars times D on a GPU, each by one slot of work-items, which stage its entries in
//! local memory. Kernels: `cl/apply/spmm/staged.cl`.
//!
//! A piece of a long line has a slot of its own, whose items have one column each and many rows of
//! D on their way: the time of the longest piece is that of its rounds.
use super::{
    Dense, Operands, Request,
    lines::{Entries, Variants},
    tuning::{Pass, Slot},
};
use crate::{
    Device, Element, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Scalar, Teams, Work, at_most, kernel},
    element::{Piece, Scaling},
    tuning::Numbers,
    vector::line_sums::Stored,
};

kernel! {
    struct SumTiles<T: Element> = "sum_tiles"
        in "ptx.cl", "apply/spmm/vectors.cl", "apply/spmm/staged.cl"
    {
        line_ptr: In<u32>,
        other: In<u32>,
        source: In<u32>,
        values: In<T>,
        d: In<T>,
        c: InOut<T>,
        lines: u32,
        taken: u32,
        columns: u32,
        shares_last: u32,
        d_leading: u32,
        c_leading: u32,
        stride: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
    }
}

kernel! {
    struct SumPieces<T: Element> = "sum_pieces"
        in "ptx.cl", "apply/spmm/vectors.cl", "apply/spmm/staged.cl"
    {
        piece: In<Piece>,
        other: In<u32>,
        source: In<u32>,
        values: In<T>,
        d: In<T>,
        parts: InOut<T::Arithmetic>,
        c: InOut<T>,
        pieces: u32,
        columns: u32,
        shares_last: u32,
        d_leading: u32,
        c_leading: u32,
        stride: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
    }
}

pub(super) struct Staged<T: Element> {
    /// For C by rows, and by columns.
    tiles: [Variants<SumTiles<'static, T>>; 2],
    pieces: [Kernel<SumPieces<'static, T>>; 2],
    of_piece: Slot,
    numbers: Numbers,
    n: usize,
}

impl<T: Element> Staged<T> {
    /// Kernels for lines of which those of more than `long` entries are in pieces.
    pub fn new(device: &Device, long: usize, request: &Request) -> Result<Self> {
        let (numbers, n) = (request.numbers, request.n);
        let options = |slot: &Slot, by_columns| -> Options {
            let options = slot
                .options::<T>(request.semiring, by_columns)
                .define("THROUGH", u8::from(request.through))
                .define("LONG", long)
                .define("TILE", slot.tile_lines::<T>(&numbers, by_columns))
                .define("STAGED", slot.staged_in_turn(&numbers));
            Teams::options_of(device.info(), options)
        };
        let tiles = |by_columns| {
            // The sums of a tile fit local memory.
            let vectors = if by_columns { 1 } else { numbers.dense_vectors };
            let numbers = Numbers { dense_vectors: vectors, ..numbers };
            Variants::new::<T>(device, (numbers, n), 1, |pass: &Pass| options(&pass.slot, by_columns))
        };
        let of_piece = Slot::of_piece(&numbers, n);
        let pieces = |by_columns| Kernel::rare(device, &options(&of_piece, by_columns));
        Ok(Self { tiles: [tiles(false)?, tiles(true)?], pieces: [pieces(false)?, pieces(true)?], of_piece, numbers, n })
    }

    /// Requests the kernels that write C by columns, or by rows.
    pub fn ask(&self, device: &Device, c_by_columns: bool, (tiles, pieces): (bool, bool)) {
        if tiles {
            self.tiles[usize::from(c_by_columns)].ask(device);
        }
        if pieces {
            self.pieces[usize::from(c_by_columns)].ask(device);
        }
    }

    /// The sums of `lines` lines, without those in pieces.
    pub fn sum_tiles(
        &self,
        work: &Work,
        lines: usize,
        Entries { line_ptr, other, source }: &Entries<'_>,
        &Operands { a: Stored { values, stride }, d, scaling: Scaling { alpha, beta } }: &Operands<'_, T>,
        c: &mut Dense<&mut Buffer<T>>,
    ) -> Result<()> {
        let leading: &[usize] = if c.by_columns { &[d.leading] } else { &[d.leading, c.leading] };
        for (Pass { slot, .. }, kernel) in self.tiles[usize::from(c.by_columns)].for_leading(leading) {
            let tile = slot.tile_lines::<T>(&self.numbers, c.by_columns);
            let groups = lines.div_ceil(tile) * self.n.div_ceil(slot.width());
            at_most("work-groups of a product with a dense matrix", groups as u64, u32::MAX.into())?;
            let args = SumTiles {
                line_ptr,
                other,
                source,
                values,
                d: d.values,
                c: &mut *c.values,
                lines: lines as u32,
                taken: (tile / slot.slots()) as u32,
                columns: self.n as u32,
                shares_last: slot.shares_last(self.numbers.dense_cache_bytes, &d),
                d_leading: d.leading as u32,
                c_leading: c.leading as u32,
                stride,
                alpha,
                beta,
            };
            kernel.launch(work, Grid::groups(groups, slot.group_size), args)?;
        }
        Ok(())
    }

    /// The sums of pieces: `parts`, and of lines that are not cut those in C.
    pub fn sum_pieces(
        &self,
        work: &Work,
        piece: &Buffer<Piece>,
        Entries { other, source, .. }: &Entries<'_>,
        &Operands { a: Stored { values, stride }, d, scaling: Scaling { alpha, beta } }: &Operands<'_, T>,
        (parts, c): (&mut Buffer<T::Arithmetic>, &mut Dense<&mut Buffer<T>>),
    ) -> Result<()> {
        let slots = piece.len() as u64 * self.n.div_ceil(self.of_piece.width()) as u64;
        at_most("slots of a product with a dense matrix", slots, u32::MAX.into())?;
        let args = SumPieces {
            piece,
            other,
            source,
            values,
            d: d.values,
            parts,
            c: &mut *c.values,
            pieces: piece.len() as u32,
            columns: self.n as u32,
            shares_last: self.of_piece.shares_last(self.numbers.dense_cache_bytes, &d),
            d_leading: d.leading as u32,
            c_leading: c.leading as u32,
            stride,
            alpha,
            beta,
        };
        let groups = (slots as usize).div_ceil(self.of_piece.slots());
        self.pieces[usize::from(c.by_columns)].launch(work, Grid::groups(groups, self.of_piece.group_size), args)
    }
}
