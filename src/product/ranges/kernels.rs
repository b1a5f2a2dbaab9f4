//! The kernels of ranges, and the device memory between them. A work-group is one work-item with a
//! bitmap of its own, and takes whichever range of columns is next. Kernels: `cl/product/ranges/`.
use super::{Profile, RangeTuning};
use crate::{
    Element, Result, Semiring,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Out, Work, at_most, kernel, pool_bytes},
    primitives::segmented_reduce::RUN_PIECE,
    resident::{DeviceCbc, InPattern, PatternArrays},
};

kernel! {
    struct RangeProducts = "range_products" in "product/ranges/setup.cl" {
        a: InPattern,
        b: InPattern,
        products: Out<u32>,
        record: InOut<u64>,
        cols: u32,
        parts: u32,
    }
}

kernel! {
    struct RangeCuts = "range_cuts" in "product/ranges/setup.cl" {
        products: In<u32>,
        record: In<u64>,
        begin: Out<u32>,
        bound: Out<u32>,
        taken: Out<u32>,
        cols: u32,
        parts: u32,
        ranges: u32,
    }
}

kernel! {
    struct RangeSample = "range_sample" in "product/ranges/bitmap.cl", "product/ranges/count.cl" {
        a: InPattern,
        b: InPattern,
        products: In<u32>,
        words: InOut<u64>,
        lines: InOut<u64>,
        record: InOut<u64>,
        nrows: u32,
        cols: u32,
        samples: u32,
        sampled: u32,
    }
}

kernel! {
    struct RangeCount = "range_count" in "product/ranges/bitmap.cl", "product/ranges/count.cl" {
        a: InPattern,
        b: InPattern,
        begin: In<u32>,
        taken: InOut<u32>,
        words: InOut<u64>,
        lines: InOut<u64>,
        lengths: Out<u32>,
        entries: Out<u64>,
        nrows: u32,
        ranges: u32,
        phase: u32,
    }
}

kernel! {
    struct RangeSums<T: Element> = "range_sums" in "product/ranges/bitmap.cl", "product/ranges/sums.cl" {
        a: InPattern,
        a_values: In<T>,
        b: InPattern,
        b_values: In<T>,
        begin: In<u32>,
        from: In<u32>,
        taken: InOut<u32>,
        words: InOut<u64>,
        lines: InOut<u64>,
        sum: InOut<T::Arithmetic>,
        done: InOut<T::Arithmetic>,
        terms: InOut<u32>,
        c_col_ptr: Out<u32>,
        c_row_idx: Out<u32>,
        c_values: Out<T>,
        entries: Out<u64>,
        nrows: u32,
        first_col: u32,
        ranges: u32,
        phase: u32,
    }
}

kernel! {
    struct RangeMove<T: Element> = "range_move" in "product/ranges/bitmap.cl", "product/ranges/sums.cl" {
        begin: In<u32>,
        from: In<u32>,
        to: In<u32>,
        taken: InOut<u32>,
        from_row: In<u32>,
        from_value: In<T>,
        c_col_ptr: InOut<u32>,
        c_row_idx: Out<u32>,
        c_values: Out<T>,
        ranges: u32,
        phase: u32,
    }
}

/// The kernels that take ranges, each with a count of those taken.
#[derive(Clone, Copy)]
enum Phase {
    Count,
    Sums,
    Move,
}

impl Phase {
    const ALL: usize = Self::Move as usize + 1;
}

/// Words of 64 bits in a bitmap of so many rows, and lines of 64 words: whole cache lines.
pub(super) fn bitmap_words(nrows: usize) -> [usize; 2] {
    let words = nrows.div_ceil(64).next_multiple_of(8);
    [words, words.div_ceil(64).next_multiple_of(8)]
}

/// Places of the sums of so many rows: whole cache lines.
pub(super) fn sum_places(nrows: usize) -> usize {
    nrows.next_multiple_of(16)
}

/// Words of the record of an analysis by `groups` groups, with so many samples.
pub(super) fn record_words(tuning: &RangeTuning, groups: usize, samples: usize) -> usize {
    Profile::WORDS * tuning.parts + if samples > 0 { 2 * groups } else { 0 }
}

/// Ranges of columns: where they begin, where their entries do, and how many were taken.
pub(super) struct Ranges {
    pub begin: Buffer<u32>,
    /// Where the entries of each range begin: a bound of their number before each until they are
    /// counted.
    pub from: Buffer<u32>,
    taken: Buffer<u32>,
}

impl Ranges {
    fn new(work: &Work, ranges: usize) -> Result<Self> {
        let array = || work.buffer(ranges + 1);
        Ok(Self { begin: array()?, from: array()?, taken: work.buffer(Phase::ALL)? })
    }

    /// The ranges that begin with these columns and entries; last come the ends.
    pub fn upload(work: &Work, begin: &[u32], from: &[u32]) -> Result<Self> {
        Ok(Self { begin: work.upload(begin)?, from: work.upload(from)?, taken: work.upload(&[0; Phase::ALL])? })
    }

    fn count(&self) -> u32 {
        self.begin.len() as u32 - 1
    }

    /// Bytes of so many ranges, in size classes.
    pub fn bytes(ranges: usize) -> u64 {
        2 * pool_bytes(4 * (ranges as u64 + 1)) + pool_bytes(4 * Phase::ALL as u64)
    }
}

/// The bitmaps of all work-groups.
pub(super) struct Bitmaps {
    words: Buffer<u64>,
    lines: Buffer<u64>,
    pub groups: usize,
}

impl Bitmaps {
    pub fn new(work: &Work, groups: usize, nrows: usize) -> Result<Self> {
        let [words, lines] = bitmap_words(nrows);
        Ok(Self { words: work.buffer(groups * words)?, lines: work.buffer(groups * lines)?, groups })
    }
}

/// The sums of all work-groups, by row.
pub(super) struct RowSums<T: Element> {
    sum: Buffer<T::Arithmetic>,
    /// Only if some runs may have more than [`RUN_PIECE`] products.
    done: Buffer<T::Arithmetic>,
    terms: Buffer<u32>,
}

impl<T: Element> RowSums<T> {
    pub fn new(work: &Work, groups: usize, nrows: usize, cut: bool) -> Result<Self> {
        let places = groups * sum_places(nrows);
        let of_pieces = if cut { places } else { 0 };
        Ok(Self { sum: work.buffer(places)?, done: work.buffer(of_pieces)?, terms: work.buffer(of_pieces)? })
    }
}

/// A and B.
pub(super) type PatternPair<'a> = (&'a PatternArrays, &'a PatternArrays);

/// Columns analysed by the device.
pub(super) struct Analysed {
    pub profile: Profile,
    /// Products of each column; 2^32 - 1 stands for as many or more.
    pub products: Buffer<u32>,
    pub ranges: Ranges,
    pub bitmaps: Bitmaps,
}

/// Columns of C from their first on, to be written.
pub(super) struct ColumnsOfC<'c, T> {
    pub first_col: u32,
    pub col_ptr: &'c mut Buffer<u32>,
    pub row_idx: &'c mut Buffer<u32>,
    pub values: &'c mut Buffer<T>,
}

/// The kernels.
pub(super) struct RangeKernels<T: Element> {
    products: Kernel<RangeProducts<'static>>,
    cuts: Kernel<RangeCuts<'static>>,
    sample: Kernel<RangeSample<'static>>,
    count: Kernel<RangeCount<'static>>,
    sums: Kernel<RangeSums<'static, T>>,
    moves: Kernel<RangeMove<'static, T>>,
    tuning: RangeTuning,
}

impl<T: Element> RangeKernels<T> {
    pub fn new(device: &Device, tuning: &RangeTuning, semiring: Semiring) -> Result<Self> {
        let options = Options::group_size(1).define("DIRECT", u8::from(tuning.direct)).define("AHEAD", tuning.ahead);
        let setup = options.clone().define("RECORD", Profile::WORDS).define("PHASES", Phase::ALL);
        let sums = options.clone().define("RUN_PIECE", RUN_PIECE).element_in::<T>(semiring);
        Ok(Self {
            products: Kernel::new(device, &setup)?,
            cuts: Kernel::new(device, &setup)?,
            sample: Kernel::rare(device, &options)?,
            count: Kernel::rare(device, &options)?,
            sums: Kernel::new(device, &sums)?,
            moves: Kernel::new(device, &sums)?,
            tuning: *tuning,
        })
    }

    /// Analyses the columns of B by `groups` groups, and cuts them into ranges. One read.
    pub fn analyse(&self, work: &Work, (a, b): PatternPair<'_>, groups: usize) -> Result<Analysed> {
        let RangeTuning { parts, ranges, .. } = self.tuning;
        let (cols, samples) = (b.ncols, self.tuning.samples([a.ncols, b.ncols], [a.nnz(), b.nnz()]));
        let mut products = work.buffer(cols)?;
        let sampled = parts * Profile::WORDS;
        let mut record = work.buffer(record_words(&self.tuning, groups, samples))?;
        let (mut of_ranges, mut bitmaps) = (Ranges::new(work, ranges)?, Bitmaps::new(work, groups, a.nrows)?);
        let [cols_word, parts_word] = [cols, parts].map(|number| number as u32);
        let args =
            RangeProducts { a, b, products: &mut products, record: &mut record, cols: cols_word, parts: parts_word };
        self.products.launch(work, Grid::groups(parts, 1), args)?;
        let args = RangeCuts {
            products: &products,
            record: &record,
            begin: &mut of_ranges.begin,
            bound: &mut of_ranges.from,
            taken: &mut of_ranges.taken,
            cols: cols_word,
            parts: parts_word,
            ranges: ranges as u32,
        };
        self.cuts.launch(work, Grid::groups(parts, 1), args)?;
        if samples > 0 {
            let args = RangeSample {
                a,
                b,
                products: &products,
                words: &mut bitmaps.words,
                lines: &mut bitmaps.lines,
                record: &mut record,
                nrows: a.nrows as u32,
                cols: cols_word,
                samples: samples as u32,
                sampled: sampled as u32,
            };
            self.sample.launch(work, Grid::groups(groups, 1), args)?;
        }
        let words = record.download(work)?;
        let profile = Profile::of_record(&words, sampled, [a.nrows, a.nnz()], [cols, b.nnz()])?;
        Ok(Analysed { profile, products, ranges: of_ranges, bitmaps })
    }

    /// Counts the entries of each column of C, and those of each range. One read.
    pub fn count(
        &self,
        work: &Work,
        (a, b): PatternPair<'_>,
        (ranges, bitmaps): (&mut Ranges, &mut Bitmaps),
        lengths: &mut Buffer<u32>,
        most: u64,
    ) -> Result<Vec<u64>> {
        let mut entries = work.buffer(ranges.count() as usize)?;
        let args = RangeCount {
            a,
            b,
            begin: &ranges.begin,
            taken: &mut ranges.taken,
            words: &mut bitmaps.words,
            lines: &mut bitmaps.lines,
            lengths,
            entries: &mut entries,
            nrows: a.nrows as u32,
            ranges: ranges.begin.len() as u32 - 1,
            phase: Phase::Count as u32,
        };
        self.count.launch(work, Grid::groups(bitmaps.groups, 1), args)?;
        counted(work, &entries, most)
    }

    /// Writes columns of C, the entries of each range from its place on; their numbers.
    pub fn sums(
        &self,
        work: &Work,
        (a, b): (&DeviceCbc<T>, &DeviceCbc<T>),
        ranges: &mut Ranges,
        (bitmaps, rows): (&mut Bitmaps, &mut RowSums<T>),
        c: ColumnsOfC<'_, T>,
    ) -> Result<Buffer<u64>> {
        let count = ranges.count();
        let mut entries = work.buffer(count as usize)?;
        let args = RangeSums {
            a: &a.pattern,
            a_values: &a.values,
            b: &b.pattern,
            b_values: &b.values,
            begin: &ranges.begin,
            from: &ranges.from,
            taken: &mut ranges.taken,
            words: &mut bitmaps.words,
            lines: &mut bitmaps.lines,
            sum: &mut rows.sum,
            done: &mut rows.done,
            terms: &mut rows.terms,
            c_col_ptr: c.col_ptr,
            c_row_idx: c.row_idx,
            c_values: c.values,
            entries: &mut entries,
            nrows: a.nrows as u32,
            first_col: c.first_col,
            ranges: count,
            phase: Phase::Sums as u32,
        };
        self.sums.launch(work, Grid::groups(bitmaps.groups, 1), args)?;
        Ok(entries)
    }

    /// Moves the entries of each range to `to`; C's columns begin where those of the ranges did.
    pub fn move_to(
        &self,
        work: &Work,
        (ranges, to, groups): (&mut Ranges, &Buffer<u32>, usize),
        (from_row, from_value): (&Buffer<u32>, &Buffer<T>),
        c: ColumnsOfC<'_, T>,
    ) -> Result<()> {
        let count = ranges.count();
        let args = RangeMove {
            begin: &ranges.begin,
            from: &ranges.from,
            to,
            taken: &mut ranges.taken,
            from_row,
            from_value,
            c_col_ptr: c.col_ptr,
            c_row_idx: c.row_idx,
            c_values: c.values,
            ranges: count,
            phase: Phase::Move as u32,
        };
        self.moves.launch(work, Grid::groups(groups, 1), args)
    }
}

/// Reads the entries of C in each range.
pub(super) fn counted(work: &Work, entries: &Buffer<u64>, most: u64) -> Result<Vec<u64>> {
    let entries = entries.download(work)?;
    at_most("entries of C", entries.iter().fold(0, |sum: u64, &of| sum.saturating_add(of)), most)?;
    Ok(entries)
}
