//! A masked product in one shot.
use super::{Counts, FactorPattern, compiled, most_probes, tuned};
use crate::{
    Element, Result,
    device::{Clock, Work},
    primitives::segmented_reduce::Runs,
    product::{blocks::Places, problem::Scaling},
    resident::{DeviceCbc, PatternArrays},
};
use std::sync::Arc;

/// A·B on the places of `mask`, once; the products of a band are given back before the next is begun. Blocks of C are `stride` elements
/// apart. The clock was started when the kernels were there.
pub(crate) fn multiply_masked<'w, T: Element>(
    work: &'w Work,
    (a, b): (&DeviceCbc<T>, &DeviceCbc<T>),
    mask: &Arc<PatternArrays>,
    stride: usize,
) -> Result<(DeviceCbc<T>, Clock<'w>, Counts)> {
    let factor = |of: &DeviceCbc<T>| FactorPattern { pattern: of.pattern.clone(), shape: of.shape, transposed: false };
    let (a_factor, b_factor) = (factor(a), factor(b));
    let tuning = tuned(work.device(), &a_factor, &b_factor);
    let (masked, sums) = compiled::<T>(work.device(), &tuning, &a_factor, &b_factor)?;
    let (clock, shape) = (work.clock(), a.shape.product(b.shape));
    let mut values = work.buffer(mask.nnz() * stride)?;
    if stride > shape.area() {
        work.fill_zero(&mut values)?; // the padding between blocks
    }
    let (rows, columns) = (masked.rows(work, &a_factor)?, masked.columns(work, &b_factor)?);
    // Half of what is left: places and probes take their part, and pieces.
    let room = (work.limit().saturating_sub(work.used_bytes()) / 2).min(work.device().info().max_alloc_bytes);
    let counts = masked.runs(work, (&rows, &columns), mask, &sums, most_probes(room), |band| {
        let places = Places {
            runs: Runs { end: &band.run_end, pieces: &band.pieces },
            pairs: &band.pairs,
            first: band.first,
            stride,
        };
        sums.run(work, (a, b), &places, Scaling::plain(), &mut *band.parts.take(work)?, &mut values)
    })?;
    Ok((DeviceCbc { pattern: mask.clone(), shape, stride, values }, clock, counts))
}
