//! The tasks of the sums: columns of C are cut into pieces that fit local memory. Kernel:
//! `cl/product/columns/tasks/cut.cl`.
use super::{FoundRows, Levels, TaskClass, TaskKind, step_bytes};
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Work, arguments, at_most, kernel},
    element::ElementType,
    primitives::segmented_reduce::RUN_PIECE,
    product::{
        terms::{Class, Profile},
        tuning::AdaptiveTuning,
    },
    resident::PatternArrays,
    tuning::SharedNumbers,
};

arguments! {
    /// The columns of B, and the rows that were found.
    struct InFound {
        b_col_ptr: In<u32>,
        class: In<u32>,
        chunk_ptr: In<u32>,
        place: In<u32>,
        rows: In<u32>,
    }
}

arguments! {
    /// The columns of a band.
    struct InBand {
        first_col: u32,
        cols: u32,
        windows: u32,
        first_class: u32,
        end_class: u32,
        shares_rows: u32,
    }
}

kernel! {
    in "product/columns/adaptive/equal.cl", "product/columns/hash/slots.cl", "product/columns/tasks/cut.cl":
    struct CountTasks = "count_tasks" { found: InFound<'static>, record: InOut<u32>, band: InBand<'static> }
    struct ListTasks = "list_tasks" {
        found: InFound<'static>,
        record: InOut<u32>,
        task: InOut<u64>,
        band: InBand<'static>,
    }
}

/// Small tasks join larger tasks, to save a launch, if they then take at most a fourth of the local
/// memory of all compute units in addition. The limit of a fourth is an estimate.
const MORE_MEMORY: usize = 4;

/// The number of tasks of each class, after small classes have joined larger ones. The tasks of a
/// class join the next larger class of their kind that has tasks, if they then take at most `more`
/// additional bytes of local memory together. `counts` lists the classes of one kind, then the
/// classes of the next kind.
fn joined(mut counts: Vec<usize>, slices: &[usize], more: usize) -> Vec<usize> {
    for kind in counts.chunks_mut(slices.len()) {
        for class in 0..kind.len() {
            let next = (class + 1..kind.len()).find(|&next| kind[next] > 0);
            if let Some(next) = next.filter(|&next| kind[class] * (slices[next] - slices[class]) <= more) {
                kind[next] += std::mem::take(&mut kind[class]);
            }
        }
    }
    counts
}

/// The sizes of the tasks.
pub(in crate::product) struct Cut {
    record: Buffer<u32>,
    /// The number of tasks of each class, including smaller classes that joined it.
    pub counts: Vec<usize>,
    /// Number of entries of C in all columns.
    pub c_nnz: usize,
    /// Number of entries whose rows did not fit the memory for rows.
    pub missing: usize,
}

/// The tasks, class after class.
pub(in crate::product) struct Tasks {
    pub task: Buffer<u64>,
    pub counts: Vec<usize>,
}

/// The number of tasks of each class that teams have taken. The number of the first class is at
/// index `first`. Before the sums are computed, no tasks are taken.
pub(in crate::product) struct TakenTasks<'a> {
    pub numbers: &'a mut Buffer<u32>,
    pub first: usize,
}

impl Tasks {
    /// The classes that have tasks. Classes of hubs come first, because they take longest. Within a
    /// kind the classes of the largest tasks come first.
    pub fn classes(&self) -> Vec<TaskClass> {
        let slices = self.counts.len() / TaskKind::ALL.len();
        let numbers = (0..self.counts.len()).rev().filter(|&number| self.counts[number] > 0);
        let class = |number| TaskClass { kind: TaskKind::ALL[number / slices], slice: number % slices, number };
        numbers.map(class).collect()
    }

    /// The index of a class's first task.
    pub fn first(&self, class: TaskClass) -> u64 {
        self.counts[..class.number].iter().sum::<usize>() as u64
    }
}

/// The kernels that cut tasks.
pub(in crate::product) struct CutTasks {
    count: Kernel<CountTasks<'static>>,
    list: Kernel<ListTasks<'static>>,
    tuning: AdaptiveTuning,
    group_size: usize,
    /// Bytes of local memory of all compute units.
    resident_bytes: usize,
}

impl CutTasks {
    /// The kernels for products of `element`. A team of a hub's task takes `hub_bytes` bytes of
    /// local memory besides its slots.
    pub fn new(device: &Device, tuning: &AdaptiveTuning, element: ElementType, hub_bytes: usize) -> Result<Self> {
        let group_size = device.info().numbers::<SharedNumbers>().group_size;
        let slices = tuning.slices.map(|bytes| bytes.to_string()).join(", ");
        let options = Options::group_size(group_size)
            .define("KINDS", TaskKind::ALL.len())
            .define("KIND_CUT", TaskKind::Dense { levels: Levels::One, cut: true }.number())
            .define("KIND_EQUAL", TaskKind::Equal { levels: Levels::One }.number())
            .define("KIND_HASH", TaskKind::Hash { cut: false }.number())
            .define("KIND_HUB", TaskKind::Hub { levels: Levels::One }.number())
            .define("SLICES", slices)
            .define("SLICE_COUNT", tuning.slices.len())
            .define("LAST_SLICE", tuning.slices[tuning.slices.len() - 1])
            .define("PIECE", tuning.piece)
            .define("HASHED", Class::HASHED[0] as usize)
            .define("END_HASHED", Class::Long as usize)
            .define("CUT_FROM", RUN_PIECE)
            .define("SUM_BYTES", element.arithmetic().bytes())
            .define("STEP_BYTES", step_bytes(element))
            .define("HUB_BYTES", hub_bytes)
            .define("EQUAL_COLUMNS", tuning.equal_columns)
            .define("EQUAL_PIECE", tuning.equal_piece);
        let (count, list) = (Kernel::new(device, &options)?, Kernel::new(device, &options)?);
        let resident_bytes = tuning.resident_bytes * device.info().compute_units as usize;
        Ok(Self { count, list, tuning: *tuning, group_size, resident_bytes })
    }

    /// The arguments of both kernels. Long columns have no tasks if ESC computes them.
    fn arguments<'a>(
        b: &'a PatternArrays,
        profile: &'a Profile,
        chunk_ptr: &'a Buffer<u32>,
        found: &'a FoundRows,
    ) -> (InFound<'a>, InBand<'a>) {
        let FoundRows { place, rows, .. } = found;
        let band = InBand {
            first_col: profile.columns.start,
            cols: profile.cols() as u32,
            windows: profile.windows as u32,
            first_class: Class::FOUND[0] as u32,
            end_class: Class::Long as u32 + u32::from(profile.of(Class::Long).columns > 0),
            shares_rows: profile.shares_rows.into(),
        };
        (InFound { b_col_ptr: &b.col_ptr, class: &profile.class, chunk_ptr, place, rows }, band)
    }

    /// Words of the record.
    pub fn record_words(tuning: &AdaptiveTuning) -> usize {
        3 * TaskKind::ALL.len() * tuning.slices.len() + 3
    }

    /// Cuts the columns whose rows were found. The host reads once from the device.
    pub fn count(
        &self,
        work: &Work,
        b: &PatternArrays,
        profile: &Profile,
        chunk_ptr: &Buffer<u32>,
        found: &FoundRows,
    ) -> Result<Cut> {
        let classes = TaskKind::ALL.len() * self.tuning.slices.len();
        let mut record = work.buffer(Self::record_words(&self.tuning))?;
        work.fill_zero(&mut record)?;
        let (found, band) = Self::arguments(b, profile, chunk_ptr, found);
        let args = CountTasks { found, record: &mut record, band };
        self.count.launch(work, Grid::items(profile.cols() * profile.windows, self.group_size), args)?;
        let words = work.read(&record, 0, classes + 3)?;
        let most = profile.sum(&Class::ALL, |sums| sums.most_entries);
        let count = |what, at: usize| Ok::<_, crate::Error>(at_most(what, words[at].into(), most)? as usize);
        let counts = (0..classes).map(|class| count("tasks", class)).collect::<Result<_>>()?;
        Ok(Cut {
            counts: joined(counts, &self.tuning.slices, self.resident_bytes / MORE_MEMORY),
            c_nnz: count("entries of C", classes)?,
            missing: count("entries without a place", classes + 2)?,
            record,
        })
    }

    /// Lists the tasks that were counted. Also returns zeros for [`TakenTasks`], and the index of
    /// the first zero.
    pub fn list(
        &self,
        work: &Work,
        b: &PatternArrays,
        profile: &Profile,
        chunk_ptr: &Buffer<u32>,
        found: &FoundRows,
        mut cut: Cut,
    ) -> Result<(Tasks, Buffer<u32>, usize)> {
        let mut task = work.buffer(cut.counts.iter().sum())?;
        let (found, band) = Self::arguments(b, profile, chunk_ptr, found);
        let args = ListTasks { found, record: &mut cut.record, task: &mut task, band };
        self.list.launch(work, Grid::items(profile.cols() * profile.windows, self.group_size), args)?;
        let zeros = 2 * cut.counts.len() + 3;
        Ok((Tasks { task, counts: cut.counts }, cut.record, zeros))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_tasks_join_larger_ones_of_their_kind() {
        let slices = [100, 200, 400];
        let joined = |counts: [usize; 6]| joined(counts.into(), &slices, 1000);
        assert_eq!(joined([10, 20, 30, 0, 0, 0]), [0, 30, 30, 0, 0, 0], "30 would take 6000 bytes more");
        assert_eq!(joined([2, 3, 30, 3, 0, 7]), [0, 0, 35, 0, 0, 10]);
        assert_eq!(
            joined([4, 0, 5, 9, 0, 0]),
            [4, 0, 5, 9, 0, 0],
            "4 would take 1200 bytes more; 9 have no larger ones"
        );
        assert_eq!(joined([0; 6]), [0; 6]);
    }
}
