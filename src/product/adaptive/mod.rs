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
    dense::DenseCounts,
    direct::{Direct, DirectColumns},
    engine::Engine,
    hash::{GlobalTables, HashCounts},
    hub::HubSums,
    limits::{EntryMemory, Limits},
    method::Method,
    problem::{self, Counts, Operands, Sizes, Spec, Values},
    sort::{self, Sort, SortedColumns},
    tasks::{CutTasks, Factors, FoundRows, Patterns, Purpose, SlotSums, Tasks},
    tuning::Tuning,
};
use crate::{
    DeviceInfo, Element, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Teams, Work, at_most, kernel, pool_bytes},
    primitives::scan::Scan,
    resident::DeviceCbc,
};
use profile::{ClassSums, Profiled, Profiler};
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
    direct: Direct<T>,
    sort: Sort<T>,
    counts: DenseCounts,
    hash: HashCounts,
    cut: CutTasks,
    sums: SlotSums<T>,
    hub: HubSums<T>,
    scan: Scan<u32>,
    offsets: Kernel<ColumnOffsets<'static>>,
    group_size: usize,
    tuning: AdaptiveTuning,
    rest: Rest<T>,
    /// ESC, for columns that no other method takes, and for products of several bands.
    esc: Engine<T, Values>,
}

impl<T: Element> Adaptive<T> {
    pub fn new(device: &Device, teams: Teams, spec: &Spec, tuning: Tuning, adaptive: &AdaptiveTuning) -> Result<Self> {
        let group_size = tuning.group_size;
        Ok(Self {
            profiler: Profiler::new(device, teams, adaptive)?,
            direct: Direct::new(device, group_size, tuning.scan)?,
            sort: Sort::new(device, teams, adaptive.groups * device.info().compute_units as usize)?,
            counts: DenseCounts::new(device, teams, adaptive)?,
            hash: HashCounts::new(device, teams, adaptive)?,
            cut: CutTasks::new::<T>(device, adaptive)?,
            sums: SlotSums::new(device, teams, adaptive)?,
            hub: HubSums::new(device, teams, adaptive)?,
            scan: Scan::new(device, tuning.scan)?,
            offsets: Kernel::rare(device, &Options::group_size(group_size))?,
            group_size,
            tuning: *adaptive,
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
        if let Some(class) = self.class_of_all(work, operands) {
            return self.sort_all(work, operands, class, place);
        }
        work.stage("setup");
        let profile = self.profile(work, operands)?; // round trip 1
        if !self.takes(work, operands, &profile) {
            drop(profile);
            return self.esc.multiply(work, operands, place);
        }
        let products = profile.sum(&Class::ALL, |sums| sums.products);
        let mut counts = Counts { products, bands: 1, adaptive: true, ..Counts::default() };
        if products == 0 {
            place(operands.empty_product(work, b.ncols)?)?;
            return Ok(Counts { longest_run: Some(0), ..counts });
        }
        let rest = self.esc_columns(work, operands, &profile, &mut counts)?;
        let columns_and_products =
            |classes| [profile.sum(classes, |sums| sums.columns.into()), profile.sum(classes, |sums| sums.products)];
        let (direct, sorted) = (columns_and_products(&[Class::Direct]), columns_and_products(&Class::SORTED));
        let dense = columns_and_products(&Class::DENSE);
        let hashed = columns_and_products(&Class::HASHED);
        let hub = [|sums: &ClassSums| sums.hub_columns.into(), |sums: &ClassSums| sums.hub_products];
        let hub = hub.map(|number| profile.sum(&Class::DENSE, number));
        let others = [dense[0] - hub[0], dense[1] - hub[1]];
        let of_scalars = [Method::Direct, Method::Sort, Method::Dense, Method::Hub, Method::Hash];
        for (method, [columns, products]) in of_scalars.into_iter().zip([direct, sorted, others, hub, hashed]) {
            if columns > 0 {
                counts.add(method, columns, products);
            }
        }
        let finds_rows = profile.sum(&Class::FOUND, |sums| sums.columns.into()) > 0;

        work.stage("count");
        let (windows, chunks) = (profile.windows, b.ncols * profile.windows);
        let mut chunk_ptr = work.buffer(chunks + 1)?;
        if windows > 1 || profile.list.len() > 0 {
            work.fill_zero(&mut chunk_ptr)?; // of columns without products, and of further windows
        }
        for part in &rest {
            self.rest.lengths(work, &profile.list, part, windows, &mut chunk_ptr)?;
        }
        let places = work.buffer(if finds_rows { chunks } else { 0 })?;
        let mut found = FoundRows::new(work, places, profile.room(self.tuning.room_percent))?;
        let direct = self.count_direct(work, &profile, &mut chunk_ptr)?;
        self.count(work, operands, &profile, Purpose::All, (&mut chunk_ptr, &mut found))?;
        work.stage("offsets");
        self.scan.run(work, &mut chunk_ptr)?;
        let (c_nnz, mut tasks) = if finds_rows {
            let mut cut = self.cut.count(work, (&b.pattern, &profile), (&chunk_ptr, &found))?; // round trip 2
            if cut.missing > 0 {
                work.stage("count");
                found = found.extended(work, cut.missing)?;
                self.count(work, operands, &profile, Purpose::Missing, (&mut chunk_ptr, &mut found))?;
                work.stage("offsets");
                cut = self.cut.count(work, (&b.pattern, &profile), (&chunk_ptr, &found))?;
            }
            (cut.c_nnz, Some(self.cut.list(work, (&b.pattern, &profile), (&chunk_ptr, &found), cut)?))
        } else {
            let most = profile.sum(&Class::ALL, |sums| sums.most_entries);
            (work.read_count(&chunk_ptr, chunks, "entries of C", most)? as usize, None) // round trip 2
        };

        work.stage("sums");
        let (mut row_idx, mut values) = (work.buffer(c_nnz)?, work.buffer(c_nnz)?);
        let dense = Factors { a, b, chunk_ptr: &chunk_ptr, found: &found, windows };
        let sorted = profile.tasks(&Class::SORTED, self.tuning.few_products);
        let classes = tasks.as_ref().map_or(Vec::new(), Tasks::classes);
        let kernels = classes.len() + sorted.len() + usize::from(direct.is_some());
        let lanes = work.fork(self.lanes(&profile, kernels))?;
        let mut lane = lanes.iter().cycle();
        let mut next = || lane.next().unwrap_or(work);
        for class in classes {
            let tasks = tasks.as_mut().expect("only tasks have classes");
            let c = (&mut row_idx, &mut values);
            if class / self.tuning.slices.len() >= Tasks::FIRST_HUB {
                self.hub.run(next(), &dense, tasks, class, c)?;
            } else {
                self.sums.run(next(), &dense, tasks, class, c)?;
            }
        }
        for (class, task) in sorted {
            let c = SortedColumns { col_ptr: &chunk_ptr, row_idx: &mut row_idx, values: &mut values };
            self.sort.sums(next(), problem::Factors::of_values(a, b), &task, class.sorted(), c)?;
        }
        if let Some(direct) = direct {
            let factors = problem::Factors::of_values(a, b);
            self.direct.sums(next(), factors, &direct, &chunk_ptr, (&mut row_idx, &mut values))?;
        }
        work.join(lanes)?;
        for part in rest {
            self.rest.put(work, &profile.list, &part, windows, &chunk_ptr, (&mut row_idx, &mut values))?;
        }
        drop((tasks, found, profile));
        let col_ptr = self.column_offsets(work, chunk_ptr, b.ncols, windows)?;
        place(operands.product(col_ptr, row_idx, values))?;
        Ok(counts)
    }

    /// The class of sorted columns that takes every column of C, if the host knows that there is
    /// one, and its bound of C fits the device.
    fn class_of_all(&self, work: &Work, operands: &Operands<'_, T>) -> Option<usize> {
        let (a, b) = (&operands.a.pattern, &operands.b.pattern);
        let (of_a, of_b) = (u64::from(a.longest_column?), u64::from(b.longest_column?));
        let class = sort::class_of(of_a * of_b, self.tuning.sorted_most)?;
        let most = of_a * b.nnz() as u64;
        self.fits(work, operands, [most, of_a * of_b, most], 0).then_some(class)
    }

    /// C = A·B by the kernels of one class of sorted columns. One read.
    fn sort_all(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        class: usize,
        mut place: impl FnMut(DeviceCbc<T>) -> Result<()>,
    ) -> Result<Counts> {
        work.stage("count");
        let (a, b) = (operands.a, operands.b);
        let (list, columns) = (&work.buffer(0)?, b.ncols as u32);
        let task = ColumnTask { list, first: 0, columns, listed: false, first_col: 0, windows: 1 };
        let factors = problem::Factors::of_values(a, b);
        // Behind the offsets: their end, and the number of products in two words.
        let mut col_ptr = work.buffer(b.ncols + 3)?;
        work.fill_zero(&mut col_ptr)?;
        self.sort.count_products(work, factors, &task, class, (&mut col_ptr, b.ncols + 1))?;
        work.stage("offsets");
        self.scan.run_first(work, &mut col_ptr, b.ncols + 1)?;
        let sums = work.read(&col_ptr, b.ncols, 3)?;
        let most = u64::from(a.pattern.longest_column.unwrap_or(0)) * b.nnz() as u64;
        let products = at_most("products", u64::from(sums[2]) << 32 | u64::from(sums[1]), most)?;
        let c_nnz = at_most("entries of C", sums[0].into(), products)? as usize;
        work.stage("sums");
        let (mut row_idx, mut values) = (work.buffer(c_nnz)?, work.buffer(c_nnz)?);
        let c = SortedColumns { col_ptr: &col_ptr, row_idx: &mut row_idx, values: &mut values };
        self.sort.sums(work, factors, &task, class, c)?;
        let mut counts = Counts { products, bands: 1, adaptive: true, ..Counts::default() };
        counts.add(Method::Sort, b.ncols as u64, products);
        place(operands.product(col_ptr.first(b.ncols + 1), row_idx, values))?;
        Ok(counts)
    }

    /// Analyses the columns of B. One read.
    fn profile(&self, work: &Work, operands: &Operands<'_, T>) -> Result<Profile> {
        let (a, b) = (&operands.a.pattern, &operands.b.pattern);
        let windows = self.tuning.windows(a.nrows, b.ncols);
        let in_windows = self.tuning.in_windows(a.nrows, b.ncols);
        // About as many products as entries of B meet average columns of A.
        let expected = (b.nnz() as u64).saturating_mul(a.nnz() as u64) / a.ncols.max(1) as u64;
        let sorted_most = self.tuning.sorted_most(expected, b.ncols as u64);
        let mut profiled = self.profiler.run(work, a, b, (sorted_most, in_windows))?;
        if (self.tuning.dense || self.tuning.hash) && in_windows && expected >= self.tuning.sampled_products {
            let Profiled { first_row, last_row, products, record, .. } = &mut profiled;
            let patterns = Patterns { a, b, first_row, last_row, products };
            self.counts.sample(work, patterns, b.ncols.min(Self::SAMPLES), (record, Profiler::SAMPLED))?;
        }
        self.profiler.finish(work, a, b, windows, profiled)
    }

    /// Columns sampled.
    const SAMPLES: usize = 256;

    /// Counts the entries of C in the columns of all classes but those of ESC.
    fn count(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        profile: &Profile,
        purpose: Purpose,
        (lengths, found): (&mut Buffer<u32>, &mut FoundRows),
    ) -> Result<()> {
        let Profile { first_row, last_row, products, .. } = profile;
        let (a, b) = (&operands.a.pattern, &operands.b.pattern);
        let patterns = Patterns { a, b, first_row, last_row, products };
        let (in_windows, in_range) = ([Class::Wide, Class::Big], [Class::Narrow, Class::Medium]);
        let few = self.tuning.few_products;
        let dense = [profile.tasks(&in_windows, few), profile.tasks(&in_range, few)].concat();
        let sorted = match purpose {
            Purpose::All => profile.tasks(&Class::SORTED, few),
            _ => Vec::new(),
        };
        let hashed = profile.tasks(&Class::HASHED, few);
        let lanes = work.fork(self.lanes(profile, dense.len() + hashed.len() + sorted.len()))?;
        let mut lane = lanes.iter().cycle();
        let mut next = || lane.next().unwrap_or(work);
        for task in dense {
            self.counts.run(next(), task, patterns, purpose, (lengths, found))?;
        }
        let tables = self.tables(work, profile, operands);
        for task in hashed {
            self.hash.run(next(), task, patterns, (purpose, tables), (lengths, found))?;
        }
        for (class, task) in sorted {
            let factors = problem::Factors::of_values(operands.a, operands.b);
            self.sort.count(next(), factors, &task, class.sorted(), lengths)?;
        }
        work.join(lanes)
    }

    /// Counts the entries of C in direct columns, if there are any.
    fn count_direct<'a>(
        &self,
        work: &Work,
        profile: &'a Profile,
        lengths: &mut Buffer<u32>,
    ) -> Result<Option<DirectColumns<'a>>> {
        let (task, entries) = (profile.task(Class::Direct, Class::Direct), profile.of(Class::Direct).products);
        let count = || self.direct.count(work, task, (&profile.products, entries), lengths);
        (task.columns > 0).then(count).transpose()
    }

    /// Tables in global memory for the hashed columns.
    fn tables(&self, work: &Work, profile: &Profile, operands: &Operands<'_, T>) -> GlobalTables {
        let of = profile.of(Class::HashedGlobal);
        let products = [of.longest.into(), of.products];
        GlobalTables::new(work.device().info(), &self.tuning, products, operands.a.nrows)
    }

    /// Queues for so many kernels.
    fn lanes(&self, profile: &Profile, kernels: usize) -> usize {
        let products = profile.sum(&Class::ALL, |sums| sums.products);
        if products < self.tuning.lane_products { 1 } else { kernels.min(self.tuning.lanes) }
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
            let b = self.rest.take(work, operands.b, &task, entries)?;
            let mut first = task.first;
            let by_esc = self.esc.multiply(work, &Operands { b: &b, ..*operands }, |columns| {
                let next = first + columns.ncols as u32;
                parts.push(Part { first, columns });
                first = next;
                Ok(())
            })?;
            counts.merged = by_esc.merged;
            by_esc.bins.iter().for_each(|bin| counts.add(bin.method, bin.columns, bin.products));
        }
        Ok(parts)
    }

    /// Whether the product is one band, and these methods take some of its columns.
    fn takes(&self, work: &Work, operands: &Operands<'_, T>, profile: &Profile) -> bool {
        let products = profile.sum(&Class::ALL, |sums| sums.products);
        let longest = Class::ALL.iter().map(|&class| profile.of(class).longest.into()).max().unwrap_or(0);
        let bound = profile.sum(&Class::ALL, |sums| sums.most_entries);
        (profile.of(Class::Rest).columns as usize) < operands.b.ncols.max(1)
            && self.fits(work, operands, [products, longest, bound], self.tables(work, profile, operands).bytes())
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
pub(super) fn teams_for(info: &DeviceInfo, wanted: Method) -> Option<Teams> {
    Teams::of(info).filter(|teams| match wanted {
        Method::Auto => teams.are_warps(),
        method => method.is_of_scalars(),
    })
}
