//! Computes distances by the sweeps of Bellman and Ford (Garland 2008, section 4). Every sweep
//! visits every edge, until no distance falls. Lengths may be negative. Kernels:
//! `cl/graph/sweep.cl`, `cl/graph/last_edges.cl`.
//!
//! A sweep is the product d = min(d, E·d) over min-plus, where row i of E has the lengths of the
//! edges that enter vertex i. E is stored in the format that [`plan::Apply`](crate::plan::Apply)
//! chooses.
//!
//! Two arrays of distances take turns. One array holds the distances d(k) of the last sweep. The
//! other array holds the distances d(k-1) of the sweep before the last, and becomes min(d(k-1),
//! E·d(k)). The result is d(k+1), bit for bit: d(k) is min(d(k-1), E·d(k-1)), and E·d(k) is nowhere
//! above E·d(k-1), because rounding keeps the order of numbers. If lengths are negative, a sum may
//! be NaN. The distance of a vertex whose sum is NaN is computed from d(k) alone.
use super::{
    cycles::{LastEdges, NONE, cycles, is_time_to_look},
    edges::{Edges, Entering, Graph, Lengths},
    near_far::Visits,
};
use crate::{
    DeviceKind, Result, Semiring,
    apply::Repeated,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Options, Out, Work, kernel},
    element::ElementType,
    host::Progress,
    vector::line_sums::Stored,
};

kernel! {
    struct MarkFall = "mark_fall" in "graph/sweep.cl" {
        before: In<Elem>,
        after: In<Elem>,
        changed: InOut<u32>,
        vertices: u32,
        number: u32,
    }
}

kernel! {
    in "graph/edges.cl", "graph/last_edges.cl":
    struct FindLast = "last_edges" {
        edges: Entering,
        before: In<Elem>,
        after: InOut<Elem>,
        last: InOut<u32>,
        vertices: u32,
    }
    struct LastLengths = "last_lengths" { edges: Entering, last: In<u32>, last_length: Out<Elem>, vertices: u32 }
}

/// Number of sweeps on a GPU before the host reads whether distances still fall. A read takes as
/// long as a sweep of some million edges.
const TOGETHER: usize = 8;

/// The number of sweeps for which the format of the matrix is chosen. Graphs whose paths have few
/// edges take about this number of sweeps: an R-MAT graph of 2^18 vertices takes 22. If paths have
/// many edges, the time of the conversion to the format matters little.
const USES: u64 = 20;

/// The sweeps over a graph, prepared for any sources.
pub(super) struct Sweeps<'a> {
    step: Repeated,
    falls: Kernel<MarkFall<'static>>,
    /// The search for cycles of negative length, or `None` if no length is negative.
    watch: Option<Watch<'a>>,
    element: ElementType,
    vertices: usize,
    edges: u64,
    group_size: usize,
}

impl<'a> Sweeps<'a> {
    /// Prepares sweeps. `negative` says whether some length may be negative.
    pub fn new(work: &Work, graph: &Graph, lengths: &'a Lengths<'a>, negative: bool) -> Result<Self> {
        let (stored, group_size) = (&graph.stored, work.device().info().vector_group());
        let prepared = |values, stride| {
            Repeated::new(work, stored, graph.leaving, Stored { values, stride }, Semiring::MinPlus, USES)
        };
        let step = match lengths.values {
            Some(values) => prepared(values, lengths.stride)?,
            None => prepared(work.upload(&vec![1u32; stored.nnz()])?.any(), 1)?,
        };
        let watch = match negative {
            true => Some(Watch::new(work, graph.edges(work, false)?, lengths, group_size)?),
            false => None,
        };
        let options = Options::group_size(group_size).element_in(lengths.element, Semiring::MinPlus);
        Ok(Self {
            step,
            falls: Kernel::new(work.device(), &options)?,
            watch,
            element: lengths.element,
            vertices: graph.vertices(),
            edges: stored.nnz() as u64,
            group_size,
        })
    }

    /// Lowers `distance` to the distances from the sources. At first it must be 0 at the sources
    /// and infinite elsewhere.
    ///
    /// # Errors
    /// [`Error::NegativeCycle`](crate::Error::NegativeCycle) if distances fall without end.
    pub fn run(&self, work: &Work, mut distance: Buffer, progress: Option<&Progress>) -> Result<(Buffer, Visits)> {
        let vertices = self.vertices;
        let together = if work.device().info().kind == DeviceKind::Cpu { 1 } else { TOGETHER };
        let mut after = work.buffer_of(self.element.word(), vertices)?;
        work.copy(&distance, 0, &mut after, 0, vertices)?;
        let mut last = self.watch.as_ref().map(|_| work.upload(&vec![NONE; vertices])).transpose()?;
        let mut changed = work.buffer(together)?;
        let mut sweeps = 0u64;
        loop {
            // A `Work` keeps the events of its commands, and a graph may take a million sweeps. So
            // each turn has a new `Work`.
            let work = &Work::new(work.device(), None);
            work.fill_zero(&mut changed)?;
            for number in 0..together as u32 {
                self.step.add(work, &distance, &mut after)?;
                if let (Some(watch), Some(last)) = (&self.watch, &mut last) {
                    watch.follow(work, &distance, &mut after, last)?;
                }
                let (before, changed) = (&distance, &mut changed);
                let args = MarkFall { before, after: &after, changed, vertices: vertices as u32, number };
                self.falls.launch(work, Grid::items(vertices, self.group_size), args)?;
                std::mem::swap(&mut distance, &mut after);
            }
            let fell = changed.download(work)?;
            let until = fell.iter().position(|&fell| fell == 0);
            sweeps += until.map_or(together, |at| at + 1) as u64;
            if let Some(progress) = progress {
                progress.tell(sweeps.min(vertices as u64), vertices as u64);
            }
            if let (Some(watch), Some(last)) = (&self.watch, &last)
                && (until.is_some() || is_time_to_look(sweeps))
            {
                watch.look(work, last, &distance, until.is_none().then_some(sweeps))?;
            }
            if until.is_some() {
                return Ok((distance, Visits { rounds: sweeps, edges: sweeps * self.edges }));
            }
        }
    }
}

/// The search for cycles around which distances fall without end.
struct Watch<'a> {
    entering: Edges,
    lengths: &'a Lengths<'a>,
    find_last: Kernel<FindLast<'static>>,
    last_lengths: Kernel<LastLengths<'static>>,
    group_size: usize,
}

impl<'a> Watch<'a> {
    fn new(work: &Work, entering: Edges, lengths: &'a Lengths<'a>, group_size: usize) -> Result<Self> {
        let options = entering.options(group_size, lengths);
        let find_last = Kernel::new(work.device(), &options)?;
        let last_lengths = Kernel::rare(work.device(), &options)?;
        Ok(Self { entering, lengths, find_last, last_lengths, group_size })
    }

    fn grid(&self) -> Grid {
        Grid::items(self.entering.pattern.ncols, self.group_size)
    }

    /// Notes the edges that have lowered distances in a sweep, and replaces distances that are NaN
    /// by correct ones.
    fn follow(&self, work: &Work, before: &Buffer, after: &mut Buffer, last: &mut Buffer<u32>) -> Result<()> {
        let vertices = last.len() as u32;
        let args = FindLast { edges: self.entering.with(self.lengths), before, after, last, vertices };
        self.find_last.launch(work, self.grid(), args)
    }

    /// Refuses cycles among the edges that lowered distances last, see [`LastEdges::check`].
    fn look(&self, work: &Work, last: &Buffer<u32>, distance: &Buffer, falling: Option<u64>) -> Result<()> {
        let from = last.download(work)?;
        if cycles(&from).is_empty() {
            return Ok(());
        }
        let mut length = work.buffer_of(self.lengths.element.word(), from.len())?;
        let (edges, vertices) = (self.entering.with(self.lengths), from.len() as u32);
        let args = LastLengths { edges, last, last_length: &mut length, vertices };
        self.last_lengths.launch(work, self.grid(), args)?;
        let (length, distance) = (work.download_numbers(&length)?, work.download_numbers(distance)?);
        LastEdges { element: self.lengths.element, from: &from, length: &length, distance: &distance }.check(falling)
    }
}

#[cfg(test)]
mod tests;
