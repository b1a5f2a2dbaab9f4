//! Distances by visits of near vertices before far ones (Davidson, Baxter, Garland, Owens:
//! *Work-Efficient Parallel GPU Methods for Single-Source Shortest Paths*, IPDPS 2014). One
//! work-item makes all visits. The schedule near-far is for CPUs. Kernels: `cl/graph/near_far.cl`.
//!
//! A single work-item needs no atomics and no barriers, and visits few vertices twice. The limit
//! between near and far moves by steps that grow while few vertices are near.
use super::edges::{Leaving, WeighedEdges};
use crate::{
    Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Work, kernel},
    host::Progress,
};

kernel! {
    in "graph/edges.cl", "graph/near_far.cl":
    struct SetSources = "set_sources" { vertex: In<u32>, place: InOut<u8>, near: InOut<u32>, sources: u32 }
    struct NearFar = "near_far" {
        edges: Leaving,
        path_length: InOut<Elem>,
        place: InOut<u8>,
        near: InOut<u32>,
        far: InOut<u32>,
        bounds: InOut<Elem>,
        record: InOut<u64>,
        vertices: u64,
        budget: u64,
    }
}

/// The number of words of the record, and the places of some of them.
const RECORD: usize = 6;
const COUNT: usize = 1;
const FAR_COUNT: usize = 2;
const PHASES: usize = 4;
const EDGES: usize = 5;

/// The number of edges that a launch visits. A launch that visits this number of edges takes tens
/// of milliseconds.
const BUDGET: u64 = 1 << 21;

/// The amount of work of a computation of distances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Visits {
    pub rounds: u64,
    /// Number of visits of edges and vertices.
    pub edges: u64,
}

/// Lowers `distance` to the distances from `sources`. At first it is 0 at the sources, which are
/// different vertices, and infinite elsewhere. `step` is the first step of the limit between near
/// and far.
pub(super) fn near_far(
    work: &Work,
    graph: WeighedEdges<'_>,
    sources: &Buffer<u32>,
    step: f64,
    distance: &mut Buffer,
    progress: Option<&Progress>,
) -> Result<Visits> {
    let WeighedEdges { edges, lengths } = graph;
    let vertices = edges.pattern.ncols;
    let options = edges.options(1, lengths).define("RECORD", RECORD);
    let kernel: Kernel<NearFar<'_>> = Kernel::new(work.device(), &options)?;
    let set: Kernel<SetSources<'_>> = Kernel::new(work.device(), &options)?;
    let (mut near, mut far) = (work.buffer(vertices)?, work.buffer(vertices)?);
    let mut place = work.buffer(vertices)?;
    work.fill_zero(&mut place)?;
    let count = sources.len();
    let args = SetSources { vertex: sources, place: &mut place, near: &mut near, sources: count as u32 };
    set.launch(work, Grid::items(count, 1), args)?;
    let mut bounds = work.upload_numbers(lengths.element, &[0.0, step])?;
    let mut record = work.upload(&[0, count as u64, 0, 0, 0, 0])?;
    loop {
        let args = NearFar {
            edges: graph,
            path_length: distance,
            place: &mut place,
            near: &mut near,
            far: &mut far,
            bounds: &mut bounds,
            record: &mut record,
            vertices: vertices as u64,
            budget: BUDGET,
        };
        kernel.launch(work, Grid::groups(1, 1), args)?;
        let words = record.download(work)?;
        if let Some(progress) = progress {
            let all = (edges.pattern.nnz() + vertices) as u64;
            progress.tell(words[EDGES].min(all), all);
        }
        if words[COUNT] == 0 && words[FAR_COUNT] == 0 {
            return Ok(Visits { rounds: words[PHASES] + 1, edges: words[EDGES] });
        }
    }
}

#[cfg(test)]
mod tests;
