//! The device memory that a product in ranges needs. The memory that is needed decides how entries
//! of C are found, and where bands are cut. The functions are pure, and add up all arrays that are
//! allocated, rounded up to the pool's size classes.
use super::{
    RangeProfile, RangeTuning, Sides,
    arrays::{Ranges, bitmap_words, record_words, sum_places},
};
use crate::{
    DeviceInfo, Error, OperandPair,
    device::pool_bytes,
    element::ElementType,
    primitives::segmented_reduce::RUN_PIECE,
    product::{
        bands::{Largest, Limits, Need, too_long},
        terms::{BandConsumer, Way},
    },
};

/// The data on which the memory of a product depends, besides the sizes of a band.
#[derive(Clone, Copy)]
pub(in crate::product) struct RangeMemory<'a> {
    pub info: &'a DeviceInfo,
    pub tuning: &'a RangeTuning,
    /// Bytes from one entry of C to the next, and bytes of a sum.
    pub entry_bytes: u64,
    pub sum_bytes: u64,
    /// Rows of C.
    pub rows: usize,
    pub consumer: BandConsumer,
}

/// The numbers of work-groups for which there is memory, and the numbers on which their memory
/// depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) struct Groups {
    /// Number of groups that count entries. Each has a bitmap.
    pub counting: usize,
    /// Number of groups that sum products. Each has a bitmap and
    /// [`Rooms`](super::sums::RangeSums::Rooms).
    pub summing: usize,
    /// Whether runs may have more than [`RUN_PIECE`] products.
    pub cut: bool,
    /// Products of the longest column.
    pub longest: usize,
}

impl Groups {
    /// The groups of a product in one pass. Groups need no memory for the longest column in one
    /// pass, because its products are stored among the products of all columns.
    pub fn in_one_pass(self) -> Self {
        Self { longest: 0, ..self }
    }
}

impl<'a> RangeMemory<'a> {
    pub fn new(
        info: &'a DeviceInfo,
        tuning: &'a RangeTuning,
        element: ElementType,
        (rows, c_stride): (usize, usize),
        consumer: BandConsumer,
    ) -> Self {
        let (entry_bytes, sum_bytes) = ((c_stride * element.bytes()) as u64, element.arithmetic().bytes() as u64);
        Self { info, tuning, entry_bytes, sum_bytes, rows, consumer }
    }

    /// The number of work-groups within `free_bytes` bytes. The bitmaps and other arrays of the
    /// work-groups take at most a fourth of `free_bytes`. A single group may take half of
    /// `free_bytes`. The number of work-groups is 0 if even a single group takes more than half.
    fn groups(&self, cut: bool, longest: u64, free_bytes: u64) -> usize {
        let bitmap = bitmap_words(self.rows).iter().sum::<usize>() as u64 * 8;
        let each = self.rooms(cut, longest).into_iter().fold(bitmap, u64::saturating_add);
        let fitting = (free_bytes / 4 / each.max(1)).min(self.tuning.groups as u64) as usize;
        if fitting == 0 && each <= free_bytes / 2 { 1 } else { fitting }
    }

    /// Bytes of each array of a group besides its bitmap: the arrays of
    /// [`Rooms`](super::sums::RangeSums::Rooms).
    fn rooms(&self, cut: bool, longest: u64) -> Vec<u64> {
        let places = sum_places(self.rows) as u64;
        match self.tuning.multiplications {
            Some(_) => vec![4 * places, longest.saturating_mul(size_of::<OperandPair>() as u64)],
            None if cut => vec![self.sum_bytes * places, self.sum_bytes * places, 4 * places],
            None => vec![self.sum_bytes * places, 0, 0],
        }
    }

    /// Bytes of each product in the arrays of [`Places`](super::sums::RangeSums::Places).
    fn places(&self) -> Vec<u64> {
        match self.tuning.multiplications {
            Some(_) => vec![4, 4, size_of::<OperandPair>() as u64],
            None => vec![4, self.entry_bytes],
        }
    }

    /// The number of work-groups that count, for a B with `cols` columns and `samples` sampled
    /// columns, or `None` if the memory does not suffice for the analysis.
    pub(super) fn counting_groups(&self, cols: u64, samples: usize, free_bytes: u64) -> Option<usize> {
        let groups = self.groups(false, 0, free_bytes);
        (groups > 0 && self.fits(self.need_of_setup(cols, groups, samples), free_bytes)).then_some(groups)
    }

    /// Chooses how the entries of a C with `cols` columns are found within `free_bytes` bytes.
    pub(super) fn way(&self, profile: &RangeProfile, cols: u64, counting: usize, free_bytes: u64) -> (Way, Groups) {
        let cut = profile.longest_b > RUN_PIECE as u64;
        let summing = self.groups(cut, profile.longest, free_bytes).min(counting);
        let groups = Groups { counting, summing, cut, longest: profile.longest as usize };
        let products = profile.products;
        let need = || match profile.longest_b {
            0 | 1 => self.need_of_sums(cols, products, groups),
            _ => self.need_of_one_pass(cols, products, products, groups),
        };
        let all_fit = products < Limits::MAX_PRODUCTS && self.consumer.admits(cols) && self.fits(need(), free_bytes);
        let way = self.tuning.way(profile, Sides { rows: self.rows as u64, columns: cols }, all_fit);
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

    /// Whether `entries` counted entries of C in `columns` columns can be computed within
    /// `free_bytes` bytes.
    pub(super) fn fits_sums(&self, columns: u64, entries: u64, groups: Groups, free_bytes: u64) -> bool {
        let need = self.need_of_sums(columns, entries, groups);
        entries < Limits::MAX_PRODUCTS && self.consumer.admits(columns) && self.fits(need, free_bytes)
    }

    /// The error for column `col` of C, which does not fit `free_bytes` bytes. Earlier columns hold
    /// `kept` bytes.
    pub(super) fn too_long(
        &self,
        col: usize,
        [entries, products]: [u64; 2],
        groups: Groups,
        [free_bytes, kept]: [u64; 2],
    ) -> Error {
        let available = Need { bytes: free_bytes, largest: self.info.max_alloc_bytes };
        let need = self.need_of_sums(1, entries, groups);
        too_long(format!("column {col}"), products, need, available, kept)
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

    /// Memory of `entries` entries of C in `columns` columns, once their places are known.
    pub(super) fn need_of_sums(&self, columns: u64, entries: u64, groups: Groups) -> Need {
        let mut largest = Largest(0);
        let working = self.working(groups, &mut largest);
        let c = self.c(columns, entries, &mut largest);
        Need { bytes: (working + c).max(c + self.consumed(columns, entries)), largest: largest.0 }
    }

    /// Memory of `products` products in one pass, if C has `entries` entries.
    pub(super) fn need_of_one_pass(&self, columns: u64, products: u64, entries: u64, groups: Groups) -> Need {
        let mut largest = Largest(0);
        let working = self.working(groups.in_one_pass(), &mut largest);
        let places = self.places().into_iter().map(|each| largest.array(each * products)).sum::<u64>();
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

    /// Bytes of ranges, bitmaps, other arrays of groups, and the numbers of entries.
    fn working(&self, groups: Groups, largest: &mut Largest) -> u64 {
        let rooms = self.rooms(groups.cut, groups.longest as u64);
        let rooms: u64 = rooms.into_iter().map(|each| largest.array(groups.summing as u64 * each)).sum();
        Ranges::bytes(self.tuning.ranges) + self.bitmaps(groups.counting, largest) + rooms + self.entries()
    }

    fn entries(&self) -> u64 {
        pool_bytes(8 * self.tuning.ranges as u64)
    }

    fn c(&self, columns: u64, entries: u64, largest: &mut Largest) -> u64 {
        largest.array(4 * (columns + 1)) + largest.array(4 * entries) + largest.array(self.entry_bytes * entries)
    }

    fn consumed(&self, columns: u64, entries: u64) -> u64 {
        self.consumer.peak(entries, columns)
    }
}
