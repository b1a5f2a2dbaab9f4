//! Columns of C whose rows are near one another, as those of meshes are.
use super::{
    Places,
    factors::{List, Operation, Operations},
    rows::{Extent, WORD, bits},
};
use crate::Arithmetic;

/// Rows from the first word to the last: 64 words, so that a register has a bit for each.
const ROWS: usize = 64 << WORD;

/// A sum for each row behind the first of a column, and a bit for each that was met. They stay in
/// the fastest cache, whichever rows the column has. Between columns all sums are the identity, and
/// all bits are 0.
pub(super) struct Near<N> {
    identity: N,
    sums: Box<[N; ROWS]>,
    words: [u64; ROWS >> WORD],
}

impl<N: Arithmetic> Near<N> {
    pub fn new(identity: N) -> Self {
        Self { identity, sums: Box::new([identity; ROWS]), words: [0; ROWS >> WORD] }
    }

    /// Adds the products of columns of A; writes rows and sums.
    #[inline(always)]
    pub fn add<'l>(
        &mut self,
        by: Operations<impl Operation<N>, impl Operation<N>>,
        lists: impl Iterator<Item = List<'l, N>>,
        extent: &Extent,
        places: &mut Places<'_, N>,
    ) {
        let base = extent.first >> WORD << WORD;
        // Masks spare the checks of bounds.
        let place = |row: u32| row.wrapping_sub(base) as usize % ROWS;
        let mut met = 0u64;
        for list in lists {
            for (&row, &x) in list.entries() {
                let at = place(row);
                self.sums[at] = (by.add)(self.sums[at], (by.multiply)(x, list.factor));
                self.words[at >> WORD] |= 1 << (at & 63);
                met |= 1 << (at >> WORD);
            }
        }
        for word in bits(met) {
            for bit in bits(std::mem::take(&mut self.words[word as usize % 64])) {
                let row = base.wrapping_add(word << WORD | bit);
                places.push(row, std::mem::replace(&mut self.sums[place(row)], self.identity));
            }
        }
    }
}
