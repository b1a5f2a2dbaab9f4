//! The numeric part of an adaptive product: the values of C. Each class of sorted columns and of
//! tasks takes one launch, which writes straight into C.
use super::{find::FoundClasses, towards};
use crate::{
    Result,
    device::{Buffer, Device, Teams, Work},
    product::{
        columns::{
            dense::dense_sums,
            direct::DirectSums,
            hash::hash_sums,
            hub::{SumHub, hub_sums},
            tasks::{SlotSums, TakenTasks, TaskFactors, TaskKind, TaskSums},
        },
        sort::{SortSums, SortedTask},
        terms::{Class, ClassLists, Factors, SumsInto, Target},
        tuning::AdaptiveTuning,
    },
    resident::DeviceCbc,
};

/// The kernels of the sums.
pub(super) struct Numeric {
    direct: DirectSums,
    sort: SortSums,
    dense: SlotSums,
    hash: SlotSums,
    hub: TaskSums<SumHub>,
    tuning: AdaptiveTuning,
}

/// The places of the rows of C.
#[derive(Clone, Copy)]
pub(super) struct RowsOfC<'a> {
    /// Entries of C before each window of each column.
    pub chunk_ptr: &'a Buffer<u32>,
    /// For each window of the columns that have tasks, the place of its rows in `rows`.
    pub place: &'a Buffer<u32>,
    pub rows: &'a Buffer<u32>,
}

impl Numeric {
    pub fn new(
        device: &Device,
        teams: Teams,
        group_size: usize,
        tuning: &AdaptiveTuning,
        target: SumsInto,
    ) -> Result<Self> {
        let groups = tuning.most_groups(device.info());
        Ok(Self {
            direct: DirectSums::new(device, group_size, target)?,
            sort: SortSums::new(device, teams, tuning.row_bits, groups, target)?,
            dense: dense_sums(device, teams, tuning, target)?,
            hash: hash_sums(device, teams, tuning, target)?,
            hub: hub_sums(device, teams, tuning, target)?,
            tuning: *tuning,
        })
    }

    /// Requests the kernels that compute the found classes, so that the kernels are compiled
    /// together.
    pub fn ask(&self, device: &Device, FoundClasses { lists, direct, tasks, keys }: &FoundClasses) {
        for (class, tasks) in
            tasks.iter().flat_map(|tasks| tasks.classes().into_iter().map(move |class| (class, tasks)))
        {
            match class.kind {
                TaskKind::Dense { .. } | TaskKind::Equal { .. } => self.dense.ask(device, tasks, class),
                TaskKind::Hash { .. } => self.hash.ask(device, tasks, class),
                TaskKind::Hub { .. } => self.hub.ask(device, tasks, class),
            }
        }
        for (class, _) in lists.tasks(&Class::SORTED) {
            self.sort.ask(device, class.sorted(), keys.of(class).is_some());
        }
        if direct.is_some() {
            self.direct.ask(device);
        }
    }

    /// Computes the columns of C, except for the columns of ESC.
    pub fn run(
        &self,
        work: &Work,
        (a, b): (&DeviceCbc, &DeviceCbc),
        columns: &FoundClasses,
        rows: RowsOfC<'_>,
        mut taken: TakenTasks<'_>,
        mut c: Target<'_>,
    ) -> Result<()> {
        let FoundClasses { lists, direct, tasks, keys } = columns;
        let RowsOfC { chunk_ptr, place, rows } = rows;
        let (first_col, windows) = (lists.columns.start, lists.windows);
        let factors = TaskFactors { a, b, chunk_ptr, place, rows, first_col, windows };
        let sorted = lists.tasks(&Class::SORTED);
        let classes: Vec<_> =
            tasks.iter().flat_map(|tasks| tasks.classes().into_iter().map(move |class| (class, tasks))).collect();
        let kernels = classes.len() + sorted.len() + usize::from(direct.is_some());
        let lanes = work.fork(lanes(&self.tuning, lists, kernels))?;
        let mut lane = lanes.iter().cycle();
        let mut next = |bins| towards(bins, lane.next().unwrap_or(work));
        for (class, tasks) in classes {
            let taken = &mut taken;
            let method = class.kind.method();
            let lane = next(lists.bins(|share| share.method == method));
            match class.kind {
                TaskKind::Dense { .. } | TaskKind::Equal { .. } => {
                    self.dense.run(lane, &factors, tasks, taken, class, c.again())?;
                }
                TaskKind::Hash { .. } => self.hash.run(lane, &factors, tasks, taken, class, c.again())?,
                TaskKind::Hub { .. } => self.hub.run(lane, &factors, tasks, taken, class, c.again())?,
            }
        }
        for (class, task) in sorted {
            let (factors, columns) = (Factors::of_values(a, b), SortedTask { task, class: class.sorted() });
            self.sort.run(next(lists.bins_of(class)), factors, columns, chunk_ptr, keys.of(class), c.again())?;
        }
        if let Some(direct) = direct {
            let (factors, task) = (Factors::of_values(a, b), lists.task(Class::Direct, Class::Direct));
            self.direct.run(next(lists.bins_of(Class::Direct)), factors, &task, direct, chunk_ptr, c.again())?;
        }
        work.join(lanes)
    }
}

/// Number of queues for `kernels` kernels.
pub(super) fn lanes(tuning: &AdaptiveTuning, lists: &ClassLists, kernels: usize) -> usize {
    if lists.products() < tuning.lane_products { 1 } else { kernels.min(tuning.lanes) }
}
