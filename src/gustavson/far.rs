//! Columns of C whose rows are not near one another.
use super::{
    Places,
    factors::{Operation, Operations},
    rows::{Extent, RowSet},
};
use crate::{Arithmetic, Result, host::memory::check_large};

/// A sum for each row, and the rows that were met. Between columns all sums are the identity.
pub(super) struct Far<N> {
    identity: N,
    sums: Vec<N>,
    met: RowSet,
}

impl<N: Arithmetic> Far<N> {
    pub fn new(nrows: usize, identity: N) -> Result<Self> {
        check_large(|| format!("a column of the product, {nrows} rows"), (nrows * size_of::<N>()) as u64)?;
        Ok(Self { identity, sums: vec![identity; nrows], met: RowSet::new(nrows) })
    }

    /// Adds the products of lists of rows, values and a factor; writes rows and sums.
    pub fn add<'l>(
        &mut self,
        by: Operations<impl Operation<N>, impl Operation<N>>,
        lists: impl Iterator<Item = (&'l [u32], &'l [N], N)>,
        extent: &Extent,
        places: &mut Places<'_, N>,
    ) {
        for (rows, values, factor) in lists {
            self.met.insert(rows.iter().zip(values), extent, |(&row, &x)| {
                let sum = &mut self.sums[row as usize];
                *sum = (by.add)(*sum, (by.multiply)(x, factor));
                row
            });
        }
        self.met.take(extent, |row| {
            places.push(row, std::mem::replace(&mut self.sums[row as usize], self.identity));
        });
    }
}
