//! Compressed columns, multiplied as they are stored: every row has a sum in memory, and no index
//! of the rows is needed. Kernel: `cl/apply/spmv/csc.cl`.
//!
//! For a single product, the index of a column-major matrix costs many times as much as the
//! product. Each compute unit runs one work-item, which has a share of the rows and goes through
//! all columns. So the terms of a row are added in ascending order of their places, as in every
//! product.
use super::{PackedOrder, Rows, Sums, terms::RowTerms};
use crate::{
    Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Maybe, Options, Scratch, Sum, Value, Work, kernel},
    primitives::segmented_reduce::RUN_PIECE,
    vector::{InOutScaled, ScaledInto, line_sums::Stored},
};

kernel! {
    struct SumColumns = "sum_columns" in "apply/spmv/values.cl", "apply/spmv/csc.cl" {
        col_ptr: In<u32>,
        row_idx: In<u32>,
        source: Maybe<u32>,
        values: In<Value>,
        x: In<Elem>,
        terms: InOut<u32>,
        part: InOut<Sum>,
        whole: InOut<Sum>,
        y: InOutScaled,
        rows: u32,
        columns: u32,
        share: u32,
        stride: u32,
    }
}

pub(super) struct Csc {
    /// The columns of op(A), held as the rows of its transpose.
    columns: Rows,
    kernel: Kernel<SumColumns<'static>>,
    /// Number of terms that each row has received so far.
    terms: Scratch<u32>,
    /// Two sums for each row: the sum of its last piece, and the sum of the pieces before it.
    parts: [Scratch; 2],
    /// Number of rows of a work-item.
    share: usize,
}

impl Csc {
    /// Prepares products with a matrix given as the rows of its transpose.
    pub fn new(work: &Work, columns: Rows) -> Result<Self> {
        let units = columns.device().info().compute_units as usize;
        let share = columns.pattern.nrows.div_ceil(units.max(1)).max(1);
        Self::tuned(work, columns, share)
    }

    fn tuned(work: &Work, columns: Rows, share: usize) -> Result<Self> {
        let (device, rows) = (columns.device(), columns.pattern.nrows);
        let options = columns.options(Options::group_size(1)).define("PIECE", RUN_PIECE);
        let kernel = Kernel::new(device, &options)?;
        let part = || Scratch::reserve_of(work, columns.elements.sum(), rows);
        let (terms, parts) = (Scratch::reserve(work, rows)?, [part()?, part()?]);
        Ok(Self { kernel, terms, parts, share, columns })
    }
}

impl Sums for Csc {
    fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, y: ScaledInto<'_>) -> Result<()> {
        let RowTerms { col: row_idx, source, a, x } = self.columns.terms(a, x);
        let rows = self.columns.pattern.nrows;
        let [part, whole] = &self.parts;
        let args = SumColumns {
            col_ptr: self.columns.row_ptr(),
            row_idx,
            source,
            values: a.values,
            x,
            terms: &mut *self.terms.take(work)?,
            part: &mut *part.take(work)?,
            whole: &mut *whole.take(work)?,
            y,
            rows: rows as u32,
            columns: self.columns.len() as u32,
            share: self.share as u32,
            stride: a.stride,
        };
        self.kernel.launch(work, Grid::groups(rows.div_ceil(self.share), 1), args)
    }

    fn order(&self) -> PackedOrder<'_> {
        self.columns.order()
    }

    fn bytes(&self) -> u64 {
        let [part, whole] = &self.parts;
        self.columns.bytes() + self.terms.bytes() + part.bytes() + whole.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Matrix,
        apply::spmv::tests::{Expected, rows_of},
        element::Order,
    };

    /// Tests rows of 0 to 6 entries, a row of one full piece, a row with one entry more, and a row
    /// of several pieces.
    #[test]
    fn small_shares_of_rows_have_the_same_bits() -> Result<()> {
        let length = |row: usize| match row {
            40 => 2 * RUN_PIECE + 1,
            41 => RUN_PIECE,
            42 => RUN_PIECE + 1,
            _ => row * 5 % 7,
        };
        let rows = rows_of::<f32>(2500, &(0..70).map(length).collect::<Vec<_>>(), |row| row)?;
        let expected = Expected::stored(&rows, rows.to_csc()?.as_cbc(), Order::Ascending)?;
        for share in [1, 7, 41, 70, 100] {
            let sums = Csc::tuned(expected.work(), expected.rows(), share)?;
            expected.check(&sums, &format!("{share} rows of an item"))?;
        }
        Ok(())
    }
}
