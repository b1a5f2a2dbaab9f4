//! The first pass: which rows each column of C has.
use super::{Columns, ONE_THREAD, Offset, PARTS, share_out};
use crate::Result;
use rayon::prelude::*;
use std::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
};

/// The rows of every column of C = A·B, ascending.
pub(crate) struct FoundRows {
    pub(super) parts: Vec<Part>,
}

/// Neighbouring columns of C, which one thread computes.
pub(super) struct Part {
    pub cols: Range<usize>,
    /// Entries of each column.
    pub counts: Vec<u32>,
    pub rows: Vec<u32>,
}

impl FoundRows {
    /// See [`Factors::find`](super::Factors::find); a product takes `work` multiplications.
    pub(super) fn find<O: Offset>(
        a: Columns<'_, O>,
        b: Columns<'_, O>,
        work: u64,
        fits: impl Fn(u64) -> Result<()> + Sync,
    ) -> Result<Self> {
        let (mut parts, least) = parts(a, b, work);
        fits(least)?;
        let entries = AtomicU64::new(0);
        share_out(
            parts.iter_mut(),
            || RowSet::new(a.nrows),
            |rows, part| {
                for col in part.cols.clone() {
                    let before = part.rows.len();
                    rows.find(a, b.column(col), &mut part.rows);
                    part.counts.push((part.rows.len() - before) as u32);
                }
                let of_part = part.rows.len() as u64;
                fits(entries.fetch_add(of_part, Ordering::Relaxed) + of_part)
            },
        )?;
        Ok(Self { parts })
    }

    /// Entries of C.
    pub fn nnz(&self) -> usize {
        self.parts.iter().map(|part| part.rows.len()).sum()
    }

    /// Where each column of C begins, and the last ends.
    pub fn col_ptr(&self) -> impl Iterator<Item = u64> {
        let counts = self.parts.iter().flat_map(|part| &part.counts);
        let ends = counts.scan(0, |end, &count| {
            *end += u64::from(count);
            Some(*end)
        });
        std::iter::once(0).chain(ends)
    }
}

/// Columns with about the same number of products in each part, and the entries that C has at
/// least: each column those of the longest column of A that it is made of.
fn parts<O: Offset>(a: Columns<'_, O>, b: Columns<'_, O>, work: u64) -> (Vec<Part>, u64) {
    let ncols = b.ncols();
    let sizes = |col| {
        let lengths = b.column(col).iter().map(|&k| a.entries(k as usize).len() as u64);
        lengths.fold((0, 0), |(products, longest), length| (products + length, length.max(longest)))
    };
    // Every entry of B and every column takes some time without a product, too.
    let one_thread = |load: u64| load.saturating_mul(work) < ONE_THREAD;
    let of_columns: Vec<(u64, u64)> = match one_thread((b.row_idx.len() + ncols) as u64) {
        true => (0..ncols).map(sizes).collect(),
        false => (0..ncols).into_par_iter().map(sizes).collect(),
    };
    let (products, least) = of_columns.iter().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let load = products + ncols as u64;
    let parts = if one_thread(load) { 1 } else { PARTS * rayon::current_num_threads() };
    let share = load.div_ceil(parts as u64).max(1);
    let (mut parts, mut start, mut sum) = (Vec::new(), 0, 0);
    for (col, (products, _)) in of_columns.iter().enumerate() {
        sum += products + 1;
        if sum >= share || col + 1 == ncols {
            parts.push(Part { cols: start..col + 1, counts: Vec::with_capacity(col + 1 - start), rows: Vec::new() });
            (start, sum) = (col + 1, 0);
        }
    }
    (parts, least)
}

/// A set of rows: a bit for each row, and above it a bit for each word that is not 0. It is empty
/// between columns.
struct RowSet {
    words: Vec<u64>,
    tops: Vec<u64>,
}

/// Rows of a bit of `tops`, as a shift; and of a word of it.
const WORD: u32 = 6;
const TOP: u32 = 12;

impl RowSet {
    fn new(nrows: usize) -> Self {
        let words = nrows.div_ceil(1 << WORD);
        Self { words: vec![0; words], tops: vec![0; words.div_ceil(1 << WORD)] }
    }

    /// Adds the rows of a column of C to `found`, ascending.
    fn find<O: Offset>(&mut self, a: Columns<'_, O>, of_b: &[u32], found: &mut Vec<u32>) {
        let columns = of_b.iter().map(|&k| a.column(k as usize));
        if let [k] = of_b {
            return found.extend_from_slice(a.column(*k as usize));
        }
        let (mut first, mut last, mut products) = (u32::MAX, 0, 0);
        for rows in columns.clone() {
            if let (Some(&low), Some(&high)) = (rows.first(), rows.last()) {
                (first, last, products) = (first.min(low), last.max(high), products + rows.len());
            }
        }
        if products == 0 {
            return;
        }
        let tops = (first >> TOP) as usize..=(last >> TOP) as usize;
        if tops.clone().count() > products {
            // Few rows far apart: the bits between them would take longer than a sort.
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
        for rows in columns {
            for &row in rows {
                let word = &mut self.words[(row >> WORD) as usize];
                if *word == 0 {
                    self.tops[(row >> TOP) as usize] |= 1 << (row >> WORD & 63);
                }
                *word |= 1 << (row & 63);
            }
        }
        for top in tops {
            for bit in bits(std::mem::take(&mut self.tops[top])) {
                let word = top << WORD | bit as usize;
                let base = (word << WORD) as u32;
                found.extend(bits(std::mem::take(&mut self.words[word])).map(|bit| base | bit));
            }
        }
    }
}

/// The numbers of the bits of a word, ascending.
fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then_some(word.trailing_zeros())?;
        word &= word - 1;
        Some(bit)
    })
}
