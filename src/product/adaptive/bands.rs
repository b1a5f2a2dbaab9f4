//! Bands of an adaptive product: ranges of columns of B, cut one after another by the memory that
//! the methods of scalars need for them. The functions are pure.
use super::{
    classes::{ClassSizes, ClassesSums},
    memory::{AdaptiveMemory, EntriesOfC},
    rules::{ClassRules, Column},
};
use crate::{
    Error, Result,
    product::{
        bands::{Band, too_long},
        limits::Need,
        problem::Sizes,
    },
};

/// The bands of a product.
pub(in crate::product) struct ColumnBands<'a> {
    rules: &'a ClassRules,
    columns: Vec<Column>,
    samples: [u32; 2],
    next: usize,
    /// Free bytes before the first band.
    free_at_first: Option<u64>,
}

/// Columns whose product is computed at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::product) struct AdaptiveBand {
    pub sizes: ClassSizes,
    /// Room for rows before their number is known.
    pub room: u64,
    /// Device bytes that earlier bands still hold.
    kept_bytes: u64,
}

impl<'a> ColumnBands<'a> {
    pub fn new(rules: &'a ClassRules, columns: Vec<Column>, samples: [u32; 2]) -> Self {
        Self { rules, columns, samples, next: 0, free_at_first: None }
    }

    /// The next band: as many columns as surely fit `free_bytes` bytes. A single column is tried
    /// even if only a C of few entries would fit, with room for its rows when they are counted.
    ///
    /// # Errors
    /// [`Error::Memory`] if a single column does not fit.
    pub fn next(&mut self, memory: &AdaptiveMemory<'_>, free_bytes: u64) -> Result<Option<AdaptiveBand>> {
        if self.next == self.columns.len() {
            return Ok(None);
        }
        let kept_bytes = self.free_at_first.get_or_insert(free_bytes).saturating_sub(free_bytes);
        // Twice as many columns at each step until they do not fit, then half as many.
        let (mut end, mut sums, mut step, mut grows) = (self.next, ClassesSums::default(), 1, true);
        while step > 0 && end < self.columns.len() {
            let further = self.columns.len().min(end + step);
            let mut larger = sums;
            self.columns[end..further].iter().for_each(|column| self.rules.add(&mut larger, column));
            let band = self.sizes(further, larger);
            let fits = memory.fits(&band, band.most_found(), free_bytes);
            grows &= fits;
            (end, sums) = if fits { (further, larger) } else { (end, sums) };
            step = if grows { 2 * step } else { step / 2 };
        }
        let band = match end > self.next {
            true => {
                let sizes = self.sizes(end, sums);
                AdaptiveBand { room: sizes.most_found(), sizes, kept_bytes }
            }
            false => self.alone(memory, free_bytes, kept_bytes)?,
        };
        self.next = band.sizes.columns.end as usize;
        Ok(Some(band))
    }

    fn sizes(&self, end: usize, sums: ClassesSums) -> ClassSizes {
        ClassSizes::new(self.rules, self.next as u32..end as u32, sums, self.samples)
    }

    /// The next column alone, if it fits with a C of no entries.
    fn alone(&self, memory: &AdaptiveMemory<'_>, free_bytes: u64, kept_bytes: u64) -> Result<AdaptiveBand> {
        let mut sums = ClassesSums::default();
        self.rules.add(&mut sums, &self.columns[self.next]);
        let band = AdaptiveBand { sizes: self.sizes(self.next + 1, sums), room: 0, kept_bytes };
        let entries = EntriesOfC::default();
        if memory.fits_with(&band.sizes, 0, entries, free_bytes) {
            return Ok(band);
        }
        let available = Need { bytes: free_bytes, largest: memory.info.max_alloc_bytes };
        let need = memory.need_with(&band.sizes, 0, entries);
        Err(too_long(format!("column {}", self.next), band.sizes.products(), need, available, kept_bytes))
    }
}

impl AdaptiveBand {
    /// Explains an error of a band that ran out of memory.
    pub fn explain(&self, error: Error) -> Error {
        let sizes = Sizes { products: self.sizes.products(), ..Sizes::default() };
        let columns = self.sizes.columns.clone();
        Band { columns, first_product: 0, sizes, kept_bytes: self.kept_bytes }.explain(error)
    }
}
