//! The kernels of ranges. A work-group is one work-item with a bitmap of its own. A work-group
//! takes one range of columns after another. Kernels: `cl/product/cpu/ranges/`.
use super::{
    RangeProfile, RangeTuning,
    arrays::{Bitmaps, Phase, Ranges, record_words},
    sums::RangeSums,
};
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Out, Work, at_most, kernel},
    product::terms::{PatternPair, Spec},
    resident::InPattern,
};

kernel! {
    in "product/cpu/ranges/setup.cl":
    struct RangeProducts = "range_products" {
        a: InPattern,
        b: InPattern,
        products: Out<u32>,
        record: InOut<u64>,
        cols: u32,
        parts: u32,
    }
    struct RangeCuts = "range_cuts" {
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
    in "product/cpu/ranges/bitmap.cl", "product/cpu/ranges/count.cl":
    struct RangeSample = "range_sample" {
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
    struct RangeCount = "range_count" {
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

/// Columns that the device has analysed.
pub(super) struct Analysed {
    pub profile: RangeProfile,
    /// Number of products of each column. The value 2^32 - 1 stands for 2^32 - 1 products or more.
    pub products: Buffer<u32>,
    pub ranges: Ranges,
    pub bitmaps: Bitmaps,
}

/// The kernels of products in ranges.
pub(super) struct RangeKernels<S> {
    products: Kernel<RangeProducts<'static>>,
    cuts: Kernel<RangeCuts<'static>>,
    sample: Kernel<RangeSample<'static>>,
    count: Kernel<RangeCount<'static>>,
    pub sums: S,
    tuning: RangeTuning,
}

impl<S: RangeSums> RangeKernels<S> {
    pub fn new(device: &Device, spec: &Spec, tuning: &RangeTuning) -> Result<Self> {
        let options = Options::group_size(1).define("DIRECT", u8::from(tuning.direct)).define("AHEAD", tuning.ahead);
        let setup = options.clone().define("RECORD", RangeProfile::WORDS).define("PHASES", Phase::ALL);
        Ok(Self {
            products: Kernel::new(device, &setup)?,
            cuts: Kernel::new(device, &setup)?,
            sample: Kernel::rare(device, &options)?,
            count: Kernel::rare(device, &options)?,
            sums: S::new(device, spec, options)?,
            tuning: *tuning,
        })
    }

    /// Analyses the columns of B by `groups` groups, and cuts them into ranges. The host reads once
    /// from the device.
    pub fn analyse(&self, work: &Work, (a, b): PatternPair<'_>, groups: usize) -> Result<Analysed> {
        let RangeTuning { parts, ranges, .. } = self.tuning;
        let (cols, samples) = (b.ncols, self.tuning.samples([a.ncols, b.ncols], [a.nnz(), b.nnz()]));
        if samples > 0 {
            self.sample.ask(work.device());
        }
        let mut products = work.buffer(cols)?;
        let sampled = parts * RangeProfile::WORDS;
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
        let profile = RangeProfile::of_record(&words, sampled, [a.nrows, a.nnz()], [cols, b.nnz()])?;
        Ok(Analysed { profile, products, ranges: of_ranges, bitmaps })
    }

    /// Counts the entries of each column of C and of each range. The host reads once from the
    /// device.
    pub fn count(
        &self,
        work: &Work,
        (a, b): PatternPair<'_>,
        ranges: &mut Ranges,
        bitmaps: &mut Bitmaps,
        lengths: &mut Buffer<u32>,
        most: u64,
    ) -> Result<Vec<u64>> {
        let count = ranges.count();
        let mut entries = work.buffer(count as usize)?;
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
            ranges: count,
            phase: Phase::Count as u32,
        };
        self.count.launch(work, Grid::groups(bitmaps.groups, 1), args)?;
        counted(work, &entries, most)
    }
}

/// Reads the entries of C in each range.
pub(super) fn counted(work: &Work, entries: &Buffer<u64>, most: u64) -> Result<Vec<u64>> {
    let entries = entries.download(work)?;
    at_most("entries of C", entries.iter().fold(0, |sum: u64, &of| sum.saturating_add(of)), most)?;
    Ok(entries)
}
