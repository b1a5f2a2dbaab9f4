//! A masked product on CPUs: work-groups of one work-item compute one column after another. A
//! bitmap marks the mask's rows of the column. The bitmap selects the products of the column that
//! fall on the mask. Kernels: `cl/product/masked/hits.cl`, `cl/product/masked/steps.cl`.
//!
//! Columns are cut into ranges of equal *steps*. A step is the time to look at one row of A.
//! [`ColumnTuning`] says how many steps other work takes.
use crate::{
    DeviceInfo, Result,
    device::{Buffer, Device, DeviceKind, Grid, Kernel, Options, Out, Work, arguments, at_most, kernel},
    resident::{InPattern, PatternArrays},
    tuning::{LOOKUP_STEPS, RANGE_AHEAD, SharedNumbers},
};

kernel! {
    struct MaskSteps = "mask_steps" in "product/masked/hits.cl", "product/masked/steps.cl" {
        a: InPattern,
        b: InPattern,
        mask: InPattern,
        steps: Out<u64>,
        record: Out<u64>,
        cols: u32,
        parts: u32,
    }
}

arguments! {
    /// The ranges of columns that work-groups take.
    pub(super) struct InShares {
        share: u64,
        places_of_rows: u32,
        cols: u32,
        parts: u32,
        ranges: u32,
    }
}

/// Words of each part in the record of `mask_steps`.
const RECORD: usize = 2;
/// Steps of an entry of B in addition to the rows of its column of A. A place, an entry of the
/// mask, takes the same number of steps: an entry and a place each need a few loads.
const ENTRY_STEPS: usize = 4;
const PLACE_STEPS: usize = 4;

/// Steps of a probe, which looks up an entry for a place of the mask. On a core a probe takes 23 ns
/// and a row 0.5 ns, a ratio of 46. The constant is about four times this ratio, since the average
/// length of rows and columns says little about the length of those that a mask selects. So columns
/// are left to probes only if probes save much time.
const PROBE_STEPS: usize = 200;

/// Steps in the time in which an entry of A is transposed. Two cores take 4.8 ms for 367,662
/// entries, which is 26 ns of one core for each.
const TRANSPOSE_STEPS: usize = 50;

/// If there are fewer than `HIT_PRODUCTS` products for each product on the mask, all products are
/// added. If one product of two falls on the mask, as in `bcsstk16`, all products take a core 8.9
/// ms, and those on the mask alone 14.0 ms. If one product of 12 falls on the mask, as in
/// `email-Enron`, all products take 30.6 ms, and those on the mask alone 30.3 ms.
const HIT_PRODUCTS: usize = 8;

/// The tuning of a device that computes masked products by columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ColumnTuning {
    /// Most work-groups. Each has a bitmap, and sums of all rows.
    pub groups: usize,
    /// Number of ranges of columns, which groups take one after another. Steps are counted in the
    /// same number of parts.
    pub ranges: usize,
    /// A column of A is prefetched `ahead` entries of B ahead; 0 if nothing is prefetched.
    pub ahead: usize,
    /// Number of steps that a round of a bisection takes when a row of the mask is looked up in a
    /// column of A.
    pub lookup: usize,
    /// Steps of a probe of [`masked.cl`](super). `transpose` gives the steps of transposing an
    /// entry of A, which probes need.
    pub probe: usize,
    pub transpose: usize,
    /// If a column has fewer than `hit_products` products for each product that falls on the mask,
    /// all its products are added.
    pub hit_products: usize,
}

impl ColumnTuning {
    /// Makes the tuning. Returns `None` if the device computes no products in ranges of columns.
    pub fn new(info: &DeviceInfo) -> Option<Self> {
        let (SharedNumbers { range_shares, .. }, units) = (info.numbers(), info.compute_units.max(1) as usize);
        (range_shares > 0).then(|| Self {
            groups: units,
            ranges: range_shares * units,
            ahead: if info.kind == DeviceKind::Cpu { RANGE_AHEAD } else { 0 },
            lookup: LOOKUP_STEPS,
            probe: PROBE_STEPS,
            transpose: TRANSPOSE_STEPS,
            hit_products: HIT_PRODUCTS,
        })
    }

    /// The options of all kernels of columns.
    pub fn options(&self) -> Options {
        Options::group_size(1)
            .define("AHEAD", self.ahead)
            .define("LOOKUP", self.lookup)
            .define("ENTRY_STEPS", ENTRY_STEPS)
            .define("PLACE_STEPS", PLACE_STEPS)
    }

    /// Number of steps of a masked product that is computed from the places of its mask. In a
    /// product computed from places, A is transposed, and for each place the shorter of its row of
    /// A and its column of B is looked up in the other. All rows and columns are taken to have the
    /// average length.
    pub fn steps_from_places(&self, a: &PatternArrays, b: &PatternArrays, places: usize) -> u64 {
        let average = |entries: usize, lines: usize| entries.div_ceil(lines.max(1)).max(1);
        let probes = average(a.nnz(), a.nrows).min(average(b.nnz(), b.ncols)) as u64 * places as u64;
        probes.saturating_mul(self.probe as u64).saturating_add((a.nnz() * self.transpose) as u64)
    }

    /// The arguments of kernels whose work-groups take the ranges. The arrays of a work-group have
    /// `places` elements, one for each row.
    pub fn shares<'x>(&self, steps: &Steps, places: usize, mask: &PatternArrays) -> InShares<'x> {
        let ranges = self.ranges as u32;
        let share = steps.all / self.ranges as u64;
        InShares { share, places_of_rows: places as u32, cols: mask.ncols as u32, parts: ranges, ranges }
    }

    /// Number of work-groups whose arrays take `each` bytes. All arrays take at most a fourth of
    /// `free_bytes`. The number is 0 if the arrays of a single group take more than that.
    pub fn groups(&self, each: u64, free_bytes: u64) -> usize {
        (free_bytes / 4 / each.max(1)).min(self.groups as u64) as usize
    }
}

/// Number of elements of an array with an element for each row of A. The elements fill whole words
/// of a bitmap, and whole cache lines.
pub(super) fn places_of_rows(nrows: usize) -> usize {
    nrows.next_multiple_of(512)
}

/// The kernel that counts steps.
pub(super) struct ColumnAnalyser {
    steps: Kernel<MaskSteps<'static>>,
    ranges: usize,
}

/// The steps of columns.
pub(super) struct Steps {
    /// Steps before each column, counted from the first column of its part.
    pub of_columns: Buffer<u64>,
    pub record: Buffer<u64>,
    pub all: u64,
    /// Most entries of a column of B, among columns that have places in the mask.
    pub longest_b: u64,
}

impl ColumnAnalyser {
    pub fn new(device: &Device, tuning: &ColumnTuning) -> Result<Self> {
        Ok(Self { steps: Kernel::new(device, &tuning.options())?, ranges: tuning.ranges })
    }

    /// Counts the steps of A·B on `mask`. The host reads once from the device.
    pub fn run(&self, work: &Work, a: &PatternArrays, b: &PatternArrays, mask: &PatternArrays) -> Result<Steps> {
        work.stage("setup");
        let parts = self.ranges;
        let (mut of_columns, mut record) = (work.buffer(mask.ncols)?, work.buffer(RECORD * parts)?);
        let (steps, of_parts) = (&mut of_columns, &mut record);
        let args = MaskSteps { a, b, mask, steps, record: of_parts, cols: mask.ncols as u32, parts: parts as u32 };
        self.steps.launch(work, Grid::groups(parts, 1), args)?;
        let (mut all, mut longest_b) = (0u64, 0);
        for part in record.download(work)?.chunks_exact(RECORD) {
            (all, longest_b) = (all.saturating_add(part[0]), part[1].max(longest_b));
        }
        at_most("entries of a column of B", longest_b, b.nnz() as u64)?;
        Ok(Steps { of_columns, record, all, longest_b })
    }
}
