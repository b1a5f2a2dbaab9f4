//! Upper bounds of a product that is not computed yet, and what the host counts for them.
use crate::{Pattern, analysis::entries_of_columns};
use rayon::prelude::*;

/// Upper bounds of the device memory and the bands of A·B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProductBound {
    /// Most bytes in use at once, besides the operands.
    pub peak_bytes: u64,
    pub bands: usize,
}

impl ProductBound {
    /// The bound of a product that takes one of two ways.
    pub fn max(self, other: Self) -> Self {
        Self { peak_bytes: self.peak_bytes.max(other.peak_bytes), bands: self.bands.max(other.bands) }
    }
}

/// The bound of an engine that may leave all columns to ESC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EngineBound {
    /// The engine computes the product.
    Own(ProductBound),
    /// Either the engine computes the product, within this bound, or ESC does.
    OwnOrEsc(ProductBound),
    /// ESC computes the product, after an analysis that takes so many bytes.
    Esc { analysis_bytes: u64 },
}

/// The columns of C = A·B, counted on the host.
pub(crate) struct ColumnCounts {
    /// Products of each column.
    pub products: Vec<u64>,
    /// Entries of C in each column. If they were not counted, each is the products of the column,
    /// or the rows of C if that is less.
    pub entries: Vec<u32>,
    /// The column that has most entries of C, or if they were not counted most products, and its
    /// entries, which are always counted. `None` if there are no columns.
    pub longest: Option<LongestColumn>,
}

/// A column of C that has most entries or products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LongestColumn {
    pub column: usize,
    pub products: u64,
    pub entries: u64,
}

/// Largest number of products for which the entries of C are counted one by one. This takes a tenth
/// of a second on two cores. The entries of larger products are bounded.
const COUNTED: u64 = 1 << 26;

impl ColumnCounts {
    pub fn new(a: &Pattern, b: &Pattern) -> Self {
        let products_of = |col: usize| b.column(col).iter().map(|&k| a.entries(k as usize).len() as u64).sum();
        let products: Vec<u64> = (0..b.ncols()).into_par_iter().map(products_of).collect();
        let are_counted = products.iter().sum::<u64>() <= COUNTED;
        let entries: Vec<u32> = match are_counted {
            true => entries_of_columns(a, b, 0..b.ncols()),
            false => products.iter().map(|&of| of.min(a.nrows() as u64) as u32).collect(),
        };
        let most = |&column: &usize| if are_counted { entries[column].into() } else { products[column] };
        let longest = (0..b.ncols()).max_by_key(most).map(|column| {
            let entries = if are_counted { entries[column] } else { entries_of_columns(a, b, [column])[0] };
            LongestColumn { column, products: products[column], entries: entries.into() }
        });
        Self { products, entries, longest }
    }

    /// Number of columns.
    pub fn cols(&self) -> u64 {
        self.products.len() as u64
    }

    pub fn all_products(&self) -> u64 {
        self.products.iter().sum()
    }

    pub fn all_entries(&self) -> u64 {
        self.entries.iter().map(|&of| u64::from(of)).sum()
    }
}
