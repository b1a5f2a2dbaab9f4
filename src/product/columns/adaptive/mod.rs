//! Products of scalars in which each column of C is computed by the method that suits it (Parger
//! 2020). The columns are analysed, the entries of each column of C are counted, these counts are
//! scanned, and the sums are written straight into C. The host reads twice: the sums of the
//! classes, and the number of entries of C. A product that does not fit the memory is cut into
//! [`bands`] of columns. Each band is analysed and computed on its own.
//!
//! [`find`] is the symbolic part, [`numeric`] the numeric part. A plan of scalars may keep the
//! results of the symbolic part: [`kept`].
mod bands;
mod bound;
mod choice;
mod classes;
mod equal;
mod find;
mod kept;
mod memory;
mod numeric;
mod profile;
mod rest;
mod rules;
#[cfg(test)]
mod tests;
mod tuning;

pub(in crate::product) use bound::bound;
pub(in crate::product) use kept::{KeepRule, Kept, KeptSums};
pub(in crate::product) use memory::AdaptiveMemory;

use super::tasks::TakenTasks;
use crate::{
    Result,
    device::{Device, Teams, Work},
    product::{
        esc::Engine,
        terms::{Counts, Known, Layout, Method, Operands, Pipeline, Place, Profile, Spec, Target, TargetKind},
        tuning::{AdaptiveTuning, Tuning},
    },
};
use bands::{AdaptiveBand, AdaptiveBands, ColumnBands};
use choice::AllSorted;
use find::{Finder, Found, RoomForRows};
use numeric::{Numeric, RowsOfC};
use rest::{Part, Rest};
use std::ops::Range;

/// The kernels of an adaptive product.
pub(in crate::product) struct Adaptive {
    finder: Finder,
    numeric: Numeric,
    tuning: AdaptiveTuning,
    rest: Rest,
    /// ESC computes the columns that no other method takes.
    esc: Engine,
}

/// A band of columns whose entries are found.
struct FoundBand {
    found: Found,
    /// The columns that ESC computed.
    rest: Vec<Part>,
    /// The counts of this band and the bands before it.
    counts: Counts,
}

impl Adaptive {
    pub fn new(device: &Device, teams: Teams, spec: &Spec, tuning: Tuning, adaptive: &AdaptiveTuning) -> Result<Self> {
        let target = TargetKind::New.over(spec.element, spec.semiring);
        Ok(Self {
            finder: Finder::new(device, teams, &tuning, adaptive, spec.element)?,
            numeric: Numeric::new(device, teams, tuning.group_size, adaptive, target)?,
            tuning: *adaptive,
            rest: Rest::new(device, tuning.group_size, tuning.scan, spec.element)?,
            esc: Engine::new(device, spec, tuning, Method::Auto, adaptive.prices.costs)?,
        })
    }

    /// Computes C = A·B. `place` takes the columns of C, in one band or several.
    pub fn multiply(&self, work: &Work, operands: &Operands<'_>, place: Place<'_>) -> Result<Counts> {
        let patterns = (&*operands.a.pattern, &*operands.b.pattern);
        let (memory, cols) = (self.memory(work, operands), operands.b.ncols);
        let free = work.free_bytes();
        let known = Known::of_arrays(patterns.0, patterns.1);
        if let Some(all) = memory.sorts_all(&known, free)
            && let Some(counts) = self.sorted(work, operands, all, &memory, free, place)?
        {
            return Ok(counts);
        }
        if memory.needs_no_analysis(&known, work.free_bytes()) {
            return self.esc.multiply(work, operands, place);
        }
        work.stage("setup");
        let mut rules = self.finder.rules(patterns);
        let mut profile = self.finder.profile(work, patterns, &rules)?; // round trip 1
        let free = work.free_bytes();
        if let Some(all) = memory.sorts_analysed(&profile.sizes, free)
            && let Some(counts) = self.sorted(work, operands, all, &memory, free, place)?
        {
            return Ok(counts);
        }
        let Some(bins) = memory.bins(&mut rules, &mut profile.lists.sizes) else {
            drop(profile);
            return self.esc.multiply(work, operands, place);
        };
        profile.set_bins(bins);
        let mut counts = Counts { products: profile.products(), pipeline: Pipeline::Adaptive, ..Counts::default() };
        if counts.products == 0 && operands.consumer.admits(cols as u64) {
            drop(profile);
            place(operands.empty_product(work, cols)?)?;
            return Ok(Counts { longest_run: Some(0), bands: 1, ..counts });
        }
        let (samples, all) = (profile.samples, profile.columns.clone());
        let whole = AdaptiveBand::whole(&memory, &profile.sizes, work.free_bytes_without(profile.bytes()));
        let sure = whole.is_some();
        if let Some(band) = whole {
            if let Some(found) = self.find_band(work, operands, profile, &band, &counts)? {
                self.sums(work, operands, found.found, found.rest, place)?;
                return Ok(found.counts);
            }
            profile = self.finder.profile_band(work, patterns, &rules, all, samples)?;
        }
        let mut bands = AdaptiveBands {
            rules: &rules,
            memory: &memory,
            samples,
            sure,
            free_at_first: work.free_bytes_without(profile.bytes()),
        };
        self.in_bands(work, operands, &mut bands, profile, &mut counts, place)?;
        Ok(counts)
    }

    /// Computes C = A·B by one class of sorted columns, if C fits `free` bytes.
    fn sorted(
        &self,
        work: &Work,
        operands: &Operands<'_>,
        AllSorted { class, products }: AllSorted,
        memory: &AdaptiveMemory<'_>,
        free: u64,
        place: Place<'_>,
    ) -> Result<Option<Counts>> {
        let patterns = (&*operands.a.pattern, &*operands.b.pattern);
        let keeps_keys = memory.keeps_sorted(class, operands.b.ncols as u64, products, free);
        let found = self.finder.run_sorted(work, patterns, class, products, keeps_keys)?;
        if !memory.fits_sorted(operands.b.ncols as u64, found.c_nnz as u64, free) {
            return Ok(None);
        }
        let counts = found.columns.lists.counts();
        self.sums(work, operands, found, Vec::new(), place)?;
        Ok(Some(counts))
    }

    /// Computes the columns of a profile that is too large for one band.
    fn in_bands(
        &self,
        work: &Work,
        operands: &Operands<'_>,
        bands: &mut AdaptiveBands<'_>,
        profile: Profile,
        counts: &mut Counts,
        place: Place<'_>,
    ) -> Result<()> {
        let patterns = (&*operands.a.pattern, &*operands.b.pattern);
        let profiled = |bands: &AdaptiveBands<'_>, columns: &Range<u32>| {
            work.stage("setup");
            self.finder.profile_band(work, patterns, bands.rules, columns.clone(), bands.samples)
        };
        if let Some(halves) = bands.halves(&profile.columns) {
            drop(profile);
            for half in halves {
                let mut profile = profiled(bands, &half)?;
                if let Some(band) = bands.band_of(&profile.sizes, work.free_bytes_without(profile.bytes())) {
                    if self.numbered(work, operands, || Ok(profile), &band, counts, place)? {
                        continue;
                    }
                    bands.sure = true;
                    profile = profiled(bands, &half)?;
                }
                self.in_bands(work, operands, bands, profile, counts, place)?;
            }
            return Ok(());
        }
        let columns = profile.column_sizes(work, patterns.1)?;
        let first = profile.columns.start;
        drop(profile);
        let mut cut = ColumnBands::new(bands, first, columns);
        while let Some(band) = cut.next(work.free_bytes())? {
            let profile = || profiled(cut.bands, &band.sizes.columns);
            if !self.numbered(work, operands, profile, &band, counts, place)? {
                cut.again(&band);
            }
        }
        Ok(())
    }

    /// Computes the columns of one of several bands. The band may have no products.
    fn numbered(
        &self,
        work: &Work,
        operands: &Operands<'_>,
        profile: impl FnOnce() -> Result<Profile>,
        band: &AdaptiveBand,
        counts: &mut Counts,
        place: Place<'_>,
    ) -> Result<bool> {
        let (number, columns, products) = (counts.bands, band.sizes.cols(), band.sizes.products());
        tracing::debug!(target: "blockmul::product", number, columns, products, band.expected, "band");
        let computed = match products {
            0 => {
                counts.bands += 1;
                operands.empty_product(work, columns).and_then(&mut *place).map(|()| true)
            }
            _ => profile().and_then(|mut profile| {
                profile.share_out(&self.tuning.prices);
                let found = self.find_band(work, operands, profile, band, counts)?;
                let Some(FoundBand { found, rest, counts: with }) = found else { return Ok(false) };
                self.sums(work, operands, found, rest, place)?;
                *counts = with;
                Ok(true)
            }),
        };
        computed.map_err(|error| band.explain(error))
    }

    /// Finds the entries of a band that has products, and adds it to the counts. Returns `None` if
    /// the entries of the band were expected to fit the memory and do not fit.
    fn find_band(
        &self,
        work: &Work,
        operands: &Operands<'_>,
        mut profile: Profile,
        band: &AdaptiveBand,
        counts: &Counts,
    ) -> Result<Option<FoundBand>> {
        let (free_bytes, mut with) = (work.free_bytes_without(profile.bytes()), counts.clone());
        profile.lists.numbers = profile.shares.iter().map(|share| with.add_bin(&share.bin())).collect();
        let rest = self.rest.by_esc(&self.esc, work, operands, &profile, &mut with)?;
        let patterns = (&*operands.a.pattern, &*operands.b.pattern);
        let memory = self.memory(work, operands);
        let admits = |entries| band.admits(&memory, entries, free_bytes);
        let keeps_keys = memory.keeps_keys(&profile.sizes, band.room, free_bytes);
        let room = RoomForRows { rows: band.room, keeps_keys };
        let found = self.finder.run(work, patterns, profile, room, &admits, &mut |lists, lengths| {
            let lengths_of = |part| self.rest.lengths(work, &lists.list, part, lists.windows, lengths);
            rest.iter().try_for_each(lengths_of)
        })?; // round trip 2
        with.bands += 1;
        Ok(found.map(|found| FoundBand { found, rest, counts: with }))
    }

    /// Computes the sums of the columns that were found, and gives them to `place` together with
    /// ESC's columns.
    fn sums(
        &self,
        work: &Work,
        operands: &Operands<'_>,
        found: Found,
        rest: Vec<Part>,
        place: Place<'_>,
    ) -> Result<()> {
        let Found { columns, chunk_ptr, rows, taken: (mut numbers, first), c_nnz } = found;
        work.stage("sums");
        let element = operands.element();
        let (mut row_idx, mut values) = (work.buffer(c_nnz)?, work.buffer_of(element.word(), c_nnz)?);
        let taken = TakenTasks { numbers: &mut numbers, first };
        let mut c = Target { row_idx: &mut row_idx, values: &mut values, layout: Layout::new(element) };
        let of_rows = RowsOfC { chunk_ptr: &chunk_ptr, place: &rows.place, rows: &rows.rows };
        self.numeric.run(work, (operands.a, operands.b), &columns, of_rows, taken, c.again())?;
        let (cols, windows) = (columns.lists.cols(), columns.lists.windows);
        for part in rest {
            self.rest.put(work, &columns.lists.list, &part, windows, &chunk_ptr, c.again())?;
        }
        drop((columns, rows, numbers));
        let col_ptr = match windows {
            1 => chunk_ptr,
            _ => self.finder.column_offsets(work, &chunk_ptr, cols, windows)?,
        };
        place(operands.product(col_ptr, row_idx, values))
    }

    fn memory<'m>(&'m self, work: &'m Work, operands: &Operands<'_>) -> AdaptiveMemory<'m> {
        let (info, esc) = (work.device().info(), &self.esc.finder.tuning);
        AdaptiveMemory::new(info, esc, &self.tuning, operands.element(), operands.a.nrows, operands.consumer)
    }
}

/// Counts the next commands of the work towards these bins.
fn towards(bins: u64, work: &Work) -> &Work {
    work.count_towards(bins);
    work
}
