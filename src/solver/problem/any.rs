//! One type for problems whose kind is known only from their file.
use super::{
    BundleProblem, BundleState, Graph, GraphProblem, GraphState, LeastSquares, LeftOut, Linearization, Loss, Manifold,
    Named, Plane, PoseGraph, Problem, Space, bal, g2o,
};
use crate::{Device, Error, Result};
use std::path::Path;

/// A least-squares problem of any kind that [`read`](super::read) reads.
///
/// ```
/// use blockmul::solver::problem::{AnyProblem, LeastSquares, Loss, Named, read};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("two.g2o");
/// let vertices = "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1 0 0\n";
/// std::fs::write(&path, format!("{vertices}EDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\n"))?;
/// let problem = AnyProblem::new(read(&path)?, Loss::Squared)?;
/// assert_eq!((problem.kind(), problem.cost(&problem.start())), ("pose graph in the plane", 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[non_exhaustive]
pub enum AnyProblem {
    /// A bundle adjustment.
    Bundle(BundleProblem),
    /// A pose graph in the plane.
    Plane(GraphProblem<Plane>),
    /// A pose graph in space.
    Space(GraphProblem<Space>),
}

/// Values of all unknowns and of all fixed cameras, points, poses and landmarks of an
/// [`AnyProblem`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AnyState {
    /// Cameras and points.
    Bundle(BundleState),
    /// Poses and landmarks in the plane.
    Plane(GraphState<Plane>),
    /// Poses and landmarks in space.
    Space(GraphState<Space>),
}

/// Runs the same code for every kind of problem.
macro_rules! of_any {
    ($any:expr, $problem:ident => $body:expr) => {
        match $any {
            AnyProblem::Bundle($problem) => $body,
            AnyProblem::Plane($problem) => $body,
            AnyProblem::Space($problem) => $body,
        }
    };
}

/// Runs the same code for a problem of any kind and a state of that kind.
macro_rules! of_pair {
    ($any:expr, $state:expr, ($problem:ident, $one:ident) => $body:expr, else $other:expr) => {
        match ($any, $state) {
            (AnyProblem::Bundle($problem), AnyState::Bundle($one)) => $body,
            (AnyProblem::Plane($problem), AnyState::Plane($one)) => $body,
            (AnyProblem::Space($problem), AnyState::Space($one)) => $body,
            _ => $other,
        }
    };
}

impl From<BundleState> for AnyState {
    fn from(state: BundleState) -> Self {
        Self::Bundle(state)
    }
}

impl From<GraphState<Plane>> for AnyState {
    fn from(state: GraphState<Plane>) -> Self {
        Self::Plane(state)
    }
}

impl From<GraphState<Space>> for AnyState {
    fn from(state: GraphState<Space>) -> Self {
        Self::Space(state)
    }
}

impl AnyProblem {
    /// Makes a least-squares problem from the problem of a file. The loss is a function of
    /// distances in pixels for a bundle adjustment, and of Mahalanobis distances for a graph.
    ///
    /// # Errors
    /// The errors of [`BundleProblem::new`] and [`GraphProblem::new`].
    pub fn new(problem: Problem, loss: Loss) -> Result<Self> {
        Ok(match problem {
            Problem::BundleAdjustment(problem) => Self::Bundle(BundleProblem::new(problem, loss)?),
            Problem::Graph(Graph::Plane(graph)) => Self::Plane(GraphProblem::new(graph, loss)?),
            Problem::Graph(Graph::Space(graph)) => Self::Space(GraphProblem::new(graph, loss)?),
        })
    }

    /// The problem of a file, with the values of `state` as its start.
    ///
    /// # Errors
    /// [`Error::Argument`] for a state of another kind of problem.
    pub fn with_state(&self, state: AnyState) -> Result<Problem> {
        of_pair!(self, state, (problem, state) => Ok(problem.with_state(state).into()), else Err(of_another_kind()))
    }

    /// Whether the file's guess is useless because all poses of the graph are the same.
    pub fn says_nothing(&self) -> bool {
        match self {
            Self::Bundle(_) => false,
            Self::Plane(problem) => problem.graph().says_nothing(),
            Self::Space(problem) => problem.graph().says_nothing(),
        }
    }
}

pub(in crate::solver) fn of_another_kind() -> Error {
    Error::Argument("a state of another kind of problem".into())
}

impl LeastSquares for AnyProblem {
    type State = AnyState;

    fn start(&self) -> AnyState {
        of_any!(self, problem => problem.start().into())
    }

    fn prepare(&self, device: &Device) -> Result<Linearization> {
        of_any!(self, problem => problem.prepare(device))
    }

    fn linearize(&self, state: &AnyState, to: &mut Linearization) -> Result<f64> {
        of_pair!(self, state, (problem, state) => problem.linearize(state, to), else Err(of_another_kind()))
    }

    /// The cost, or NaN for a state of another kind of problem.
    fn cost(&self, state: &AnyState) -> f64 {
        of_pair!(self, state, (problem, state) => problem.cost(state), else f64::NAN)
    }

    fn moved(&self, state: &AnyState, step: &[Vec<f64>]) -> Result<AnyState> {
        of_pair!(self, state, (problem, state) => Ok(problem.moved(state, step)?.into()), else Err(of_another_kind()))
    }

    fn check_undamped(&self) -> Result<()> {
        of_any!(self, problem => problem.check_undamped())
    }
}

impl Named for AnyProblem {
    fn kind(&self) -> &'static str {
        of_any!(self, problem => problem.kind())
    }

    fn has_chi2(&self) -> bool {
        of_any!(self, problem => problem.has_chi2())
    }

    fn describe(&self) -> String {
        of_any!(self, problem => problem.describe())
    }

    fn unknown(&self, group: usize, number: usize) -> Option<String> {
        of_any!(self, problem => problem.unknown(group, number))
    }

    fn coordinates(&self, group: usize) -> &'static [&'static str] {
        of_any!(self, problem => problem.coordinates(group))
    }

    fn measurement(&self, row: usize) -> String {
        of_any!(self, problem => problem.measurement(row))
    }

    fn left_out(&self) -> Vec<LeftOut> {
        of_any!(self, problem => problem.left_out())
    }
}

impl<P: Manifold> PoseGraph<P> {
    /// Whether the file's guess is useless because all poses are the same.
    pub fn says_nothing(&self) -> bool {
        self.poses.len() > 1 && self.poses.iter().all(|pose| *pose == self.poses[0])
    }
}

/// Runs the same code for a graph in the plane or in space.
macro_rules! of_graph {
    ($any:expr, $graph:ident => $body:expr) => {
        match $any {
            Graph::Plane($graph) => $body,
            Graph::Space($graph) => $body,
        }
    };
}

impl Graph {
    /// Number of measurements.
    pub fn measurements(&self) -> usize {
        of_graph!(self, graph => graph.steps.len() + graph.sightings.len())
    }

    /// See [`PoseGraph::indefinite`].
    pub fn indefinite(&self) -> Option<(usize, (u64, u64))> {
        of_graph!(self, graph => graph.indefinite())
    }

    /// See [`PoseGraph::losing`].
    pub fn losing(&self) -> usize {
        of_graph!(self, graph => graph.losing())
    }

    /// See [`PoseGraph::weightless`].
    pub fn weightless(&self) -> usize {
        of_graph!(self, graph => graph.weightless())
    }

    /// See [`PoseGraph::isotropic`].
    pub fn isotropic(self) -> Self {
        of_graph!(self, graph => graph.isotropic().into())
    }
}

impl From<bal::BundleAdjustment> for Problem {
    fn from(problem: bal::BundleAdjustment) -> Self {
        Self::BundleAdjustment(problem)
    }
}

impl From<Graph> for Problem {
    fn from(graph: Graph) -> Self {
        Self::Graph(graph)
    }
}

impl<P: Manifold> From<PoseGraph<P>> for Problem
where
    Graph: From<PoseGraph<P>>,
{
    fn from(graph: PoseGraph<P>) -> Self {
        Self::Graph(graph.into())
    }
}

/// Writes a problem to the file at `path`: a bundle adjustment by [`bal::write`], a graph by
/// [`g2o::write`].
///
/// # Errors
/// The errors of [`bal::write`] and [`g2o::write`].
pub fn write(path: impl AsRef<Path>, problem: &Problem) -> Result<()> {
    match problem {
        Problem::BundleAdjustment(problem) => bal::write(path, problem),
        Problem::Graph(graph) => g2o::write(path, graph),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::problem::{Scene, bundle_adjustment};

    #[test]
    fn states_of_another_kind_are_refused() -> Result<()> {
        let scene = Scene { cameras: 2, points: 9, views: 2, ..Scene::default() };
        let bundle = AnyProblem::new(bundle_adjustment(&scene)?.into(), Loss::Squared)?;
        let text = "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1 0 0\nEDGE_SE2 0 1 2 0 0 1 0 0 1 0 1\n";
        let graph = AnyProblem::new(g2o::read_from(text.as_bytes(), "two.g2o")?.into(), Loss::Squared)?;
        let (of_bundle, of_graph) = (bundle.start(), graph.start());
        assert_eq!(graph.cost(&of_graph), 0.5);
        assert!(graph.cost(&of_bundle).is_nan() && !bundle.cost(&of_bundle).is_nan());
        let mut linearization = graph.prepare(&crate::device::test_device())?;
        assert_eq!(graph.linearize(&of_graph, &mut linearization)?, 0.5);
        let refused = [
            graph.linearize(&of_bundle, &mut linearization).err(),
            bundle.moved(&of_graph, &[]).err(),
            bundle.with_state(of_graph.clone()).err(),
        ];
        assert!(refused.iter().all(|error| matches!(error, Some(Error::Argument(_)))), "{refused:?}");
        let Problem::Graph(Graph::Plane(same)) = graph.with_state(of_graph)? else { panic!("not in the plane") };
        assert_eq!((same.poses.len(), graph.says_nothing()), (2, false));
        Ok(())
    }
}
