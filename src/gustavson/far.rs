//! Columns of C whose rows are far from one another.
use super::{
    Places,
    numbers::{List, Operations},
    rows::{Extent, RowSet},
};
use crate::{Arithmetic, Result, host::memory::check_large};

/// A sum for each row of C, and the set of rows that have products. Between columns all sums are
/// the identity.
pub(super) struct Far<N> {
    identity: N,
    sums: Vec<N>,
    met: RowSet,
}

/// Refuses a dense column of the product if its `bytes` bytes do not fit the memory.
pub(super) fn check_column(nrows: usize, bytes: u64) -> Result<()> {
    check_large(|| format!("a column of the product, {nrows} rows"), bytes)
}

impl<N: Arithmetic> Far<N> {
    pub fn new(nrows: usize, identity: N) -> Result<Self> {
        check_column(nrows, (nrows * size_of::<N>()) as u64)?;
        Ok(Self { identity, sums: vec![identity; nrows], met: RowSet::new(nrows) })
    }

    /// Adds the products of columns of A, and writes rows and sums.
    pub fn add(&mut self, by: impl Operations<N>, lists: &[List<'_, N>], extent: &Extent, places: &mut Places<'_, N>) {
        for list in lists {
            self.met.insert(list.entries(), extent, |(&row, &x)| {
                let sum = &mut self.sums[row as usize];
                *sum = by.add(*sum, by.multiply(x, list.factor));
                row
            });
        }
        self.met.take(extent, |row| {
            places.push(row, std::mem::replace(&mut self.sums[row as usize], self.identity));
        });
    }
}
