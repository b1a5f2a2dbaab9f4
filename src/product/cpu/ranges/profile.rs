//! Facts about the columns of C that are known before they are computed, and their bins.
use super::tuning::RangeTuning;
use crate::{
    Result,
    device::at_most,
    product::{
        choose,
        terms::{Bin, Method},
    },
    tuning::BinSize,
};

/// Sums over the columns of B.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::product) struct RangeProfile {
    pub products: u64,
    /// Most products of a column.
    pub longest: u64,
    /// Columns that have products.
    pub columns: u64,
    /// Columns of B with one entry, if they are copied.
    pub direct: u64,
    /// Products of the columns that are copied.
    pub of_direct: u64,
    /// Entries of the longest column of B.
    pub longest_b: u64,
    /// Entries of C in the samples, and products in the samples. If no columns are sampled, the
    /// number of entries and the number of products are 0.
    pub sampled: [u64; 2],
}

/// The sides of C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) struct Sides {
    pub rows: u64,
    pub columns: u64,
}

/// Number of rows that cost nothing, because their sums stay in a core's cache. 2000 products take
/// 0.28 ms with 92,000 rows and with 156,000 rows. 45,000 products take 0.66 ms with 200,000 rows
/// and with a million.
pub(in crate::product) const CACHED_ROWS: u64 = 1 << 17;

/// Number of further rows that cost as much as a column, because their sums lie farther apart. With
/// 225,000 products, 500,000 to 8 million rows take 0.18 ns each (two cores of an EPYC,
/// 2026-11-26). ESC is chosen about where it begins to be faster than ranges: for 450,000 products
/// at 14 to 22 million rows (2026-11-28).
const ROWS_OF_A_COLUMN: u64 = 48;

/// Approximate number of launches of a product in ranges. A product in which every product of
/// entries is an entry of C has `EXACT_LAUNCHES` launches.
const LAUNCHES: u32 = 4;
const EXACT_LAUNCHES: u32 = 2;

impl RangeProfile {
    /// Words of a part in the device's record.
    pub(super) const WORDS: usize = 6;

    /// Reads the profile from the records of parts. The records of groups that sampled begin at
    /// word `sampled`. No number may exceed what A and B admit.
    pub(super) fn of_record(
        words: &[u64],
        sampled: usize,
        [nrows, a_nnz]: [usize; 2],
        [cols, b_nnz]: [usize; 2],
    ) -> Result<Self> {
        let mut profile = Self::default();
        let sum = |one: u64, other: u64| one.saturating_add(other);
        for part in words[..sampled].chunks_exact(Self::WORDS) {
            let of = |at: usize| part[at];
            profile.add(&Self {
                products: of(0),
                longest: of(1),
                columns: of(2),
                direct: of(3),
                of_direct: of(4),
                longest_b: of(5),
                sampled: [0; 2],
            });
        }
        for of in words[sampled..].chunks_exact(2) {
            profile.sampled = [sum(profile.sampled[0], of[0]), sum(profile.sampled[1], of[1])];
        }
        let most = (b_nnz as u64).saturating_mul(nrows.min(a_nnz) as u64);
        at_most("products", profile.products, most)?;
        at_most("products of a column", profile.longest, profile.products)?;
        at_most("columns of C", profile.columns, cols as u64)?;
        at_most("direct columns", profile.direct, profile.columns)?;
        at_most("products of direct columns", profile.of_direct, profile.products)?;
        at_most("entries of a column of B", profile.longest_b, b_nnz as u64)?;
        at_most("products of samples", profile.sampled[1], profile.products)?;
        at_most("entries of C in samples", profile.sampled[0], profile.sampled[1])?;
        Ok(profile)
    }

    /// Adds the profile of other columns.
    pub(super) fn add(&mut self, other: &Self) {
        self.products = self.products.saturating_add(other.products);
        self.longest = self.longest.max(other.longest);
        self.columns = self.columns.saturating_add(other.columns);
        self.direct = self.direct.saturating_add(other.direct);
        self.of_direct = self.of_direct.saturating_add(other.of_direct);
        self.longest_b = self.longest_b.max(other.longest_b);
    }

    /// Adds a column of B with `entries` entries and `products` products.
    pub fn add_column(&mut self, entries: u64, products: u64, tuning: &RangeTuning) {
        let direct = tuning.direct && entries == 1 && products > 0;
        let (direct, of_direct) = (u64::from(direct), if direct { products } else { 0 });
        let columns = u64::from(products > 0);
        self.add(&Self {
            products,
            longest: products,
            columns,
            direct,
            of_direct,
            longest_b: entries,
            sampled: [0; 2],
        });
    }

    /// Entries of C in `columns` columns with `products` products: estimated from the samples, or
    /// an upper bound. C has `nrows` rows.
    pub fn entries(&self, [columns, products]: [u64; 2], nrows: u64) -> u64 {
        let [entries, of] = self.sampled.map(|number| u128::from(number.max(1)));
        ((u128::from(products) * entries).div_ceil(of) as u64).min(columns.saturating_mul(nrows))
    }

    fn launches(&self) -> u32 {
        if self.longest_b <= 1 { EXACT_LAUNCHES } else { LAUNCHES }
    }

    /// The sizes of all columns of C.
    pub(super) fn size(&self, of_c: Sides) -> BinSize {
        let entries = self.entries([self.columns, self.products], of_c.rows);
        BinSize::new(self.launches(), self.products, entries, self.places(self.columns, of_c))
    }

    /// The cost, in places, of `columns` columns with products. The cost includes all columns of C,
    /// which setup visits, and the rows of C. If every product is an entry of C, only the columns
    /// with products count.
    fn places(&self, columns: u64, of_c: Sides) -> u64 {
        match self.longest_b {
            0 | 1 => columns,
            _ => {
                let rows = of_c.rows.saturating_sub(CACHED_ROWS) / ROWS_OF_A_COLUMN;
                columns.saturating_add(of_c.columns).saturating_add(rows)
            }
        }
    }

    /// The bins of C's columns: columns of B with one entry, which are copied, and the other
    /// columns. Times of blocks are not predicted.
    pub(super) fn bins(&self, tuning: &RangeTuning, of_c: Sides) -> Vec<Bin> {
        let bin = |which, method, [columns, products]: [u64; 2], entries, launches| {
            let places = if method == Method::Dense { self.places(columns, of_c) } else { columns };
            let size = tuning.multiplications.is_none().then(|| BinSize::new(launches, products, entries, places));
            let predicted_ms = size.and_then(|size| choose::predict_ms(&tuning.costs, method, &size));
            Bin { size, predicted_ms, ..Bin::of(which, method, columns, products) }
        };
        let others = [self.columns - self.direct, self.products - self.of_direct];
        let both = self.direct > 0 && others[0] > 0;
        // The bins of copied and of other columns have the same kernels, whose launches count once.
        let launches = if both { 0 } else { self.launches() };
        let direct = || bin("one entry of B", Method::Direct, [self.direct, self.of_direct], self.of_direct, launches);
        let entries = self.entries(others, of_c.rows);
        let dense = || bin("in ranges of columns", Method::Dense, others, entries, self.launches());
        let mut bins = Vec::new();
        bins.extend((self.direct > 0).then(direct));
        bins.extend((others[0] > 0).then(dense));
        bins
    }
}
