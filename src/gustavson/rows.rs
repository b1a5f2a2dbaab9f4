//! The first of two passes: finds the rows of each column of C.
use super::{
    Columns, Fits, Found,
    parts::{Store, in_turn, parts},
    share_out,
};
use crate::Result;
use std::{
    ops::RangeInclusive,
    sync::atomic::{AtomicU64, Ordering},
};

/// See [`Factors::find`](super::Factors::find). A product takes `work` multiplications.
pub(super) fn find(a: Columns<'_>, b: Columns<'_>, work: u64, fits: Fits<'_>) -> Result<Found> {
    let mut parts = parts(a, b, work, fits)?.parts;
    let entries = AtomicU64::new(0);
    let stores = share_out(
        in_turn(parts.iter_mut().enumerate()),
        |number| (number, RowSet::new(a.nrows), Vec::new()),
        |(number, set, rows), (_, part)| {
            let begin = rows.len();
            for col in part.cols.clone() {
                let before = rows.len();
                set.find(a, b.column(col), rows);
                part.counts.push((rows.len() - before) as u32);
            }
            (part.store, part.places) = (*number, begin..rows.len());
            let of_part = part.places.len() as u64;
            fits(entries.fetch_add(of_part, Ordering::Relaxed) + of_part)
        },
    )?;
    let rows_of = |state: Option<(usize, RowSet, Vec<u32>)>| state.map_or_else(Vec::new, |(.., rows)| rows);
    let stores = stores.into_iter().map(|state| Store { rows: rows_of(state), sums: None }).collect();
    Ok(Found { parts, stores })
}

/// The range of a column's rows, known before the rows themselves.
pub(super) struct Extent {
    pub first: u32,
    pub last: u32,
    pub products: usize,
}

impl Extent {
    /// The range over some columns of A, or `None` if they have no entries.
    #[inline(always)]
    pub fn of<'a>(columns: impl Iterator<Item = &'a [u32]>) -> Option<Self> {
        let mut extent = Self { first: u32::MAX, last: 0, products: 0 };
        for rows in columns {
            if let (Some(&first), Some(&last)) = (rows.first(), rows.last()) {
                extent.first = extent.first.min(first);
                extent.last = extent.last.max(last);
                extent.products += rows.len();
            }
        }
        (extent.products > 0).then_some(extent)
    }

    /// Whether a register has enough bits, one for each word of rows.
    pub fn is_near(&self) -> bool {
        (self.last >> WORD) - (self.first >> WORD) < 64
    }

    fn words(&self) -> RangeInclusive<usize> {
        (self.first >> WORD) as usize..=(self.last >> WORD) as usize
    }

    fn tops(&self) -> RangeInclusive<usize> {
        (self.first >> TOP) as usize..=(self.last >> TOP) as usize
    }

    /// Whether the rows are few and far apart, so that visiting the bits between them would take
    /// longer than a sort.
    pub fn is_sparse(&self) -> bool {
        self.tops().count() > self.products
    }

    /// Whether rows are so dense that every word of bits may be visited.
    fn is_dense(&self) -> bool {
        self.words().count() <= self.products
    }
}

/// A set of rows: a bit for each row, and above it a bit for each word that is not 0. Dense columns
/// do not use the upper bits. The set of rows is empty between two columns.
pub(super) struct RowSet {
    words: Vec<u64>,
    tops: Vec<u64>,
}

/// The base-2 logarithm of the number of rows in a word, and of words for a word of `tops`.
pub(super) const WORD: u32 = 6;
const TOP: u32 = 12;

impl RowSet {
    pub fn new(nrows: usize) -> Self {
        let words = nrows.div_ceil(1 << WORD);
        Self { words: vec![0; words], tops: vec![0; words.div_ceil(1 << WORD)] }
    }

    /// Appends the rows of a column of C to `found`, ascending.
    pub fn find(&mut self, a: Columns<'_>, of_b: &[u32], found: &mut Vec<u32>) {
        let columns = of_b.iter().map(|&k| a.column(k as usize));
        if let [k] = of_b {
            return found.extend_from_slice(a.column(*k as usize));
        }
        let Some(extent) = Extent::of(columns.clone()) else { return };
        if extent.is_sparse() {
            let before = found.len();
            columns.for_each(|rows| found.extend_from_slice(rows));
            found[before..].sort_unstable();
            let mut end = before;
            for at in before..found.len() {
                if end == before || found[at] != found[end - 1] {
                    found[end] = found[at];
                    end += 1;
                }
            }
            return found.truncate(end);
        }
        columns.for_each(|rows| self.insert(rows.iter(), &extent, |&row| row));
        self.take(&extent, |row| found.push(row));
    }

    /// Adds rows of a column of C: those that `row` returns for the items, which ascend.
    #[inline(always)]
    pub fn insert<I>(&mut self, items: impl Iterator<Item = I>, extent: &Extent, mut row: impl FnMut(I) -> u32) {
        if !extent.is_dense() {
            return items.for_each(|item| {
                let row = row(item);
                let word = &mut self.words[(row >> WORD) as usize];
                if *word == 0 {
                    self.tops[(row >> TOP) as usize] |= 1 << (row >> WORD & 63);
                }
                *word |= 1 << (row & 63);
            });
        }
        // In meshes, rows are neighbours: a word is kept as long as rows belong to it.
        let (mut at, mut word) = (extent.first >> WORD, 0);
        for item in items {
            let row = row(item);
            if row >> WORD != at {
                self.words[at as usize] |= word;
                (at, word) = (row >> WORD, 0);
            }
            word |= 1 << (row & 63);
        }
        self.words[at as usize] |= word;
    }

    /// Calls `each` for the rows of a column of C in ascending order, and removes them.
    #[inline]
    pub fn take(&mut self, extent: &Extent, mut each: impl FnMut(u32)) {
        let mut of_word = |at: usize, word: &mut u64| {
            let base = (at << WORD) as u32;
            bits(std::mem::take(word)).for_each(|bit| each(base | bit));
        };
        if extent.is_dense() {
            let (first, words) = (*extent.words().start(), &mut self.words[extent.words()]);
            return words.iter_mut().enumerate().for_each(|(i, word)| of_word(first + i, word));
        }
        for top in extent.tops() {
            for bit in bits(std::mem::take(&mut self.tops[top])) {
                let at = top << WORD | bit as usize;
                of_word(at, &mut self.words[at]);
            }
        }
    }
}

/// The positions of the bits that are set in a word, ascending.
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then_some(word.trailing_zeros())?;
        word &= word - 1;
        Some(bit)
    })
}
