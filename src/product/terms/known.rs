//! What is known of a product before it is analysed.
use crate::resident::ColumnLengths;

/// What the host knows of a product before its columns are analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub columns: u64,
    /// Rows of C.
    pub rows: u64,
    /// Products, about.
    pub products: u64,
    /// The same if all columns of A were alike.
    pub if_alike: u64,
    /// Entries of B.
    pub b_entries: u64,
    /// Those of its longest column, if that is known.
    pub longest_b: Option<u32>,
}

impl Known {
    /// Of a product with `columns` columns, of an A with `a_nnz` entries in `inner` columns and
    /// `rows` rows, and a B with `b_nnz` entries; `lengths` are those of their columns, if known.
    ///
    /// The products are as many as if entries of B met each column of A as often as it has entries:
    /// those of the square of a symmetric matrix. Otherwise, if lengths are not known, as if all
    /// columns were alike.
    pub fn new(
        columns: usize,
        [a_nnz, inner, rows]: [usize; 3],
        b_nnz: usize,
        [of_a, of_b]: [Option<ColumnLengths>; 2],
    ) -> Self {
        let product_of = |entries: f64, of: usize| (b_nnz as f64 * entries / of.max(1) as f64) as u64;
        let if_alike = product_of(a_nnz as f64, inner);
        let products = of_a.map_or(if_alike, |ColumnLengths { squares, .. }| product_of(squares as f64, a_nnz));
        let longest_b = of_b.map(|of| of.longest);
        let [columns, rows, b_entries] = [columns, rows, b_nnz].map(|number| number as u64);
        Self { columns, rows, products, if_alike, b_entries, longest_b }
    }

    /// Products of the longest column, as far as they can be expected.
    pub fn longest(&self) -> Option<u64> {
        self.longest_b.map(|longest| u64::from(longest) * self.products / self.b_entries.max(1))
    }
}
