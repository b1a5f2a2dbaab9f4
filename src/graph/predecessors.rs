//! The vertex before each on a shortest path from the sources. Kernels:
//! `cl/graph/predecessors.cl`.
//!
//! Edges of length 0, and those that are so short beside a distance that the sum is rounded to it,
//! could make two vertices the predecessors of each other. So edges between vertices of one
//! distance are taken last, and only from vertices whose own chain is known to end at a source.
use super::edges::{Edges, Lengths};
use crate::{
    Element, Error, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Out, Work, kernel},
};

kernel! {
    struct BeginRanks = "begin_ranks" in "graph/edges.cl", "graph/predecessors.cl" {
        rank: Out<u32>,
        predecessor: Out<u32>,
        vertices: u32,
    }
}

kernel! {
    struct RankSources<D: Element> = "rank_sources" in "graph/edges.cl", "graph/predecessors.cl" {
        vertex: In<u32>,
        path_length: In<D>,
        rank: InOut<u32>,
        sources: u32,
    }
}

kernel! {
    struct Claim<D: Element> = "claim" in "graph/edges.cl", "graph/predecessors.cl" {
        out_ptr: In<u32>,
        to: In<u32>,
        source: In<u32>,
        values: In<D>,
        path_length: In<D>,
        rank: In<u32>,
        predecessor: InOut<u32>,
        vertices: u32,
        stride: u32,
        this_round: u32,
    }
}

kernel! {
    struct Settle<D: Element> = "settle" in "graph/edges.cl", "graph/predecessors.cl" {
        path_length: In<D>,
        predecessor: In<u32>,
        rank: InOut<u32>,
        waiting: InOut<u32>,
        vertices: u32,
        parts: u32,
        this_round: u32,
    }
}

/// Parts of the vertices, each looked at by a work-item.
const PARTS: usize = 256;

/// Finds predecessors for distances that are final. `negative` says whether some length may be.
pub(super) fn predecessors<D: Element>(
    work: &Work,
    edges: &Edges,
    lengths: &Lengths<'_, D>,
    sources: &Buffer<u32>,
    distance: &Buffer<D>,
    negative: bool,
) -> Result<Buffer<u32>> {
    let (device, vertices) = (work.device(), edges.pattern.ncols);
    let group_size = device.info().numbers().vector_group;
    let options = edges.options(group_size, lengths);
    let (begin, claim) =
        (Kernel::<BeginRanks<'_>>::new(device, &options)?, Kernel::<Claim<'_, D>>::new(device, &options)?);
    let (of_sources, settle) =
        (Kernel::<RankSources<'_, D>>::new(device, &options)?, Kernel::<Settle<'_, D>>::new(device, &options)?);
    let (mut rank, mut predecessor) = (work.buffer(vertices)?, work.buffer(vertices)?);
    let grid = Grid::items(vertices, group_size);
    let args = BeginRanks { rank: &mut rank, predecessor: &mut predecessor, vertices: vertices as u32 };
    begin.launch(work, grid, args)?;
    let args = RankSources { vertex: sources, path_length: distance, rank: &mut rank, sources: sources.len() as u32 };
    of_sources.launch(work, Grid::items(sources.len(), group_size), args)?;
    let none = work.buffer(0)?;
    let (values, stride) = lengths.values.unwrap_or((&none, 1));
    let mut before = u32::MAX;
    for round in u32::from(negative).. {
        let args = Claim {
            out_ptr: &edges.pattern.col_ptr,
            to: &edges.pattern.row_idx,
            source: edges.source(),
            values,
            path_length: distance,
            rank: &rank,
            predecessor: &mut predecessor,
            vertices: vertices as u32,
            stride,
            this_round: round,
        };
        claim.launch(work, grid, args)?;
        let mut waiting = work.upload(&[0u32])?;
        let args = Settle {
            path_length: distance,
            predecessor: &predecessor,
            rank: &mut rank,
            waiting: &mut waiting,
            vertices: vertices as u32,
            parts: PARTS as u32,
            this_round: round,
        };
        settle.launch(work, Grid::items(PARTS, group_size), args)?;
        let left = waiting.download(work)?[0];
        if left == 0 {
            return Ok(predecessor);
        }
        if left >= before && round > 1 {
            break;
        }
        before = left;
    }
    Err(Error::Contradiction("a vertex has a distance, and no edge leads there".into()))
}
