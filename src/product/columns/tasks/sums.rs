//! Computes the sums of the tasks, straight into C. Kernel: `cl/product/columns/tasks/sums.cl`.
use super::{Levels, TakenTasks, TaskClass, TaskFactors, TaskKind, Tasks, step_bytes};
use crate::{
    Result,
    device::{Arguments, Device, Elem, Grid, In, InOut, Kernel, Local, Options, Teams, Work, arguments, kernel},
    primitives::segmented_reduce::RUN_PIECE,
    product::{
        terms::{Factors, InFactors, InLayout, SumsInto, Target},
        tuning::AdaptiveTuning,
    },
};

arguments! {
    pub(in crate::product) struct TaskArguments {
        factors: InFactors<'static>,
        task: In<u64>,
        cursor: InOut<u32>,
        chunk_ptr: In<u32>,
        place: In<u32>,
        rows: In<u32>,
        c_row_idx: InOut<u32>,
        c_values: InOut<Elem>,
        memory: Local<u64>,
        slice: u32,
        cursor_at: u32,
        first: u64,
        tasks: u32,
        first_col: u32,
        windows: u32,
        layout: InLayout,
    }
}

kernel! {
    pub(in crate::product) struct SumSlots = "sum_slots" in "ptx.cl", "team.cl", "product/terms/target.cl", "product/columns/tasks/slots.cl", "product/columns/hash/slots.cl", "product/columns/hash/table.cl", "product/columns/tasks/sums.cl" with TaskArguments
}

/// The work-groups that sum up tasks. A work-group has as many teams as fit local memory.
struct TaskTeams {
    teams: Teams,
    local_bytes: usize,
    resident_bytes: usize,
    compute_units: usize,
}

impl TaskTeams {
    /// The possible numbers of teams of a work-group. A kernel is compiled for each number.
    const SIZES: [usize; 3] = [4, 2, 1];

    fn new(device: &Device, teams: Teams, tuning: &AdaptiveTuning) -> Self {
        Self {
            teams,
            local_bytes: tuning.local_bytes,
            resident_bytes: tuning.resident_bytes,
            compute_units: device.info().compute_units as usize,
        }
    }

    /// The work-groups for `tasks` tasks that take `bytes` bytes each: the index into
    /// [`TaskTeams::SIZES`], the teams of a group, and the number of groups.
    fn grid(&self, tasks: usize, bytes: usize) -> (usize, usize, Grid) {
        let fits = |&at: &usize| self.teams.in_group(Self::SIZES[at]) * bytes <= self.local_bytes;
        let size = (0..Self::SIZES.len()).find(fits).unwrap_or(Self::SIZES.len() - 1);
        let in_group = self.teams.in_group(Self::SIZES[size]);
        // There are as many work-groups as can be resident at once. Each group takes tasks until
        // there are none left.
        let resident = (self.resident_bytes / (in_group * bytes)).clamp(1, 64 / in_group);
        let groups = tasks.div_ceil(in_group).min(resident * self.compute_units);
        (size, in_group, Grid::groups(groups, self.teams.group_size(Self::SIZES[size])))
    }
}

/// The options of [`SumSlots`] for a kind of tasks.
pub(in crate::product) struct SlotKernel {
    pub kind: TaskKind,
    /// The bitmaps by which slots are found, or `None` if a hash table finds the slots.
    pub levels: Option<Levels>,
    /// Whether every 1024 products of a slot begin a new sum.
    pub cut: bool,
    /// Most columns of a task.
    pub columns: usize,
    /// Most rows of a task.
    pub piece: usize,
}

impl SlotKernel {
    pub fn define(&self, options: Options) -> Options {
        self.levels
            .unwrap_or(Levels::One)
            .define(options)
            .define("HASHED", u8::from(self.levels.is_none()))
            .define("CUT", u8::from(self.cut))
            .define("COLUMNS", self.columns)
            .define("PIECE", self.piece)
            .define("RUN_PIECE", RUN_PIECE)
    }
}

/// The kernels that sum up tasks of some kinds. There is one kernel for each kind of task and each
/// size of work-groups.
pub(in crate::product) struct TaskSums<K> {
    kernels: Vec<(TaskKind, [Kernel<K>; TaskTeams::SIZES.len()])>,
    groups: TaskTeams,
    tuning: AdaptiveTuning,
}

/// The kernels for tasks whose rows have slots.
pub(in crate::product) type SlotSums = TaskSums<SumSlots>;

impl<K: for<'a> Arguments<Passed<'a> = TaskArguments<'a>>> TaskSums<K> {
    /// Makes the kernels of these kinds of tasks. Each kind has a function that defines its
    /// options.
    pub fn new<D: Fn(Options) -> Options>(
        device: &Device,
        teams: Teams,
        tuning: &AdaptiveTuning,
        target: SumsInto,
        kinds: impl IntoIterator<Item = (TaskKind, D)>,
    ) -> Result<Self> {
        let of_sizes = |(kind, define): (TaskKind, D)| {
            let kernel = |in_group| Kernel::rare(device, &target.define(define(teams.options(in_group))));
            let [four, two, one] = TaskTeams::SIZES.map(kernel);
            Ok((kind, [four?, two?, one?]))
        };
        Ok(Self {
            kernels: kinds.into_iter().map(of_sizes).collect::<Result<_>>()?,
            groups: TaskTeams::new(device, teams, tuning),
            tuning: *tuning,
        })
    }

    fn kernel(&self, kind: TaskKind, size: usize) -> &Kernel<K> {
        let (_, kernels) = self.kernels.iter().find(|(of, _)| *of == kind).expect("the method has this kind of tasks");
        &kernels[size]
    }

    /// Requests the kernel that sums up the tasks of a class.
    pub fn ask(&self, device: &Device, tasks: &Tasks, class: TaskClass) {
        let (size, ..) = self.groups.grid(tasks.counts[class.number], self.tuning.slices[class.slice]);
        self.kernel(class.kind, size).ask(device);
    }

    /// Sums up the tasks of a class.
    pub fn run(
        &self,
        work: &Work,
        factors: &TaskFactors<'_>,
        tasks: &Tasks,
        taken: &mut TakenTasks<'_>,
        class: TaskClass,
        c: Target<'_>,
    ) -> Result<()> {
        let bytes = self.tuning.slices[class.slice];
        debug_assert!(bytes > step_bytes(factors.a.element()));
        let count = tasks.counts[class.number];
        let (size, in_group, grid) = self.groups.grid(count, bytes);
        let args = TaskArguments {
            factors: Factors::of_values(factors.a, factors.b).into(),
            task: &tasks.task,
            cursor: &mut *taken.numbers,
            chunk_ptr: factors.chunk_ptr,
            place: factors.place,
            rows: factors.rows,
            c_row_idx: c.row_idx,
            c_values: c.values,
            memory: in_group * bytes / 8,
            slice: (bytes / 8) as u32,
            cursor_at: (taken.first + class.number) as u32,
            first: tasks.first(class),
            tasks: count as u32,
            first_col: factors.first_col,
            windows: factors.windows as u32,
            layout: c.layout,
        };
        self.kernel(class.kind, size).launch(work, grid, args)
    }
}
