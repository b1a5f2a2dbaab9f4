//! Shortest paths from one or several sources.
use super::{
    edges::{Graph, Lengths},
    lengths::{Survey, survey},
    near_far::Visits,
    predecessors::predecessors,
    schedule::{Distances, Schedule},
};
use crate::{
    Device, DeviceMatrix, DeviceVector, Error, Matrix, Result,
    device::{Buffer, Work},
    element::{Any, Length},
    host::Progress,
    matrix::{AnyMatrix, HostMatrix},
    resident::DeviceCbc,
};

/// A computation of shortest paths, with options.
///
/// The distance of a vertex is the least length of a path from any source: the sum of the lengths
/// of its edges, rounded after each edge. The distance is infinite for a vertex out of reach. If
/// distances are integers, the largest number of their type counts as infinite. Distances have the
/// bits that Dijkstra's algorithm gives.
/// [`reference::multiply_vector_over`](crate::reference::multiply_vector_over) in
/// [min-plus](crate::Semiring::MinPlus), repeated until nothing changes, gives the same bits.
#[derive(Debug, Clone)]
pub struct ShortestPaths<'a> {
    sources: &'a [usize],
    schedule: Schedule,
    delta: Option<f64>,
    predecessors: bool,
    progress: Option<Progress>,
}

/// Shortest paths that were computed.
#[derive(Debug)]
pub struct Paths<D> {
    /// The distance of each vertex from the nearest source.
    pub distances: DeviceVector<D>,
    /// The vertex before each vertex on a shortest path, or `None` unless
    /// [`ShortestPaths::predecessors`] was called. The number is `u32::MAX` for vertices out of
    /// reach and for sources. If lengths are negative and a path from another source to a source is
    /// shorter than 0, the source at its end has a predecessor, too.
    ///
    /// If several vertices can precede a vertex on a shortest path, its predecessor is the vertex
    /// with the lowest number among those that are closer to the sources. If the last edge of every
    /// shortest path has length 0 or a length that is lost in rounding, no preceding vertex is
    /// closer. If no preceding vertex is closer, or if lengths may be negative, the predecessor is
    /// the vertex with the lowest number among the vertices whose own path has the fewest edges
    /// whose length is 0 or lost. Following predecessors ends at a source.
    pub predecessors: Option<DeviceVector<u32>>,
    /// The schedule that was used.
    pub schedule: Schedule,
    /// For [`Schedule::NearFar`] the number of times that the limit between near and far was set;
    /// for [`Schedule::Frontier`] the number of lists that were visited or divided; for
    /// [`Schedule::Sweeps`] the number of sweeps.
    pub rounds: u64,
    /// Number of visits of edges and vertices.
    pub visits: u64,
    /// Milliseconds from start to end, without waiting for kernels.
    pub total_ms: f64,
}

/// Shortest paths whose type of distances is known at run time only.
struct Found {
    device: Device,
    distance: Buffer,
    predecessors: Option<Buffer<u32>>,
    schedule: Schedule,
    visits: Visits,
    total_ms: f64,
}

impl Found {
    /// Makes paths whose distances have type `D`, which may be [`Any`].
    fn named<D>(self) -> Paths<D> {
        let Self { device, distance, predecessors, schedule, visits: Visits { rounds, edges: visits }, total_ms } =
            self;
        let predecessors = predecessors.map(|values| DeviceVector { values, device: device.clone() });
        let distances = DeviceVector { values: distance.renamed(), device };
        Paths { distances, predecessors, schedule, rounds, visits, total_ms }
    }
}

impl<'a> ShortestPaths<'a> {
    /// Paths from the nearest of the `sources`, which are vertices counted from 0.
    pub fn from(sources: &'a [usize]) -> Self {
        Self { sources, schedule: Schedule::Auto, delta: None, predecessors: false, progress: None }
    }

    /// Chooses the schedule.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// Sets the first step of the limit between near and far. The default is a 64th of the mean
    /// length of an edge, and for [`Schedule::Frontier`] the mean length itself. If few vertices
    /// are near, the step is doubled from time to time.
    pub fn delta(mut self, delta: f64) -> Self {
        self.delta = Some(delta);
        self
    }

    /// Also finds the predecessor of each vertex.
    pub fn predecessors(mut self) -> Self {
        self.predecessors = true;
        self
    }

    /// Reports progress: the number of visited edges out of all edges of the graph, or the number
    /// of sweeps out of the number of vertices.
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Computes paths along the edges of `g`, whose values are their lengths.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, graph::ShortestPaths};
    /// // 0 -> 1 -> 2 -> 3 of lengths 1, 2, 3, and 0 -> 2 of length 9; 4 is out of reach.
    /// let edges = [(1, 0, 1u32), (2, 1, 2), (3, 2, 3), (2, 0, 9)];
    /// let g = Device::auto()?.upload(&Csc::from_triplets(5, 5, edges)?)?;
    /// let paths = ShortestPaths::from(&[0]).predecessors().run(&g)?;
    /// assert_eq!(paths.distances.download()?, [0, 1, 3, 6, u32::MAX]);
    /// let none = u32::MAX;
    /// assert_eq!(paths.predecessors.unwrap().download()?, [none, 0, 1, 2, none]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NegativeCycle`]; [`Error::NoLength`] for a length that is NaN; [`Error::Argument`]
    /// for a missing source, a source outside the graph, a matrix that is not square or not of
    /// scalars, a negative length with another schedule than [`Schedule::Sweeps`], a delta with
    /// [`Schedule::Sweeps`], and a delta that is not above 0; [`Error::Memory`],
    /// [`Error::Unsupported`], [`Error::OpenCl`].
    pub fn run<M: Matrix<Element: Length>>(&self, g: &DeviceMatrix<M>) -> Result<Paths<M::Element>> {
        Ok(self.along(&g.cbc, M::ROW_MAJOR)?.named())
    }

    /// Computes what [`ShortestPaths::run`] does, for a graph whose element type is a value.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, element::AnyValues, graph::ShortestPaths, matrix::AnyMatrix};
    /// let g = AnyMatrix::from(Csc::from_triplets(3, 3, [(1, 0, 1u32), (2, 1, 2)])?);
    /// let paths = ShortestPaths::from(&[0]).run_any(&Device::auto()?.upload(&g)?)?;
    /// assert_eq!(paths.distances.download()?, AnyValues::U32(vec![0, 1, 3]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`ShortestPaths::run`]; [`Error::Argument`] for elements of `f16` and `u8`.
    pub fn run_any(&self, g: &DeviceMatrix<AnyMatrix>) -> Result<Paths<Any>> {
        g.element().check_length()?;
        Ok(self.along(&g.cbc, g.kind().is_row_major())?.named())
    }

    /// Computes paths along the edges of `g` as if each edge had length 1. The distances are the
    /// levels of a breadth-first search.
    ///
    /// # Errors
    /// The errors of [`ShortestPaths::run`], except the errors about lengths.
    pub fn run_by_edges<M: HostMatrix>(&self, g: &DeviceMatrix<M>) -> Result<Paths<u32>> {
        Ok(self.computed(&Graph::of(&g.cbc, g.kind().is_row_major())?, &Lengths::units())?.named())
    }

    /// Computes the paths along edges that have lengths.
    fn along(&self, g: &DeviceCbc, row_major: bool) -> Result<Found> {
        let graph = Graph::of(g, row_major)?;
        graph.device().require(g.element())?;
        self.computed(&graph, &Lengths::of(g))
    }

    fn computed(&self, graph: &Graph, lengths: &Lengths<'_>) -> Result<Found> {
        let (device, vertices, work) = (graph.device(), graph.vertices(), &Work::new(graph.device(), None));
        let clock = work.clock();
        let survey = match lengths.values {
            Some(_) => survey(work, graph, lengths)?,
            None => Survey { least: 1.0, mean: 1.0 },
        };
        let sources = self.sources(work, vertices)?;
        let schedule = self.schedule.chosen(lengths.element, device.info(), survey)?;
        // If the schedule `auto` chooses sweeps, it ignores a delta: it chooses sweeps only if no
        // other schedule supports the lengths.
        let unused = self.schedule == Schedule::Auto && schedule == Schedule::Sweeps;
        let step = schedule.step(self.delta.filter(|_| !unused), lengths, survey)?;
        let distances = Distances::new(work, graph, lengths, schedule, step, survey)?;
        let (distance, visits) = distances.run(work, &sources, self.progress.as_ref())?;
        let before = match self.predecessors {
            true => {
                let edges = graph.edges(work, true)?;
                Some(predecessors(work, &edges, lengths, &sources, &distance, survey.least < 0.0)?)
            }
            false => None,
        };
        work.wait()?;
        let total_ms = clock.elapsed().as_secs_f64() * 1e3;
        Ok(Found { device: device.clone(), distance, predecessors: before, schedule, visits, total_ms })
    }

    /// Uploads the sources, each once.
    fn sources(&self, work: &Work, vertices: usize) -> Result<Buffer<u32>> {
        if self.sources.is_empty() {
            return Err(Error::Argument("at least one source is required".into()));
        }
        if let Some(outside) = self.sources.iter().find(|&&source| source >= vertices) {
            let why = match vertices {
                0 => "the graph has no vertices".into(),
                _ => format!("source {outside} is outside the graph, whose vertices are 0 to {}", vertices - 1),
            };
            return Err(Error::Argument(why));
        }
        let mut sources: Vec<u32> = self.sources.iter().map(|&source| source as u32).collect();
        sources.sort_unstable();
        sources.dedup();
        work.upload(&sources)
    }
}
