//! The pattern of a transpose on the device, and the original index of each of its entries. The
//! original indices are the order of the entries by row.
//!
//! On GPUs entries take places in their rows from counters. On CPUs each work-item counts rows in
//! counters of its own. A radix sort is used if a row is too long for the counters of a GPU, or if
//! a pattern on a CPU has far more rows than entries.
use crate::{
    Result,
    device::{Buffer, Device, Work},
    primitives::{
        arrivals::{ArrivalTuning, Arrivals, Arrived, Counted},
        radix_sort::{RadixSort, RadixTuning, Sorted},
        tallies::{Tallied, Tallies, TallyTuning},
    },
    resident::PatternArrays,
};
use std::sync::Arc;

/// A pattern's transpose.
pub(crate) struct Transposed {
    pub pattern: Arc<PatternArrays>,
    /// For each entry, its index in the original pattern.
    pub source: Buffer<u32>,
    /// Entries of the transpose's longest column, if they were counted.
    pub longest: Option<usize>,
}

/// Gives the parameters of counting for numbers of rows and entries, or `None` if counting is not
/// used.
type Counting<T> = fn(&Device, usize, usize) -> Option<T>;

/// The kernels that transpose patterns.
pub(crate) struct Transpose {
    device: Device,
    sort: RadixTuning,
    count: Counting<ArrivalTuning>,
    tally: Counting<TallyTuning>,
}

impl Transpose {
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            sort: RadixTuning::new(device.info()),
            count: ArrivalTuning::new,
            tally: TallyTuning::new,
        })
    }

    /// Starts to compile the kernels that transpose a pattern with `rows` rows and `entries`
    /// entries.
    pub fn ask(device: &Device, rows: usize, entries: usize) -> Result<()> {
        if let Some(tuning) = ArrivalTuning::new(device, rows, entries) {
            return Arrivals::new(device, tuning).map(drop);
        }
        if let Some(tuning) = TallyTuning::new(device, rows, entries) {
            return Tallies::new(device, tuning).map(drop);
        }
        RadixSort::with_columns(device, RadixTuning::new(device.info()))?.ask(device, entries);
        Ok(())
    }

    pub fn run(&self, work: &Work, pattern: &PatternArrays) -> Result<Transposed> {
        let (device, rows, cols) = (&self.device, pattern.nrows, pattern.ncols);
        let transposed = |col_ptr, row_idx| PatternArrays::new(&pattern.device, cols, rows, col_ptr, row_idx);
        let mut longest = None;
        if let Some(tuning) = (self.count)(device, rows, pattern.nnz()) {
            match Arrivals::new(device, tuning)?.run(work, pattern)? {
                Counted::Ordered(arrived) => {
                    let Arrived { row_ptr, column, order, longest } = *arrived;
                    let (pattern, longest) = (transposed(row_ptr, column), Some(longest));
                    return Ok(Transposed { pattern, source: order, longest });
                }
                Counted::TooLong(entries) => longest = Some(entries),
            }
        }
        if let Some(tuning) = (self.tally)(device, rows, pattern.nnz()) {
            let Tallied { row_ptr, column, order } = Tallies::new(device, tuning)?.run(work, pattern)?;
            return Ok(Transposed { pattern: transposed(row_ptr, column), source: order, longest });
        }
        let sort = RadixSort::with_columns(device, self.sort)?;
        let Sorted { key, order, column } = sort.run_columns(work, &pattern.row_idx, rows, &pattern.col_ptr)?;
        let row_ptr = sort.starts(work, &key, rows)?;
        Ok(Transposed { pattern: transposed(row_ptr, column), source: order, longest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pattern, device::test_device, generate};

    /// Transposes patterns with tiles of `items` elements for each work-item, both in work-groups
    /// and in single items, and compares with the host.
    fn check(items: usize, digit_bits: usize, patterns: &[Pattern]) -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        let tunings = [
            RadixTuning::parallel(64, items, digit_bits),
            RadixTuning::serial(items, digit_bits, 4),
            RadixTuning::new(device.info()),
        ];
        let sorted = |sort| Transpose { sort, count: |_, _, _| None, tally: |_, _, _| None, device: device.clone() };
        let sorts = tunings.map(sorted);
        let usual = Transpose::new(&device)?;
        let counts: [Counting<_>; 3] = [|_, _, _| SMALL, |_, _, _| LONE, |_, _, _| WIDE];
        let counts = counts.map(|count| Transpose { count, ..sorted(usual.sort) });
        let tallies: [Counting<_>; 2] = [|_, _, _| ALONE, |_, _, _| SHARED];
        let tallies = tallies.map(|tally| Transpose { tally, ..sorted(usual.sort) });
        for transpose in sorts.iter().chain(&counts).chain(&tallies).chain([&usual]) {
            let tuning = (transpose.sort, (transpose.count)(&device, 1, 1), (transpose.tally)(&device, 1, 1));
            for host in patterns {
                let what = format!("{}x{}, {} entries, {tuning:?}", host.nrows(), host.ncols(), host.nnz());
                let arrays = PatternArrays::upload(&work, host)?;
                let found = transpose.run(&work, &arrays)?;
                let (want, source) = host.transpose();
                assert_eq!(found.pattern.download(&work)?, want, "{what}");
                let source: Vec<u32> = source.into_iter().map(|entry| entry as u32).collect();
                assert_eq!(found.source.download(&work)?, source, "{what}");
                if let Some(longest) = found.longest {
                    let want = (0..want.ncols()).map(|row| want.entries(row).len()).max();
                    assert_eq!(longest, want.unwrap_or(0), "{what}");
                }
            }
        }
        Ok(())
    }

    /// Rows of 5 to 32 entries are sorted by a group. If a row has more than 32 entries, the radix
    /// sort is used.
    const SMALL: Option<ArrivalTuning> =
        Some(ArrivalTuning { group_size: 64, items: 2, lanes: 4, held: 4, longest: 32 });
    /// Sorts each row by one work-item.
    const LONE: Option<ArrivalTuning> =
        Some(ArrivalTuning { group_size: 32, items: 3, lanes: 1, held: 8, longest: 1024 });
    /// Sorts each row by many work-items.
    const WIDE: Option<ArrivalTuning> =
        Some(ArrivalTuning { group_size: 64, items: 8, lanes: 32, held: 64, longest: 128 });

    const ALONE: Option<TallyTuning> = Some(TallyTuning { shares: 1, stretch: 1 << 12 });
    /// More shares than some patterns have entries, and several stretches of rows.
    const SHARED: Option<TallyTuning> = Some(TallyTuning { shares: 7, stretch: 10 });

    fn random(nodes: usize, edges: usize) -> Result<Pattern> {
        let a = generate::PowerLaw { nodes, edges, values: generate::Values::Integer, seed: 5, ..Default::default() }
            .matrix()?;
        Ok(a.pattern().clone())
    }

    /// A pattern in which every `step`th column has all rows, and the others none.
    fn dense_columns(nrows: usize, ncols: usize, step: usize) -> Result<Pattern> {
        let full = |col: usize| col.div_ceil(step) * nrows;
        let col_ptr = (0..=ncols).map(|col| full(col) as u64).collect();
        Pattern::new(nrows, ncols, col_ptr, (0..full(ncols)).map(|i| (i % nrows) as u32).collect())
    }

    #[test]
    fn small_patterns_agree_with_the_host() -> Result<()> {
        // The patterns have no lines, no entry, one entry, or several tiles with empty columns
        // around their ends.
        let empty = |nrows, ncols| Pattern::new(nrows, ncols, vec![0; ncols + 1], vec![]);
        let patterns =
            [empty(0, 0)?, empty(3, 0)?, empty(0, 3)?, empty(2, 3)?, random(1, 1)?, dense_columns(9, 80, 5)?];
        check(2, 3, &patterns)
    }

    #[test]
    fn agrees_with_the_host() -> Result<()> {
        // The patterns have one row, one column or two rows. The sizes of the patterns are around a
        // team and around its tile, and their numbers of rows around a power of two. One pattern
        // has all rows in one column of a thousand, and some have empty rows and columns.
        let mut patterns = vec![dense_columns(1, 700, 1)?, dense_columns(700, 1, 1)?, dense_columns(2, 300, 7)?];
        for (nodes, edges) in
            [(9, 31), (9, 32), (9, 33), (30, 127), (30, 128), (30, 129), (255, 900), (256, 900), (257, 900)]
        {
            patterns.push(random(nodes, edges)?);
        }
        patterns.extend([dense_columns(1000, 5000, 1000)?, random(3000, 12_000)?]);
        check(4, 4, &patterns)
    }
}
