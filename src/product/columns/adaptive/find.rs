//! The symbolic part of an adaptive product: it finds the entries of C. The columns are divided
//! into classes, and the entries of each class are counted by the method that suits it. Rows that
//! are found on the way are kept. The host reads the sums of the classes, and then the number of
//! entries of C.
use super::{
    equal::SharedRows,
    numeric::lanes,
    profile::{Profiled, Profiler},
    rules::ClassRules,
    towards,
};
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Teams, Work, at_most, kernel},
    element::ElementType,
    primitives::scan::Scan,
    product::{
        choose::{self},
        columns::{
            dense::DenseCounts,
            direct::{DirectColumns, DirectCounts},
            hash::HashCounts,
            hub::hub_bytes,
            tasks::{CutTasks, FoundRows, Patterns, Purpose, RowArrays, RowTask, Tasks},
        },
        sort::{SortCounts, SortedTask},
        terms::{Class, ClassLists, ColumnTask, Known, Method, PatternPair, Profile},
        tuning::{AdaptiveTuning, Tuning},
    },
};
use std::ops::Range;

kernel! {
    struct ColumnOffsets = "column_offsets" in "product/columns/adaptive/offsets.cl" {
        chunk_ptr: In<u32>,
        c_col_ptr: Out<u32>,
        cols: u32,
        windows: u32,
    }
}

/// The kernels that find the entries of C.
pub(super) struct Finder {
    profiler: Profiler,
    direct: DirectCounts,
    sort: SortCounts,
    counts: DenseCounts,
    hash: HashCounts,
    shared: SharedRows,
    cut: CutTasks,
    scan: Scan<u32>,
    offsets: Kernel<ColumnOffsets<'static>>,
    group_size: usize,
    pub tuning: AdaptiveTuning,
}

/// Memory of a band while its entries are found.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoomForRows {
    /// Number of rows for which memory is allocated before they are counted.
    pub rows: u64,
    /// Whether there is memory for the sorted keys. If so, the sums do not sort them again.
    pub keeps_keys: bool,
}

/// The entries of C that were found.
pub(super) struct Found {
    pub columns: FoundClasses,
    /// Entries of C before each window of each column.
    pub chunk_ptr: Buffer<u32>,
    /// The rows of the columns that have tasks.
    pub rows: FoundRows,
    /// Counters of the tasks that teams have taken, and the index of the first counter. All
    /// counters are zero.
    pub taken: (Buffer<u32>, usize),
    pub c_nnz: usize,
}

/// The data that the sums need, besides the factors and the rows of C.
pub(super) struct FoundClasses {
    pub lists: ClassLists,
    pub direct: Option<DirectColumns>,
    pub tasks: Option<Tasks>,
    pub keys: SortedKeys,
}

/// The sorted keys of each bin of sorted columns, if they are kept from the count for the sums.
#[derive(Default)]
pub(super) struct SortedKeys(Vec<(Class, Buffer<u32>)>);

impl SortedKeys {
    /// The keys of the bin that the kernels of `class` compute.
    pub fn of(&self, class: Class) -> Option<&Buffer<u32>> {
        self.0.iter().find(|(of, _)| *of == class).map(|(_, keys)| keys)
    }
}

impl Finder {
    pub fn new(
        device: &Device,
        teams: Teams,
        &Tuning { group_size, scan, .. }: &Tuning,
        tuning: &AdaptiveTuning,
        element: ElementType,
    ) -> Result<Self> {
        Ok(Self {
            profiler: Profiler::new(device, teams, tuning)?,
            direct: DirectCounts::new(device, group_size, scan)?,
            sort: SortCounts::new(device, teams, tuning.row_bits, tuning.most_groups(device.info()))?,
            counts: DenseCounts::new(device, teams, tuning)?,
            hash: HashCounts::new(device, teams, tuning)?,
            shared: SharedRows::new(device, group_size)?,
            cut: CutTasks::new(device, tuning, element, hub_bytes(element))?,
            scan: Scan::new(device, scan)?,
            offsets: Kernel::rare(device, &Options::group_size(group_size))?,
            group_size,
            tuning: *tuning,
        })
    }

    /// Finds the entries of C in the columns of the profile. At least one column has products.
    /// `rest` writes the numbers of entries of columns that were computed elsewhere. Returns `None`
    /// if `admits` refuses the number of all entries. The host reads once from the device.
    pub fn run(
        &self,
        work: &Work,
        (a, b): PatternPair<'_>,
        profile: Profile,
        room: RoomForRows,
        admits: &dyn Fn(u64) -> bool,
        rest: &mut dyn FnMut(&ClassLists, &mut Buffer<u32>) -> Result<()>,
    ) -> Result<Option<Found>> {
        let finds_rows = profile.sum(&Class::FOUND, |sums| sums.columns.into()) > 0;

        work.stage("count");
        let chunks = profile.cols() * profile.windows;
        let mut chunk_ptr = work.buffer(chunks + 1)?;
        if profile.windows > 1 || profile.list.len() > 0 {
            // columns without products and unused windows have length 0
            work.fill_zero(&mut chunk_ptr)?;
        }
        rest(&profile, &mut chunk_ptr)?;
        let places = work.buffer(if finds_rows { chunks } else { 0 })?;
        let mut found = FoundRows::new(work, places, room.rows as usize)?;
        let direct = self.count_direct(work, &profile, &mut chunk_ptr)?;
        let into = found.arrays(&mut chunk_ptr);
        let keys = self.count(work, (a, b), &profile, Purpose::All, room.keeps_keys, into)?;
        work.stage("offsets");
        self.scan.run(work, &mut chunk_ptr)?;
        let (c_nnz, tasks, taken) = if finds_rows {
            let mut cut = self.cut.count(work, b, &profile, &chunk_ptr, &found)?; // the host reads here
            if !admits(cut.c_nnz as u64) {
                return Ok(None);
            }
            if cut.missing > 0 {
                work.stage("count");
                found = found.extended(work, cut.missing)?;
                self.count(work, (a, b), &profile, Purpose::Missing, false, found.arrays(&mut chunk_ptr))?;
                work.stage("offsets");
                cut = self.cut.count(work, b, &profile, &chunk_ptr, &found)?;
            }
            let c_nnz = cut.c_nnz;
            let (tasks, taken, first) = self.cut.list(work, b, &profile, &chunk_ptr, &found, cut)?;
            (c_nnz, Some(tasks), (taken, first))
        } else {
            let most = profile.sum(&Class::ALL, |sums| sums.most_entries);
            let c_nnz = work.read_count(&chunk_ptr, chunks, "entries of C", most)? as usize; // the host reads here
            if !admits(c_nnz as u64) {
                return Ok(None);
            }
            (c_nnz, None, (work.buffer(0)?, 0))
        };
        let columns = FoundClasses { lists: profile.lists, direct, tasks, keys };
        Ok(Some(Found { columns, chunk_ptr, rows: found, taken, c_nnz }))
    }

    /// Finds the entries of C in columns that are all of one class of sorted columns, and that have
    /// at most `most` products in all. The host reads once from the device.
    pub fn run_sorted(
        &self,
        work: &Work,
        (a, b): PatternPair<'_>,
        class: Class,
        most: u64,
        keeps_keys: bool,
    ) -> Result<Found> {
        work.stage("count");
        work.count_towards(1);
        let (list, columns) = (&work.buffer(0)?, b.ncols as u32);
        // The two words after the offsets' end hold the number of products.
        let mut col_ptr = work.buffer(b.ncols + 3)?;
        work.fill_zero(&mut col_ptr)?;
        let mut keys = keeps_keys.then(|| SortCounts::keys(work, class.sorted(), columns)).transpose()?;
        let task = SortedTask { task: ColumnTask::of_all(list, columns), class: class.sorted() };
        self.sort.run(work, (a, b), task, &mut col_ptr, b.ncols + 1, keys.as_mut())?;
        let keys = SortedKeys(keys.map(|keys| (class, keys)).into_iter().collect());
        work.stage("offsets");
        self.scan.run_first(work, &mut col_ptr, b.ncols + 1)?;
        let sums = work.read(&col_ptr, b.ncols, 3)?;
        let products = at_most("products", u64::from(sums[2]) << 32 | u64::from(sums[1]), most)?;
        let c_nnz = at_most("entries of C", sums[0].into(), products)? as usize;
        work.count_towards(0);
        let share = choose::sorted_share(class, b.ncols as u64, [products; 2], &self.tuning.prices.costs);
        let lists = ClassLists::of_one(work, share)?;
        let columns = FoundClasses { lists, direct: None, tasks: None, keys };
        let (chunk_ptr, rows) = (col_ptr.first(b.ncols + 1), FoundRows::new(work, work.buffer(0)?, 0)?);
        Ok(Found { columns, chunk_ptr, rows, taken: (work.buffer(0)?, 0), c_nnz })
    }

    /// The rules for the columns of A·B.
    pub fn rules(&self, (a, b): PatternPair<'_>) -> ClassRules {
        ClassRules::new(&self.tuning, a.nrows, &Known::of_arrays(a, b))
    }

    /// Analyses all columns of B. The host reads once from the device.
    pub fn profile(&self, work: &Work, (a, b): PatternPair<'_>, rules: &ClassRules) -> Result<Profile> {
        let columns = 0..b.ncols as u32;
        let mut profiled = self.profiler.run(work, (a, b), rules, &columns)?;
        if rules.sampled {
            let Profiled { first_row, last_row, products, record, .. } = &mut profiled;
            let patterns = Patterns { a, b, first_row, last_row, products };
            let samples = b.ncols.min(ClassRules::SAMPLES);
            self.counts.sample(work, patterns, samples, rules.most_words, record, Profiler::SAMPLED)?;
        }
        self.profiler.finish(work, (a, b), rules, columns, profiled, None)
    }

    /// Analyses the columns of a band, given the samples of the whole product. The host reads once
    /// from the device.
    pub fn profile_band(
        &self,
        work: &Work,
        patterns: PatternPair<'_>,
        rules: &ClassRules,
        columns: Range<u32>,
        samples: [u32; 2],
    ) -> Result<Profile> {
        let profiled = self.profiler.run(work, patterns, rules, &columns)?;
        self.profiler.finish(work, patterns, rules, columns, profiled, Some(samples))
    }

    /// Counts the entries of C in the columns of all classes, except for the columns of ESC.
    fn count(
        &self,
        work: &Work,
        (a, b): PatternPair<'_>,
        profile: &Profile,
        purpose: Purpose,
        keeps_keys: bool,
        mut into: RowArrays<'_>,
    ) -> Result<SortedKeys> {
        let Profile { first_row, last_row, products, .. } = profile;
        let patterns = Patterns { a, b, first_row, last_row, products };
        let dense = [profile.tasks(&Class::IN_WINDOWS), profile.tasks(&[Class::Narrow, Class::Medium])].concat();
        let sorted = match purpose {
            Purpose::All => profile.tasks(&Class::SORTED),
            _ => Vec::new(),
        };
        let hashed = [profile.tasks(&[Class::HashedGlobal]), profile.tasks(&Class::HASHED[..3])].concat();
        let lanes = work.fork(lanes(&self.tuning, profile, dense.len() + hashed.len() + sorted.len()))?;
        let mut lane = lanes.iter().cycle();
        let mut next = |class| towards(profile.bins_of(class), lane.next().unwrap_or(work));
        for (class, columns) in dense {
            let task = RowTask { patterns, columns, purpose, into: into.again() };
            self.counts.run(next(class), class, task)?;
        }
        let tables = self.tuning.tables(work.device().info(), profile, a.nrows);
        for (class, columns) in hashed {
            let task = RowTask { patterns, columns, purpose, into: into.again() };
            self.hash.run(next(class), class, task, tables)?;
        }
        let mut keys = SortedKeys::default();
        for (class, task) in sorted {
            let mut of_bin = keeps_keys.then(|| SortCounts::keys(work, class.sorted(), task.columns)).transpose()?;
            let columns = SortedTask { task, class: class.sorted() };
            self.sort.run(next(class), (a, b), columns, into.lengths, 0, of_bin.as_mut())?;
            keys.0.extend(of_bin.map(|of_bin| (class, of_bin)));
        }
        work.join(lanes)?;
        if profile.shares_rows {
            let of_found = towards(profile.bins(|share| Class::FOUND.contains(&share.last)), work);
            let RowArrays { lengths, place, .. } = into;
            self.shared.run(of_found, &profile.class, profile.windows, purpose, [lengths, place])?;
            work.count_towards(0);
        }
        Ok(keys)
    }

    /// Counts the entries of C in direct columns, if they are a bin.
    fn count_direct(&self, work: &Work, profile: &Profile, lengths: &mut Buffer<u32>) -> Result<Option<DirectColumns>> {
        let (task, entries) = (profile.task(Class::Direct, Class::Direct), profile.of(Class::Direct).products);
        let alone = profile.shares.iter().any(|share| share.method == Method::Direct);
        let of_direct = towards(profile.bins_of(Class::Direct), work);
        let count = || self.direct.run(of_direct, &task, &profile.products, entries, lengths);
        let counted = alone.then(count).transpose();
        work.count_towards(0);
        counted
    }

    /// The `col_ptr` of C.
    pub fn column_offsets(
        &self,
        work: &Work,
        chunk_ptr: &Buffer<u32>,
        cols: usize,
        windows: usize,
    ) -> Result<Buffer<u32>> {
        let mut c_col_ptr = work.buffer(cols + 1)?;
        let args = ColumnOffsets { chunk_ptr, c_col_ptr: &mut c_col_ptr, cols: cols as u32, windows: windows as u32 };
        self.offsets.launch(work, Grid::items(cols + 1, self.group_size), args)?;
        Ok(c_col_ptr)
    }
}
