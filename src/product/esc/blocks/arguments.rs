//! Arguments of the kernels of block sums.
use super::Places;
use crate::{
    OperandPair,
    device::{Buffer, Elem, In, InOut, Scalar, Sum, arguments, kernel},
    element::Piece,
    primitives::segmented_reduce::Runs,
    product::terms::Scaling,
    resident::DeviceCbc,
};

arguments! {
    /// The operand pairs, and the values to which they refer.
    pub(super) struct InPairs {
        pair: In<OperandPair>,
        a_values: In<Elem>,
        b_values: In<Elem>,
    }
}

arguments! {
    /// The places of the sums, and their scaling.
    pub(super) struct InPlaces {
        first: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
}

arguments! {
    /// The sides of the blocks, for kernels that are not compiled for them.
    pub(super) struct InSides {
        rows: u32,
        inner: u32,
        cols: u32,
    }
}

arguments! {
    pub(super) struct TileArguments {
        run_end: In<u32>,
        piece: In<Piece>,
        pairs: InPairs<'static>,
        parts: InOut<Sum>,
        c_values: InOut<Elem>,
        nnz: u32,
        pieces: u32,
        places: InPlaces<'static>,
    }
}

kernel! {
    pub(super) struct SumTiles = "sum_tiles" in "ptx.cl", "product/esc/blocks/words.cl", "product/esc/blocks/tiles.cl" with TileArguments
}

kernel! {
    pub(super) struct SumStaged = "sum_staged" in "ptx.cl", "product/esc/blocks/words.cl", "product/esc/blocks/staged.cl" with TileArguments
}

kernel! {
    in "ptx.cl", "product/esc/blocks/words.cl", "product/esc/blocks/runs.cl", "product/esc/blocks/sums.cl":
    pub(super) struct SumSerial = "sum_serial" {
        run_end: In<u32>,
        pairs: InPairs<'static>,
        c_values: InOut<Elem>,
        nnz: u32,
        places: InPlaces<'static>,
    }
    pub(super) struct SumPieces = "sum_pieces" {
        piece: In<Piece>,
        pairs: InPairs<'static>,
        parts: InOut<Sum>,
        c_values: InOut<Elem>,
        places: InPlaces<'static>,
    }
    pub(super) struct SumAnyBlocks = "sum_any_blocks" {
        run_end: In<u32>,
        pairs: InPairs<'static>,
        c_values: InOut<Elem>,
        nnz: u32,
        places: InPlaces<'static>,
        sides: InSides<'static>,
    }
    pub(super) struct SumAnyPieces = "sum_any_pieces" {
        piece: In<Piece>,
        pairs: InPairs<'static>,
        parts: InOut<Sum>,
        c_values: InOut<Elem>,
        pieces: u32,
        places: InPlaces<'static>,
        sides: InSides<'static>,
    }
    pub(super) struct AddParts = "add_parts" {
        piece: In<Piece>,
        run_end: In<u32>,
        parts: In<Sum>,
        c_values: InOut<Elem>,
        pieces: u32,
        first: u32,
        c_stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
        area: u32,
    }
}

/// All arrays and numbers from which the arguments of these kernels are taken.
pub(super) struct SumArrays<'a> {
    pub a: &'a DeviceCbc,
    pub b: &'a DeviceCbc,
    pub places: &'a Places<'a>,
    pub scaling: Scaling,
    /// Sums of the parts of runs that are cut.
    pub parts: &'a mut Buffer,
    pub c_values: &'a mut Buffer,
    /// Rows of a block of A, columns of a block of A, columns of a block of B.
    pub sides: [u32; 3],
}

impl<'a> SumArrays<'a> {
    pub fn pairs<'x>(&self) -> InPairs<'x>
    where
        'a: 'x,
    {
        InPairs { pair: self.places.pairs, a_values: &self.a.values, b_values: &self.b.values }
    }

    pub fn places<'x>(&self) -> InPlaces<'x> {
        let Scaling { alpha, beta } = self.scaling;
        let strides = [self.a.stride, self.b.stride, self.places.stride];
        let [a_stride, b_stride, c_stride] = strides.map(|stride| stride as u32);
        InPlaces { first: self.places.first, a_stride, b_stride, c_stride, alpha, beta }
    }

    fn sides<'x>(&self) -> InSides<'x> {
        let [rows, inner, cols] = self.sides;
        InSides { rows, inner, cols }
    }

    /// The arguments of a kernel that looks at `nnz` runs in addition to the pieces.
    pub fn tiles(&mut self, nnz: usize) -> TileArguments<'_> {
        let Runs { end: run_end, pieces: piece } = self.places.runs;
        TileArguments {
            run_end,
            piece,
            pairs: self.pairs(),
            places: self.places(),
            parts: &mut *self.parts,
            c_values: &mut *self.c_values,
            nnz: nnz as u32,
            pieces: piece.len() as u32,
        }
    }

    pub fn serial(&mut self) -> SumSerial<'_> {
        let (run_end, pairs, places) = (self.places.runs.end, self.pairs(), self.places());
        SumSerial { run_end, pairs, c_values: &mut *self.c_values, nnz: run_end.len() as u32, places }
    }

    pub fn pieces(&mut self) -> SumPieces<'_> {
        let (piece, pairs, places) = (self.places.runs.pieces, self.pairs(), self.places());
        SumPieces { piece, pairs, parts: &mut *self.parts, c_values: &mut *self.c_values, places }
    }

    pub fn any_blocks(&mut self) -> SumAnyBlocks<'_> {
        let (run_end, pairs, places, sides) = (self.places.runs.end, self.pairs(), self.places(), self.sides());
        SumAnyBlocks { run_end, pairs, c_values: &mut *self.c_values, nnz: run_end.len() as u32, places, sides }
    }

    pub fn any_pieces(&mut self) -> SumAnyPieces<'_> {
        let (piece, pairs, places, sides) = (self.places.runs.pieces, self.pairs(), self.places(), self.sides());
        let pieces = piece.len() as u32;
        SumAnyPieces { piece, pairs, parts: &mut *self.parts, c_values: &mut *self.c_values, pieces, places, sides }
    }

    pub fn add_parts(&mut self) -> AddParts<'_> {
        let Runs { end: run_end, pieces: piece } = self.places.runs;
        let Scaling { alpha, beta } = self.scaling;
        let [rows, _, cols] = self.sides;
        AddParts {
            piece,
            run_end,
            parts: &*self.parts,
            c_values: &mut *self.c_values,
            pieces: piece.len() as u32,
            first: self.places.first,
            c_stride: self.places.stride as u32,
            alpha,
            beta,
            area: rows * cols,
        }
    }
}
