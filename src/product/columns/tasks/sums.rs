//! Computes the sums of the tasks, straight into C. Kernel: `cl/product/columns/tasks/sums.cl`.
use super::{Levels, TakenTasks, TaskClass, TaskFactors, TaskKind, Tasks, step_bytes};
use crate::{
    Result,
    device::{Device, Elem, Grid, In, InOut, Kernel, Local, Options, Teams, Work, kernel},
    primitives::segmented_reduce::RUN_PIECE,
    product::{
        terms::{InLayout, SumsInto, Target},
        tuning::AdaptiveTuning,
    },
    resident::InPattern,
};

kernel! {
    struct SumSlots = "sum_slots" in "ptx.cl", "team.cl", "product/terms/target.cl", "product/columns/tasks/slots.cl", "product/columns/hash/slots.cl", "product/columns/hash/table.cl", "product/columns/tasks/sums.cl" {
        a: InPattern,
        a_values: In<Elem>,
        b: InPattern,
        b_values: In<Elem>,
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

/// The work-groups that sum up tasks. There are as many teams as local memory has room for.
pub(in crate::product) struct TaskTeams {
    teams: Teams,
    local_bytes: usize,
    resident_bytes: usize,
    compute_units: usize,
}

impl TaskTeams {
    /// The numbers of teams of a work-group. A kernel is compiled for each.
    pub const SIZES: [usize; 3] = [4, 2, 1];

    pub fn new(device: &Device, teams: Teams, tuning: &AdaptiveTuning) -> Self {
        Self {
            teams,
            local_bytes: tuning.local_bytes,
            resident_bytes: tuning.resident_bytes,
            compute_units: device.info().compute_units as usize,
        }
    }

    /// The work-groups for `tasks` tasks that take `bytes` bytes each: the number of the size in
    /// [`TaskTeams::SIZES`], the teams of a group, and the groups.
    pub fn grid(&self, tasks: usize, bytes: usize) -> (usize, usize, Grid) {
        let fits = |&at: &usize| self.teams.in_group(Self::SIZES[at]) * bytes <= self.local_bytes;
        let size = (0..Self::SIZES.len()).find(fits).unwrap_or(Self::SIZES.len() - 1);
        let in_group = self.teams.in_group(Self::SIZES[size]);
        // There are as many groups as are resident. Each takes tasks until there are none left.
        let resident = (self.resident_bytes / (in_group * bytes)).clamp(1, 64 / in_group);
        let groups = tasks.div_ceil(in_group).min(resident * self.compute_units);
        (size, in_group, Grid::groups(groups, self.teams.group_size(Self::SIZES[size])))
    }
}

/// The options of the kernel of a kind of tasks.
pub(in crate::product) struct SlotKernel {
    pub kind: TaskKind,
    /// The bitmaps by which slots are found. `None` if a hash table finds them.
    pub levels: Option<Levels>,
    /// Whether every 1024 products of a slot begin a new sum.
    pub cut: bool,
    /// Most columns of a task.
    pub columns: usize,
    /// Most rows of a task.
    pub piece: usize,
}

impl SlotKernel {
    fn define(&self, options: Options) -> Options {
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

/// The kernels of a kind of tasks, each for one size of work-groups.
type OfSizes = [Kernel<SumSlots<'static>>; TaskTeams::SIZES.len()];

/// The kernels that sum up tasks whose rows have slots, of some kinds.
pub(in crate::product) struct SlotSums {
    kernels: Vec<(TaskKind, OfSizes)>,
    groups: TaskTeams,
    tuning: AdaptiveTuning,
}

impl SlotSums {
    pub fn new(
        device: &Device,
        teams: Teams,
        tuning: &AdaptiveTuning,
        target: SumsInto,
        kernels: &[SlotKernel],
    ) -> Result<Self> {
        let of_sizes = |wanted: &SlotKernel| -> Result<(TaskKind, OfSizes)> {
            let kernel = |in_group| Kernel::rare(device, &target.define(wanted.define(teams.options(in_group))));
            let [four, two, one] = TaskTeams::SIZES.map(kernel);
            Ok((wanted.kind, [four?, two?, one?]))
        };
        Ok(Self {
            kernels: kernels.iter().map(of_sizes).collect::<Result<_>>()?,
            groups: TaskTeams::new(device, teams, tuning),
            tuning: *tuning,
        })
    }

    fn of_kind(&self, kind: TaskKind) -> &OfSizes {
        let (_, kernels) = self.kernels.iter().find(|(of, _)| *of == kind).expect("the method has this kind of tasks");
        kernels
    }

    /// Requests the kernel that sums up the tasks of a class.
    pub fn ask(&self, device: &Device, tasks: &Tasks, class: TaskClass) {
        let (size, ..) = self.groups.grid(tasks.counts[class.number], self.tuning.slices[class.slice]);
        self.of_kind(class.kind)[size].ask(device);
    }

    /// Sums up the tasks of a class.
    pub fn run(
        &self,
        work: &Work,
        factors: &TaskFactors<'_>,
        (tasks, taken): (&Tasks, &mut TakenTasks<'_>),
        class: TaskClass,
        c: Target<'_>,
    ) -> Result<()> {
        let bytes = self.tuning.slices[class.slice];
        debug_assert!(bytes > step_bytes(factors.a.element()));
        let count = tasks.counts[class.number];
        let (size, in_group, grid) = self.groups.grid(count, bytes);
        let args = SumSlots {
            a: &factors.a.pattern,
            a_values: &factors.a.values,
            b: &factors.b.pattern,
            b_values: &factors.b.values,
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
        self.of_kind(class.kind)[size].launch(work, grid, args)
    }
}
