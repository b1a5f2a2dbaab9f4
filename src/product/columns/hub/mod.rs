//! Method `hub`: columns of B with many entries over short columns of A. Rows of C are found, and
//! cut into pieces, as by method `dense`. A team then takes the products of many entries at once,
//! and sorts them in registers by row and by their order. So its work-items have work although each
//! entry has few products. Each run is added in ascending k. Kernels: `cl/product/columns/hub/`.
use super::tasks::{Levels, TakenTasks, TaskClass, TaskFactors, TaskKind, TaskTeams, Tasks};
use crate::{
    Result,
    device::{Device, Elem, In, InOut, Kernel, Local, Teams, Work, kernel},
    element::ElementType,
    primitives::segmented_reduce::RUN_PIECE,
    product::{
        terms::{InLayout, SumsInto, Target},
        tuning::AdaptiveTuning,
    },
    resident::InPattern,
};

kernel! {
    struct SumHub = "sum_hub" in "ptx.cl", "team.cl", "product/terms/target.cl", "product/sort/keys.cl", "product/columns/tasks/slots.cl", "product/columns/hub/sum_hub.cl" {
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
pub(in crate::product) fn hub_bytes(element: ElementType) -> usize {
    AT_ONCE * (2 * element.arithmetic().bytes() + 2 * size_of::<u32>()) + (AT_ONCE + AT_ONCE / HELD) * size_of::<u32>()
}

/// The kernels of a kind of tasks, each for one size of work-groups.
type OfSizes = [Kernel<SumHub<'static>>; TaskTeams::SIZES.len()];

/// The kernels of the sums of hubs.
pub(in crate::product) struct HubSums {
    one_level: OfSizes,
    two_levels: OfSizes,
    groups: TaskTeams,
    tuning: AdaptiveTuning,
}

impl HubSums {
    pub fn new(device: &Device, teams: Teams, tuning: &AdaptiveTuning, target: SumsInto) -> Result<Self> {
        let kernel = |levels: Levels, in_group: usize| {
            let options = levels
                .define(teams.options(in_group))
                .define("PRODUCTS", AT_ONCE)
                .define("HELD", HELD)
                .define("ODD", 1)
                .define("PLACES", AT_ONCE)
                .define("PIECE", tuning.piece / 2)
                .define("RUN_PIECE", RUN_PIECE);
            Kernel::rare(device, &target.define(options))
        };
        let sizes = |levels| -> Result<OfSizes> {
            let [four, two, one] = TaskTeams::SIZES.map(|in_group| kernel(levels, in_group));
            Ok([four?, two?, one?])
        };
        Ok(Self {
            one_level: sizes(Levels::One)?,
            two_levels: sizes(Levels::Two)?,
            groups: TaskTeams::new(device, teams, tuning),
            tuning: *tuning,
        })
    }

    fn of_kind(&self, kind: TaskKind) -> &OfSizes {
        match kind {
            TaskKind::Hub { levels: Levels::One } => &self.one_level,
            TaskKind::Hub { levels: Levels::Two } => &self.two_levels,
            other => unreachable!("the engine gives tasks of hubs to this method, not {other:?}"),
        }
    }

    /// Requests the kernel that sums up the tasks of a class.
    pub fn ask(&self, device: &Device, tasks: &Tasks, class: TaskClass) {
        let (size, ..) = self.groups.grid(tasks.counts[class.number], self.tuning.slices[class.slice]);
        self.of_kind(class.kind)[size].ask(device);
    }

    /// Sums up the tasks of a class, whose kind is [`TaskKind::Hub`].
    pub fn run(
        &self,
        work: &Work,
        factors: &TaskFactors<'_>,
        (tasks, taken): (&Tasks, &mut TakenTasks<'_>),
        class: TaskClass,
        c: Target<'_>,
    ) -> Result<()> {
        let bytes = self.tuning.slices[class.slice];
        debug_assert!(bytes > hub_bytes(factors.a.element()));
        let count = tasks.counts[class.number];
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
