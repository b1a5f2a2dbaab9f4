//! A survey of the lengths of a graph's edges. Kernel: `cl/graph/lengths.cl`.
use super::edges::{Graph, Lengths};
use crate::{
    DeviceKind, Error, Result, Semiring,
    device::{Elem, Grid, Kernel, Maybe, Options, Out, Payload, Work, kernel},
    element::ElementType,
};

kernel! {
    struct LookAtLengths = "look_at_lengths" in "graph/lengths.cl" {
        values: Maybe<Elem>,
        least: Out<Elem>,
        sum: Out<Payload>,
        finite: Out<u32>,
        unknown: Out<u32>,
        edges: u32,
        stride: u32,
        parts: u32,
    }
}

/// Number of parts into which the edges are cut. A work-item surveys one part.
const PARTS: usize = 256;

/// The number of parts on devices whose neighbouring work-items read neighbouring edges.
const INTERLEAVED_PARTS: usize = 1 << 14;

/// A summary of the lengths of all edges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Survey {
    /// The least length; infinity without edges.
    pub least: f64,
    /// The mean of the finite lengths; 0 if no length is finite.
    pub mean: f64,
}

/// Surveys the lengths of `graph`, with one read.
///
/// # Errors
/// [`Error::NoLength`] if a length is NaN.
pub(super) fn survey(work: &Work, graph: &Graph, lengths: &Lengths<'_>) -> Result<Survey> {
    let &Lengths { element, values, stride } = lengths;
    // A sum of lengths has a type with the range of the lengths.
    let of_sums = if element.is_integer() { ElementType::F32 } else { element }.word();
    let info = work.device().info();
    let (group_size, interleaved) = (info.serial_or(64), info.kind != DeviceKind::Cpu);
    let parts = if interleaved { INTERLEAVED_PARTS } else { PARTS };
    let options = Options::group_size(group_size).element_in(element, Semiring::MinPlus);
    let options =
        options.define("INTERLEAVED", u8::from(interleaved)).define("SUM", of_sums.name()).payload_is(of_sums);
    let kernel: Kernel<LookAtLengths<'_>> = Kernel::new(work.device(), &options)?;
    let (mut least, mut sum) = (work.buffer_of(element.word(), parts)?, work.buffer_of(of_sums, parts)?);
    let (mut finite, mut unknown) = (work.buffer(parts)?, work.buffer(parts)?);
    let args = LookAtLengths {
        values,
        least: &mut least,
        sum: &mut sum,
        finite: &mut finite,
        unknown: &mut unknown,
        edges: graph.stored.nnz() as u32,
        stride,
        parts: parts as u32,
    };
    kernel.launch(work, Grid::items(parts, group_size), args)?;
    if let Some(&entry) = unknown.download(work)?.iter().min().filter(|&&entry| entry != u32::MAX) {
        return Err(no_number(work, graph, entry)?);
    }
    let least = work.download_numbers(&least)?.into_iter().fold(f64::INFINITY, f64::min);
    let sum: f64 = work.download_numbers(&sum)?.into_iter().sum();
    let finite: u64 = finite.download(work)?.into_iter().map(u64::from).sum();
    Ok(Survey { least, mean: if finite == 0 { 0.0 } else { sum * (graph.stored.nnz() as f64 / finite as f64) } })
}

/// The error that names the edge of an entry.
fn no_number(work: &Work, graph: &Graph, entry: u32) -> Result<Error> {
    let col = graph.stored.col_ptr.download(work)?.partition_point(|&begin| begin <= entry) - 1;
    let row = work.read(&graph.stored.row_idx, entry as usize, 1)?[0] as usize;
    let (from, to) = if graph.leaving { (col, row) } else { (row, col) };
    Ok(Error::NoLength { from, to })
}
