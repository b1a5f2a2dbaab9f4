//! Arguments of the kernels of block sums.
use super::Places;
use crate::{
    OperandPair,
    device::{Buffer, Elem, In, InOut, Scalar, Sum, kernel},
    element::Piece,
    product::terms::Scaling,
    resident::DeviceCbc,
};

kernel! {
    pub(super) struct SumTiles = "sum_tiles" in "ptx.cl", "product/esc/blocks/words.cl", "product/esc/blocks/tiles.cl" {
        run_end: In<u32>,
        piece: In<Piece>,
        pair: In<OperandPair>,
        a_values: In<Elem>,
        b_values: In<Elem>,
        parts: InOut<Sum>,
        c_values: InOut<Elem>,
        nnz: u32,
        pieces: u32,
        first: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
}

kernel! {
    pub(super) struct SumStaged = "sum_staged" in "ptx.cl", "product/esc/blocks/words.cl", "product/esc/blocks/staged.cl" {
        run_end: In<u32>,
        piece: In<Piece>,
        pair: In<OperandPair>,
        a_values: In<Elem>,
        b_values: In<Elem>,
        parts: InOut<Sum>,
        c_values: InOut<Elem>,
        nnz: u32,
        pieces: u32,
        first: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
}

kernel! {
    pub(super) struct SumSerial = "sum_serial" in "ptx.cl", "product/esc/blocks/words.cl", "product/esc/blocks/runs.cl", "product/esc/blocks/sums.cl" {
        run_end: In<u32>,
        pair: In<OperandPair>,
        a_values: In<Elem>,
        b_values: In<Elem>,
        c_values: InOut<Elem>,
        nnz: u32,
        first: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
}

kernel! {
    pub(super) struct SumPieces = "sum_pieces" in "ptx.cl", "product/esc/blocks/words.cl", "product/esc/blocks/runs.cl", "product/esc/blocks/sums.cl" {
        piece: In<Piece>,
        pair: In<OperandPair>,
        a_values: In<Elem>,
        b_values: In<Elem>,
        parts: InOut<Sum>,
        c_values: InOut<Elem>,
        first: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
}

kernel! {
    pub(super) struct SumAnyBlocks = "sum_any_blocks" in "ptx.cl", "product/esc/blocks/words.cl", "product/esc/blocks/runs.cl", "product/esc/blocks/sums.cl" {
        run_end: In<u32>,
        pair: In<OperandPair>,
        a_values: In<Elem>,
        b_values: In<Elem>,
        c_values: InOut<Elem>,
        nnz: u32,
        first: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
        rows: u32,
        inner: u32,
        cols: u32,
    }
}

kernel! {
    pub(super) struct SumAnyPieces = "sum_any_pieces" in "ptx.cl", "product/esc/blocks/words.cl", "product/esc/blocks/runs.cl", "product/esc/blocks/sums.cl" {
        piece: In<Piece>,
        pair: In<OperandPair>,
        a_values: In<Elem>,
        b_values: In<Elem>,
        parts: InOut<Sum>,
        c_values: InOut<Elem>,
        pieces: u32,
        first: u32,
        a_stride: u32,
        b_stride: u32,
        c_stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
        rows: u32,
        inner: u32,
        cols: u32,
    }
}

kernel! {
    pub(super) struct AddParts = "add_parts" in "ptx.cl", "product/esc/blocks/words.cl", "product/esc/blocks/runs.cl", "product/esc/blocks/sums.cl" {
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

impl SumArrays<'_> {
    pub fn tiles(&mut self) -> SumTiles<'_> {
        let (a, b) = (self.a, self.b);
        let Places { runs, pairs, first, stride, .. } = *self.places;
        let Scaling { alpha, beta } = self.scaling;
        SumTiles {
            run_end: runs.end,
            piece: runs.pieces,
            pair: pairs,
            a_values: &a.values,
            b_values: &b.values,
            parts: &mut *self.parts,
            c_values: &mut *self.c_values,
            nnz: runs.end.len() as u32,
            pieces: runs.pieces.len() as u32,
            first,
            a_stride: a.stride as u32,
            b_stride: b.stride as u32,
            c_stride: stride as u32,
            alpha,
            beta,
        }
    }

    /// The kernel looks at `nnz` runs besides the pieces: at all runs, or at none if no run may be
    /// empty.
    pub fn staged(&mut self, nnz: usize) -> SumStaged<'_> {
        let (a, b) = (self.a, self.b);
        let Places { runs, pairs, first, stride, .. } = *self.places;
        let Scaling { alpha, beta } = self.scaling;
        SumStaged {
            run_end: runs.end,
            piece: runs.pieces,
            pair: pairs,
            a_values: &a.values,
            b_values: &b.values,
            parts: &mut *self.parts,
            c_values: &mut *self.c_values,
            nnz: nnz as u32,
            pieces: runs.pieces.len() as u32,
            first,
            a_stride: a.stride as u32,
            b_stride: b.stride as u32,
            c_stride: stride as u32,
            alpha,
            beta,
        }
    }

    pub fn serial(&mut self) -> SumSerial<'_> {
        let (a, b) = (self.a, self.b);
        let Places { runs, pairs, first, stride, .. } = *self.places;
        let Scaling { alpha, beta } = self.scaling;
        SumSerial {
            run_end: runs.end,
            pair: pairs,
            a_values: &a.values,
            b_values: &b.values,
            c_values: &mut *self.c_values,
            nnz: runs.end.len() as u32,
            first,
            a_stride: a.stride as u32,
            b_stride: b.stride as u32,
            c_stride: stride as u32,
            alpha,
            beta,
        }
    }

    pub fn pieces(&mut self) -> SumPieces<'_> {
        let (a, b) = (self.a, self.b);
        let Places { runs, pairs, first, stride, .. } = *self.places;
        let Scaling { alpha, beta } = self.scaling;
        SumPieces {
            piece: runs.pieces,
            pair: pairs,
            a_values: &a.values,
            b_values: &b.values,
            parts: &mut *self.parts,
            c_values: &mut *self.c_values,
            first,
            a_stride: a.stride as u32,
            b_stride: b.stride as u32,
            c_stride: stride as u32,
            alpha,
            beta,
        }
    }

    pub fn any_blocks(&mut self) -> SumAnyBlocks<'_> {
        let (a, b) = (self.a, self.b);
        let Places { runs, pairs, first, stride, .. } = *self.places;
        let Scaling { alpha, beta } = self.scaling;
        let [rows, inner, cols] = self.sides;
        SumAnyBlocks {
            run_end: runs.end,
            pair: pairs,
            a_values: &a.values,
            b_values: &b.values,
            c_values: &mut *self.c_values,
            nnz: runs.end.len() as u32,
            first,
            a_stride: a.stride as u32,
            b_stride: b.stride as u32,
            c_stride: stride as u32,
            alpha,
            beta,
            rows,
            inner,
            cols,
        }
    }

    pub fn any_pieces(&mut self) -> SumAnyPieces<'_> {
        let (a, b) = (self.a, self.b);
        let Places { runs, pairs, first, stride, .. } = *self.places;
        let Scaling { alpha, beta } = self.scaling;
        let [rows, inner, cols] = self.sides;
        SumAnyPieces {
            piece: runs.pieces,
            pair: pairs,
            a_values: &a.values,
            b_values: &b.values,
            parts: &mut *self.parts,
            c_values: &mut *self.c_values,
            pieces: runs.pieces.len() as u32,
            first,
            a_stride: a.stride as u32,
            b_stride: b.stride as u32,
            c_stride: stride as u32,
            alpha,
            beta,
            rows,
            inner,
            cols,
        }
    }

    pub fn add_parts(&mut self) -> AddParts<'_> {
        let Places { runs, first, stride, .. } = *self.places;
        let Scaling { alpha, beta } = self.scaling;
        let [rows, _, cols] = self.sides;
        AddParts {
            piece: runs.pieces,
            run_end: runs.end,
            parts: &*self.parts,
            c_values: &mut *self.c_values,
            pieces: runs.pieces.len() as u32,
            first,
            c_stride: stride as u32,
            alpha,
            beta,
            area: rows * cols,
        }
    }
}
