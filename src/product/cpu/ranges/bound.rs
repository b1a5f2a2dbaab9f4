//! Upper bounds of a product in ranges on the host, before it is computed: the memory of the way
//! that it takes within a limit, and of the ways that it may take within smaller ones.
use super::{Profile, RangeMemory, cuts::band_end, memory::Groups};
use crate::{
    Pattern, Result,
    product::{
        bands::{Need, too_long},
        terms::{ColumnCounts, EngineBound, LongestColumn, ProductBound, Way},
    },
};

impl RangeMemory<'_> {
    /// Bounds of A·B within `free_bytes` bytes besides the operands.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) if a column of C surely does not fit.
    pub fn bound(&self, (a, b): (&Pattern, &Pattern), counts: &ColumnCounts, free_bytes: u64) -> Result<EngineBound> {
        let samples = self.tuning.samples([a.ncols(), b.ncols()], [a.nnz(), b.nnz()]);
        let (cols, products, entries) = (counts.cols(), counts.all_products(), counts.all_entries());
        let Some(counting) = self.counting_groups(cols, samples, free_bytes) else {
            return Ok(EngineBound::Esc { analysis_bytes: 0 });
        };
        let profile = Profile::of_patterns(self.tuning, (a, b), &counts.products, samples);
        let (way, groups) = self.way(&profile, cols, counting, free_bytes);
        let setup = self.need_of_setup(cols, counting, samples).bytes;
        let in_two_passes =
            || self.need_of_count(cols, groups).bytes.max(self.need_of_sums(cols, entries, groups).bytes);
        let (needed, bands) = match way {
            // Without products ESC has nothing to compute.
            Way::Esc if products > 0 => return Ok(EngineBound::Esc { analysis_bytes: setup }),
            Way::Exact | Way::Esc => (self.need_of_sums(cols, products, groups).bytes, 1),
            // Within so much memory, one pass may not surely fit.
            Way::OnePass | Way::Kept => {
                (self.need_of_one_pass(cols, products, entries, groups).bytes.max(in_two_passes()), 1)
            }
            Way::TwoPasses if self.fits_sums(cols, entries, groups, free_bytes) => (in_two_passes(), 1),
            Way::TwoPasses => (free_bytes, self.bands_within(counts, groups, free_bytes)?),
        };
        // Within less than this, there is no group.
        let of_group = 2 * self.group_bytes(groups.cut, profile.longest);
        let peak_bytes = [setup, needed, of_group].into_iter().max().unwrap_or(0).min(free_bytes);
        Ok(EngineBound::Own(ProductBound { peak_bytes, bands }))
    }

    /// The number of bands in which all columns are computed within `free_bytes` bytes. If entries
    /// were not counted, it is an upper bound.
    fn bands_within(&self, counts: &ColumnCounts, groups: Groups, free_bytes: u64) -> Result<usize> {
        let fits = |columns, entries| self.fits_sums(columns, entries, groups, free_bytes);
        if let Some(LongestColumn { column, products, entries }) = counts.longest
            && !fits(1, entries)
        {
            let available = Need { bytes: free_bytes, largest: self.info.max_alloc_bytes };
            let need = self.need_of_sums(1, entries, groups);
            return Err(too_long(format!("column {column}"), products, need, available, 0));
        }
        let next = |&first: &usize| Some(band_end(&counts.entries, first, fits).unwrap_or(first + 1));
        let bands = std::iter::successors(next(&0), next).take_while(|&end| end < counts.entries.len());
        Ok(1 + bands.count())
    }
}
