//! Distances by visits of near vertices before far ones (Davidson, Baxter, Garland, Owens:
//! *Work-Efficient Parallel GPU Methods for Single-Source Shortest Paths*, IPDPS 2014). All
//! work-items of the device visit edges at once, and lower distances by atomic minima. The schedule
//! frontier is for GPUs. Kernels: `cl/graph/frontier.cl`.
//!
//! Each round is a launch of a kernel, and the host reads the record only after many rounds. The
//! edges of a vertex are cut into parts, and a work-group divides the edges of several parts among
//! its items, so that no vertex with many edges delays a round. If few vertices are near, a group
//! continues with the vertices whose distances it has lowered, so that paths grow by several edges
//! in a round.
mod numbers;

pub(crate) use numbers::FrontierNumbers;

use super::{
    edges::{Leaving, WeighedEdges},
    near_far::Visits,
};
use crate::{
    DeviceInfo, Error, Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Options, Work, kernel},
    element::{ElementType, OperandPair},
    host::Progress,
};

kernel! {
    in "graph/edges.cl", "graph/frontier_lists.cl", "graph/frontier.cl":
    struct BeginFrontier = "begin_frontier" {
        vertex: In<u32>,
        out_ptr: In<u32>,
        queued: InOut<u32>,
        near: InOut<OperandPair>,
        record: InOut<u32>,
        sources: u32,
    }
    struct FrontierRound = "frontier_round" {
        edges: Leaving,
        path_length: InOut<Elem>,
        queued: InOut<u32>,
        waits: InOut<u32>,
        near: InOut<OperandPair>,
        far: InOut<u32>,
        record: InOut<u32>,
        bounds: InOut<Elem>,
        room: u64,
        vertices: u64,
        number: u32,
        this_round: u32,
        full: u32,
        least_share: u32,
        most_hops: u32,
    }
}

/// The number of words in a slot of the record, and the places of some of them.
const RECORD: usize = 9;
const MODE: usize = 0;
const EDGES: usize = 6;

/// The value of the record's word `MODE` if the round found nothing to do.
const DONE: u32 = 0;

/// A slot has 4 distances: the limit between near and far, the previous limit, the step of the
/// limit, and the least distance beyond the limit.
const BOUNDS: usize = 4;

/// Number of edges in a part. Each item of a work-group takes one or two edges.
const CHUNK: usize = 256;

/// Number of rounds after which the host reads for the first time. A graph with short paths needs
/// few rounds, so the host reads early. The number of rounds doubles after each read, up to
/// [`MOST_TOGETHER`].
const FIRST_TOGETHER: usize = 8;
const MOST_TOGETHER: usize = 64;

/// Refuses a device that cannot lower distances of this type atomically, or that reads a distance
/// in two halves.
pub(super) fn check(element: ElementType, info: &DeviceInfo) -> Result<()> {
    match element.bytes() == 8 && !info.long_minima {
        true => Err(Error::Unsupported {
            device: info.name.clone(),
            feature: "atomic minima of 64 bits (cl_khr_int64_extended_atomics, and addresses of 64 bits)",
            hint: "schedule sweeps needs none, nor do lengths of 32 bits".into(),
        }),
        false => Ok(()),
    }
}

/// Lowers `distance` to the distances from the sources. At first it must be 0 at `sources` and
/// infinite elsewhere. `step` is the first step of the limit between near and far. No length may be
/// negative.
///
/// # Errors
/// [`Error::Unsupported`], see [`check`].
pub(super) fn frontier(
    work: &Work,
    graph: WeighedEdges<'_>,
    sources: &Buffer<u32>,
    step: f64,
    distance: &mut Buffer,
    progress: Option<&Progress>,
) -> Result<Visits> {
    let info = work.device().info();
    check(graph.lengths.element, info)?;
    Frontier { work, graph, numbers: info.numbers() }.run(sources, step, distance, progress)
}

/// A graph and how its edges are visited.
struct Frontier<'a> {
    work: &'a Work,
    graph: WeighedEdges<'a>,
    numbers: FrontierNumbers,
}

/// The lists of vertices, see `cl/graph/frontier.cl`.
struct Lists {
    /// Number of entries for which a near list has room.
    room: usize,
    near: Buffer<OperandPair>,
    far: Buffer<u32>,
    queued: Buffer<u32>,
    waits: Buffer<u32>,
}

/// The slots of rounds.
struct Slots {
    record: Buffer<u32>,
    bounds: Buffer,
}

impl Frontier<'_> {
    /// See [`frontier`].
    fn run(
        &self,
        sources: &Buffer<u32>,
        step: f64,
        distance: &mut Buffer,
        progress: Option<&Progress>,
    ) -> Result<Visits> {
        let kernel = Kernel::new(self.work.device(), &self.options())?;
        let (mut lists, mut slots) = self.begin(sources, step)?;
        let (mut visits, mut round, mut together) = (Visits::default(), 1u32, FIRST_TOGETHER);
        loop {
            for number in 0..together as u32 {
                round += 1;
                self.launch(&kernel, (number, round), distance, &mut lists, &mut slots)?;
            }
            let words = slots.record.download(self.work)?;
            let done: Vec<&[u32]> = words.chunks(RECORD).skip(1).take(together).collect();
            visits.rounds += done.iter().filter(|slot| slot[MODE] != DONE).count() as u64;
            visits.edges += done.iter().map(|slot| u64::from(slot[EDGES])).sum::<u64>();
            if let Some(progress) = progress {
                let all = (self.graph.edges.pattern.nnz() + self.graph.edges.pattern.ncols) as u64;
                progress.tell(visits.edges.min(all), all);
            }
            let last = done[together - 1];
            if last[MODE] == DONE {
                return Ok(visits);
            }
            let bound = self.work.read_numbers(&slots.bounds, together * BOUNDS, BOUNDS)?;
            self.work.write(&after(last, 0), &mut slots.record)?;
            self.work.write_numbers(&after(&bound, f64::INFINITY), &mut slots.bounds)?;
            together = (2 * together).min(MOST_TOGETHER);
        }
    }

    fn options(&self) -> Options {
        let options = self.graph.edges.options(self.numbers.frontier_group, self.graph.lengths);
        let options = options.define("TILE", self.numbers.frontier_tile).define("CHUNK", CHUNK);
        let options = options.define("WIDE", u8::from(self.graph.lengths.element.bytes() == 8));
        options.define("RECORD", RECORD).define("BOUNDS", BOUNDS)
    }

    /// Puts the sources into the near list, and makes the slots of the rounds before the first.
    fn begin(&self, sources: &Buffer<u32>, step: f64) -> Result<(Lists, Slots)> {
        let (work, pattern) = (self.work, &self.graph.edges.pattern);
        let vertices = pattern.ncols;
        let room = vertices + pattern.nnz() / CHUNK;
        let (near, far) = (work.buffer(2 * room)?, work.buffer(2 * vertices)?);
        let (queued, waits) = (work.buffer(vertices)?, work.buffer(vertices)?);
        let mut lists = Lists { room, near, far, queued, waits };
        work.fill_zero(&mut lists.queued)?;
        work.fill_zero(&mut lists.waits)?;
        let record = work.upload(&after(&[0; RECORD], 0))?;
        let bounds = after(&[step, 0.0, step, f64::INFINITY], f64::INFINITY);
        let bounds = work.upload_numbers(self.graph.lengths.element, &bounds)?;
        let mut slots = Slots { record, bounds };
        let kernel: Kernel<BeginFrontier<'_>> = Kernel::new(work.device(), &self.options())?;
        let args = BeginFrontier {
            vertex: sources,
            out_ptr: &pattern.col_ptr,
            queued: &mut lists.queued,
            near: &mut lists.near,
            record: &mut slots.record,
            sources: sources.len() as u32,
        };
        kernel.launch(work, Grid::items(sources.len(), self.numbers.frontier_group), args)?;
        Ok((lists, slots))
    }

    /// Launches a round that reads slot `number` and fills the next.
    fn launch(
        &self,
        kernel: &Kernel<FrontierRound<'static>>,
        (number, round): (u32, u32),
        distance: &mut Buffer,
        lists: &mut Lists,
        slots: &mut Slots,
    ) -> Result<()> {
        let (numbers, pattern) = (&self.numbers, &self.graph.edges.pattern);
        let compute_units = self.work.device().info().compute_units as usize;
        let args = FrontierRound {
            edges: self.graph,
            path_length: distance,
            queued: &mut lists.queued,
            waits: &mut lists.waits,
            near: &mut lists.near,
            far: &mut lists.far,
            record: &mut slots.record,
            bounds: &mut slots.bounds,
            room: lists.room as u64,
            vertices: pattern.ncols as u64,
            number,
            this_round: round,
            full: (compute_units * numbers.frontier_edges) as u32,
            least_share: numbers.frontier_share as u32,
            most_hops: numbers.frontier_hops as u32,
        };
        let grid = Grid::groups(compute_units * numbers.frontier_groups, numbers.frontier_group);
        kernel.launch(self.work, grid, args)
    }
}

/// A slot, followed by the slots of later rounds, which are filled with `empty`.
fn after<T: Copy>(last: &[T], empty: T) -> Vec<T> {
    let mut slots = vec![empty; (MOST_TOGETHER + 1) * last.len()];
    slots[..last.len()].copy_from_slice(last);
    slots
}

#[cfg(test)]
mod tests;
