//! Products on CPUs, column by column: methods `dense` and `direct` for work-groups of one
//! work-item. The columns of C are cut into ranges with about equal numbers of products. A
//! work-group takes one range after another. Each work-group has a bitmap of the rows of a column,
//! which gives the rows in ascending order. A work-group also has a sum for each row, or, for
//! blocks, the number of products of each row. Nothing is sorted.
//!
//! The entries of C are found in one pass or in two. One pass writes the entries to memory that is
//! large enough for all products. If there are two passes, the first counts the entries. For
//! blocks, one pass writes the operands of all products, run by run, and the runs are summed after
//! C is allocated. The memory of one pass is filled from its start, and memory after the last entry
//! is not touched. [`Way`] says how the entries are found.
mod arrays;
mod blocks;
mod bound;
mod cuts;
mod kernels;
mod memory;
mod numbers;
mod profile;
mod scalars;
mod sums;
#[cfg(test)]
mod tests;
mod tuning;

pub(in crate::product) use blocks::BlockKernels;
pub(in crate::product) use bound::bound;
pub(in crate::product) use memory::RangeMemory;
pub(crate) use numbers::RangeNumbers;
pub(in crate::product) use profile::{CACHED_ROWS, RangeProfile, Sides};
pub(in crate::product) use scalars::ScalarKernels;
use sums::{FilledRanges, Filling, RangeSums, RangeTask};
pub(in crate::product) use tuning::RangeTuning;

use crate::{
    Result,
    device::{Buffer, Device, Work},
    product::{
        esc::Engine,
        terms::{Band, Counts, Method, Operands, Pipeline, Place, Sizes, Spec, Way},
        tuning::Tuning,
    },
    resident::DeviceCbc,
};
use arrays::{Bitmaps, ColumnsOfC, Ranges};
use cuts::{band_end, cuts};
use kernels::{Analysed, RangeKernels, counted};
use memory::Groups;

/// The kernels of a product in ranges.
pub(in crate::product) struct Ranged<S> {
    kernels: RangeKernels<S>,
    tuning: RangeTuning,
    spec: Spec,
    /// The tuning of ESC, which computes the products that ranges cannot.
    of_esc: Tuning,
}

/// Columns of C whose entries have known places, from column `first_col` on.
struct PlacedColumns {
    ranges: Ranges,
    bitmaps: Bitmaps,
    first_col: usize,
    /// Entries of all these columns.
    entries: usize,
    /// Memory for the offsets of these columns.
    col_ptr: Buffer<u32>,
}

impl<S: RangeSums> Ranged<S> {
    pub fn new(device: &Device, spec: &Spec, of_esc: Tuning, tuning: &RangeTuning) -> Result<Self> {
        Ok(Self { kernels: RangeKernels::new(device, spec, tuning)?, tuning: *tuning, spec: *spec, of_esc })
    }

    /// Computes C = A·B. `place` takes the columns of C, in one band or several.
    pub fn multiply(&self, work: &Work, operands: &Operands<'_>, place: Place<'_>) -> Result<Counts> {
        let (a, b, free) = (&*operands.a.pattern, &*operands.b.pattern, work.free_bytes());
        let memory = self.memory(work, operands);
        let samples = self.tuning.samples([a.ncols, b.ncols], [a.nnz(), b.nnz()]);
        let Some(counting) = memory.counting_groups(b.ncols as u64, samples, free) else {
            return self.by_esc(work, operands, place);
        };
        work.stage("setup");
        let analysed = self.kernels.analyse(work, (a, b), counting)?; // round trip 1
        let profile = analysed.profile;
        let (way, groups) = memory.way(&profile, b.ncols as u64, counting, free);
        let of_c = Sides { rows: a.nrows as u64, columns: b.ncols as u64 };
        let mut counts = Counts { products: profile.products, bands: 1, ..Counts::default() };
        (counts.pipeline, counts.bins) = (Pipeline::Ranges(way), profile.bins(&self.tuning, of_c));
        if profile.products == 0 && operands.consumer.admits(of_c.columns) {
            drop(analysed);
            place(operands.empty_product(work, b.ncols)?)?;
            return Ok(Counts { longest_run: Some(0), pipeline: Pipeline::Ranges(Way::Exact), ..counts });
        }
        work.count_towards((1 << counts.bins.len()) - 1);
        match way {
            Way::Esc => {
                drop(analysed);
                work.count_towards(0);
                return self.by_esc(work, operands, place);
            }
            Way::Exact => place(self.exactly(work, operands, analysed, groups)?)?,
            Way::OnePass | Way::Kept => place(self.in_one_pass(work, operands, analysed, groups)?)?, // round trip 2
            Way::TwoPasses => {
                let (mut analysed, most) = (analysed, profile.products);
                let mut col_ptr = work.buffer(b.ncols + 1)?;
                work.stage("count");
                let Analysed { ranges, bitmaps, .. } = &mut analysed;
                let entries = self.kernels.count(work, (a, b), ranges, bitmaps, &mut col_ptr, most)?; // round trip 2
                if memory.fits_sums(b.ncols as u64, entries.iter().sum(), groups, free) {
                    place(self.counted(work, operands, analysed, col_ptr, &entries, groups)?)?;
                } else {
                    let lengths = work.read(&col_ptr, 0, b.ncols)?;
                    let products = analysed.products.download(work)?;
                    drop((analysed, col_ptr));
                    let columns = (&lengths[..], &products[..]);
                    counts.bands = self.in_bands(work, operands, columns, &memory, groups, place)?;
                }
            }
        }
        work.count_towards(0);
        Ok(counts)
    }

    fn memory<'m>(&'m self, work: &'m Work, operands: &Operands<'_>) -> RangeMemory<'m> {
        let sizes = (operands.a.nrows, operands.c_stride);
        RangeMemory::new(work.device().info(), &self.tuning, operands.element(), sizes, operands.consumer)
    }

    /// Computes C by ESC.
    fn by_esc(&self, work: &Work, operands: &Operands<'_>, place: Place<'_>) -> Result<Counts> {
        // Products in ranges rarely need ESC, so its kernels are not compiled for every product.
        let costs = self.tuning.costs;
        let esc = Engine::new(work.device(), &self.spec, self.of_esc.clone(), Method::Auto, costs)?;
        esc.multiply(work, operands, place)
    }

    /// Computes C if every product is an entry.
    fn exactly(&self, work: &Work, operands: &Operands<'_>, analysed: Analysed, groups: Groups) -> Result<DeviceCbc> {
        let Analysed { profile, products, ranges, bitmaps } = analysed;
        drop(products);
        let (col_ptr, entries) = (work.buffer(operands.b.ncols + 1)?, profile.products as usize);
        self.sums(work, operands, PlacedColumns { ranges, bitmaps, first_col: 0, entries, col_ptr }, groups)
    }

    /// Computes C, range by range, once its entries are counted.
    fn counted(
        &self,
        work: &Work,
        operands: &Operands<'_>,
        analysed: Analysed,
        col_ptr: Buffer<u32>,
        entries: &[u64],
        groups: Groups,
    ) -> Result<DeviceCbc> {
        let Analysed { products, mut ranges, bitmaps, .. } = analysed;
        drop(products);
        let from = begins(entries);
        work.write(&from, &mut ranges.from)?;
        let entries = from[entries.len()] as usize;
        self.sums(work, operands, PlacedColumns { ranges, bitmaps, first_col: 0, entries, col_ptr }, groups)
    }

    /// Computes columns of C whose entries have known places.
    fn sums(&self, work: &Work, operands: &Operands<'_>, columns: PlacedColumns, groups: Groups) -> Result<DeviceCbc> {
        work.stage("sums");
        let PlacedColumns { mut ranges, mut bitmaps, first_col, entries, mut col_ptr } = columns;
        let mut rooms = self.kernels.sums.rooms(work, &groups, operands.a.nrows)?;
        let word = operands.element().word();
        let (mut row_idx, mut values) = (work.buffer(entries)?, work.buffer_of(word, entries * operands.c_stride)?);
        let first_col = first_col as u32;
        let c = ColumnsOfC { first_col, col_ptr: &mut col_ptr, row_idx: &mut row_idx, values: &mut values };
        bitmaps.groups = groups.summing;
        let mut entries = work.buffer(ranges.count() as usize)?;
        let (ranges, bitmaps, rooms, entries) = (&mut ranges, &mut bitmaps, &mut rooms, &mut entries);
        self.kernels.sums.sum(work, RangeTask { operands, ranges, bitmaps, rooms, entries }, c)?;
        Ok(operands.product(col_ptr, row_idx, values))
    }

    /// Computes C in places for all products, and then moves it.
    fn in_one_pass(
        &self,
        work: &Work,
        operands: &Operands<'_>,
        analysed: Analysed,
        groups: Groups,
    ) -> Result<DeviceCbc> {
        let Analysed { profile, products, mut ranges, mut bitmaps } = analysed;
        drop(products);
        let mut col_ptr = work.buffer(operands.b.ncols + 1)?;
        let mut places = self.kernels.sums.places(work, profile.products as usize)?;
        let mut rooms = self.kernels.sums.rooms(work, &groups.in_one_pass(), operands.a.nrows)?;
        bitmaps.groups = groups.summing;
        let mut entries = work.buffer(ranges.count() as usize)?;
        let task = RangeTask {
            operands,
            ranges: &mut ranges,
            bitmaps: &mut bitmaps,
            rooms: &mut rooms,
            entries: &mut entries,
        };
        self.kernels.sums.fill(work, task, Filling { c_col_ptr: &mut col_ptr, places: &mut places })?;
        let to = begins(&counted(work, &entries, profile.products)?);
        drop((bitmaps, rooms, entries));
        let c_nnz = to[to.len() - 1] as usize;
        let (to, mut row_idx) = (work.upload(&to)?, work.buffer(c_nnz)?);
        let mut values = work.buffer_of(operands.element().word(), c_nnz * operands.c_stride)?;
        let c = ColumnsOfC { first_col: 0, col_ptr: &mut col_ptr, row_idx: &mut row_idx, values: &mut values };
        let filled = FilledRanges { operands, ranges: &mut ranges, to: &to, places: &places, groups: groups.summing };
        self.kernels.sums.collect(work, filled, c)?;
        Ok(operands.product(col_ptr, row_idx, values))
    }

    /// Computes C in bands of columns with these entries and products. Returns the number of bands.
    fn in_bands(
        &self,
        work: &Work,
        operands: &Operands<'_>,
        (lengths, products): (&[u32], &[u32]),
        memory: &RangeMemory<'_>,
        groups: Groups,
        place: Place<'_>,
    ) -> Result<usize> {
        let (mut bands, mut first, free_at_first) = (0, 0, work.free_bytes());
        while first < lengths.len() {
            let free = work.free_bytes();
            let kept = free_at_first.saturating_sub(free);
            let fits = |columns, entries| memory.fits_sums(columns, entries, groups, free);
            let of_first = [lengths[first], products[first]].map(u64::from);
            let end =
                band_end(lengths, first, fits).ok_or_else(|| memory.too_long(first, of_first, groups, [free, kept]))?;
            let (cols, of_band) = (end - first, &products[first..end]);
            let entries: usize = lengths[first..end].iter().map(|&length| length as usize).sum();
            tracing::debug!(target: "blockmul::product", number = bands, columns = cols, entries, "band");
            let computed = match entries {
                0 => operands.empty_product(work, cols),
                _ => {
                    let begin = cuts(of_band, self.tuning.ranges);
                    let of_ranges: Vec<u64> = begin
                        .windows(2)
                        .map(|ends| lengths[first + ends[0]..first + ends[1]].iter().map(|&of| u64::from(of)).sum())
                        .collect();
                    let begin: Vec<u32> = begin.into_iter().map(|col| (first + col) as u32).collect();
                    Ranges::upload(work, &begin, &begins(&of_ranges)).and_then(|ranges| {
                        let bitmaps = Bitmaps::new(work, groups.counting, operands.a.nrows)?;
                        let col_ptr = work.buffer(cols + 1)?;
                        let columns = PlacedColumns { ranges, bitmaps, first_col: first, entries, col_ptr };
                        self.sums(work, operands, columns, groups)
                    })
                }
            };
            let sizes = Sizes { products: of_band.iter().map(|&of| u64::from(of)).sum(), ..Sizes::default() };
            let band = Band { columns: first as u32..end as u32, first_product: 0, sizes, kept_bytes: kept };
            computed.and_then(&mut *place).map_err(|error| band.explain(error))?;
            (first, bands) = (end, bands + 1);
        }
        Ok(bands)
    }
}

/// The first entry of each range, and the end of the last range.
fn begins(entries: &[u64]) -> Vec<u32> {
    let mut before = 0;
    let begin = |of: &u64| {
        before += of;
        before as u32
    };
    std::iter::once(0).chain(entries.iter().map(begin)).collect()
}
