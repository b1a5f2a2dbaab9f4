//! What the lengths of a graph's edges are like. Kernel: `cl/graph/lengths.cl`.
use super::edges::Graph;
use crate::{
    DeviceKind, Element, Error, Result, Semiring,
    device::{Buffer, Grid, In, Kernel, Options, Out, Work, kernel},
    element::Length,
};

kernel! {
    struct LookAtLengths<D: Element, S: Element> = "look_at_lengths" in "graph/lengths.cl" {
        values: In<D>,
        least: Out<D>,
        sum: Out<S>,
        finite: Out<u32>,
        unknown: Out<u32>,
        edges: u32,
        stride: u32,
        parts: u32,
    }
}

/// Parts of the edges, each looked at by a work-item.
const PARTS: usize = 256;

/// The same on devices whose neighbouring work-items read neighbouring edges.
const INTERLEAVED_PARTS: usize = 1 << 14;

/// The lengths of all edges together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Survey {
    /// The least length; infinity without edges.
    pub least: f64,
    /// The mean of the lengths that are finite; 0 if none is.
    pub mean: f64,
}

/// Looks at the values of `graph`, which are `stride` apart. One read.
///
/// # Errors
/// [`Error::NoLength`] if a length is NaN.
pub(super) fn survey<D: Length>(work: &Work, graph: &Graph, values: (&Buffer<D>, u32)) -> Result<Survey> {
    match D::ARITHMETIC_ROUNDOFF == 0.0 {
        true => with_sums::<D, f32>(work, graph, values),
        false => with_sums::<D, D>(work, graph, values),
    }
}

/// As [`survey`]; sums have a type that reaches as far as lengths do.
fn with_sums<D: Length, S: Element>(work: &Work, graph: &Graph, (values, stride): (&Buffer<D>, u32)) -> Result<Survey> {
    let info = work.device().info();
    let (group_size, interleaved) = (info.serial_or(64), info.kind != DeviceKind::Cpu);
    let parts = if interleaved { INTERLEAVED_PARTS } else { PARTS };
    let options = Options::group_size(group_size).element_in::<D>(Semiring::MinPlus);
    let options = options.define("INTERLEAVED", u8::from(interleaved)).define("SUM", S::CL_NAME);
    let kernel: Kernel<LookAtLengths<'_, D, S>> = Kernel::new(work.device(), &options)?;
    let (mut least, mut sum) = (work.buffer(parts)?, work.buffer(parts)?);
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
    let least = least.download(work)?.into_iter().map(Element::to_f64).fold(f64::INFINITY, f64::min);
    let sum: f64 = sum.download(work)?.into_iter().map(Element::to_f64).sum();
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
