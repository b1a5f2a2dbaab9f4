//! Distances by the sweeps of Bellman and Ford (Garland 2008, section 4): every edge in every
//! sweep, until no distance falls. Lengths may be negative. Kernel: `cl/graph/sweep.cl`.
use super::{
    cycles::{LastEdges, NONE, cycles, is_time_to_look},
    edges::{Edges, Entering, Lengths},
    near_far::Visits,
};
use crate::{
    DeviceKind, Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Out, Work, kernel},
    host::Progress,
};

kernel! {
    struct Sweep = "sweep" in "graph/edges.cl", "graph/sweep.cl" {
        edges: Entering,
        before: In<Elem>,
        after: Out<Elem>,
        last: InOut<u32>,
        changed: InOut<u32>,
        vertices: u32,
        number: u32,
    }
}

kernel! {
    struct LastLengths = "last_lengths" in "graph/edges.cl", "graph/sweep.cl" {
        edges: Entering,
        last: In<u32>,
        last_length: Out<Elem>,
        vertices: u32,
    }
}

/// Sweeps between two reads of whether distances still fall: on a GPU a read takes as long as a
/// sweep of some million edges.
const TOGETHER: usize = 8;

/// Lowers `distance`, 0 at the sources and infinite elsewhere, to the distances from the sources.
/// `negative` says whether some length may be negative.
///
/// # Errors
/// [`Error::NegativeCycle`](crate::Error::NegativeCycle) if distances fall without end.
pub(super) fn sweeps(
    work: &Work,
    edges: &Edges,
    lengths: &Lengths<'_>,
    negative: bool,
    mut distance: Buffer,
    progress: Option<&Progress>,
) -> Result<(Buffer, Visits)> {
    let (info, vertices, nnz) = (work.device().info(), edges.pattern.ncols, edges.pattern.nnz() as u64);
    let group_size = info.vector_group();
    let kernel: Kernel<Sweep<'_>> = Kernel::new(work.device(), &edges.options(group_size, lengths))?;
    let together = if info.kind == DeviceKind::Cpu { 1 } else { TOGETHER };
    let mut after = work.buffer_of(lengths.element.word(), vertices)?;
    // `last` is read only if a length may be negative.
    let mut last = if negative { work.upload(&vec![NONE; vertices])? } else { work.buffer(vertices)? };
    let mut changed = work.buffer(together)?;
    let mut sweeps = 0u64;
    loop {
        work.fill_zero(&mut changed)?;
        for number in 0..together as u32 {
            let args = Sweep {
                edges: edges.with(lengths),
                before: &distance,
                after: &mut after,
                last: &mut last,
                changed: &mut changed,
                vertices: vertices as u32,
                number,
            };
            kernel.launch(work, Grid::items(vertices, group_size), args)?;
            std::mem::swap(&mut distance, &mut after);
        }
        let fell = changed.download(work)?;
        let until = fell.iter().position(|&fell| fell == 0);
        sweeps += until.map_or(together, |at| at + 1) as u64;
        if let Some(progress) = progress {
            progress.tell(sweeps.min(vertices as u64), vertices as u64);
        }
        if negative && (until.is_some() || is_time_to_look(sweeps)) {
            look(work, edges, lengths, &last, &distance, until.is_none().then_some(sweeps))?;
        }
        if until.is_some() {
            return Ok((distance, Visits { rounds: sweeps, edges: sweeps * nnz }));
        }
    }
}

/// Refuses cycles among the edges that lowered distances last, see [`LastEdges::check`].
fn look(
    work: &Work,
    edges: &Edges,
    lengths: &Lengths<'_>,
    last: &Buffer<u32>,
    distance: &Buffer,
    falling: Option<u64>,
) -> Result<()> {
    let from = last.download(work)?;
    if cycles(&from).is_empty() {
        return Ok(());
    }
    let vertices = edges.pattern.ncols;
    let group_size = work.device().info().vector_group();
    let kernel: Kernel<LastLengths<'_>> = Kernel::new(work.device(), &edges.options(group_size, lengths))?;
    let mut length = work.buffer_of(lengths.element.word(), vertices)?;
    let args = LastLengths { edges: edges.with(lengths), last, last_length: &mut length, vertices: vertices as u32 };
    kernel.launch(work, Grid::items(vertices, group_size), args)?;
    let (length, distance) = (work.download_numbers(&length)?, work.download_numbers(distance)?);
    LastEdges { element: lengths.element, from: &from, length: &length, distance: &distance }.check(falling)
}
