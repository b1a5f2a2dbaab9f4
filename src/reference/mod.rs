//! Reference computations on the CPU, the product first. The tests and `--verify` compare with
//! them, and they run if there is no OpenCL.
//!
//! The product uses Gustavson's algorithm by columns (ACM TOMS 4, 1978), with columns in parallel
//! and dense blocks multiplied by nalgebra. It takes two passes: the first counts the entries of
//! each column of C, the second fills them in place. Sums are formed in the kernels' order, so
//! results are equal to the bit. The terms of an entry are added in ascending k, within a block
//! product over the inner index. Multiplications are rounded before the addition, and sums are cut
//! into pieces of 1024 products.
mod gram;
pub(crate) mod masked;
mod schur;
mod vectors;
pub mod verify;

pub use gram::{gram, gram_groups, gram_groups_weighted, gram_weighted, multiply_groups};
pub use masked::{multiply_masked, products_masked};
pub use schur::{Reduced, schur};
pub use vectors::{
    block_column_norms, block_row_norms, column_norms, diagonal, dot, multiply_vector, multiply_vector_transposed,
    row_norms, scale_columns, scale_rows,
};

use crate::{
    Arithmetic, BlockShape, Cbc, Element, Error, Matrix, Pattern, Result, Semiring, host::memory, matrix::CbcView,
    primitives::segmented_reduce::RUN_PIECE,
};
use nalgebra::{DMatrixView, DMatrixViewMut};
use rayon::prelude::*;
use std::{borrow::Cow, ops::Range};

/// C = A·B on the CPU, with rows ascending in each column (for row-major matrices, columns in each
/// row).
///
/// # Errors
/// [`Error::Dimensions`] if the inner sizes differ; [`Error::Memory`] if C does not fit the host.
///
/// ```
/// use blockmul::{Csc, reference};
/// let a = Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?;
/// assert_eq!(reference::multiply(&a, &a)?.values(), [4.0, 21.0, 25.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn multiply<M: Matrix>(a: &M, b: &M) -> Result<M> {
    let (x, y) = if M::ROW_MAJOR { (b.as_cbc(), a.as_cbc()) } else { (a.as_cbc(), b.as_cbc()) };
    M::from_cbc(multiply_cbc(x, y, &Semiring::PLUS_TIMES)?)
}

/// Number of products of entries (blocks) of A·B: the expansion size (Polok 2015, equation 1).
pub fn products<M: Matrix>(a: &M, b: &M) -> u64 {
    let (x, y) = if M::ROW_MAJOR { (b.as_cbc(), a.as_cbc()) } else { (a.as_cbc(), b.as_cbc()) };
    (0..y.pattern.ncols()).map(|col| column_products(x.pattern, y.pattern, col)).sum()
}

/// Refuses operands whose inner sizes differ, and those whose product cannot fit the host.
pub(crate) fn check_fits<T: Element>(a: CbcView<'_, T>, b: CbcView<'_, T>) -> Result<()> {
    if a.pattern.ncols() != b.pattern.nrows() || a.shape.cols() != b.shape.rows() {
        return Err(Error::Dimensions { a: a.dimensions(), b: b.dimensions() });
    }
    let nnz = a.pattern.least_entries_of_product(b.pattern);
    memory::check("the product (at least)", bytes_of::<T>(nnz, a.shape.product(b.shape)))
}

fn bytes_of<T: Element>(nnz: u64, shape: BlockShape) -> u64 {
    nnz.saturating_mul(4 + shape.area() as u64 * size_of::<T>() as u64)
}

fn column_products(a: &Pattern, b: &Pattern, col: usize) -> u64 {
    b.column(col).iter().map(|&k| a.column(k as usize).len() as u64).sum()
}

fn multiply_cbc<T: Element>(a: CbcView<'_, T>, b: CbcView<'_, T>, algebra: &Semiring<T::Arithmetic>) -> Result<Cbc<T>> {
    match algebra.operators {
        true => multiply_by(a, b, algebra, Operations { add: |x, y| x + y, multiply: |x, y| x * y }),
        false => multiply_by(a, b, algebra, Operations { add: algebra.add, multiply: algebra.multiply }),
    }
}

/// The operations of an algebra, in a form that the compiler can inline.
#[derive(Clone, Copy)]
struct Operations<A, M> {
    add: A,
    multiply: M,
}

trait Operation<N>: Fn(N, N) -> N + Copy + Sync {}

impl<N, F: Fn(N, N) -> N + Copy + Sync> Operation<N> for F {}

fn multiply_by<T: Element>(
    a: CbcView<'_, T>,
    b: CbcView<'_, T>,
    algebra: &Semiring<T::Arithmetic>,
    by: Operations<impl Operation<T::Arithmetic>, impl Operation<T::Arithmetic>>,
) -> Result<Cbc<T>> {
    check_fits(a, b)?;
    let shape = a.shape.product(b.shape);
    let chunks = balanced_chunks(a.pattern, b.pattern);

    // Every thread has a dense column of C, every range of columns its counts, and C its offsets.
    let threads = chunks.len().min(rayon::current_num_threads()) as u64;
    let columns = threads.saturating_mul(Column::<T>::bytes(a.pattern.nrows(), shape));
    let offsets = 3 * size_of::<u64>() as u64 * b.pattern.ncols() as u64;
    let what = || format!("a column of the product, {} rows, on each of {threads} threads", a.pattern.nrows());
    memory::check_large(what, columns.saturating_add(offsets))?;

    let counts: Vec<Vec<u64>> =
        chunks.par_iter().map(|cols| count_columns(a.pattern, b.pattern, cols.clone())).collect();
    let mut col_ptr = vec![0];
    let mut end = 0;
    col_ptr.extend(counts.iter().flatten().map(|count| {
        end += count;
        end
    }));
    memory::check("the product", bytes_of::<T>(end, shape))?;
    let (mut row_idx, mut values) = (vec![0u32; end as usize], vec![T::zeroed(); end as usize * shape.area()]);

    let (a_values, b_values) = (widened(a.values), widened(b.values));
    let (mut rows_left, mut values_left) = (&mut row_idx[..], &mut values[..]);
    let mut parts = Vec::new();
    for (cols, counts) in chunks.iter().zip(&counts) {
        let nnz = counts.iter().sum::<u64>() as usize;
        let (rows, rest) = rows_left.split_at_mut(nnz);
        let (sums, rest_values) = values_left.split_at_mut(nnz * shape.area());
        (rows_left, values_left) = (rest, rest_values);
        parts.push((cols.clone(), counts, rows, sums));
    }
    parts.into_par_iter().for_each(|(cols, counts, mut rows, mut sums)| {
        let mut column = Column::<T>::new(a.pattern.nrows(), shape, algebra);
        for (col, &nnz) in cols.zip(counts) {
            let (c_rows, rest) = rows.split_at_mut(nnz as usize);
            let (c_values, rest_values) = sums.split_at_mut(nnz as usize * shape.area());
            (rows, sums) = (rest, rest_values);
            column.multiply(by, Operand::new(&a, &a_values), Operand::new(&b, &b_values), col, c_rows, c_values);
        }
    });
    Cbc::new(Pattern::trusted(a.pattern.nrows(), b.pattern.ncols(), col_ptr, row_idx), shape, values)
}

/// Ranges of columns with about the same number of products each; several for each thread.
fn balanced_chunks(a: &Pattern, b: &Pattern) -> Vec<Range<usize>> {
    let total: u64 = (0..b.ncols()).map(|col| column_products(a, b, col) + 1).sum();
    let share = total.div_ceil(8 * rayon::current_num_threads() as u64).max(1);
    let (mut chunks, mut start, mut sum) = (Vec::new(), 0, 0);
    for col in 0..b.ncols() {
        sum += column_products(a, b, col) + 1;
        if sum >= share || col + 1 == b.ncols() {
            chunks.push(start..col + 1);
            (start, sum) = (col + 1, 0);
        }
    }
    chunks
}

fn count_columns(a: &Pattern, b: &Pattern, cols: Range<usize>) -> Vec<u64> {
    let mut seen = vec![usize::MAX; a.nrows()];
    let count = |col: usize| {
        let mut count = 0;
        for &k in b.column(col) {
            for &row in a.column(k as usize) {
                count += u64::from(seen[row as usize] != col);
                seen[row as usize] = col;
            }
        }
        count
    };
    cols.map(count).collect()
}

/// The elements, converted to the type in which sums are formed.
fn widened<T: Element>(values: &[T]) -> Cow<'_, [T::Arithmetic]> {
    match size_of::<T>() == size_of::<T::Arithmetic>() {
        true => Cow::Borrowed(bytemuck::cast_slice(values)), // the same type
        false => Cow::Owned(values.iter().map(|value| value.widen()).collect()),
    }
}

struct Operand<'a, N> {
    pattern: &'a Pattern,
    shape: BlockShape,
    stride: usize,
    values: &'a [N],
}

impl<'a, N: Arithmetic> Operand<'a, N> {
    fn new<T: Element<Arithmetic = N>>(view: &CbcView<'a, T>, values: &'a [N]) -> Self {
        Self { pattern: view.pattern, shape: view.shape, stride: view.stride, values }
    }

    fn block(&self, entry: usize) -> DMatrixView<'a, N> {
        let elements = &self.values[entry * self.stride..][..self.shape.area()];
        DMatrixView::from_slice(elements, self.shape.rows(), self.shape.cols())
    }
}

/// One dense column of C, with a mark for each row that has an entry.
struct Column<'a, T: Element> {
    algebra: &'a Semiring<T::Arithmetic>,
    shape: BlockShape,
    seen: Vec<usize>,
    sum: Vec<T::Arithmetic>,
    /// Products in the current piece, for columns whose runs may be cut.
    terms: Vec<u16>,
    pieces: Vec<T::Arithmetic>,
}

impl<'a, T: Element> Column<'a, T> {
    /// Bytes of a column of `nrows` blocks, including the arrays for cut runs.
    fn bytes(nrows: usize, shape: BlockShape) -> u64 {
        let sums = 2 * shape.area() * size_of::<T::Arithmetic>();
        (nrows as u64).saturating_mul((size_of::<usize>() + size_of::<u16>() + sums) as u64)
    }

    fn new(nrows: usize, shape: BlockShape, algebra: &'a Semiring<T::Arithmetic>) -> Self {
        let sum = vec![T::Arithmetic::ZERO; nrows * shape.area()];
        Self { algebra, shape, seen: vec![usize::MAX; nrows], sum, terms: Vec::new(), pieces: Vec::new() }
    }

    fn multiply(
        &mut self,
        by: Operations<impl Operation<T::Arithmetic>, impl Operation<T::Arithmetic>>,
        a: Operand<'_, T::Arithmetic>,
        b: Operand<'_, T::Arithmetic>,
        col: usize,
        rows: &mut [u32],
        values: &mut [T],
    ) {
        let area = self.shape.area();
        // A run has at most one product per entry of its column of B.
        let cut = b.pattern.column(col).len() > RUN_PIECE;
        if cut && self.terms.is_empty() {
            self.terms = vec![0; self.seen.len()];
            self.pieces = self.sum.clone();
        }
        let identity = self.algebra.identity;
        let mut found = 0;
        for b_entry in b.pattern.entries(col) {
            let k = b.pattern.row_idx()[b_entry] as usize;
            for a_entry in a.pattern.entries(k) {
                let row = a.pattern.row_idx()[a_entry] as usize;
                let place = row * area..(row + 1) * area;
                if self.seen[row] != col {
                    self.seen[row] = col;
                    rows[found] = row as u32;
                    found += 1;
                    self.sum[place.clone()].fill(identity);
                    if cut {
                        self.terms[row] = 0;
                        self.pieces[place.clone()].fill(identity);
                    }
                }
                if cut && self.terms[row] as usize == RUN_PIECE {
                    self.end_piece(row);
                }
                if cut {
                    self.terms[row] += 1;
                }
                if area == 1 && a.shape.cols() == 1 {
                    let term = (by.multiply)(a.values[a_entry * a.stride], b.values[b_entry * b.stride]);
                    self.sum[row] = (by.add)(self.sum[row], term);
                } else {
                    add_product(by, &mut self.sum[place], self.shape, a.block(a_entry), b.block(b_entry));
                }
            }
        }
        rows.sort_unstable();
        for (&row, block) in rows.iter().zip(values.chunks_exact_mut(area)) {
            let row = row as usize;
            if cut {
                self.end_piece(row);
            }
            let sums = if cut { &self.pieces } else { &self.sum };
            block.iter_mut().zip(&sums[row * area..]).for_each(|(value, &sum)| *value = T::narrow(sum));
        }
    }

    fn end_piece(&mut self, row: usize) {
        let Semiring { identity, add, .. } = *self.algebra;
        for i in row * self.shape.area()..(row + 1) * self.shape.area() {
            self.pieces[i] = add(self.pieces[i], std::mem::replace(&mut self.sum[i], identity));
        }
        self.terms[row] = 0;
    }
}

/// Computes sum += a·b, over the inner index in ascending order, with every product rounded before
/// it is added.
fn add_product<N: Arithmetic>(
    by: Operations<impl Operation<N>, impl Operation<N>>,
    sum: &mut [N],
    shape: BlockShape,
    a: DMatrixView<'_, N>,
    b: DMatrixView<'_, N>,
) {
    let mut sum = DMatrixViewMut::from_slice(sum, shape.rows(), shape.cols());
    for (mut sum, b) in sum.column_iter_mut().zip(b.column_iter()) {
        for (a, &factor) in a.column_iter().zip(b.iter()) {
            sum.zip_apply(&a, |sum, x| *sum = (by.add)(*sum, (by.multiply)(x, factor)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csc;

    fn row_times_column(terms: usize, value: impl Fn(usize) -> f64) -> Result<f64> {
        let a = Csc::from_triplets(1, terms, (0..terms).map(|k| (0, k, value(k))))?;
        let b = Csc::from_triplets(terms, 1, (0..terms).map(|k| (k, 0, 1.0)))?;
        Ok(multiply(&a, &b)?.values()[0])
    }

    #[test]
    fn runs_are_cut_every_1024_terms_from_their_start() -> Result<()> {
        // Magnitudes from 2^-20 to 2^20, so that another order of summation gives other bits.
        let value = |k: usize| ((k * 7919) % 1009) as f64 * 2f64.powi((k % 41) as i32 - 20) + 0.1;
        // Lengths below, at and above one and two pieces.
        for terms in [1, 2, 1023, 1024, 1025, 2047, 2048, 2049, 5000] {
            let all: Vec<f64> = (0..terms).map(value).collect();
            let pieces = all.chunks(1024).map(|piece| piece.iter().copied().reduce(|s, x| s + x).unwrap());
            let want = pieces.reduce(|s, x| s + x).unwrap();
            assert_eq!(row_times_column(terms, value)?.to_bits(), want.to_bits(), "{terms} terms");
            let serial = all.into_iter().reduce(|s, x| s + x).unwrap();
            assert!(terms != 5000 || serial.to_bits() != want.to_bits(), "the test must tell the orders apart");
        }
        Ok(())
    }

    #[test]
    fn products_in_min_plus_are_shortest_paths() -> Result<()> {
        // Edges 0 to 1, 1 to 2 and 0 to 2, of lengths 1, 2 and 9, and loops of length 0.
        let edges = [(1, 0, 1.0), (2, 1, 2.0), (2, 0, 9.0)];
        let a = Csc::from_triplets(3, 3, edges.into_iter().chain((0..3).map(|i| (i, i, 0.0))))?;
        let paths = multiply_cbc(a.as_cbc(), a.as_cbc(), &Semiring::MIN_PLUS)?;
        assert_eq!(paths.values(), [0.0, 1.0, 3.0, 0.0, 2.0, 0.0]);
        // The same as blocks: elements without an entry stand for no edge.
        let far = f64::INFINITY;
        let block = vec![0.0, 1.0, 9.0, far, 0.0, 2.0, far, far, 0.0];
        let one = Cbc::new(Pattern::new(1, 1, vec![0, 1], vec![0])?, BlockShape::new(3, 3)?, block)?;
        let paths = multiply_cbc(one.as_cbc(), one.as_cbc(), &Semiring::MIN_PLUS)?;
        assert_eq!(paths.values(), [0.0, 1.0, 3.0, far, 0.0, 2.0, far, far, 0.0]);
        Ok(())
    }

    #[test]
    fn a_single_negative_zero_stays_negative() -> Result<()> {
        assert_eq!(row_times_column(1, |_| -0.0)?.to_bits(), (-0.0f64).to_bits());
        Ok(())
    }

    #[test]
    fn columns_too_tall_for_the_host_are_refused() -> Result<()> {
        // Three blocks in so many rows that a dense column takes more than 2 TB.
        let (shape, n) = (BlockShape::new(32, 32)?, Pattern::MAX_LINES as usize / 32);
        let rows = vec![0, 5, n as u32 - 1];
        let a = Cbc::new(Pattern::new(n, 1, vec![0, 3], rows.clone())?, shape, vec![1.0; 3 * 1024])?;
        let one = Cbc::new(Pattern::new(1, 1, vec![0, 1], vec![0])?, shape, vec![2.0; 1024])?;
        let refused = multiply(&a, &one).map(|c| c.nnz());
        assert!(matches!(refused, Err(Error::Memory { needed, .. }) if needed > 1 << 41), "{refused:?}");
        // The offsets of the transpose take 64 GiB, which some hosts have.
        if memory::available().is_some_and(|free| free < 1 << 36) {
            let tall = Csc::new(Pattern::new(32 * n, 1, vec![0, 3], rows)?, vec![1.0; 3])?;
            let refused = tall.try_transpose().map(|c| c.nnz());
            assert!(matches!(refused, Err(Error::Memory { needed, .. }) if needed > (1 << 36) - 1000), "{refused:?}");
            let refused = tall.pattern().try_transpose().map(|(pattern, _)| pattern.nnz());
            assert!(matches!(refused, Err(Error::Memory { .. })), "{refused:?}");
        }
        Ok(())
    }

    #[test]
    fn a_product_too_large_for_the_host_is_refused_before_it_is_begun() -> Result<()> {
        // A dense column times a dense row: C has 2^30 x 2^20 entries.
        let n = 1 << 20;
        let a = Csc::from_triplets(n, 1, (0..n).map(|i| (i, 0, 1.0)))?;
        assert!(matches!(multiply(&a, &a.transpose()), Err(Error::Memory { needed, .. }) if needed == (1 << 40) * 12));
        Ok(())
    }
}
