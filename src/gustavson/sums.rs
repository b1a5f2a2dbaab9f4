//! The second pass: computes the sums of the rows that were found.
use super::{
    Found,
    numbers::{Operand, Operations, PlusTimes, Typed, Words},
    parts::in_turn,
    room::{Room, Summed},
    share_out,
};
use crate::{Arithmetic, BlockShape, Result, element::Algebra, host::memory, primitives::segmented_reduce::RUN_PIECE};
use nalgebra::{DMatrixView, DMatrixViewMut};

/// Sums of products of blocks by the operations of a semiring.
pub(super) trait BlockSums<N: Arithmetic>: Operations<N> {
    /// Adds the products of blocks of a column of C.
    fn add_blocks(self, column: &mut Column<N>, of: &Typed<'_, N>, col: usize) {
        column.add_blocks(self, of, col, add_any(self, of.a.shape.rows(), of.b.shape.cols(), of.a.shape.cols()));
    }
}

impl BlockSums<f64> for Algebra<f64> {}
impl BlockSums<u32> for Words {}
impl BlockSums<u32> for PlusTimes {}

impl BlockSums<f64> for PlusTimes {
    fn add_blocks(self, column: &mut Column<f64>, of: &Typed<'_, f64>, col: usize) {
        add_few_rows(self, column, of, col);
    }
}

impl BlockSums<f32> for PlusTimes {
    fn add_blocks(self, column: &mut Column<f32>, of: &Typed<'_, f32>, col: usize) {
        add_few_rows(self, column, of, col);
    }
}

impl<N: Summed> Typed<'_, N> {
    /// Writes the rows that were found and their sums.
    pub fn sum(&self, found: Found, by: impl BlockSums<N>, mut into: Room<'_, N>) -> Result<()> {
        let (nrows, shape) = (self.a.columns.nrows, self.a.shape.product(self.b.shape));
        let Found { parts, stores } = found;
        let threads = parts.len().min(rayon::current_num_threads());
        if stores.iter().any(|store| store.sums.is_none()) {
            let what = || format!("a column of the product, {nrows} rows, on each of {threads} threads");
            memory::check_large(what, Column::<N>::bytes(nrows, shape).saturating_mul(threads as u64))?;
        }
        share_out(
            in_turn(parts.into_iter().map(|part| (into.take(part.places.len()), part))),
            |_| (None, Vec::new()),
            |(column, scratch), (mut room, part)| {
                let store = &stores[part.store];
                room.rows.copy_from_slice(&store.rows[part.places.clone()]);
                if let Some(sums) = store.sums.as_ref().and_then(|sums| N::of_any_slice(sums.borrow())) {
                    room.fill(scratch, &sums[part.places]);
                    return Ok(());
                }
                let column = column.get_or_insert_with(|| Column::new(nrows, shape, by.identity()));
                for (col, count) in part.cols.zip(part.counts) {
                    let mut room = room.take(count as usize);
                    column.sum(by, self, col, room.rows);
                    column.write(by, &mut room, scratch);
                }
                Ok(())
            },
        )?;
        Ok(())
    }
}

/// A dense column of C. Only the elements of rows that are summed are valid.
pub(super) struct Column<N> {
    identity: N,
    shape: BlockShape,
    nrows: usize,
    sum: Vec<N>,
    /// Used for columns of B with more entries than a piece has products, since a run can have a
    /// product for each entry.
    cut: Cut<N>,
}

/// Runs that are cut. For each row: the number of products in its current piece, and the sum of the
/// pieces before.
struct Cut<N> {
    in_use: bool,
    terms: Vec<u16>,
    pieces: Vec<N>,
}

impl<N: Arithmetic> Column<N> {
    /// Bytes of a column of `nrows` blocks, including the arrays for cut runs.
    pub fn bytes(nrows: usize, shape: BlockShape) -> u64 {
        (nrows as u64).saturating_mul((size_of::<u16>() + 2 * shape.area() * size_of::<N>()) as u64)
    }

    pub fn new(nrows: usize, shape: BlockShape, identity: N) -> Self {
        let cut = Cut { in_use: false, terms: Vec::new(), pieces: Vec::new() };
        Self { identity, shape, nrows, sum: vec![N::ZERO; nrows * shape.area()], cut }
    }

    /// Sums column `col` of C, whose rows are `rows`.
    pub fn sum(&mut self, by: impl BlockSums<N>, of: &Typed<'_, N>, col: usize, rows: &[u32]) {
        self.cut.in_use = of.b.columns.entries(col).len() > RUN_PIECE;
        self.clear(rows);
        let scalars = (self.shape.area(), of.a.shape.cols(), of.a.stride) == (1, 1, 1);
        match scalars && !self.cut.in_use {
            true => self.add_scalars(by, &of.a, &of.b, col),
            false => by.add_blocks(self, of, col),
        }
    }

    /// Starts the sums of these rows.
    fn clear(&mut self, rows: &[u32]) {
        let (area, identity) = (self.shape.area(), self.identity);
        if area == 1 && !self.cut.in_use {
            return rows.iter().for_each(|&row| self.sum[row as usize] = identity);
        }
        let places = || rows.iter().map(|&row| row as usize * area);
        places().for_each(|place| self.sum[place..][..area].fill(identity));
        if self.cut.in_use {
            let Cut { terms, pieces, .. } = &mut self.cut;
            terms.resize(self.nrows, 0);
            pieces.resize(self.nrows * area, identity);
            rows.iter().for_each(|&row| terms[row as usize] = 0);
            places().for_each(|place| pieces[place..][..area].fill(identity));
        }
    }

    fn add_scalars(&mut self, by: impl Operations<N>, a: &Operand<'_, N>, b: &Operand<'_, N>, col: usize) {
        let (a_values, b_values) = (&a.values[..], &b.values[..]);
        for b_entry in b.columns.entries(col) {
            let factor = b_values[b_entry * b.stride];
            let of_a = a.columns.entries(b.columns.row_idx[b_entry] as usize);
            for (&row, &x) in a.columns.row_idx[of_a.clone()].iter().zip(&a_values[of_a]) {
                let sum = &mut self.sum[row as usize];
                *sum = by.add(*sum, by.multiply(x, factor));
            }
        }
    }

    /// Adds products of blocks. `add(sum, of_a, of_b, inner)` adds one product.
    pub fn add_blocks(
        &mut self,
        by: impl Operations<N>,
        Typed { a, b }: &Typed<'_, N>,
        col: usize,
        add: impl Fn(&mut [N], &[N], &[N], usize),
    ) {
        let (area, inner) = (self.shape.area(), a.shape.cols());
        for b_entry in b.columns.entries(col) {
            let of_b = b.block(b_entry);
            for a_entry in a.columns.entries(b.columns.row_idx[b_entry] as usize) {
                let row = a.columns.row_idx[a_entry] as usize;
                if self.cut.in_use {
                    if self.cut.terms[row] as usize == RUN_PIECE {
                        self.end_piece(by, row);
                    }
                    self.cut.terms[row] += 1;
                }
                add(&mut self.sum[row * area..][..area], a.block(a_entry), of_b, inner);
            }
        }
    }

    /// Adds the current piece of a row to the pieces before, and begins a new one.
    fn end_piece(&mut self, by: impl Operations<N>, row: usize) {
        let identity = self.identity;
        for i in row * self.shape.area()..(row + 1) * self.shape.area() {
            self.cut.pieces[i] = by.add(self.cut.pieces[i], std::mem::replace(&mut self.sum[i], identity));
        }
        self.cut.terms[row] = 0;
    }

    /// Calls `each` with the index and the sums of each of these rows.
    pub fn take(&mut self, by: impl Operations<N>, rows: &[u32], mut each: impl FnMut(usize, &[N])) {
        let area = self.shape.area();
        for (i, &row) in rows.iter().enumerate() {
            let row = row as usize;
            if self.cut.in_use {
                self.end_piece(by, row);
            }
            let sums = if self.cut.in_use { &self.cut.pieces } else { &self.sum };
            each(i, &sums[row * area..][..area]);
        }
    }

    /// Writes the sums of the rows of `room`.
    fn write(&mut self, by: impl Operations<N>, room: &mut Room<'_, N>, scratch: &mut Vec<N>)
    where
        N: Summed,
    {
        let (area, stride) = (self.shape.area(), room.stride);
        let rows = std::mem::take(&mut room.rows);
        room.write(scratch, |values| {
            if (area, stride) == (1, 1) && !self.cut.in_use {
                let sums = rows.iter().map(|&row| self.sum[row as usize]);
                return values.iter_mut().zip(sums).for_each(|(value, sum)| *value = sum);
            }
            self.take(by, rows, |i, sums| {
                let (block, padding) = values[i * stride..][..stride].split_at_mut(area);
                block.copy_from_slice(sums);
                padding.fill(N::ZERO);
            });
        });
    }
}

/// Adds products of blocks that have few rows, as in solvers. The number of rows is a constant in
/// each variant.
fn add_few_rows<N: Arithmetic>(by: impl Operations<N>, column: &mut Column<N>, of: &Typed<'_, N>, col: usize) {
    match of.a.shape.rows() {
        1 => column.add_blocks(by, of, col, add_rows::<N, 1>(by)),
        2 => column.add_blocks(by, of, col, add_rows::<N, 2>(by)),
        3 => column.add_blocks(by, of, col, add_rows::<N, 3>(by)),
        4 => column.add_blocks(by, of, col, add_rows::<N, 4>(by)),
        5 => column.add_blocks(by, of, col, add_rows::<N, 5>(by)),
        6 => column.add_blocks(by, of, col, add_rows::<N, 6>(by)),
        7 => column.add_blocks(by, of, col, add_rows::<N, 7>(by)),
        8 => column.add_blocks(by, of, col, add_rows::<N, 8>(by)),
        9 => column.add_blocks(by, of, col, add_rows::<N, 9>(by)),
        rows => column.add_blocks(by, of, col, add_any(by, rows, of.b.shape.cols(), of.a.shape.cols())),
    }
}

/// Computes sum += a·b of blocks with `R` rows, over the inner index in ascending order. Every
/// product is rounded before it is added. A column of the sum stays in registers.
fn add_rows<N: Arithmetic, const R: usize>(by: impl Operations<N>) -> impl Fn(&mut [N], &[N], &[N], usize) {
    move |sum, a, b, inner| {
        for (sum, b) in sum.as_chunks_mut::<R>().0.iter_mut().zip(b.chunks_exact(inner)) {
            let mut column = *sum;
            for (a, &factor) in a.as_chunks::<R>().0.iter().zip(b) {
                for (sum, &x) in column.iter_mut().zip(a) {
                    *sum = by.add(*sum, by.multiply(x, factor));
                }
            }
            *sum = column;
        }
    }
}

/// Computes sum += a·b of blocks with any number of rows.
fn add_any<N: Arithmetic>(
    by: impl Operations<N>,
    rows: usize,
    cols: usize,
    inner: usize,
) -> impl Fn(&mut [N], &[N], &[N], usize) {
    move |sum, a, b, _| {
        let mut sum = DMatrixViewMut::from_slice(sum, rows, cols);
        let (a, b) = (DMatrixView::from_slice(a, rows, inner), DMatrixView::from_slice(b, inner, cols));
        for (mut sum, b) in sum.column_iter_mut().zip(b.column_iter()) {
            for (a, &factor) in a.column_iter().zip(b.iter()) {
                sum.zip_apply(&a, |sum, x| *sum = by.add(*sum, by.multiply(x, factor)));
            }
        }
    }
}
