//! Bands of an adaptive product: ranges of columns of B. Bands are cut one after another, by the
//! memory that the methods of scalars need for their columns. The functions of this file are pure.
//!
//! If there are many columns, they are halved until a part fits the memory. The device adds up the
//! sizes of a part's columns. Reading the sizes of each column, and adding them up on the host,
//! would take longer than the product.
//!
//! C mostly has far fewer entries than its upper bound. If C was sampled, a band is tried as soon
//! as its expected entries fit. If the counted entries do not fit after all, the band is cut again
//! by upper bounds, and all bands after it are cut by upper bounds, too.
use super::{
    memory::{AdaptiveMemory, EntriesOfC},
    rules::{ClassRules, Column},
};
use crate::{
    Error, Result,
    product::{
        bands::{Need, too_long},
        terms::{Band, Class, ClassSizes, ClassesSums, Sizes, no_columns},
    },
};
use std::ops::Range;

/// The data that the bands of a product have in common.
pub(super) struct AdaptiveBands<'a> {
    pub rules: &'a ClassRules,
    pub memory: &'a AdaptiveMemory<'a>,
    pub samples: [u32; 2],
    /// Whether bands are cut by upper bounds alone.
    pub sure: bool,
    /// Free bytes before the first band.
    pub free_at_first: u64,
}

/// The bands of some columns, whose sizes the host has read.
pub(super) struct ColumnBands<'b, 'a> {
    pub bands: &'b mut AdaptiveBands<'a>,
    /// The number of the first column.
    first: usize,
    columns: Vec<Column>,
    next: usize,
}

/// A band: columns whose product is computed at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AdaptiveBand {
    pub sizes: ClassSizes,
    /// Number of rows of C for which memory is allocated before the rows are counted.
    pub room: u64,
    /// Whether the band fits the memory if C has the expected number of entries, but not if C has
    /// as many entries as the upper bound.
    pub expected: bool,
    /// Device bytes that earlier bands still hold.
    kept_bytes: u64,
}

impl AdaptiveBands<'_> {
    /// The two halves of these columns, if the columns are too many for the host to read their
    /// sizes. If the consumer takes a given number of columns at once, the number of columns in the
    /// first half is a multiple of that number.
    pub fn halves(&self, columns: &Range<u32>) -> Option<[Range<u32>; 2]> {
        let half = columns.len() as u64 / 2;
        let in_bands = half.checked_next_multiple_of(self.memory.consumer.most_columns);
        let of_first = in_bands.filter(|&of_first| of_first < columns.len() as u64).unwrap_or(half);
        let middle = columns.start + of_first as u32;
        let many = columns.len() > self.memory.adaptive.read_columns;
        many.then_some([columns.start..middle, middle..columns.end])
    }

    /// The columns that `sizes` describes as one band, if this band fits `free_bytes` bytes. If
    /// `sure` is set, the band must fit even if C has as many entries as the upper bound.
    pub fn band_of(&self, sizes: &ClassSizes, free_bytes: u64) -> Option<AdaptiveBand> {
        let band = AdaptiveBand::whole(self.memory, sizes, free_bytes)?;
        let kept_bytes = self.free_at_first.saturating_sub(free_bytes);
        (!self.sure || !band.expected).then_some(AdaptiveBand { kept_bytes, ..band })
    }
}

impl<'b, 'a> ColumnBands<'b, 'a> {
    /// The bands of these columns. `first` is the number of the first column.
    pub fn new(bands: &'b mut AdaptiveBands<'a>, first: u32, columns: Vec<Column>) -> Self {
        Self { bands, first: first as usize, columns, next: 0 }
    }

    /// Cuts the columns of a band again, after its entries did not fit.
    pub fn again(&mut self, band: &AdaptiveBand) {
        (self.next, self.bands.sure) = (band.sizes.columns.start as usize - self.first, true);
    }

    /// The next band: as many columns as fit `free_bytes` bytes. A single column is tried even if
    /// it fits only with few entries of C. Memory for the rows of such a column is allocated after
    /// they are counted.
    ///
    /// # Errors
    /// [`Error::Memory`] if a single column does not fit.
    pub fn next(&mut self, free_bytes: u64) -> Result<Option<AdaptiveBand>> {
        if self.next == self.columns.len() {
            return Ok(None);
        }
        self.columns[self.next].follows = false; // its leader is in another band
        let kept_bytes = self.bands.free_at_first.saturating_sub(free_bytes);
        // Each step adds twice as many columns as the step before, until the columns do not fit.
        // From then on each step adds half as many columns as the step before.
        let (mut best, mut sums, mut step, mut grows) = (None, no_columns(), 1, true);
        let mut end = self.next;
        while step > 0 && end < self.columns.len() {
            let further = self.columns.len().min(end + step);
            let mut larger = sums;
            self.columns[end..further].iter().for_each(|column| self.bands.rules.add(&mut larger, column));
            let band = self.band(self.sizes(further, larger), free_bytes, kept_bytes);
            grows &= band.is_some();
            if band.is_some() {
                (best, end, sums) = (band, further, larger);
            }
            step = if grows { 2 * step } else { step / 2 };
        }
        let band = best.map_or_else(|| self.alone(free_bytes, kept_bytes), Ok)?;
        self.next = band.sizes.columns.end as usize - self.first;
        Ok(Some(band))
    }

    /// The band of these sizes, if it fits.
    fn band(&self, sizes: ClassSizes, free_bytes: u64, kept_bytes: u64) -> Option<AdaptiveBand> {
        let (memory, most) = (self.bands.memory, sizes.most_found());
        if self.bands.sure {
            let fits = memory.fits(&sizes, most, free_bytes);
            return fits.then_some(AdaptiveBand { sizes, room: most, expected: false, kept_bytes });
        }
        let room = sizes.room(memory.adaptive.room_percent);
        let fits = memory.fits_with(&sizes, room, EntriesOfC::expected(&sizes, room), free_bytes);
        fits.then_some(AdaptiveBand { sizes, room, expected: room < most, kept_bytes })
    }

    fn sizes(&self, end: usize, sums: ClassesSums) -> ClassSizes {
        let columns = (self.first + self.next) as u32..(self.first + end) as u32;
        ClassSizes::new(self.bands.rules, columns, sums, self.bands.samples)
    }

    /// The next column as a band of its own, if it would fit without any entries of C.
    fn alone(&self, free_bytes: u64, kept_bytes: u64) -> Result<AdaptiveBand> {
        let (memory, mut sums) = (self.bands.memory, no_columns());
        self.bands.rules.add(&mut sums, &self.columns[self.next]);
        let band = AdaptiveBand { sizes: self.sizes(self.next + 1, sums), room: 0, expected: false, kept_bytes };
        let entries = EntriesOfC::default();
        if memory.fits_with(&band.sizes, 0, entries, free_bytes) {
            return Ok(band);
        }
        let available = Need { bytes: free_bytes, largest: memory.info.max_alloc_bytes };
        let need = memory.need(&band.sizes, 0, false, entries);
        Err(too_long(format!("column {}", self.first + self.next), band.sizes.products(), need, available, kept_bytes))
    }
}

impl AdaptiveBand {
    /// The band of all columns of a product, if they may fit `free_bytes` bytes. If ESC computes no
    /// columns, it is enough that the entries can be counted within `free_bytes` bytes.
    pub fn whole(memory: &AdaptiveMemory<'_>, sizes: &ClassSizes, free_bytes: u64) -> Option<Self> {
        let room = sizes.room(memory.adaptive.room_percent);
        let sure = memory.fits(sizes, room, free_bytes);
        let least = match sizes.of(Class::Rest).columns {
            0 => EntriesOfC::default(),
            _ => EntriesOfC::expected(sizes, room),
        };
        let fits = sure || memory.fits_with(sizes, room, least, free_bytes);
        fits.then(|| Self { sizes: sizes.clone(), room, expected: !sure, kept_bytes: 0 })
    }

    /// Whether the band fits `free_bytes` bytes, now that its `entries` entries of C are counted.
    pub fn admits(&self, memory: &AdaptiveMemory<'_>, entries: u64, free_bytes: u64) -> bool {
        let entries = EntriesOfC::counted(&self.sizes, entries);
        !self.expected || memory.fits_with(&self.sizes, self.room, entries, free_bytes)
    }

    /// Explains an error of a band that ran out of memory.
    pub fn explain(&self, error: Error) -> Error {
        let sizes = Sizes { products: self.sizes.products(), ..Sizes::default() };
        let columns = self.sizes.columns.clone();
        Band { columns, first_product: 0, sizes, kept_bytes: self.kept_bytes }.explain(error)
    }
}
