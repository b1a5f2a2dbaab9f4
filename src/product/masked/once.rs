//! A masked product in one shot.
use super::{
    columns::ColumnTuning,
    planned::{Lines, OnMask, most_probes, tuned},
    sums::ColumnSums,
};
use crate::{
    Element, Result, Semiring,
    device::{Clock, Work},
    product::{
        blocks,
        problem::{Counts, FactorPattern, Scaling},
        tuning::PayloadKind,
    },
    resident::{DeviceCbc, PatternArrays},
};
use std::sync::Arc;

/// A·B on the places of `mask`, once: scalars on CPUs by columns, others from the places. Blocks of
/// C are `stride` elements apart. The clock was started when the kernels were there.
pub(crate) fn multiply_masked<'w, T: Element>(
    work: &'w Work,
    (a, b): (&DeviceCbc<T>, &DeviceCbc<T>),
    (mask, semiring): (&Arc<PatternArrays>, Semiring),
    stride: usize,
) -> Result<(DeviceCbc<T>, Clock<'w>, Counts)> {
    let values = PayloadKind::of([a.stride, b.stride, stride]) == PayloadKind::Values;
    if let Some(tuning) = ColumnTuning::new(work.device().info()).filter(|_| values) {
        let product = ColumnSums::<T>::new(work.device(), tuning, semiring)?;
        let clock = work.clock();
        if let Some((values, counts)) = product.multiply(work, (a, b), mask)? {
            return Ok((
                DeviceCbc { pattern: mask.clone(), shape: a.shape.product(b.shape), stride, values },
                clock,
                counts,
            ));
        }
    }
    from_places(work, (a, b), (mask, semiring), stride)
}

/// The same from the places; the products of a band are given back before the next is begun.
fn from_places<'w, T: Element>(
    work: &'w Work,
    (a, b): (&DeviceCbc<T>, &DeviceCbc<T>),
    (mask, semiring): (&Arc<PatternArrays>, Semiring),
    stride: usize,
) -> Result<(DeviceCbc<T>, Clock<'w>, Counts)> {
    let factor = |of: &DeviceCbc<T>| FactorPattern { pattern: of.pattern.clone(), shape: of.shape, transposed: false };
    let factors = (&factor(a), &factor(b));
    let tuning = tuned(work.device(), factors.0, factors.1);
    let product = OnMask::<T>::new(work.device(), factors, &tuning, semiring)?;
    let (clock, shape) = (work.clock(), a.shape.product(b.shape));
    let mut values = work.buffer(mask.nnz() * stride)?;
    if stride > shape.area() {
        work.fill_zero(&mut values)?; // the padding between blocks
    }
    let lines = Lines::new(work, factors)?;
    // Half of what is left: places and probes take their part, and pieces.
    let room = (work.free_bytes() / 2).min(work.device().info().max_alloc_bytes);
    let counts = product.in_bands(work, &lines, mask, most_probes(room), |found, first| {
        work.stage("compression");
        let stretches = &product.sums.stretches(work, &found.run_end, found.payload.len())?;
        let (runs, pairs, longest) = (found.as_runs(), &found.payload, found.longest);
        let places = blocks::Places { runs, pairs, stretches, longest, first, stride };
        let mut parts = product.sums.parts(work, found.parts)?;
        product.sums.run(work, (a, b), &places, Scaling::plain(), &mut parts, &mut values)
    })?;
    Ok((DeviceCbc { pattern: mask.clone(), shape, stride, values }, clock, counts))
}
