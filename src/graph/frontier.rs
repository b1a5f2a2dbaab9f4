//! Distances in the order of near and far (Davidson, Baxter, Garland, Owens: *Work-Efficient
//! Parallel GPU Methods for Single-Source Shortest Paths*, IPDPS 2014), by all work-items, with
//! atomic minima of distances: for GPUs. Kernels: `cl/graph/frontier.cl`.
//!
//! A round is a launch; the host reads what happened after many of them. The edges of a vertex are
//! cut into parts, and a work-group shares the edges of several parts among its items, so that hubs
//! delay no round.
use super::{
    edges::{Edges, Lengths},
    near_far::Visits,
};
use crate::{
    DeviceInfo, Element, Error, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Work, kernel},
    element::{Length, OperandPair},
    host::Progress,
};

kernel! {
    struct BeginFrontier = "begin_frontier" in "graph/edges.cl", "graph/frontier.cl" {
        vertex: In<u32>,
        out_ptr: In<u32>,
        queued: InOut<u32>,
        near: InOut<OperandPair>,
        record: InOut<u32>,
        sources: u32,
    }
}

kernel! {
    struct FrontierRound<D: Element> = "frontier_round" in "graph/edges.cl", "graph/frontier.cl" {
        out_ptr: In<u32>,
        to: In<u32>,
        source: In<u32>,
        values: In<D>,
        path_length: InOut<D>,
        queued: InOut<u32>,
        waits: InOut<u32>,
        near: InOut<OperandPair>,
        far: InOut<u32>,
        record: InOut<u32>,
        bounds: InOut<D>,
        room: u64,
        vertices: u64,
        stride: u32,
        number: u32,
        this_round: u32,
        full: u32,
    }
}

/// Words of a slot of the record, and what some of them are.
const RECORD: usize = 9;
const MODE: usize = 0;
const EDGES: usize = 6;

/// The `MODE` of a round that found nothing to do.
const DONE: u32 = 0;

/// Distances of a slot: the limit, the one before, the step, the least that is left.
const BOUNDS: usize = 4;

/// Edges of a part: the items of a group take one or two each.
const CHUNK: usize = 256;

/// Rounds between two reads: few at first, since a graph with short paths needs few.
const FIRST_TOGETHER: usize = 8;
const MOST_TOGETHER: usize = 64;

/// Refuses a device that cannot lower distances of type `D` atomically.
pub(super) fn check<D: Element>(info: &DeviceInfo) -> Result<()> {
    match size_of::<D>() == 8 && !info.long_minima {
        true => Err(Error::Unsupported {
            device: info.name.clone(),
            feature: "atomic minima of 64 bits (cl_khr_int64_extended_atomics)",
            hint: "schedule bellman-ford needs none, nor do lengths of 32 bits".into(),
        }),
        false => Ok(()),
    }
}

/// Lowers `distance`, 0 at `sources` and infinite elsewhere, to the distances from them. `step` is
/// how far the limit moves at first. No length is negative.
///
/// # Errors
/// [`Error::Unsupported`], see [`check`].
pub(super) fn frontier<D: Length>(
    work: &Work,
    edges: &Edges,
    lengths: &Lengths<'_, D>,
    (sources, step): (&Buffer<u32>, D),
    distance: &mut Buffer<D>,
    progress: Option<&Progress>,
) -> Result<Visits> {
    let info = work.device().info();
    check::<D>(info)?;
    let numbers = info.numbers();
    let (group_size, tile) = (numbers.frontier_group, numbers.frontier_tile);
    let options = edges.options(group_size, lengths);
    let options = options.define("CHUNK", CHUNK).define("TILE", tile).define("WIDE", u8::from(size_of::<D>() == 8));
    let options = options.define("RECORD", RECORD).define("BOUNDS", BOUNDS);
    let begin: Kernel<BeginFrontier<'_>> = Kernel::new(work.device(), &options)?;
    let kernel: Kernel<FrontierRound<'_, D>> = Kernel::new(work.device(), &options)?;
    let vertices = edges.pattern.ncols;
    let room = vertices + edges.pattern.nnz() / CHUNK;
    let (mut near, mut far) = (work.buffer(2 * room)?, work.buffer(2 * vertices)?);
    let (mut queued, mut waits) = (work.buffer(vertices)?, work.buffer(vertices)?);
    work.fill_zero(&mut queued)?;
    work.fill_zero(&mut waits)?;
    let mut last = [0; RECORD];
    let mut record = work.upload(&slots(&last, 0))?;
    let args = BeginFrontier {
        vertex: sources,
        out_ptr: &edges.pattern.col_ptr,
        queued: &mut queued,
        near: &mut near,
        record: &mut record,
        sources: sources.len() as u32,
    };
    begin.launch(work, Grid::items(sources.len(), group_size), args)?;
    let mut bound = [step, D::ZERO, step, D::HIGHEST];
    let mut bounds = work.upload(&slots(&bound, D::HIGHEST))?;
    let none = work.buffer(0)?;
    let (values, stride) = lengths.values.unwrap_or((&none, 1));
    let grid = Grid::groups(info.compute_units as usize * numbers.frontier_groups, group_size);
    let full = info.compute_units as usize * numbers.frontier_edges;
    let (mut visits, mut round, mut together) = (Visits::default(), 1u32, FIRST_TOGETHER);
    loop {
        for number in 0..together as u32 {
            round += 1;
            let args = FrontierRound {
                out_ptr: &edges.pattern.col_ptr,
                to: &edges.pattern.row_idx,
                source: edges.source(),
                values,
                path_length: distance,
                queued: &mut queued,
                waits: &mut waits,
                near: &mut near,
                far: &mut far,
                record: &mut record,
                bounds: &mut bounds,
                room: room as u64,
                vertices: vertices as u64,
                stride,
                number,
                this_round: round,
                full: full as u32,
            };
            kernel.launch(work, grid, args)?;
        }
        let words = record.download(work)?;
        let done: Vec<&[u32]> = words.chunks(RECORD).skip(1).take(together).collect();
        visits.rounds += done.iter().filter(|slot| slot[MODE] != DONE).count() as u64;
        visits.edges += done.iter().map(|slot| u64::from(slot[EDGES])).sum::<u64>();
        if let Some(progress) = progress {
            let all = (edges.pattern.nnz() + vertices) as u64;
            progress.tell(visits.edges.min(all), all);
        }
        if done[together - 1][MODE] == DONE {
            return Ok(visits);
        }
        last.copy_from_slice(done[together - 1]);
        bound.copy_from_slice(&work.read(&bounds, together * BOUNDS, BOUNDS)?);
        work.write(&slots(&last, 0), &mut record)?;
        work.write(&slots(&bound, D::HIGHEST), &mut bounds)?;
        together = (2 * together).min(MOST_TOGETHER);
    }
}

/// The slots of the rounds that follow a slot: `empty` fills them.
fn slots<T: Copy>(last: &[T], empty: T) -> Vec<T> {
    let mut slots = vec![empty; (MOST_TOGETHER + 1) * last.len()];
    slots[..last.len()].copy_from_slice(last);
    slots
}
