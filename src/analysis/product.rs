//! The size of a product, computed from the patterns of its operands.
//!
//! A column of C = A·B has at least as many entries as the longest column of A that it uses. The
//! number of entries is at most the number of products in that column, and at most the number of
//! rows of C. A run has at most as many products as its column of B has entries. Only columns of C
//! whose lower and upper bound differ are counted, and those with the longest columns of B come
//! first. When a run is found that is longer than all remaining columns of B, the runs of these
//! columns need not be counted. Counting visits each product of a column and keeps a mark and a
//! count for each row. Counting stops when the budget of products is used up.
use crate::{Error, Pattern, Result, error::Dimensions};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Mutex;

/// A number between two bounds. The number is known if the bounds are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Bounds {
    /// Lower bound, inclusive.
    pub least: u64,
    /// Upper bound, inclusive.
    pub most: u64,
}

impl Bounds {
    /// The number, if the bounds are equal.
    pub fn exact(self) -> Option<u64> {
        (self.least == self.most).then_some(self.least)
    }
}

/// The size of a product C = A·B, in entries (blocks).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProductSize {
    /// Number of products of entries, which is the expansion size.
    pub products: u64,
    /// Number of products in the longest column of C.
    pub longest_segment: u64,
    /// Number of entries of C.
    pub nnz: Bounds,
    /// The largest number of products that sum to one entry of C.
    pub longest_run: Bounds,
}

/// Number of products that are counted in one round, before the next columns are chosen. A round of
/// this many products keeps the threads busy.
const ROUND: u64 = 1 << 22;

/// A column of C whose size is not known yet.
struct OpenColumn {
    col: usize,
    products: u64,
    /// Number of entries in the column of B. No run in a column of C has more products than the
    /// column of B has entries.
    b_len: u64,
    nnz: Bounds,
}

/// Counts the products and entries of C = A·B. At most `budget` products are visited; numbers that
/// remain unknown are given as bounds. The expansion size and the longest segment are always exact.
///
/// # Errors
/// [`Error::Dimensions`] if the inner sizes differ.
///
/// ```
/// use blockmul::extra::analysis::product_size;
/// use blockmul::Csc;
/// let a = Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 0, 1.0), (0, 1, 1.0)])?;
/// let size = product_size(a.pattern(), a.pattern(), 1000)?;
/// assert_eq!((size.products, size.nnz.exact(), size.longest_run.exact()), (5, Some(4), Some(2)));
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn product_size(a: &Pattern, b: &Pattern, budget: u64) -> Result<ProductSize> {
    if a.ncols() != b.nrows() {
        let dimensions = |p: &Pattern| Dimensions { nrows: p.nrows(), ncols: p.ncols(), block_rows: 1, block_cols: 1 };
        return Err(Error::Dimensions { a: dimensions(a), b: dimensions(b) });
    }
    let mut columns: Vec<_> = (0..b.ncols()).into_par_iter().map(|col| open_column(a, b, col)).collect();
    let products = columns.iter().map(|column| column.products).sum();
    let longest_segment = columns.iter().map(|column| column.products).max().unwrap_or(0);
    // At least one entry of a column of C has no fewer products than the column's mean, rounded up.
    let mean = |column: &OpenColumn| column.products.div_ceil(column.nnz.most.max(1));
    let mut size = ProductSize {
        products,
        longest_segment,
        nnz: Bounds { least: 0, most: 0 },
        longest_run: Bounds { least: columns.iter().map(mean).max().unwrap_or(0), most: 0 },
    };
    columns.sort_by_key(|column| (std::cmp::Reverse(column.b_len), column.col));

    let counter = Counter { a, b, scratch: Mutex::default() };
    let (mut left, mut longest_skipped, mut next) = (budget, 0, columns.into_iter().peekable());
    while next.peek().is_some() {
        let (mut round, mut cost) = (Vec::new(), 0);
        while cost < ROUND
            && let Some(column) = next.next()
        {
            let nnz_known = column.nnz.exact().is_some();
            let runs_matter = column.b_len > size.longest_run.least;
            match (nnz_known, runs_matter) {
                (true, false) => size.nnz.add(column.nnz),
                _ if column.products <= left => {
                    left -= column.products;
                    cost += column.products;
                    round.push((column.col, column.products));
                }
                _ => {
                    size.nnz.add(column.nnz);
                    longest_skipped = longest_skipped.max(column.b_len);
                }
            }
        }
        let (nnz, longest) = counter.count(&round, cost);
        size.nnz.add(Bounds { least: nnz, most: nnz });
        size.longest_run.least = size.longest_run.least.max(longest);
    }
    size.longest_run.most = size.longest_run.least.max(longest_skipped);
    Ok(size)
}

/// The number of entries in some columns of C = A·B. The products of each column are visited.
pub(crate) fn entries_of_columns(a: &Pattern, b: &Pattern, columns: impl IntoIterator<Item = usize>) -> Vec<u32> {
    // Scratch arrays that no thread uses at the moment. For each row a scratch array holds 1 plus
    // the last column with an entry in that row.
    let scratch = Mutex::new(Vec::<Vec<u32>>::new());
    let free = || scratch.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let count = |col: usize| {
        let last = free().pop();
        let (mut last, mut entries) = (last.unwrap_or_else(|| vec![0; a.nrows()]), 0);
        for &row in b.column(col).iter().flat_map(|&k| a.column(k as usize)) {
            let before = std::mem::replace(&mut last[row as usize], col as u32 + 1);
            entries += u32::from(before != col as u32 + 1);
        }
        free().push(last);
        entries
    };
    columns.into_iter().collect::<Vec<_>>().into_par_iter().map(count).collect()
}

impl Bounds {
    fn add(&mut self, other: Self) {
        self.least += other.least;
        self.most += other.most;
    }
}

fn open_column(a: &Pattern, b: &Pattern, col: usize) -> OpenColumn {
    let lengths = b.column(col).iter().map(|&k| a.entries(k as usize).len() as u64);
    let (products, longest) = lengths.fold((0, 0), |(sum, longest), length| (sum + length, longest.max(length)));
    let nnz = Bounds { least: longest, most: products.min(a.nrows() as u64) };
    OpenColumn { col, products, b_len: b.entries(col).len() as u64, nnz }
}

struct Counter<'a> {
    a: &'a Pattern,
    b: &'a Pattern,
    /// Scratch arrays that no thread uses at the moment. An array has a word for each row. The
    /// word's upper half holds 1 plus the last column that reached the row, and its lower half
    /// holds that column's number of products in the row. No column is counted twice, so old
    /// contents do not affect later columns.
    scratch: Mutex<Vec<Vec<u64>>>,
}

impl Counter<'_> {
    /// The number of entries and the longest run in some columns of C with `products` products in
    /// total.
    fn count(&self, columns: &[(usize, u64)], products: u64) -> (u64, u64) {
        let share = products.div_ceil(4 * rayon::current_num_threads() as u64).max(1);
        let (mut parts, mut start, mut sum) = (Vec::new(), 0, 0);
        for (i, &(_, products)) in columns.iter().enumerate() {
            sum += products;
            if sum >= share || i + 1 == columns.len() {
                parts.push(&columns[start..=i]);
                (start, sum) = (i + 1, 0);
            }
        }
        let counts = parts.into_par_iter().map(|part| self.count_part(part));
        counts.reduce(|| (0, 0), |x, y| (x.0 + y.0, x.1.max(y.1)))
    }

    fn count_part(&self, columns: &[(usize, u64)]) -> (u64, u64) {
        let free = || self.scratch.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let scratch = free().pop();
        let mut rows = scratch.unwrap_or_else(|| vec![0; self.a.nrows()]);
        let (mut nnz, mut longest) = (0, 0);
        for &(col, _) in columns {
            let unmet = (col as u64 + 1) << 32;
            for &k in self.b.column(col) {
                for &row in self.a.column(k as usize) {
                    let row = &mut rows[row as usize];
                    let met = *row >> 32 == unmet >> 32;
                    nnz += u64::from(!met);
                    *row = if met { *row + 1 } else { unmet + 1 };
                    longest = longest.max(*row - unmet);
                }
            }
        }
        free().push(rows);
        (nnz, longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csc, reference};
    use proptest::prelude::*;

    /// Counts products, entries and the longest run by multiplying matrices of ones, so that the
    /// value of an entry of C is the number of its products.
    fn model(a: &Csc<f64>, b: &Csc<f64>) -> (u64, u64, u64) {
        let c = reference::multiply(a, b).unwrap();
        let longest = c.values().iter().fold(0.0, |x: f64, &y| x.max(y));
        (reference::products(a, b), c.nnz() as u64, longest as u64)
    }

    fn ones(nrows: usize, ncols: usize, places: impl IntoIterator<Item = (usize, usize)>) -> Csc<f64> {
        let places: std::collections::BTreeSet<_> = places.into_iter().collect();
        Csc::from_triplets(nrows, ncols, places.into_iter().map(|(i, j)| (i, j, 1.0))).unwrap()
    }

    proptest! {
        #[test]
        fn exact_within_the_budget_and_bounds_beyond(
            a in prop::collection::vec((0usize..20, 0usize..30), 0..150),
            b in prop::collection::vec((0usize..30, 0usize..25), 0..150),
            budget in prop_oneof![Just(0u64), 0..500u64, Just(u64::MAX)],
        ) {
            let (a, b) = (ones(20, 30, a), ones(30, 25, b));
            let size = product_size(a.pattern(), b.pattern(), budget).unwrap();
            let (products, nnz, longest) = model(&a, &b);
            prop_assert_eq!(size.products, products);
            prop_assert!(size.nnz.least <= nnz && nnz <= size.nnz.most);
            let c = reference::multiply(&a, &b).unwrap();
            let lengths: Vec<_> = (0..25).map(|col| c.pattern().entries(col).len() as u32).collect();
            prop_assert_eq!(entries_of_columns(a.pattern(), b.pattern(), 0..25), lengths);
            prop_assert!(size.longest_run.least <= longest && longest <= size.longest_run.most);
            if budget >= products {
                prop_assert_eq!((size.nnz.exact(), size.longest_run.exact()), (Some(nnz), Some(longest)));
            }
        }
    }

    #[test]
    fn an_arrow_is_known_without_counting_its_products() -> Result<()> {
        // A has entries in the first row, the first column and the diagonal. C is dense, because
        // each column includes the first column of A.
        let n = 1000;
        let arrow = ones(n, n, (0..n).flat_map(|i| [(i, 0), (0, i), (i, i)]));
        let size = product_size(arrow.pattern(), arrow.pattern(), 4 * n as u64)?;
        let (products, nnz, longest) = model(&arrow, &arrow);
        assert!(products > 1_000_000, "far beyond the budget");
        assert_eq!((size.products, size.nnz.exact(), size.longest_run.exact()), (products, Some(nnz), Some(longest)));
        Ok(())
    }

    #[test]
    fn inner_sizes_must_meet_and_may_be_nothing() -> Result<()> {
        let (a, b) = (ones(2, 3, []), ones(2, 3, []));
        assert!(matches!(product_size(a.pattern(), b.pattern(), 9), Err(Error::Dimensions { .. })));
        let size = product_size(ones(2, 0, []).pattern(), ones(0, 3, []).pattern(), 0)?;
        assert_eq!((size.products, size.nnz.exact(), size.longest_run.exact()), (0, Some(0), Some(0)));
        Ok(())
    }
}
