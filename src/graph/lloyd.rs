//! Lloyd relaxation: patches of a graph's vertices around centres (Garland 2008, section 4).
mod relax;
mod steps;

pub(crate) use relax::{Ranks, Steps, relax};

use super::{
    edges::{Graph, Lengths},
    lengths::survey,
};
use crate::{DeviceMatrix, Error, Matrix, Result, device::Work, host::Progress};
use steps::{OnDevice, Shared};

/// A computation of patches by Lloyd relaxation from given seeds, with options.
///
/// A vertex belongs to the patch of the seed that is nearest along the edges. If several seeds are
/// nearest, the seed with the lowest number counts. Then every seed moves to the centre of its
/// patch:
///
/// * with [`Lloyd::points`], to the vertex of the patch that is nearest in space to the centroid of
///   its vertices;
/// * otherwise to the vertex farthest along the edges from the border of the patch, as in
///   aggregation for algebraic multigrid (`lloyd_cluster` of PyAMG).
///
/// If several vertices qualify as the centre, the seed stays where it is if it is among them;
/// otherwise it moves to the first of them. Assigning vertices to seeds and moving seeds is a step.
/// Steps are repeated until no seed moves, at most [`Lloyd::steps`] times. The patches with the
/// least energy are the result. A patch has no vertices if its seed is at distance 0 from another
/// seed. The seed of such a patch moves to the vertex farthest from all seeds; the seeds of several
/// such patches move one after the other. A vertex that no seed reaches counts as the farthest. A
/// patch stays empty if every vertex is at distance 0 from a seed.
///
/// The energy is a sum of squares of distances, which [`Lloyd::energy`] chooses. Vertices that no
/// seed reaches belong to no patch and do not count in the energy. A result with fewer unreached
/// vertices is better, whatever its energy.
///
/// Results have the bits of [`reference::lloyd`](crate::reference::lloyd) on every device.
#[derive(Debug, Clone)]
pub struct Lloyd<'a> {
    pub(crate) seeds: &'a [usize],
    pub(crate) points: Option<&'a [[f64; 3]]>,
    pub(crate) steps: usize,
    pub(crate) balanced: bool,
    pub(crate) energy: Energy,
    progress: Option<Progress>,
}

/// The distances whose squares are added up to an energy, for all vertices that have a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Energy {
    /// Distances from the seeds along the edges.
    #[default]
    Seed,
    /// Distances in space from the centroids of the patches (Garland 2008, section 4).
    Centroid,
}

impl Energy {
    /// Every energy.
    pub const ALL: &[Self] = &[Self::Seed, Self::Centroid];

    /// The name that the command and the report use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Centroid => "centroid",
        }
    }
}

/// Patches that were computed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Patches {
    /// The patch of each vertex; `u32::MAX` for a vertex that no seed reaches.
    pub labels: Vec<u32>,
    /// The seed of each patch, a vertex.
    pub seeds: Vec<u32>,
    /// The energy of the given seeds, then the energy after each step.
    pub energies: Vec<f64>,
    /// The index of the energy of these patches in `energies`.
    pub best: usize,
    /// Vertices that no seed reaches.
    pub unreached: usize,
    /// Milliseconds from start to end, without waiting for kernels; 0 if the reference computed the
    /// patches.
    pub total_ms: f64,
}

impl Patches {
    /// The energy of these patches, which is the least energy found.
    pub fn energy(&self) -> f64 {
        self.energies[self.best]
    }
}

impl<'a> Lloyd<'a> {
    /// Patches around these seeds, in at most 20 steps. Vertices are counted from 0.
    pub fn from(seeds: &'a [usize]) -> Self {
        Self { seeds, points: None, steps: 20, balanced: false, energy: Energy::Seed, progress: None }
    }

    /// Sets the coordinates of the vertices.
    pub fn points(mut self, points: &'a [[f64; 3]]) -> Self {
        self.points = Some(points);
        self
    }

    /// Sets the maximum number of steps.
    pub fn steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// Balances the sizes of patches by balanced Lloyd clustering (Zaman, Nytko, Taghibakhshi,
    /// MacLachlan, Olson, West: *Generalizing Lloyd's Algorithm for Graph Clustering*, SISC 2024).
    /// A vertex at equal distance from several seeds goes to the patch that had the fewest vertices
    /// one step before. When the seeds stand still, patches that can be given up at little cost are
    /// given up: their seeds move into the patches that gain most by a second seed, and the steps
    /// continue. Seeds move from patch to patch at most ten times. A result is kept only if it
    /// lowers the energy, so the energy is never above the energy of the same seeds without
    /// balance. Seeds move to other patches only if all of the best patches have vertices.
    pub fn balanced(mut self) -> Self {
        self.balanced = true;
        self
    }

    /// Sets the energy by which the best patches are chosen. [`Energy::Centroid`] needs
    /// [`Lloyd::points`]. The moves that [`Lloyd::balanced`] tries are guessed from distances along
    /// the edges; the chosen energy decides which moves are kept.
    pub fn energy(mut self, energy: Energy) -> Self {
        self.energy = energy;
        self
    }

    /// Sets a callback that gets the number of steps done.
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Checks all arguments and returns the seeds.
    pub(crate) fn checked(&self, vertices: usize) -> Result<Vec<u32>> {
        let refused = |why: String| Err(Error::Argument(why));
        if self.seeds.is_empty() {
            return refused("at least one seed is required".into());
        }
        if let Some(outside) = self.seeds.iter().find(|&&seed| seed >= vertices) {
            return refused(format!("seed {outside} is outside a graph of {vertices} vertices"));
        }
        if let Some(points) = self.points.filter(|points| points.len() != vertices) {
            let (found, why) = (points.len(), "one for each vertex".into());
            return Err(Error::Length { array: "points", found, expected: vertices, why });
        }
        if self.energy == Energy::Centroid && self.points.is_none() {
            return refused("the energy to centroids needs the places of the vertices in space".into());
        }
        Ok(self.seeds.iter().map(|&seed| seed as u32).collect())
    }

    /// Computes patches of the vertices of `g`. A value is the length of the edge from the vertex
    /// of its column to the vertex of its row.
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
    /// [`Error::Argument`] for a missing seed, a seed outside the graph, a matrix that is not
    /// square or not of scalars, a negative length, lengths so large that the energy is above the
    /// largest number, and [`Energy::Centroid`] without points; [`Error::NoLength`] for a length
    /// that is NaN; [`Error::Length`] for another number of points than vertices;
    /// [`Error::Memory`], [`Error::Unsupported`], [`Error::OpenCl`].
    pub fn run<M: Matrix<Element = f64>>(&self, g: &DeviceMatrix<M>) -> Result<Patches> {
        self.patches(&Graph::of(&g.cbc, M::ROW_MAJOR)?, &Lengths::of(&g.cbc))
    }

    fn patches(&self, graph: &Graph, lengths: &Lengths<'_>) -> Result<Patches> {
        let seeds = self.checked(graph.vertices())?;
        graph.device().require(lengths.element)?;
        let work = Work::new(graph.device(), None);
        let clock = work.clock();
        let survey = survey(&work, graph, lengths)?;
        let shared = Shared::new(&work, graph, survey, self)?;
        let on_device = OnDevice::new(&shared, lengths)?;
        let found = relax(&on_device, self, seeds)?;
        work.wait()?;
        Ok(Patches { total_ms: clock.elapsed().as_secs_f64() * 1e3, ..found })
    }
}

#[cfg(test)]
mod tests;
