//! Products of scalars in which each column of C is computed by the method that suits it (Parger
//! 2020): analysis, entries of each column of C, their scan, sums straight into C. Two reads: the
//! sums of the classes, and the entries of C.
mod profile;
mod rest;
mod task;
#[cfg(test)]
mod tests;
mod tuning;

pub(super) use profile::{Class, Profile};
pub(super) use task::ColumnTask;
pub(super) use tuning::AdaptiveTuning;

use super::{
    dense::{CutTasks, DenseCounts, DenseSums, Factors, FoundRows, Patterns},
    engine::Engine,
    limits::Limits,
    method::Method,
    problem::{self, Counts, Operands, Spec, Values},
    sort::{Sort, SortedColumns},
    tuning::Tuning,
};
use crate::{
    Element, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Teams, Work, kernel, pool_bytes},
    primitives::scan::Scan,
    resident::DeviceCbc,
};
use profile::Profiler;
use rest::{Part, Rest};

kernel! {
    struct ColumnOffsets = "column_offsets" in "product/adaptive/offsets.cl" {
        chunk_ptr: In<u32>,
        c_col_ptr: Out<u32>,
        cols: u32,
        windows: u32,
    }
}

/// The kernels of an adaptive product.
pub(super) struct Adaptive<T: Element> {
    profiler: Profiler,
    sort: Sort<T>,
    counts: DenseCounts,
    cut: CutTasks,
    sums: DenseSums<T>,
    scan: Scan<u32>,
    offsets: Kernel<ColumnOffsets<'static>>,
    group_size: usize,
    room_percent: u64,
    rest: Rest<T>,
    /// ESC, for columns that no other method takes, and for products of several bands.
    esc: Engine<T, Values>,
}

impl<T: Element> Adaptive<T> {
    pub fn new(device: &Device, teams: Teams, spec: &Spec, tuning: Tuning, adaptive: &AdaptiveTuning) -> Result<Self> {
        let group_size = tuning.group_size;
        Ok(Self {
            profiler: Profiler::new(device, teams, adaptive)?,
            sort: Sort::new(device, teams, adaptive.groups * device.info().compute_units as usize)?,
            counts: DenseCounts::new(device, teams, adaptive)?,
            cut: CutTasks::new::<T>(device, adaptive)?,
            sums: DenseSums::new(device, teams, adaptive)?,
            scan: Scan::new(device, tuning.scan)?,
            offsets: Kernel::rare(device, &Options::group_size(group_size))?,
            group_size,
            room_percent: adaptive.room_percent,
            rest: Rest::new(device, group_size, tuning.scan)?,
            esc: Engine::new(device, spec, tuning, Method::Auto)?,
        })
    }

    /// C = A·B; `place` takes the columns of C, in one band or several.
    pub fn multiply(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        mut place: impl FnMut(DeviceCbc<T>) -> Result<()>,
    ) -> Result<Counts> {
        let (a, b) = (operands.a, operands.b);
        let windows = self.counts.windows(a.nrows);
        let chunks = b.ncols * windows;
        if windows > Self::MOST_WINDOWS || chunks as u64 >= Limits::MAX_PRODUCTS {
            return self.esc.multiply(work, operands, place);
        }
        let (mut chunk_ptr, mut places) = (work.buffer(chunks + 1)?, work.buffer(chunks)?);
        work.stage("setup");
        work.fill_zero(&mut chunk_ptr)?;
        let profile = self.profile(work, operands, windows, &mut chunk_ptr, &mut places)?; // round trip 1
        let products = profile.sum(&Class::ALL, |sums| sums.products);
        if !self.takes(work, operands, &profile) {
            drop((profile, chunk_ptr, places));
            return self.esc.multiply(work, operands, place);
        }
        let mut counts = Counts { products, bands: 1, ..Counts::default() };
        if products == 0 {
            place(operands.empty_product(work, b.ncols)?)?;
            return Ok(counts);
        }
        let rest = self.esc_columns(work, operands, &profile, &mut counts)?;
        for (method, classes) in [(Method::Sort, Class::SORTED), (Method::Dense, Class::DENSE)] {
            let columns = profile.sum(&classes, |sums| sums.columns.into());
            if columns > 0 {
                counts.add(method, columns, profile.sum(&classes, |sums| sums.products));
            }
        }

        work.stage("count");
        for part in &rest {
            self.rest.lengths(work, &profile.list, part, windows, &mut chunk_ptr)?;
        }
        let factors = problem::Factors::of_values(a, b);
        let mut found = FoundRows::new(work, places, profile.room(self.room_percent))?;
        let patterns = patterns_of(operands, &profile.first_row, &profile.last_row);
        self.find_rows(work, &profile, patterns, false, (&mut chunk_ptr, &mut found))?;
        for (at, class) in Class::SORTED.into_iter().enumerate().rev() {
            self.sort.count(work, factors, &profile.task(class), at, &mut chunk_ptr)?;
        }
        work.stage("offsets");
        self.scan.run(work, &mut chunk_ptr)?;
        let mut cut = self.cut.count(work, (&b.pattern, &profile), (&chunk_ptr, &found))?; // round trip 2
        if cut.missing > 0 {
            work.stage("count");
            found = found.extended(work, cut.missing)?;
            self.find_rows(work, &profile, patterns, true, (&mut chunk_ptr, &mut found))?;
            work.stage("offsets");
            cut = self.cut.count(work, (&b.pattern, &profile), (&chunk_ptr, &found))?;
        }
        let c_nnz = cut.c_nnz;
        let tasks = self.cut.list(work, (&b.pattern, &profile), (&chunk_ptr, &found), cut)?;

        work.stage("sums");
        let (mut row_idx, mut values) = (work.buffer(c_nnz)?, work.buffer(c_nnz)?);
        let dense = Factors { a, b, chunk_ptr: &chunk_ptr, found: &found, windows };
        for class in (0..tasks.counts.len()).rev() {
            self.sums.run(work, &dense, &tasks, class, &mut row_idx, &mut values)?;
        }
        for (at, class) in Class::SORTED.into_iter().enumerate().rev() {
            let c = SortedColumns { col_ptr: &chunk_ptr, row_idx: &mut row_idx, values: &mut values };
            self.sort.sums(work, factors, &profile.task(class), at, c)?;
        }
        for part in rest {
            self.rest.put(work, &profile.list, &part, windows, &chunk_ptr, (&mut row_idx, &mut values))?;
        }
        drop((tasks, found, profile));
        let col_ptr = self.column_offsets(work, chunk_ptr, b.ncols, windows)?;
        place(operands.product(col_ptr, row_idx, values))?;
        Ok(counts)
    }

    /// Analyses the columns of B. One read.
    fn profile(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        windows: usize,
        lengths: &mut Buffer<u32>,
        places: &mut Buffer<u32>,
    ) -> Result<Profile> {
        let (a, b) = (&operands.a.pattern, &operands.b.pattern);
        let mut profiled = self.profiler.run(work, a, b)?;
        // About as many products as entries of B meet average columns of A.
        let expected = (b.nnz() as u64).saturating_mul(a.nnz() as u64) / a.ncols.max(1) as u64;
        if expected >= Self::SAMPLED_FROM && b.ncols >= Profiler::SAMPLES {
            let sample = self.profiler.samples(work, &mut profiled)?;
            let (sums, at) = (&mut profiled.record, Profiler::SAMPLED);
            let patterns = patterns_of(operands, &profiled.first_row, &profiled.last_row);
            self.counts.sample(work, patterns, &sample, (lengths, places), (sums, at))?;
        }
        self.profiler.finish(work, a, b, windows, profiled)
    }

    /// Products from which the entries of C are estimated: below, their bound takes little memory.
    const SAMPLED_FROM: u64 = 1 << 22;

    /// Finds the rows of the columns of all dense classes.
    fn find_rows(
        &self,
        work: &Work,
        profile: &Profile,
        patterns: Patterns<'_>,
        only_missing: bool,
        (lengths, found): (&mut Buffer<u32>, &mut FoundRows),
    ) -> Result<()> {
        Class::DENSE.into_iter().rev().try_for_each(|class| {
            self.counts.run(work, class, patterns, profile.task(class), only_missing, (lengths, found))
        })
    }

    /// Columns of C by ESC: those that no other method takes.
    fn esc_columns(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        profile: &Profile,
        counts: &mut Counts,
    ) -> Result<Vec<Part<T>>> {
        let (task, mut parts) = (profile.task(Class::Rest), Vec::new());
        if task.columns > 0 {
            work.stage("setup");
            let entries = profile.of(Class::Rest).b_entries as usize;
            let b = self.rest.take(work, operands.b, &task, entries)?;
            let mut first = task.first;
            let by_esc = self.esc.multiply(work, &Operands { b: &b, ..*operands }, |columns| {
                let next = first + columns.ncols as u32;
                parts.push(Part { first, columns });
                first = next;
                Ok(())
            })?;
            counts.longest_run = by_esc.longest_run;
            counts.merged = by_esc.merged;
            by_esc.bins.iter().for_each(|bin| counts.add(bin.method, bin.columns, bin.products));
        }
        Ok(parts)
    }

    /// Whether the product is one band, and these methods take some of its columns.
    fn takes(&self, work: &Work, operands: &Operands<'_, T>, profile: &Profile) -> bool {
        let entries = profile.sum(&Class::ALL, |sums| sums.most_entries);
        let entry = 2 * size_of::<u32>() + size_of::<T>();
        let need = pool_bytes(entries * entry as u64) + 2 * pool_bytes(8 * operands.b.ncols as u64);
        (profile.of(Class::Rest).columns as usize) < operands.b.ncols.max(1)
            && profile.sum(&Class::ALL, |sums| sums.products) < Limits::MAX_PRODUCTS
            && need <= work.limit().saturating_sub(work.used_bytes())
    }

    /// Windows of rows beyond which bitmaps are too many.
    const MOST_WINDOWS: usize = 16;

    fn column_offsets(&self, work: &Work, chunk_ptr: Buffer<u32>, cols: usize, windows: usize) -> Result<Buffer<u32>> {
        if windows == 1 {
            return Ok(chunk_ptr);
        }
        let mut c_col_ptr = work.buffer(cols + 1)?;
        let args = ColumnOffsets {
            chunk_ptr: &chunk_ptr,
            c_col_ptr: &mut c_col_ptr,
            cols: cols as u32,
            windows: windows as u32,
        };
        self.offsets.launch(work, Grid::items(cols + 1, self.group_size), args)?;
        Ok(c_col_ptr)
    }
}

/// What finding rows reads.
fn patterns_of<'a, T>(
    operands: &Operands<'a, T>,
    first_row: &'a Buffer<u32>,
    last_row: &'a Buffer<u32>,
) -> Patterns<'a> {
    Patterns { a: &operands.a.pattern, b: &operands.b.pattern, first_row, last_row }
}
