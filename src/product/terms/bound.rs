//! Upper bounds of a product that is not computed yet, and the counts from which they follow.
use crate::{Pattern, analysis::entries_of_columns};
use rayon::prelude::*;

/// Upper bounds for a product, if its engine computes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    /// Most bands, or `None` if ESC computes all columns.
    pub bands: Option<usize>,
    /// Most bytes in use at once, without the operands and without memory that only ESC needs.
    pub peak_bytes: u64,
}

/// The factors of C = A·B, and the sizes of the columns of C, counted on the host.
pub(crate) struct CountedProduct<'a> {
    pub a: &'a Pattern,
    pub b: &'a Pattern,
    /// Products of each column.
    pub products: Vec<u64>,
    /// Entries of each column, or upper bounds if there are more than [`COUNTED`] products.
    pub entries: Vec<u32>,
}

/// Largest number of products for which the entries of C are counted one by one. Counting the
/// entries takes a tenth of a second on two cores. For products larger than `COUNTED` only an upper
/// bound of the entries of C is computed.
const COUNTED: u64 = 1 << 26;

impl<'a> CountedProduct<'a> {
    pub fn new(a: &'a Pattern, b: &'a Pattern) -> Self {
        let products_of = |col: usize| b.column(col).iter().map(|&k| a.entries(k as usize).len() as u64).sum();
        let products: Vec<u64> = (0..b.ncols()).into_par_iter().map(products_of).collect();
        let entries = match products.iter().sum::<u64>() <= COUNTED {
            true => entries_of_columns(a, b, 0..b.ncols()),
            false => products.iter().map(|&of| of.min(a.nrows() as u64) as u32).collect(),
        };
        Self { a, b, products, entries }
    }

    pub fn all_products(&self) -> u64 {
        self.products.iter().sum()
    }

    /// Entries of C, or their upper bound.
    pub fn all_entries(&self) -> u64 {
        self.entries.iter().map(|&of| u64::from(of)).sum()
    }
}
