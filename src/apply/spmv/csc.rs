//! Compressed columns, multiplied as they are stored: every row has a sum in memory, and no index
//! of the rows is needed. Kernel: `cl/apply/spmv/csc.cl`.
//!
//! For a single product, the index of a column-major matrix costs many times as much as the
//! product. Each compute unit runs one work-item, which has a share of the rows and goes through
//! all columns. So the terms of a row are added in ascending order of their places, as in every
//! product.
use super::{Rows, Sums};
use crate::{
    Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Maybe, Options, Scalar, Scratch, Sum, Value, Work, kernel},
    element::Scaling,
    primitives::segmented_reduce::RUN_PIECE,
    vector::line_sums::Stored,
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
        y: InOut<Elem>,
        rows: u32,
        columns: u32,
        share: u32,
        stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
}

pub(super) struct Csc {
    /// The columns of op(A), held as the rows of its transpose.
    columns: Rows,
    kernel: Kernel<SumColumns<'static>>,
    /// Number of terms that each row has received so far.
    terms: Scratch<u32>,
    /// Two sums for each row: that of its last piece, and that of the pieces before.
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
    fn run(
        &self,
        work: &Work,
        Stored { values, stride }: Stored<'_>,
        x: &Buffer,
        Scaling { alpha, beta }: Scaling,
        y: &mut Buffer,
    ) -> Result<()> {
        let (col_ptr, row_idx) = (&self.columns.pattern.col_ptr, &self.columns.pattern.row_idx);
        let (source, rows, columns) = (self.columns.source(), self.columns.pattern.nrows, self.columns.len());
        let mut terms = self.terms.take(work)?;
        let [mut part, mut whole] = [self.parts[0].take(work)?, self.parts[1].take(work)?];
        let args = SumColumns {
            col_ptr,
            row_idx,
            source,
            values,
            x,
            terms: &mut terms,
            part: &mut part,
            whole: &mut whole,
            y,
            rows: rows as u32,
            columns: columns as u32,
            share: self.share as u32,
            stride,
            alpha,
            beta,
        };
        self.kernel.launch(work, Grid::groups(rows.div_ceil(self.share), 1), args)
    }

    fn places(&self) -> usize {
        self.columns.pattern.nnz()
    }

    fn source(&self) -> Option<&Buffer<u32>> {
        self.columns.source.as_ref()
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
        Csc as Host, device::test_device, element::ElementType, generate::Random, reference, resident::DeviceCbc,
    };

    /// Rows of 0 to 6 entries, a row of one full piece, one with an entry more, and one of several
    /// pieces.
    #[test]
    fn small_shares_of_rows_have_the_same_bits() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        let (cols, mut random) = (2500, Random::new(1));
        let length = |row: usize| match row {
            40 => 2 * RUN_PIECE + 1,
            41 => RUN_PIECE,
            42 => RUN_PIECE + 1,
            _ => row * 5 % 7,
        };
        let entries = (0..70).flat_map(|row| (0..length(row)).map(move |k| (row, k + row)));
        let values = entries.map(|(i, j)| (i, j, (2.0 * random.unit() - 1.0) as f32));
        let host = Host::from_triplets(70, cols, values)?;
        let a = DeviceCbc::upload(&work, crate::Matrix::as_cbc(&host))?;
        let x: Vec<f32> = (0..cols).map(|i| (i % 97) as f32 * 0.31 - 15.0).collect();
        let dx = work.upload(&x)?;
        let before: Vec<f32> = (0..70).map(|i| i as f32).collect();
        let mut want = before.clone();
        reference::multiply_vector(0.7, &host, &x, -1.3, &mut want)?;
        for share in [1, 7, 41, 70, 100] {
            let sums = Csc::tuned(&work, Rows::of_scalars(a.pattern.clone()), share)?;
            // An execution must not depend on what the one before has left in memory.
            for _ in 0..if [7, 70].contains(&share) { 2 } else { 1 } {
                let mut y = work.upload(&before)?;
                sums.run(&work, (&a).into(), &dx, Scaling::of(ElementType::F32, 0.7, -1.3), &mut y)?;
                let bits = |y: &[f32]| y.iter().map(|y| y.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&y.download(&work)?), bits(&want), "{share}");
            }
        }
        Ok(())
    }
}
