//! Lloyd relaxation: patches of a graph's vertices around centres (Garland 2008, section 4).
use super::{
    edges::{Edges, Graph, Lengths},
    labels::nearest,
    lengths::{Survey, survey},
    patches::{Centres, Members},
    schedule::{Distances, Schedule},
};
use crate::{
    DeviceMatrix, Error, Matrix, Result,
    device::{Buffer, Work},
    host::Progress,
};

/// Stands for no patch.
const NONE: u32 = u32::MAX;

/// Patches to compute, with options: Lloyd relaxation from given seeds.
///
/// A vertex belongs to the patch of the seed nearest to it along the edges, of several to the one
/// with the lowest number. Then every seed moves to the centre of its patch:
///
/// * with [`Lloyd::points`], to the vertex of the patch that is nearest in space to the centroid of
///   its vertices;
/// * else to the vertex farthest along the edges from the border of the patch, as aggregation in
///   algebraic multigrid has it (`lloyd_cluster` of PyAMG).
///
/// Of several such vertices a seed stays where it is, or takes the first. This is repeated until
/// the seeds stand still, or for [`Lloyd::steps`]. The patches with the least energy are the
/// result. A patch without vertices, whose seed another one shares, moves to the vertex farthest
/// from all seeds; one such patch in a step.
///
/// The energy is the sum of the squares of the vertices' distances from their seeds along the
/// edges. Vertices that no seed reaches belong to no patch and do not count; fewer of them are
/// better than any energy.
///
/// Results have the bits of [`reference::lloyd`](crate::reference::lloyd) on every device.
#[derive(Debug, Clone)]
pub struct Lloyd<'a> {
    pub(crate) seeds: &'a [usize],
    pub(crate) points: Option<&'a [[f64; 3]]>,
    pub(crate) steps: usize,
    pub(crate) balanced: bool,
    progress: Option<Progress>,
}

/// Patches that were computed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Patches {
    /// The patch of each vertex; `u32::MAX` for a vertex that no seed reaches.
    pub labels: Vec<u32>,
    /// The seed of each patch, a vertex.
    pub seeds: Vec<u32>,
    /// The energy of the seeds given, then after each step.
    pub energies: Vec<f64>,
    /// The place of these patches' energy among them.
    pub best: usize,
    /// Vertices that no seed reaches.
    pub unreached: usize,
    /// Milliseconds from start to end, without waiting for kernels; 0 for those of the reference.
    pub total_ms: f64,
}

impl Patches {
    /// The least energy.
    pub fn energy(&self) -> f64 {
        self.energies[self.best]
    }
}

impl<'a> Lloyd<'a> {
    /// Patches around these seeds, vertices counted from 0; for at most 20 steps.
    pub fn from(seeds: &'a [usize]) -> Self {
        Self { seeds, points: None, steps: 20, balanced: false, progress: None }
    }

    /// The places of the vertices in space.
    pub fn points(mut self, points: &'a [[f64; 3]]) -> Self {
        self.points = Some(points);
        self
    }

    /// Moves seeds at most so often.
    pub fn steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// Gives a vertex that is as near to several seeds to the patch that had the fewest vertices
    /// before, so that sizes become more equal, as in balanced Lloyd clustering (Zaman, Nytko,
    /// Taghibakhshi, MacLachlan, Olson, West: *Generalizing Lloyd's Algorithm for Graph
    /// Clustering*, SISC 2024). It matters if many distances are equal.
    pub fn balanced(mut self) -> Self {
        self.balanced = true;
        self
    }

    /// Reports the steps that are done.
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// The seeds, after a look at all arguments.
    pub(crate) fn checked(&self, vertices: usize) -> Result<Vec<u32>> {
        let refused = |why: String| Err(Error::Argument(why));
        if self.seeds.is_empty() {
            return refused("no seed: patches begin at one at least".into());
        }
        if let Some(outside) = self.seeds.iter().find(|&&seed| seed >= vertices) {
            return refused(format!("seed {outside} is outside a graph of {vertices} vertices"));
        }
        if let Some(points) = self.points.filter(|points| points.len() != vertices) {
            let (found, why) = (points.len(), "one for each vertex".into());
            return Err(Error::Length { array: "points", found, expected: vertices, why });
        }
        Ok(self.seeds.iter().map(|&seed| seed as u32).collect())
    }

    /// Computes patches of the vertices of `g`, whose values are the lengths of edges, from the
    /// vertex of the column to that of the row.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Device, generate, graph::Lloyd};
    /// let mesh = generate::sphere(3)?;
    /// let graph = Device::auto()?.upload(&mesh.graph()?)?;
    /// let patches = Lloyd::from(&[0, 1, 2, 3]).points(mesh.points()).run(&graph)?;
    /// assert_eq!(patches.labels.len(), mesh.points().len());
    /// assert!(patches.energy() <= patches.energies[0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] for no seed, one outside the graph, a matrix that is not square or not
    /// of scalars, and a length that is NaN or negative; [`Error::Length`] for another number of
    /// points than vertices; [`Error::Memory`], [`Error::Unsupported`], [`Error::OpenCl`].
    pub fn run<M: Matrix<Element = f64>>(&self, g: &DeviceMatrix<M>) -> Result<Patches> {
        let graph = Graph::of(g)?;
        let vertices = graph.vertices();
        let mut seeds = self.checked(vertices)?;
        graph.device().require::<f64>()?;
        let work = Work::new(graph.device(), None);
        let (clock, lengths) = (work.clock(), Lengths { values: Some((&g.cbc.values, g.cbc.stride as u32)) });
        let survey = survey(&work, &graph, (&g.cbc.values, g.cbc.stride as u32))?;
        let relaxation = Relaxation::new(&work, &graph, &lengths, survey, self)?;
        let mut sizes = None;
        let mut found = Patches::none(&seeds);
        let mut best: Option<Buffer<u32>> = None;
        for step in 0..=self.steps {
            let state = relaxation.state(&seeds, sizes.as_deref())?;
            let better = found.is_better(state.energy, state.members.unreached());
            found.energies.push(state.energy);
            let moved = if step == self.steps { None } else { Some(relaxation.moved(&state, &seeds)?) };
            sizes = self.balanced.then(|| state.members.sizes());
            if better {
                (found.best, found.unreached) = (step, state.members.unreached());
                found.seeds.clone_from(&seeds);
                best = Some(state.members.label);
            }
            if let Some(progress) = &self.progress {
                progress.tell(step as u64, self.steps as u64);
            }
            match moved {
                Some(moved) if moved != seeds => seeds = moved,
                _ => break,
            }
        }
        work.wait()?;
        found.total_ms = clock.elapsed().as_secs_f64() * 1e3;
        found.labels = best.map_or(Ok(Vec::new()), |label| label.download(&work))?;
        Ok(found)
    }
}

impl Patches {
    /// Patches before the first state.
    pub(crate) fn none(seeds: &[u32]) -> Self {
        let (labels, seeds, energies) = (Vec::new(), seeds.to_vec(), Vec::new());
        Self { labels, seeds, energies, best: 0, unreached: usize::MAX, total_ms: 0.0 }
    }

    /// Whether a state is better than the best so far.
    pub(crate) fn is_better(&self, energy: f64, unreached: usize) -> bool {
        let least = self.energies.get(self.best);
        unreached < self.unreached || (unreached == self.unreached && least.is_none_or(|&least| energy < least))
    }
}

/// What the steps of a relaxation share.
struct Relaxation<'a> {
    work: &'a Work,
    distances: Distances<'a, f64>,
    lengths: &'a Lengths<'a, f64>,
    entering: Edges,
    leaving: Edges,
    points: Option<Buffer<f64>>,
    centres: Centres,
}

/// The patches of some seeds.
struct State {
    distance: Buffer<f64>,
    members: Members,
    energy: f64,
}

impl<'a> Relaxation<'a> {
    fn new(
        work: &'a Work,
        graph: &Graph,
        lengths: &'a Lengths<'a, f64>,
        survey: Survey,
        asked: &Lloyd<'_>,
    ) -> Result<Self> {
        if survey.least < 0.0 {
            return Err(Error::Argument(format!("patches take no negative length, the least is {}", survey.least)));
        }
        let schedule = Schedule::Auto.chosen::<f64>(work.device().info(), survey)?;
        let step = schedule.step(None, lengths, survey)?;
        Ok(Self {
            work,
            distances: Distances::new(work, graph, lengths, (schedule, step), survey)?,
            lengths,
            entering: graph.edges(work, false)?,
            leaving: graph.edges(work, true)?,
            points: asked.points.map(|points| work.upload(points.as_flattened())).transpose()?,
            centres: Centres::new(work.device())?,
        })
    }

    /// The patches around seeds. Of equally near ones a vertex takes the patch with the least size
    /// before, then the lowest number.
    fn state(&self, seeds: &[u32], sizes: Option<&[u32]>) -> Result<State> {
        let work = self.work;
        let Ranks { rank, patch } = Ranks::of(seeds.len(), sizes);
        // Each vertex once, with the least rank of its seeds.
        let mut sources: Vec<(u32, u32)> = seeds.iter().zip(rank).map(|(&seed, rank)| (seed, rank)).collect();
        sources.sort_unstable();
        sources.dedup_by_key(|(seed, _)| *seed);
        let (vertices, ranks): (Vec<u32>, Vec<u32>) = sources.into_iter().unzip();
        let (vertices, ranks) = (work.upload(&vertices)?, work.upload(&ranks)?);
        let (distance, _) = self.distances.run(work, &vertices, None)?;
        let mut label = nearest(work, &self.entering, self.lengths, (&vertices, &ranks), &distance)?;
        if sizes.is_some() {
            self.centres.rename(work, &mut label, &patch)?;
        }
        let energy = self.centres.energy(work, &label, &distance)?;
        let members = self.centres.members(work, label, seeds.len())?;
        Ok(State { distance, members, energy })
    }

    /// The centres of patches.
    fn moved(&self, state: &State, seeds: &[u32]) -> Result<Vec<u32>> {
        let (work, centres) = (self.work, &self.centres);
        let score = match &self.points {
            Some(points) => centres.by_centroids(work, &state.members, points)?,
            None => {
                let (entering, leaving) = (&self.entering.pattern, &self.leaving.pattern);
                let border = centres.border(work, &state.members.label, entering, leaving)?;
                centres.by_borders(work, &self.distances.run(work, &border, None)?.0)?
            }
        };
        let mut moved = centres.least(work, &state.members, &score, seeds)?;
        if let Some(empty) = state.members.first_empty() {
            moved[empty] = centres.farthest(work, &state.distance)?;
        }
        Ok(moved)
    }
}

/// The order in which patches take vertices that are as near to several.
pub(crate) struct Ranks {
    /// The rank of each patch.
    pub rank: Vec<u32>,
    /// The patch of each rank.
    pub patch: Vec<u32>,
}

impl Ranks {
    /// By size, then by number; by number without sizes.
    pub fn of(patches: usize, sizes: Option<&[u32]>) -> Self {
        let mut patch: Vec<u32> = (0..patches as u32).collect();
        if let Some(sizes) = sizes {
            patch.sort_by_key(|&patch| sizes[patch as usize]);
        }
        let mut rank = vec![NONE; patches];
        patch.iter().zip(0..).for_each(|(&patch, of)| rank[patch as usize] = of);
        Self { rank, patch }
    }
}

#[cfg(test)]
mod tests;
