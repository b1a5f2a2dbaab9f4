//! The primitives on plain arrays, run in timed rounds for `lab bench`.
//!
//! This module is public only for the laboratory, which is another crate. The module is not part of
//! the interface.
use super::{
    Operator, Scanner, Segments,
    scan::{Scan, ScanTuning},
    segmented_reduce::{RUN_PIECE, Runs, SegmentedReduce},
    segmented_sort::{SegmentedSort, SortSegments, SortTuning},
    transpose::Transpose,
};
use crate::{
    Device, Pattern, Result, Semiring,
    device::{Buffer, Work},
    element::{ElementType, Piece, WordType},
    resident::PatternArrays,
};
use std::time::Instant;

/// A result, and the wall-clock milliseconds of each round after the first. A round begins and ends
/// with an idle device.
pub type Timed<T> = (T, Vec<f64>);

/// Exclusive sums.
pub fn scan(device: &Device, values: &[u64], rounds: usize) -> Result<Timed<Vec<u64>>> {
    let work = Work::new(device, None);
    let (scan, values) = (Scan::new(device, ScanTuning::new(device.info()))?, work.upload(values)?);
    let fresh = || {
        let mut copy = work.buffer(values.len())?;
        work.copy(&values, 0, &mut copy, 0, values.len())?;
        Ok(copy)
    };
    let run = |mut values| scan.run(&work, &mut values).map(|()| values);
    let (sums, times) = timed(device, rounds, fresh, run)?;
    Ok((sums.download(&work)?, times))
}

/// Inclusive sums of the segments that `ptr` gives.
pub fn segmented_scan(device: &Device, ptr: &[u32], values: &[f64], rounds: usize) -> Result<Timed<Vec<f64>>> {
    let (sum, segments) = (Scanner::new(device, &Operator::sum())?, Segments::from_offsets(device, ptr)?);
    let fresh = || device.upload_vector(values);
    let run = |mut values| sum.inclusive_within(&segments, &mut values).map(|()| values);
    let (sums, times) = timed(device, rounds, fresh, run)?;
    Ok((sums.download()?, times))
}

/// Sorts the rows and payloads of segments by row. `ptr` contains the start of each segment, and
/// then the number of all elements.
pub fn sort(
    device: &Device,
    ptr: &[u32],
    rows: &[u32],
    payload: &[u32],
    rounds: usize,
) -> Result<Timed<(Vec<u32>, Vec<u32>)>> {
    let (work, tuning) = (Work::new(device, None), SortTuning::new(device.info()));
    let lengths = || ptr.windows(2).map(|ends| ends[1] - ends[0]);
    let is_short = |length: u32| length as usize <= tuning.short_max;
    let mut chunk_ptr = vec![0];
    for length in lengths() {
        let chunks = if is_short(length) { 0 } else { (length as usize).div_ceil(tuning.chunk) as u32 };
        chunk_ptr.push(chunk_ptr[chunk_ptr.len() - 1] + chunks);
    }
    let chunks = chunk_ptr[chunk_ptr.len() - 1];
    let (ptr, chunk_ptr) = (work.upload(ptr)?, work.upload(&chunk_ptr)?);
    let (longest, has_short) = (lengths().max().unwrap_or(0), lengths().any(|length| length > 0 && is_short(length)));
    let (sort, rows, payload) =
        (SegmentedSort::new(device, tuning, WordType::of::<u32>())?, work.upload(rows)?, work.upload(payload)?);
    let fresh = || {
        let mut copies = (work.buffer::<u32>(rows.len())?, work.buffer::<u32>(rows.len())?);
        work.copy(&rows, 0, &mut copies.0, 0, rows.len())?;
        work.copy(&payload, 0, &mut copies.1, 0, rows.len())?;
        Ok(copies)
    };
    let run = |(rows, payload): (Buffer<u32>, Buffer<u32>)| {
        let segments = SortSegments { ptr: &ptr, chunk_ptr: &chunk_ptr, longest, chunks, has_short };
        let (rows, payload) = sort.run(&work, segments, rows, payload.into_any())?;
        Ok((rows, payload.into_typed()))
    };
    let ((rows, payload), times) = timed(device, rounds, fresh, run)?;
    Ok(((rows.download(&work)?, payload.download(&work)?), times))
}

/// Sums of runs; `ends` contains the position of each run's last value.
pub fn reduce(device: &Device, ends: &[u32], values: &[f64], rounds: usize) -> Result<Timed<Vec<f64>>> {
    let work = Work::new(device, None);
    let mut pieces = Vec::new();
    let mut begin = 0;
    for (run, &last) in ends.iter().enumerate() {
        let end = last + 1;
        if (end - begin) as usize > RUN_PIECE {
            let starts = (begin..end).step_by(RUN_PIECE);
            let piece =
                |start| Piece { run: run as u32, begin: start, end: end.min(start + RUN_PIECE as u32), part: 0 };
            pieces.extend(starts.map(piece));
        }
        begin = end;
    }
    let (end, pieces, values) = (work.upload(ends)?, work.upload(&pieces)?, work.upload(values)?);
    let reduce = SegmentedReduce::new(device, device.info().value_group(), ElementType::F64, Semiring::PlusTimes)?;
    let run = |mut sums: Buffer<f64>| {
        reduce.run(&work, Runs { end: &end, pieces: &pieces }, &values, &mut sums).map(|()| sums)
    };
    let (sums, times) = timed(device, rounds, || work.buffer::<f64>(ends.len()), run)?;
    Ok((sums.download(&work)?, times))
}

/// The transpose of a pattern, and for each of its entries the index of the same entry in
/// `pattern`.
pub fn transpose(device: &Device, pattern: &Pattern, rounds: usize) -> Result<Timed<(Pattern, Vec<u32>)>> {
    let work = Work::new(device, None);
    let (transpose, pattern) = (Transpose::new(device)?, PatternArrays::upload(&work, pattern)?);
    let (found, times) = timed(device, rounds, || Ok(()), |()| transpose.run(&work, &pattern))?;
    Ok(((found.pattern.download(&work)?, found.source.download(&work)?), times))
}

/// Returns the result of the first round, and the times of the other rounds. The time of `fresh`
/// does not count.
fn timed<I, O>(
    device: &Device,
    rounds: usize,
    mut fresh: impl FnMut() -> Result<I>,
    mut run: impl FnMut(I) -> Result<O>,
) -> Result<Timed<O>> {
    let result = run(fresh()?)?;
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let input = fresh()?;
        device.finish()?;
        let start = Instant::now();
        let output = run(input)?;
        device.finish()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        drop(output);
    }
    Ok((result, times))
}
