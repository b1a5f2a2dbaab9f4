//! Method `hub`: columns of B with many entries over short columns of A. Rows of C are found, and
//! cut into pieces, as by method `dense`. A team then takes the products of many entries at once,
//! and sorts them in registers by row and by their order. So its work-items have work although each
//! entry has few products. Each run is added in ascending k. Kernels: `cl/product/hub/`.
use super::{
    target::{InLayout, SumsInto, Target},
    tasks::{Factors, TakenTasks, TaskTeams, Tasks},
    tuning::AdaptiveTuning,
};
use crate::{
    Result,
    device::{Device, Elem, In, InOut, Kernel, Local, Teams, Work, kernel},
    element::ElementType,
    primitives::segmented_reduce::RUN_PIECE,
    resident::InPattern,
};

kernel! {
    struct SumHub = "sum_hub" in "ptx.cl", "team.cl", "product/target.cl", "product/keys.cl", "product/tasks/slots.cl", "product/hub/sum_hub.cl" {
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

/// Products that a team sorts at once. It takes the products of as many entries of B.
const AT_ONCE: usize = 256;
/// Products that a work-item sorts at once.
const HELD: usize = 8;

/// Bytes of local memory of a team besides its slots: two values and two words for each product,
/// and its padded key.
pub(super) fn hub_bytes(element: ElementType) -> usize {
    AT_ONCE * (2 * element.arithmetic().bytes() + 2 * size_of::<u32>()) + (AT_ONCE + AT_ONCE / HELD) * size_of::<u32>()
}

/// The kernels by the number of levels, each for some sizes of work-groups.
pub(super) struct HubSums {
    levels: [[Kernel<SumHub<'static>>; TaskTeams::SIZES.len()]; 2],
    groups: TaskTeams,
    tuning: AdaptiveTuning,
}

impl HubSums {
    pub fn new(device: &Device, teams: Teams, tuning: &AdaptiveTuning, target: SumsInto) -> Result<Self> {
        let kernel = |levels: usize, in_group: usize| {
            let options = teams
                .options(in_group)
                .define("LEVELS", levels)
                .define("PRODUCTS", AT_ONCE)
                .define("HELD", HELD)
                .define("ODD", 1)
                .define("PLACES", AT_ONCE)
                .define("PIECE", tuning.piece / 2)
                .define("RUN_PIECE", RUN_PIECE);
            Kernel::rare(device, &target.define(options))
        };
        let sizes = |levels| -> Result<_> {
            let [four, two, one] = TaskTeams::SIZES.map(|in_group| kernel(levels, in_group));
            Ok([four?, two?, one?])
        };
        Ok(Self { levels: [sizes(0)?, sizes(1)?], groups: TaskTeams::new(device, teams, tuning), tuning: *tuning })
    }

    /// Requests the kernel that sums up the tasks of a class.
    pub fn ask(&self, device: &Device, tasks: &Tasks, class: usize) {
        let slices = self.tuning.slices.len();
        let (size, ..) = self.groups.grid(tasks.counts[class], self.tuning.slices[class % slices]);
        self.levels[class / slices % 2][size].ask(device);
    }

    /// Sums up the tasks of a class, whose kind is [`Tasks::FIRST_HUB`] or the next.
    pub fn run(
        &self,
        work: &Work,
        factors: &Factors<'_>,
        (tasks, taken): (&Tasks, &mut TakenTasks<'_>),
        class: usize,
        c: Target<'_>,
    ) -> Result<()> {
        let slices = self.tuning.slices.len();
        let (bytes, levels) = (self.tuning.slices[class % slices], class / slices % 2);
        debug_assert!(bytes > hub_bytes(factors.a.element()));
        let count = tasks.counts[class];
        let (size, in_group, grid) = self.groups.grid(count, bytes);
        let args = SumHub {
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
        self.levels[levels][size].launch(work, grid, args)
    }
}
