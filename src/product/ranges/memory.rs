//! The device memory that a product in ranges needs: by it the way of the product is chosen, and
//! bands are cut. The functions are pure. Their sums repeat the allocations, size classes included.
use super::{
    Profile, RangeTuning, Way,
    kernels::{Ranges, bitmap_words, record_words, sum_places},
};
use crate::{
    DeviceInfo, Element,
    device::pool_bytes,
    primitives::{drop_entries::DropMemory, segmented_reduce::RUN_PIECE},
    product::limits::{Largest, Limits, Need},
};

/// What the memory of a product depends on, besides the sizes of a band.
#[derive(Clone, Copy)]
pub(in crate::product) struct RangeMemory<'a> {
    pub info: &'a DeviceInfo,
    pub tuning: &'a RangeTuning,
    /// Bytes of a value of C, and of a sum.
    pub value_bytes: u64,
    pub sum_bytes: u64,
    /// Rows of C.
    pub rows: usize,
    /// What the consumer of a band allocates while it holds the band.
    pub consumer: Option<DropMemory>,
}

/// The work-groups that there is memory for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Groups {
    /// With bitmaps.
    pub counting: usize,
    /// With bitmaps and sums.
    pub summing: usize,
    /// Whether runs may have more than [`RUN_PIECE`] products.
    pub cut: bool,
}

impl<'a> RangeMemory<'a> {
    pub fn new<T: Element>(
        info: &'a DeviceInfo,
        tuning: &'a RangeTuning,
        rows: usize,
        consumer: Option<DropMemory>,
    ) -> Self {
        let (value_bytes, sum_bytes) = (size_of::<T>() as u64, size_of::<T::Arithmetic>() as u64);
        Self { info, tuning, value_bytes, sum_bytes, rows, consumer }
    }

    /// Work-groups for `free_bytes` bytes: their bitmaps and sums take a fourth of it, or those of
    /// one group half of it. None if these take more.
    fn groups(&self, cut: bool, free_bytes: u64) -> usize {
        let bitmap = bitmap_words(self.rows).iter().sum::<usize>() as u64 * 8;
        let each = bitmap + sum_places(self.rows) as u64 * self.place_bytes(cut);
        let fitting = (free_bytes / 4 / each.max(1)).min(self.tuning.groups as u64) as usize;
        if fitting == 0 && 2 * each <= free_bytes { 1 } else { fitting }
    }

    /// Bytes of each place of the sums.
    fn place_bytes(&self, cut: bool) -> u64 {
        if cut { 2 * self.sum_bytes + 4 } else { self.sum_bytes }
    }

    /// Work-groups for a B with `cols` columns of which `samples` are sampled, if its analysis fits
    /// too.
    pub(super) fn counting_groups(&self, cols: u64, samples: usize, free_bytes: u64) -> Option<usize> {
        let groups = self.groups(false, free_bytes);
        (groups > 0 && self.fits(self.need_of_setup(cols, groups, samples), free_bytes)).then_some(groups)
    }

    /// How a C with `cols` columns is computed within `free_bytes` bytes.
    pub(super) fn way(&self, profile: &Profile, cols: u64, counting: usize, free_bytes: u64) -> (Way, Groups) {
        let cut = profile.longest_b > RUN_PIECE as u64;
        let summing = if cut { self.groups(true, free_bytes).min(counting) } else { counting };
        let groups = Groups { counting, summing, cut };
        let products = profile.products;
        let in_one_pass = self.need_of_one_pass(cols, products, products, groups);
        let one_pass_fits = products < Limits::MAX_PRODUCTS && self.fits(in_one_pass, free_bytes);
        let way = self.tuning.way(profile, self.rows as u64, one_pass_fits);
        let counted = self.fits(self.need_of_count(cols, groups), free_bytes);
        match way {
            _ if summing == 0 => (Way::Esc, groups),
            Way::TwoPasses if !counted => (Way::Esc, groups),
            way => (way, groups),
        }
    }

    fn fits(&self, need: Need, free_bytes: u64) -> bool {
        need.bytes <= free_bytes && need.largest <= self.info.max_alloc_bytes
    }

    /// Whether `entries` entries of C in `columns` columns, once counted, can be computed within
    /// `free_bytes` bytes.
    pub(super) fn fits_sums(&self, columns: u64, entries: u64, groups: Groups, free_bytes: u64) -> bool {
        entries < Limits::MAX_PRODUCTS && self.fits(self.need_of_sums(columns, entries, groups), free_bytes)
    }

    /// Memory of the analysis.
    pub(super) fn need_of_setup(&self, cols: u64, groups: usize, samples: usize) -> Need {
        let mut largest = Largest(0);
        let record = largest.array(8 * record_words(self.tuning, groups, samples) as u64);
        let bytes = largest.array(4 * cols) + record + self.bitmaps(groups, &mut largest);
        Need { bytes: bytes + Ranges::bytes(self.tuning.ranges), largest: largest.0 }
    }

    /// Memory while entries are counted.
    pub(super) fn need_of_count(&self, cols: u64, groups: Groups) -> Need {
        let mut largest = Largest(0);
        let of_columns = largest.array(4 * cols) + largest.array(4 * (cols + 1));
        let bytes = of_columns + self.bitmaps(groups.counting, &mut largest) + self.entries();
        Need { bytes: bytes + Ranges::bytes(self.tuning.ranges), largest: largest.0 }
    }

    /// Memory of `entries` entries of C whose places are known, in `columns` columns.
    pub(super) fn need_of_sums(&self, columns: u64, entries: u64, groups: Groups) -> Need {
        let mut largest = Largest(0);
        let working = self.working(groups, &mut largest);
        let c = self.c(columns, entries, &mut largest);
        Need { bytes: (working + c).max(c + self.consumed(columns, entries)), largest: largest.0 }
    }

    /// Memory of so many products in one pass, if C has `entries` entries.
    pub(super) fn need_of_one_pass(&self, columns: u64, products: u64, entries: u64, groups: Groups) -> Need {
        let mut largest = Largest(0);
        let working = self.working(groups, &mut largest);
        let places = largest.array(4 * products) + largest.array(self.value_bytes * products);
        let ptr = largest.array(4 * (columns + 1));
        let c = self.c(columns, entries, &mut largest);
        let moved = Ranges::bytes(self.tuning.ranges) + pool_bytes(4 * (self.tuning.ranges as u64 + 1));
        let most = [working + ptr + places, moved + places + c, c + self.consumed(columns, entries)];
        Need { bytes: most.into_iter().max().unwrap_or(0), largest: largest.0 }
    }

    /// Memory of columns without products.
    pub(super) fn need_of_nothing(&self, columns: u64) -> u64 {
        self.c(columns, 0, &mut Largest(0)) + self.consumed(columns, 0)
    }

    fn bitmaps(&self, groups: usize, largest: &mut Largest) -> u64 {
        bitmap_words(self.rows).iter().map(|&words| largest.array(8 * (groups * words) as u64)).sum()
    }

    /// Ranges, bitmaps, sums, and the numbers of entries.
    fn working(&self, groups: Groups, largest: &mut Largest) -> u64 {
        let places = (groups.summing * sum_places(self.rows)) as u64;
        let of_pieces = if groups.cut { places } else { 0 };
        let sums = largest.array(self.sum_bytes * places)
            + largest.array(self.sum_bytes * of_pieces)
            + largest.array(4 * of_pieces);
        Ranges::bytes(self.tuning.ranges) + self.bitmaps(groups.counting, largest) + sums + self.entries()
    }

    fn entries(&self) -> u64 {
        pool_bytes(8 * self.tuning.ranges as u64)
    }

    fn c(&self, columns: u64, entries: u64, largest: &mut Largest) -> u64 {
        largest.array(4 * (columns + 1)) + largest.array(4 * entries) + largest.array(self.value_bytes * entries)
    }

    fn consumed(&self, columns: u64, entries: u64) -> u64 {
        self.consumer.map_or(0, |consumer| consumer.peak(entries, columns))
    }
}
