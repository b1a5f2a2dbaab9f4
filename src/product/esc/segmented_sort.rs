//! Stage 3 of 6, segmented sort (Polok 2015, line 39): products ordered by row inside each segment, stably, so that the terms of a
//! run stay in ascending k. The primitive: `src/primitives/segmented_sort.rs`.
use super::{
    expansion::{Expanded, Payload},
    setup::BandSegments,
};
use crate::{
    Element, OperandPair, Result,
    device::{Device, Work},
    primitives::segmented_sort::SegmentedSort,
    product::tuning::{PayloadKind, Tuning},
};

pub(crate) enum SortStage<T: Element> {
    Values(SegmentedSort<T::Arithmetic>),
    Pairs(SegmentedSort<OperandPair>),
}

impl<T: Element> SortStage<T> {
    pub fn new(device: &Device, tuning: &Tuning) -> Result<Self> {
        Ok(match tuning.payload {
            PayloadKind::Values => Self::Values(SegmentedSort::new(device, tuning.sort)?),
            PayloadKind::Pairs => Self::Pairs(SegmentedSort::new(device, tuning.sort)?),
        })
    }

    pub fn run(&self, work: &Work, segments: &BandSegments, expanded: Expanded<T>) -> Result<Expanded<T>> {
        work.stage("segmented_sort");
        let Expanded { mut rows, payload, tile_segment, between } = expanded;
        let segments = segments.for_sort();
        let (rows, payload) = match (self, payload, between) {
            (Self::Values(sort), Payload::Values(mut values), Some((mut others, Payload::Values(mut between)))) => {
                sort.merge(work, &segments, [&mut others, &mut rows], [&mut between, &mut values])?;
                (rows, Payload::Values(values))
            }
            (Self::Pairs(sort), Payload::Pairs(mut pairs), Some((mut others, Payload::Pairs(mut between)))) => {
                sort.merge(work, &segments, [&mut others, &mut rows], [&mut between, &mut pairs])?;
                (rows, Payload::Pairs(pairs))
            }
            (Self::Values(sort), Payload::Values(values), None) => {
                let (rows, values) = sort.run(work, segments, rows, values)?;
                (rows, Payload::Values(values))
            }
            (Self::Pairs(sort), Payload::Pairs(pairs), None) => {
                let (rows, pairs) = sort.run(work, segments, rows, pairs)?;
                (rows, Payload::Pairs(pairs))
            }
            _ => unreachable!("expansion and sort are made for the same shapes"),
        };
        Ok(Expanded { rows, payload, tile_segment, between: None })
    }
}
