//! The sums of method `dense`: the slot of a row is found by the bits of a bitmap. All tasks with
//! slots have the same kernel: [`SlotSums`].
use crate::{
    Result,
    device::{Device, Teams},
    product::{
        columns::tasks::{Levels, SlotKernel, SlotSums, TaskKind},
        terms::SumsInto,
        tuning::AdaptiveTuning,
    },
};

/// The kernels of the sums.
pub(in crate::product) fn dense_sums(
    device: &Device,
    teams: Teams,
    tuning: &AdaptiveTuning,
    target: SumsInto,
) -> Result<SlotSums> {
    let one = |levels, cut| SlotKernel {
        kind: TaskKind::Dense { levels, cut },
        levels: Some(levels),
        cut,
        columns: 1,
        piece: if cut { tuning.piece / 2 } else { tuning.piece },
    };
    let equal = |levels| SlotKernel {
        kind: TaskKind::Equal { levels },
        levels: Some(levels),
        cut: false,
        columns: tuning.equal_columns,
        piece: tuning.equal_piece,
    };
    let of_levels = |levels| [one(levels, false), one(levels, true), equal(levels)];
    let kernels = [Levels::One, Levels::Two].map(of_levels);
    let kinds = kernels.iter().flatten().map(|of| (of.kind, |options| of.define(options)));
    SlotSums::new(device, teams, tuning, target, kinds)
}
