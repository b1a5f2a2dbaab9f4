//! Facts about a product that are known before it is analysed.
use crate::{
    Pattern,
    resident::{ColumnLengths, PatternArrays},
};

/// Facts about a product that the host knows before its columns are analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub columns: u64,
    /// Rows of C.
    pub rows: u64,
    /// Approximate number of products.
    pub products: u64,
    /// Number of products if all columns of A had the same number of entries.
    pub if_alike: u64,
    /// Entries of B.
    pub b_entries: u64,
    /// Entries of the longest columns of A and of B, if known.
    pub longest_a: Option<u32>,
    pub longest_b: Option<u32>,
}

impl Known {
    /// A has `a_nnz` entries in `inner` columns and `rows` rows. B has `b_nnz` entries in `columns`
    /// columns. `of_a` and `of_b` are the lengths of their columns, if known.
    ///
    /// The number of products assumes that a column of A with n entries is multiplied by n entries
    /// of B. This assumption is exact for the square of a symmetric matrix. If the lengths of A's
    /// columns are not known, all columns of A count as equally long.
    pub fn new(
        columns: usize,
        [a_nnz, inner, rows]: [usize; 3],
        b_nnz: usize,
        [of_a, of_b]: [Option<ColumnLengths>; 2],
    ) -> Self {
        let product_of = |entries: f64, of: usize| (b_nnz as f64 * entries / of.max(1) as f64) as u64;
        let if_alike = product_of(a_nnz as f64, inner);
        let products = of_a.map_or(if_alike, |ColumnLengths { squares, .. }| product_of(squares as f64, a_nnz));
        let [longest_a, longest_b] = [of_a, of_b].map(|of| Some(of?.longest));
        let [columns, rows, b_entries] = [columns, rows, b_nnz].map(|number| number as u64);
        Self { columns, rows, products, if_alike, b_entries, longest_a, longest_b }
    }

    /// The facts of A·B, from patterns on the host.
    pub fn of(a: &Pattern, b: &Pattern) -> Self {
        let lengths = [a, b].map(|of| Some(ColumnLengths::of(of)));
        Self::new(b.ncols(), [a.nnz(), a.ncols(), a.nrows()], b.nnz(), lengths)
    }

    /// The facts of A·B, from patterns on a device.
    pub fn of_arrays(a: &PatternArrays, b: &PatternArrays) -> Self {
        Self::new(b.ncols, [a.nnz(), a.ncols, a.nrows], b.nnz(), [a.lengths, b.lengths])
    }

    /// Expected products of the longest column, if the longest column of B is known.
    pub fn longest(&self) -> Option<u64> {
        self.longest_b.map(|longest| u64::from(longest) * self.products / self.b_entries.max(1))
    }
}
