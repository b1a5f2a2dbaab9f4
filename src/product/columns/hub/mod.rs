//! Method `hub`, for columns of B with many entries that are each multiplied by a short column of
//! A. Rows of C are found, and cut into pieces, as by method `dense`. A team then takes the
//! products of many entries at once, and sorts them in registers by row, and within a row by entry
//! of B. Because a team takes many entries at once, all its work-items are busy although each entry
//! has few products. The products of a run are then added in the order of the entries of B.
//! Kernels: `cl/product/columns/hub/`.
use super::tasks::{Levels, TaskArguments, TaskKind, TaskSums};
use crate::{
    Result,
    device::{Device, Teams, kernel},
    element::ElementType,
    primitives::segmented_reduce::RUN_PIECE,
    product::{terms::SumsInto, tuning::AdaptiveTuning},
};

kernel! {
    pub(in crate::product) struct SumHub = "sum_hub" in "ptx.cl", "team.cl", "product/terms/target.cl", "product/sort/keys.cl", "product/columns/tasks/slots.cl", "product/columns/hub/sum_hub.cl" with TaskArguments
}

/// Most products that a team sorts at once, and most entries of B whose products the team takes at
/// once.
const AT_ONCE: usize = 256;
/// Products that a work-item sorts at once.
const HELD: usize = 8;

/// Bytes of local memory of a team besides its slots: two values and two words for each product,
/// and its padded key.
pub(in crate::product) fn hub_bytes(element: ElementType) -> usize {
    AT_ONCE * (2 * element.arithmetic().bytes() + 2 * size_of::<u32>()) + (AT_ONCE + AT_ONCE / HELD) * size_of::<u32>()
}

/// The kernels of the sums of hubs.
pub(in crate::product) fn hub_sums(
    device: &Device,
    teams: Teams,
    tuning: &AdaptiveTuning,
    target: SumsInto,
) -> Result<TaskSums<SumHub>> {
    let piece = tuning.piece / 2;
    let kinds = [Levels::One, Levels::Two].map(|levels| {
        let define = move |options| {
            levels
                .define(options)
                .define("PRODUCTS", AT_ONCE)
                .define("HELD", HELD)
                .define("ODD", 1)
                .define("PLACES", AT_ONCE)
                .define("PIECE", piece)
                .define("RUN_PIECE", RUN_PIECE)
        };
        (TaskKind::Hub { levels }, define)
    });
    TaskSums::new(device, teams, tuning, target, kinds)
}
