//! The sums of method `hash`: the slot of a row is found by a hash table. All tasks with slots have
//! the same kernel: [`SlotSums`]. The table is `cl/product/columns/hash/table.cl`.
use crate::{
    Result,
    device::{Device, Teams},
    product::{
        columns::tasks::{SlotKernel, SlotSums, TaskKind},
        terms::SumsInto,
        tuning::AdaptiveTuning,
    },
};

/// The kernels of the sums.
pub(in crate::product) fn hash_sums(
    device: &Device,
    teams: Teams,
    tuning: &AdaptiveTuning,
    target: SumsInto,
) -> Result<SlotSums> {
    let kernels = [false, true].map(|cut| SlotKernel {
        kind: TaskKind::Hash { cut },
        levels: None,
        cut,
        columns: 1,
        piece: if cut { tuning.piece / 2 } else { tuning.piece },
    });
    let kinds = kernels.iter().map(|of| (of.kind, |options| of.define(options)));
    SlotSums::new(device, teams, tuning, target, kinds)
}
