//! The predecessor of each vertex on a shortest path from the sources. Kernels:
//! `cl/graph/predecessors.cl`.
//!
//! The ends of an edge have equal distances if its length is 0 or is lost in rounding. Edges whose
//! ends have equal distances could make two vertices the predecessors of each other. So edges whose
//! ends have equal distances are used only for vertices that have no other predecessor, and each
//! step along such an edge leads away from vertices whose chain of predecessors is known to end at
//! a source. The number of steps to a vertex is its distance along such edges alone, and is
//! computed like any distance.
use super::{
    edges::{Edges, Graph, Leaving, Lengths},
    lengths::Survey,
    schedule::{Distances, Schedule},
};
use crate::{
    Error, Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Options, Out, Work, kernel},
};

kernel! {
    in "graph/edges.cl", "graph/predecessors.cl":
    struct BeginPredecessors = "begin_predecessors" { settled: Out<u32>, predecessor: Out<u32>, vertices: u32 }
    struct SettleSources = "settle_sources" {
        vertex: In<u32>,
        path_length: In<Elem>,
        settled: InOut<u32>,
        sources: u32,
    }
    struct ClaimCloser = "claim_closer" {
        edges: Leaving,
        path_length: In<Elem>,
        predecessor: InOut<u32>,
        vertices: u32,
    }
    struct Settle = "settle" {
        path_length: In<Elem>,
        predecessor: In<u32>,
        settled: InOut<u32>,
        waiting: InOut<u32>,
        vertices: u32,
        parts: u32,
    }
    struct MarkSteps = "mark_steps" {
        edges: Leaving,
        path_length: In<Elem>,
        settled: In<u32>,
        step_length: Out<u32>,
        border: Out<u32>,
        count: InOut<u32>,
        vertices: u32,
    }
    struct ClaimBySteps = "claim_by_steps" {
        out_ptr: In<u32>,
        to: In<u32>,
        step_length: In<u32>,
        steps: In<u32>,
        predecessor: InOut<u32>,
        vertices: u32,
    }
}

/// Number of parts into which the vertices are cut. A work-item takes one part.
const PARTS: usize = 256;

/// Finds predecessors for distances that are final. `edges` are the edges that leave each vertex;
/// `negative` says whether some length may be negative.
pub(super) fn predecessors(
    work: &Work,
    edges: &Edges,
    lengths: &Lengths<'_>,
    sources: &Buffer<u32>,
    distance: &Buffer,
    negative: bool,
) -> Result<Buffer<u32>> {
    let (device, vertices) = (work.device(), edges.pattern.ncols);
    let group_size = device.info().vector_group();
    let options = edges.options(group_size, lengths);
    let begin: Kernel<BeginPredecessors<'_>> = Kernel::new(device, &options)?;
    let of_sources: Kernel<SettleSources<'_>> = Kernel::new(device, &options)?;
    let (mut settled, mut predecessor) = (work.buffer(vertices)?, work.buffer(vertices)?);
    let grid = Grid::items(vertices, group_size);
    let args = BeginPredecessors { settled: &mut settled, predecessor: &mut predecessor, vertices: vertices as u32 };
    begin.launch(work, grid, args)?;
    let count = sources.len();
    let args = SettleSources { vertex: sources, path_length: distance, settled: &mut settled, sources: count as u32 };
    of_sources.launch(work, Grid::items(count, group_size), args)?;
    if !negative {
        let closer: Kernel<ClaimCloser<'_>> = Kernel::new(device, &options)?;
        let args = ClaimCloser {
            edges: edges.with(lengths),
            path_length: distance,
            predecessor: &mut predecessor,
            vertices: vertices as u32,
        };
        closer.launch(work, grid, args)?;
    }
    if settle(work, &options, distance, &predecessor, &mut settled)? > 0 {
        by_steps(work, edges, lengths, distance, &settled, &mut predecessor)?;
        if settle(work, &options, distance, &predecessor, &mut settled)? > 0 {
            return Err(Error::Contradiction("a vertex has a distance, and no edge leads there".into()));
        }
    }
    Ok(predecessor)
}

/// Settles the vertices that have a predecessor. Returns how many reached vertices have no
/// predecessor.
fn settle(
    work: &Work,
    options: &Options,
    distance: &Buffer,
    predecessor: &Buffer<u32>,
    settled: &mut Buffer<u32>,
) -> Result<u32> {
    let kernel: Kernel<Settle<'_>> = Kernel::new(work.device(), options)?;
    let (mut waiting, vertices) = (work.upload(&[0u32])?, distance.len() as u32);
    let parts = PARTS as u32;
    let args = Settle { path_length: distance, predecessor, settled, waiting: &mut waiting, vertices, parts };
    kernel.launch(work, Grid::items(PARTS, work.device().info().vector_group()), args)?;
    Ok(waiting.download(work)?[0])
}

/// Finds the predecessors of unsettled vertices, by steps from settled vertices.
fn by_steps(
    work: &Work,
    edges: &Edges,
    lengths: &Lengths<'_>,
    distance: &Buffer,
    settled: &Buffer<u32>,
    predecessor: &mut Buffer<u32>,
) -> Result<()> {
    let (device, vertices) = (work.device(), edges.pattern.ncols);
    let group_size = device.info().vector_group();
    let options = edges.options(group_size, lengths);
    let mark: Kernel<MarkSteps<'_>> = Kernel::new(device, &options)?;
    let claim: Kernel<ClaimBySteps<'_>> = Kernel::new(device, &options)?;
    let (mut step_length, mut border) = (work.buffer(edges.pattern.nnz())?, work.buffer(vertices)?);
    let mut count = work.upload(&[0u32])?;
    let grid = Grid::items(vertices, group_size);
    let args = MarkSteps {
        edges: edges.with(lengths),
        path_length: distance,
        settled,
        step_length: &mut step_length,
        border: &mut border,
        count: &mut count,
        vertices: vertices as u32,
    };
    mark.launch(work, grid, args)?;
    let count = work.read_count(&count, 0, "vertices at the border", vertices as u64)?;
    let border = work.upload(&work.read(&border, 0, count as usize)?)?;
    let graph = Graph { stored: edges.pattern.clone(), leaving: true };
    let (survey, of_steps) = (Survey { least: 1.0, mean: 1.0 }, Lengths::packed(&step_length));
    let schedule = Schedule::Auto.chosen(of_steps.element, device.info(), survey)?;
    // The limit between near and far is infinite, so that all vertices are near, and each list of
    // vertices is one step further from the settled vertices than the list before.
    let distances = Distances::new(work, &graph, &of_steps, schedule, f64::INFINITY, survey)?;
    let (steps, _) = distances.run(work, &border, None)?;
    let args = ClaimBySteps {
        out_ptr: &edges.pattern.col_ptr,
        to: &edges.pattern.row_idx,
        step_length: &step_length,
        steps: steps.typed(),
        predecessor,
        vertices: vertices as u32,
    };
    claim.launch(work, grid, args)
}

#[cfg(test)]
mod tests;
