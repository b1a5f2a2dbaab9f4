//! Columns of C whose rows are near one another, as in meshes.
use super::{
    Places,
    numbers::{List, Operations},
    rows::{Extent, WORD, bits},
};
use crate::Arithmetic;

/// Maximum number of rows from the first word to the last: the rows of 64 words, so that a register
/// has a bit for each word.
const ROWS: usize = 64 << WORD;

/// A sum for each row after the first row of a column, and a bit for each row that has products.
/// The sums stay in the fastest cache, because columns with any rows use the same memory. Between
/// columns all sums are the identity, and all bits are 0.
pub(super) struct Near<N> {
    identity: N,
    sums: Box<[N; ROWS]>,
    words: [u64; ROWS >> WORD],
}

impl<N: Arithmetic> Near<N> {
    pub fn new(identity: N) -> Self {
        // An array would be made on the stack and then moved.
        let sums = vec![identity; ROWS].into_boxed_slice().try_into().expect("as many as rows");
        Self { identity, sums, words: [0; ROWS >> WORD] }
    }

    /// Adds the products of columns of A, and writes rows and sums.
    #[inline(always)]
    pub fn add(&mut self, by: impl Operations<N>, lists: &[List<'_, N>], extent: &Extent, places: &mut Places<'_, N>) {
        let base = extent.first >> WORD << WORD;
        // The modulus makes checks of bounds unnecessary.
        let place = |row: u32| row.wrapping_sub(base) as usize % ROWS;
        let mut met = 0u64;
        for list in lists {
            if has_many_in_a_word(list.rows) {
                // A word is kept in a register as long as rows belong to it.
                let (mut at_word, mut word) = (place(list.rows[0]) >> WORD, 0);
                for (&row, &x) in list.entries() {
                    let at = place(row);
                    self.sums[at] = by.add(self.sums[at], by.multiply(x, list.factor));
                    if at >> WORD != at_word {
                        self.words[at_word] |= word;
                        met |= 1 << at_word;
                        (at_word, word) = (at >> WORD, 0);
                    }
                    word |= 1 << (at & 63);
                }
                self.words[at_word] |= word;
                met |= 1 << at_word;
                continue;
            }
            for (&row, &x) in list.entries() {
                let at = place(row);
                self.sums[at] = by.add(self.sums[at], by.multiply(x, list.factor));
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

/// Whether a word has more than four of these rows, on average.
fn has_many_in_a_word(rows: &[u32]) -> bool {
    match rows {
        [first, .., last] => rows.len() > 4 * ((last >> WORD) - (first >> WORD) + 1) as usize,
        _ => false,
    }
}
