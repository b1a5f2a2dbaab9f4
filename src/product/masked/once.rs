//! A masked product in one shot.
use super::{
    columns::ColumnTuning,
    planned::{MaskedPair, OnMask, most_probes, tuned},
    sums::ColumnSums,
};
use crate::{
    Result, Semiring,
    device::{Clock, Work},
    product::{
        esc::blocks,
        terms::{Counts, FactorPattern, PayloadKind, Scaling},
    },
    resident::{DeviceCbc, PatternArrays},
};
use std::sync::Arc;

/// Computes A·B on the places of `mask` once. Scalars on CPUs are summed as their products are
/// found. Blocks of C are `stride` elements apart. The clock was started when the kernels were
/// loaded.
pub(crate) fn multiply_masked<'w>(
    work: &'w Work,
    (a, b): (&DeviceCbc, &DeviceCbc),
    mask: &Arc<PatternArrays>,
    semiring: Semiring,
    stride: usize,
) -> Result<(DeviceCbc, Clock<'w>, Counts)> {
    let columns = ColumnTuning::new(work.device().info());
    let values = PayloadKind::of([a.stride, b.stride, stride]) == PayloadKind::Values;
    let Some(tuning) = columns.filter(|_| values) else {
        return of_pairs(work, (a, b), mask, semiring, columns, stride);
    };
    let product = ColumnSums::new(work.device(), tuning, a.element(), semiring)?;
    let clock = work.clock();
    match product.multiply(work, (a, b), mask)? {
        Some((values, counts)) => {
            let shape = a.shape.product(b.shape);
            Ok((DeviceCbc { pattern: mask.clone(), shape, stride, values }, clock, counts))
        }
        None => of_pairs(work, (a, b), mask, semiring, None, stride),
    }
}

/// Computes A·B on the places of the mask by operand pairs. Pairs are found by columns if `columns`
/// are given. The pairs of a band are freed before the next band begins.
fn of_pairs<'w>(
    work: &'w Work,
    (a, b): (&DeviceCbc, &DeviceCbc),
    mask: &Arc<PatternArrays>,
    semiring: Semiring,
    columns: Option<ColumnTuning>,
    stride: usize,
) -> Result<(DeviceCbc, Clock<'w>, Counts)> {
    let factor = |of: &DeviceCbc| FactorPattern { pattern: of.pattern.clone(), shape: of.shape, transposed: false };
    let factors = (&factor(a), &factor(b));
    let tuning = tuned(work.device(), factors.0, factors.1);
    let product = OnMask::new(work.device(), factors, &tuning, columns, a.element(), semiring)?;
    let (clock, shape) = (work.clock(), a.shape.product(b.shape));
    let mut values = work.buffer_of(a.values.word(), mask.nnz() * stride)?;
    if stride > shape.area() {
        work.fill_zero(&mut values)?; // this also fills the padding between blocks
    }
    // Pairs take at most half of the free memory. The rest is for columns, probe counts and run
    // ends of the places, counts of hits, pieces of long runs and their sums.
    let most = |work: &Work| most_probes((work.free_bytes() / 2).min(work.device().info().max_alloc_bytes));
    let counts =
        product.in_bands(work, MaskedPair { a: factors.0, b: factors.1, mask }, &most, &mut |found, first| {
            work.stage("compression");
            let stretches = &product.sums.stretches(work, &found.run_end, found.payload.len())?;
            let (runs, pairs, longest) = (found.as_runs(), found.payload.typed(), found.longest);
            let places = blocks::Places { runs, pairs, stretches, longest, first, stride };
            let mut parts = product.sums.parts(work, found.parts)?;
            product.sums.run(work, (a, b), &places, Scaling::plain(a.element()), &mut parts, &mut values)
        })?;
    Ok((DeviceCbc { pattern: mask.clone(), shape, stride, values }, clock, counts))
}
