//! The single pass for scalars. Each product is added to the sum of its row at once, and its row is
//! marked by a bit. The bits then give the rows in order.
use super::{
    Fits, Found, Growing, Places,
    far::{Far, check_column},
    growing::More,
    in_order::InOrder,
    near::Near,
    numbers::{List, Operations, Typed},
    parts::{Part, Shares, Store, in_turn, parts},
    rows::{self, Extent, RowSet},
    share_out,
    shifted::Shifted,
    sums::{BlockSums, Column},
};
use crate::{
    Arithmetic, BlockShape, Result,
    host::memory::{self, prefetch},
    primitives::segmented_reduce::RUN_PIECE,
};
use std::{
    cell::Cell,
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
};

/// Number of entries of B ahead of the current column whose columns of A are prefetched, unless the
/// last column was near. The kernels for CPUs do the same.
const AHEAD: usize = 8;

/// One column of every 128 or more is computed twice, to estimate the memory for all columns.
const SAMPLED: usize = 128;

/// Maximum number of columns that are computed twice.
const SAMPLES: usize = 256;

/// If a part has at most `FEW` entries, its memory is allocated without a sample.
const FEW: u64 = 1 << 15;

/// See [`Factors::multiply`](super::Factors::multiply); the sums are of type `N`.
pub(super) fn multiply<N: Arithmetic>(factors: &Typed<'_, N>, by: impl BlockSums<N>, fits: Fits<'_>) -> Result<Found> {
    let Shares { mut parts, roomy } = parts(factors.a.columns, factors.b.columns, 1, fits)?;
    if !roomy {
        return rows::find(factors.a.columns, factors.b.columns, 1, fits);
    }
    match &mut parts[..] {
        [] => Ok(Found { parts, stores: Vec::new() }),
        [part] => {
            memory::keep_small();
            let mut pass = OnePass::new(factors, by);
            let mut made = Growing::default();
            let expected = if part.most <= FEW { part.most } else { pass.expect(by, part.cols.clone())? };
            made.expect(expected.min(part.most) as usize);
            let entries = Cell::new(0);
            pass.columns(by, part, &mut made, &|more| {
                entries.set(entries.get() + more as u64);
                fits(entries.get())
            })?;
            made.rows.shrink_to_fit();
            made.sums.shrink_to_fit();
            part.places = 0..made.len();
            Ok(Found { parts, stores: vec![Store { rows: made.rows, sums: Some(N::any(made.sums)) }] })
        }
        _ => side_by_side(factors, by, parts, fits),
    }
}

/// Computes the parts on all threads in parallel.
fn side_by_side<N: Arithmetic>(
    factors: &Typed<'_, N>,
    by: impl BlockSums<N>,
    mut parts: Vec<Part>,
    fits: Fits<'_>,
) -> Result<Found> {
    let expected = OnePass::new(factors, by).expect(by, 0..factors.b.columns.ncols())?;
    let expected = expected.min(parts.iter().map(|part| part.most).sum());
    let entries = AtomicU64::new(0);
    let fits = |more: usize| fits(entries.fetch_add(more as u64, Ordering::Relaxed) + more as u64);
    let made = InOrder::fill(expected as usize, |in_order| {
        share_out(
            in_turn(parts.iter_mut().enumerate()),
            |_| (OnePass::new(factors, by), Growing::default()),
            |(pass, made), (number, part)| {
                made.expect(part.most as usize);
                pass.columns(by, part, made, &fits)?;
                *made = in_order.put(number, std::mem::take(made));
                Ok(())
            },
        )?;
        Ok(())
    })?;
    let mut end = 0;
    for part in &mut parts {
        let begin = end;
        end += part.counts.iter().map(|&count| count as usize).sum::<usize>();
        part.places = begin..end;
    }
    Ok(Found { parts, stores: vec![Store { rows: made.rows, sums: Some(N::any(made.sums)) }] })
}

/// The state in which a thread computes columns of C.
struct OnePass<'a, N: Clone> {
    factors: &'a Typed<'a, N>,
    identity: N,
    shifted: Shifted<N>,
    near: Near<N>,
    /// Used for columns that are not near.
    far: Option<Far<N>>,
    /// Used for columns whose runs may be cut.
    cut: Option<(RowSet, Column<N>)>,
    /// Used for columns whose rows are far apart.
    sorted: Sorted<N>,
    /// The columns of A that the current column of B multiplies.
    lists: Vec<List<'a, N>>,
    was_near: bool,
}

impl<'a, N: Arithmetic> OnePass<'a, N> {
    fn new(factors: &'a Typed<'a, N>, by: impl BlockSums<N>) -> Self {
        let identity = by.identity();
        let (shifted, near) = (Shifted::new(identity), Near::new(identity));
        let sorted = Sorted { products: Vec::new(), keys: Vec::new() };
        Self { factors, identity, shifted, near, far: None, cut: None, sorted, lists: Vec::new(), was_near: true }
    }

    /// Estimates the number of entries in columns `cols` of C. The estimate computes every
    /// [`SAMPLED`]th column, and assumes the same number of entries for each entry of B. Returns
    /// the greatest number if the sample has no entry of B.
    fn expect(&mut self, by: impl BlockSums<N>, cols: Range<usize>) -> Result<u64> {
        let b = self.factors.b.columns;
        let (mut made, mut of_b) = (Growing::default(), 0);
        let step = SAMPLED.max(cols.len() / SAMPLES);
        for col in cols.clone().skip(step / 2).step_by(step) {
            of_b += b.entries(col).len();
            self.column(by, col, &mut made, &|_| Ok(()))?;
        }
        let all = b.col_ptr.range(cols.start, cols.end).len() as u128;
        let expected = (made.len() as u128 * all).checked_div(of_b as u128);
        Ok(expected.map_or(u64::MAX, |expected| (expected + expected / 32) as u64))
    }

    /// Appends the columns of a part.
    fn columns(&mut self, by: impl BlockSums<N>, part: &mut Part, made: &mut Growing<N>, fits: More<'_>) -> Result<()> {
        for col in part.cols.clone() {
            let before = made.len();
            self.column(by, col, made, fits)?;
            part.counts.push((made.len() - before) as u32);
        }
        made.ask(fits)
    }

    /// Appends a column of C.
    #[inline(always)]
    fn column(&mut self, by: impl BlockSums<N>, col: usize, made: &mut Growing<N>, fits: More<'_>) -> Result<()> {
        let Typed { a, b } = self.factors;
        let (of_b, a_values) = (b.columns.entries(col), &a.values[..]);
        if of_b.len() > RUN_PIECE {
            return self.cut_column(by, col, made, fits);
        }
        self.lists.clear();
        self.lists.extend(b.columns.row_idx[of_b.clone()].iter().zip(&b.values[of_b]).map(|(&k, &factor)| {
            let of_a = a.columns.entries(k as usize);
            List { rows: &a.columns.row_idx[of_a.clone()], values: &a_values[of_a], factor }
        }));
        let lists = &self.lists[..];
        let is_shifted = self.shifted.is_shifted(a.columns, b.columns, col);
        if is_shifted && self.shifted.has(col) {
            let len = self.shifted.len();
            return made.append(len, fits, |places| self.shifted.add(by, lists, col, places));
        }
        if !self.was_near {
            ask_ahead(self.factors, b.columns.entries(col));
        }
        let Some(extent) = Extent::of(lists.iter().map(|list| list.rows)) else { return Ok(()) };
        self.was_near = extent.is_near();
        if !self.was_near && !extent.is_sparse() && self.far.is_none() {
            self.far = Some(Far::new(a.columns.nrows, self.identity)?);
        }
        let before = made.len();
        made.append(extent.products, fits, |places| match &mut self.far {
            _ if self.was_near => self.near.add(by, lists, &extent, places),
            Some(far) if !extent.is_sparse() => far.add(by, lists, &extent, places),
            _ => self.sorted.add(by, lists, places),
        })?;
        if is_shifted && self.shifted.pays() {
            self.shifted.keep(col, &made.rows[before..], lists, &extent);
        }
        Ok(())
    }

    /// Appends a column of C that is computed in two passes, like columns of blocks.
    #[cold]
    fn cut_column(&mut self, by: impl BlockSums<N>, col: usize, made: &mut Growing<N>, fits: More<'_>) -> Result<()> {
        let Typed { a, b } = self.factors;
        let nrows = a.columns.nrows;
        let (set, column) = match &mut self.cut {
            Some(cut) => cut,
            cut => {
                check_column(nrows, Column::<N>::bytes(nrows, BlockShape::SCALAR))?;
                let column = Column::new(nrows, BlockShape::SCALAR, self.identity);
                cut.insert((RowSet::new(nrows), column))
            }
        };
        let mut found = Vec::new();
        set.find(a.columns, b.columns.column(col), &mut found);
        column.sum(by, self.factors, col, &found);
        let products = a.columns.products(b.columns, col) as usize;
        made.append(products, fits, |places| column.take(by, &found, |i, sum| places.push(found[i], sum[0])))
    }
}

/// Prefetches the columns of A that the following entries of B multiply.
fn ask_ahead<N: Arithmetic>(Typed { a, b }: &Typed<'_, N>, of_b: Range<usize>) {
    for &k in b.columns.row_idx.iter().skip(of_b.start + AHEAD).take(of_b.len()) {
        let first = a.columns.entries(k as usize).start;
        a.columns.row_idx.get(first).map(prefetch);
        a.values.get(first).map(prefetch);
    }
}

/// The products of a column whose rows are far apart, with the row and the index of each.
struct Sorted<N> {
    products: Vec<N>,
    keys: Vec<u64>,
}

impl<N: Arithmetic> Sorted<N> {
    /// Sorts the products by row and adds those of each row. Sorting is faster than other ways if a
    /// column has few rows, far apart.
    fn add(&mut self, by: impl Operations<N>, lists: &[List<'_, N>], places: &mut Places<'_, N>) {
        let Self { products, keys } = self;
        products.clear();
        keys.clear();
        for list in lists {
            let first = products.len() as u64;
            keys.extend(list.rows.iter().enumerate().map(|(i, &row)| u64::from(row) << 32 | (first + i as u64)));
            products.extend(list.values.iter().map(|&x| by.multiply(x, list.factor)));
        }
        // Keys are sorted by row, then by the index of the product. There are fewer products than
        // rows.
        keys.sort_unstable();
        let mut entries = keys.iter().map(|&key| ((key >> 32) as u32, products[key as u32 as usize]));
        let Some(mut run) = entries.next() else { return };
        for (row, product) in entries {
            match row == run.0 {
                true => run.1 = by.add(run.1, product),
                false => {
                    places.push(run.0, run.1);
                    run = (row, product);
                }
            }
        }
        places.push(run.0, run.1);
    }
}
