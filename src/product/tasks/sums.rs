//! Computes the sums of the tasks, straight into C. Kernel: `cl/product/tasks/sums.cl`.
use super::{Factors, TakenTasks, Tasks, step_bytes};
use crate::{
    Result,
    device::{Device, Elem, Grid, In, InOut, Kernel, Local, Teams, Work, kernel},
    primitives::segmented_reduce::RUN_PIECE,
    product::{
        target::{InLayout, SumsInto, Target},
        tuning::AdaptiveTuning,
    },
    resident::InPattern,
};

kernel! {
    struct SumSlots = "sum_slots" in "ptx.cl", "team.cl", "product/target.cl", "product/tasks/slots.cl", "product/hash/slots.cl", "product/hash/table.cl", "product/tasks/sums.cl" {
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

/// The kernels of one class of tasks, each for one size of work-groups.
struct Variant([Kernel<SumSlots<'static>>; TaskTeams::SIZES.len()]);

/// The kernels that sum up tasks.
pub(in crate::product) struct SlotSums {
    /// The kernels of the first kinds of tasks, in the order of the kinds: see [`Tasks`].
    variants: Vec<Variant>,
    groups: TaskTeams,
    tuning: AdaptiveTuning,
}

impl SlotSums {
    pub fn new(device: &Device, teams: Teams, tuning: &AdaptiveTuning, target: SumsInto) -> Result<Self> {
        let kernel = |variant: usize, in_group: usize| {
            let (hashed, cut) = (variant >= Tasks::FIRST_HASHED, usize::from([2, 3, 7].contains(&variant)));
            let (columns, piece) = match variant {
                Tasks::FIRST_EQUAL..Tasks::FIRST_HASHED => (tuning.equal_columns, tuning.equal_piece),
                _ => (1, tuning.piece >> cut),
            };
            let options = teams
                .options(in_group)
                .define("LEVELS", if hashed { 0 } else { variant % 2 })
                .define("HASHED", u8::from(hashed))
                .define("CUT", cut)
                .define("COLUMNS", columns)
                .define("PIECE", piece)
                .define("RUN_PIECE", RUN_PIECE);
            Kernel::rare(device, &target.define(options))
        };
        let variant = |variant| -> Result<Variant> {
            let [four, two, one] = TaskTeams::SIZES.map(|in_group| kernel(variant, in_group));
            Ok(Variant([four?, two?, one?]))
        };
        Ok(Self {
            variants: (0..Tasks::FIRST_HUB).map(variant).collect::<Result<_>>()?,
            groups: TaskTeams::new(device, teams, tuning),
            tuning: *tuning,
        })
    }

    /// Requests the kernel that sums up the tasks of a class.
    pub fn ask(&self, device: &Device, tasks: &Tasks, class: usize) {
        let (slices, Variant(kernels)) = (&self.tuning.slices, &self.variants[class / self.tuning.slices.len()]);
        kernels[self.groups.grid(tasks.counts[class], slices[class % slices.len()]).0].ask(device);
    }

    /// Sums up the tasks of a class.
    pub fn run(
        &self,
        work: &Work,
        factors: &Factors<'_>,
        (tasks, taken): (&Tasks, &mut TakenTasks<'_>),
        class: usize,
        c: Target<'_>,
    ) -> Result<()> {
        let slices = self.tuning.slices.len();
        let (bytes, Variant(kernels)) = (self.tuning.slices[class % slices], &self.variants[class / slices]);
        debug_assert!(bytes > step_bytes(factors.a.element()));
        let count = tasks.counts[class];
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
            cursor_at: (taken.first + class) as u32,
            first: tasks.counts[..class].iter().sum::<usize>() as u64,
            tasks: count as u32,
            first_col: factors.first_col,
            windows: factors.windows as u32,
            layout: c.layout,
        };
        kernels[size].launch(work, grid, args)
    }
}
