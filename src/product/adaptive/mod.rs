//! Products of scalars in which each column of C is computed by the method that suits it (Parger
//! 2020): analysis, entries of each column of C, their scan, sums straight into C. Two reads: the
//! sums of the classes, and the entries of C.
//!
//! [`find`] is the symbolic part, [`numeric`] the numeric one. A plan of scalars may keep what the
//! first has found: [`kept`].
mod find;
mod kept;
mod numeric;
mod profile;
mod rest;
mod task;
#[cfg(test)]
mod tests;
mod tuning;

pub(super) use kept::{KeepRule, Kept, KeptSums};
pub(super) use profile::{Class, ClassSums, Profile};
pub(super) use task::ColumnTask;
pub(super) use tuning::AdaptiveTuning;

use super::{
    engine::Engine,
    limits::{EntryMemory, Limits},
    method::Method,
    problem::{Bin, Counts, Operands, Sizes, Spec, Values},
    sort,
    target::{Layout, Target, TargetKind},
    tasks::TakenTasks,
    tuning::Tuning,
};
use crate::{
    DeviceInfo, Element, Result,
    device::{Device, Teams, Work, pool_bytes},
    resident::DeviceCbc,
    tuning::MethodCosts,
};
use find::{Finder, Found};
use numeric::{Numeric, RowsOfC};
use rest::{Part, Rest};

/// The kernels of an adaptive product.
pub(super) struct Adaptive<T: Element> {
    finder: Finder,
    numeric: Numeric<T>,
    tuning: AdaptiveTuning,
    rest: Rest<T>,
    /// ESC, for columns that no other method takes, and for products of several bands.
    esc: Engine<T, Values>,
}

impl<T: Element> Adaptive<T> {
    pub fn new(device: &Device, teams: Teams, spec: &Spec, tuning: Tuning, adaptive: &AdaptiveTuning) -> Result<Self> {
        let (group_size, scan) = (tuning.group_size, tuning.scan);
        Ok(Self {
            finder: Finder::new::<T>(device, teams, (group_size, scan), adaptive)?,
            numeric: Numeric::new(device, teams, group_size, adaptive, TargetKind::New)?,
            tuning: *adaptive,
            rest: Rest::new(device, group_size, scan)?,
            esc: Engine::new(device, spec, tuning, Method::Auto)?,
        })
    }

    /// Chooses by other costs than the device's.
    pub fn set_costs(&mut self, costs: MethodCosts) {
        (self.tuning.costs, self.finder.tuning.costs, self.esc.costs) = (costs, costs, costs);
    }

    /// C = A·B; `place` takes the columns of C, in one band or several.
    pub fn multiply(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        mut place: impl FnMut(DeviceCbc<T>) -> Result<()>,
    ) -> Result<Counts> {
        let (a, b) = (operands.a, operands.b);
        let patterns = (&*a.pattern, &*b.pattern);
        let (mut rest, mut counts) = (Vec::new(), Counts::default());
        let found = match self.class_of_all(work, operands) {
            Some(class) => self.finder.run_sorted(work, patterns, class)?,
            None => {
                work.stage("setup");
                let mut profile = self.finder.profile(work, patterns)?; // round trip 1
                let shared = profile.share_out(&self.tuning.costs, self.tuning.esc);
                if !shared || !self.takes(work, operands, &profile) {
                    drop(profile);
                    return self.esc.multiply(work, operands, place);
                }
                if profile.sum(&Class::ALL, |sums| sums.products) == 0 {
                    place(operands.empty_product(work, b.ncols)?)?;
                    return Ok(Counts { longest_run: Some(0), bands: 1, adaptive: true, ..counts });
                }
                rest = self.esc_columns(work, operands, &profile, &mut counts)?;
                self.finder.run(work, patterns, profile, |lists, lengths| {
                    let lengths_of = |part| self.rest.lengths(work, &lists.list, part, lists.windows, lengths);
                    rest.iter().try_for_each(lengths_of)
                })? // round trip 2
            }
        };
        let Found { columns, chunk_ptr, rows, taken: (mut numbers, first), c_nnz, counts: of_scalars } = found;

        work.stage("sums");
        let (mut row_idx, mut values) = (work.buffer(c_nnz)?, work.buffer(c_nnz)?);
        let taken = TakenTasks { numbers: &mut numbers, first };
        let c = Target { row_idx: &mut row_idx, values: &mut values, layout: Layout::new() };
        let of_rows = RowsOfC { chunk_ptr: &chunk_ptr, place: &rows.place, rows: &rows.rows };
        self.numeric.run(work, (a, b), &columns, of_rows, (taken, c))?;
        let (list, windows) = (&columns.lists.list, columns.lists.windows);
        for part in rest {
            self.rest.put(work, list, &part, windows, &chunk_ptr, (&mut row_idx, &mut values))?;
        }
        drop((columns, rows, numbers));
        let col_ptr = match windows {
            1 => chunk_ptr,
            _ => self.finder.column_offsets(work, &chunk_ptr, b.ncols, windows)?,
        };
        place(operands.product(col_ptr, row_idx, values))?;
        let bins = [of_scalars.bins, counts.bins].concat();
        Ok(Counts { merged: counts.merged, bins, ..of_scalars })
    }

    /// The class of sorted columns that takes every column of C, if the host knows that there is
    /// one, and its bound of C fits the device.
    fn class_of_all(&self, work: &Work, operands: &Operands<'_, T>) -> Option<Class> {
        let (a, b) = (&operands.a.pattern, &operands.b.pattern);
        let (of_a, of_b) = (u64::from(a.longest_column?), u64::from(b.longest_column?));
        let class = Class::SORTED[sort::class_of(of_a * of_b, self.tuning.sorted_most)?];
        let most = of_a * b.nnz() as u64;
        self.fits(work, operands, [most, of_a * of_b, most], 0).then_some(class)
    }

    /// Columns of C by ESC: those that no other method takes.
    fn esc_columns(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        profile: &Profile,
        counts: &mut Counts,
    ) -> Result<Vec<Part<T>>> {
        let (task, mut parts) = (profile.task(Class::Rest, Class::Rest), Vec::new());
        if task.columns > 0 {
            work.stage("setup");
            let entries = profile.of(Class::Rest).b_entries as usize;
            let of_rest = towards(1 << profile.shares.len(), work);
            let b = self.rest.take(of_rest, operands.b, &task, entries)?;
            let mut first = task.first;
            let by_esc = self.esc.multiply(work, &Operands { b: &b, ..*operands }, |columns| {
                let next = first + columns.ncols as u32;
                parts.push(Part { first, columns });
                first = next;
                Ok(())
            })?;
            work.count_towards(0);
            counts.merged = by_esc.merged;
            counts.bins = by_esc.bins.into_iter().map(|bin| Bin { which: "the others", ..bin }).collect();
        }
        Ok(parts)
    }

    /// Whether the product is one band, and these methods take some of its columns.
    fn takes(&self, work: &Work, operands: &Operands<'_, T>, profile: &Profile) -> bool {
        let products = profile.sum(&Class::ALL, |sums| sums.products);
        let longest = Class::ALL.iter().map(|&class| profile.of(class).longest.into()).max().unwrap_or(0);
        let bound = profile.sum(&Class::ALL, |sums| sums.most_entries);
        (profile.of(Class::Rest).columns as usize) < operands.b.ncols.max(1)
            && self.fits(
                work,
                operands,
                [products, longest, bound],
                self.finder.tables(work.device().info(), profile, operands.a.nrows).bytes(),
            )
    }

    /// Whether a product is one band even by ESC, with so many products, products of a column, and
    /// entries of C at most, and besides so many bytes of tables.
    fn fits(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        [products, longest, bound]: [u64; 3],
        table_bytes: u64,
    ) -> bool {
        let (a, b) = (operands.a, operands.b);
        let (esc, columns) = (&self.esc.tuning, b.ncols as u64);
        let chunks = products.div_ceil(esc.sort.chunk as u64) + columns;
        let sizes = Sizes { products, longest, chunks, shorts: columns, in_chunks: products };
        let entries = EntryMemory::new::<T>(esc, a.nrows, size_of::<T>(), 1);
        let entries = EntryMemory { consumer: operands.consumer, ..entries };
        let limits = Limits::now(work, esc, entries);
        let extra = extra_bytes::<T>(columns, self.tuning.windows(a.nrows, b.ncols) as u64, bound) + table_bytes;
        let limits = Limits { free_bytes: limits.free_bytes.saturating_sub(extra), ..limits };
        table_bytes <= limits.max_alloc_bytes && limits.fits(&sizes, limits.need(columns, &sizes, bound))
    }
}

/// The same work, whose next commands count towards these bins.
fn towards(bins: u64, work: &Work) -> &Work {
    work.count_towards(bins);
    work
}

/// Most bytes that an adaptive product allocates besides those that ESC would in one band: numbers
/// of each of `columns` columns of C and of their windows, tasks, and columns that ESC computes
/// before they are put into C, of at most `entries` entries.
pub(super) fn extra_bytes<T: Element>(columns: u64, windows: u64, entries: u64) -> u64 {
    let (of_columns, of_windows) = (pool_bytes(4 * columns), pool_bytes(4 * (columns * windows + 1)));
    let tasks = pool_bytes(8 * (columns * windows + entries / 32));
    let moved = pool_bytes(4 * entries) + pool_bytes(size_of::<T>() as u64 * entries);
    7 * of_columns + 4 * of_windows + tasks + moved + 16 * pool_bytes(4096)
}

/// The teams of a device on which `wanted` makes products of scalars adaptive.
pub(in crate::product) fn teams_for(info: &DeviceInfo, wanted: Method) -> Option<Teams> {
    Teams::of(info).filter(|teams| match wanted {
        Method::Auto => teams.are_warps(),
        method => method.is_of_scalars(),
    })
}
