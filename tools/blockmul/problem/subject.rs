//! Problems with the properties that commands need besides residuals: name, unknowns, file of the
//! solution.
use crate::failure::Failure;
use crate::problem::left_out::LeftOut;
use crate::scene::{self, Cloud, Scene};
use crate::sizes::count;
use blockmul::Error;
use blockmul::solver::problem::{
    BundleProblem, Graph, GraphProblem, LeastSquares, Manifold, Plane, PoseGraph, Space, bal, g2o,
};
use std::io;
use std::path::Path;

/// A problem with a name and a description.
pub trait Named: LeastSquares {
    /// The value of `kind` in JSON.
    const KIND: &'static str;
    /// Whether twice the cost is a χ², as for graphs; for bundle adjustments the cost is of pixels.
    const CHI2: bool;

    /// A description in one line.
    fn describe(&self) -> String;

    /// The eliminated unknown with this number, by its name in the file.
    fn eliminated(&self, number: usize) -> Option<String>;

    /// The members that are no unknowns.
    fn left_out(&self) -> Vec<LeftOut>;

    /// Refuses a problem whose steps need damping for lack of something fixed.
    fn check_undamped(&self) -> blockmul::Result<()>;

    /// Writes the problem with `state` as its values, in its own format.
    fn write(&self, state: &Self::State, path: &Path) -> Result<(), Failure>;

    /// A PNG file of both states, `size` pixels wide.
    fn picture(&self, before: &Self::State, after: &Self::State, size: u32) -> io::Result<Vec<u8>>;
}

impl Named for BundleProblem {
    const KIND: &'static str = "bundle adjustment";
    const CHI2: bool = false;

    fn describe(&self) -> String {
        let problem = self.problem();
        format!(
            "{}, {}, {}",
            count(problem.cameras.len(), "camera"),
            count(problem.points.len(), "point"),
            count(problem.observations.len(), "observation")
        )
    }

    fn eliminated(&self, number: usize) -> Option<String> {
        Some(format!("point {} (from 0)", self.unknown_point(number)?))
    }

    fn left_out(&self) -> Vec<LeftOut> {
        LeftOut::of_bundle(self)
    }

    /// A system that is singular is found when it is solved.
    fn check_undamped(&self) -> blockmul::Result<()> {
        Ok(())
    }

    fn write(&self, state: &Self::State, path: &Path) -> Result<(), Failure> {
        written(bal::write(path, &self.with_state(state.clone())))
    }

    fn picture(&self, before: &Self::State, after: &Self::State, size: u32) -> io::Result<Vec<u8>> {
        let [before, after] = [before, after].map(|state| Cloud {
            points: state.points.clone(),
            cameras: state.cameras.iter().map(scene::Camera::of_bal).collect(),
        });
        scene::cloud(&before, &after, size)
    }
}

/// A manifold of poses, with its name and its variant of [`Graph`].
pub trait NamedManifold: Manifold {
    const NAME: &'static str;
    fn graph(graph: PoseGraph<Self>) -> Graph;
}

impl NamedManifold for Plane {
    const NAME: &'static str = "pose graph in the plane";
    fn graph(graph: PoseGraph<Self>) -> Graph {
        Graph::Plane(graph)
    }
}

impl NamedManifold for Space {
    const NAME: &'static str = "pose graph in space";
    fn graph(graph: PoseGraph<Self>) -> Graph {
        Graph::Space(graph)
    }
}

impl<P: NamedManifold> Named for GraphProblem<P> {
    const KIND: &'static str = P::NAME;
    const CHI2: bool = true;

    fn describe(&self) -> String {
        let graph = self.graph();
        let mut all = vec![count(graph.poses.len(), "pose")];
        if !graph.landmarks.is_empty() {
            all.push(count(graph.landmarks.len(), "landmark"));
        }
        all.push(count(graph.steps.len(), "step"));
        if !graph.sightings.is_empty() {
            all.push(count(graph.sightings.len(), "sighting"));
        }
        all.join(", ")
    }

    fn eliminated(&self, number: usize) -> Option<String> {
        let landmark = self.unknown_landmark(number)?;
        Some(format!("landmark {}", self.graph().landmark_names.get(landmark).copied().unwrap_or(landmark as u64)))
    }

    fn left_out(&self) -> Vec<LeftOut> {
        LeftOut::of_graph(self)
    }

    fn check_undamped(&self) -> blockmul::Result<()> {
        self.graph().check_undamped()
    }

    fn write(&self, state: &Self::State, path: &Path) -> Result<(), Failure> {
        written(g2o::write(path, &P::graph(self.with_state(state.clone()))))
    }

    fn picture(&self, before: &Self::State, after: &Self::State, size: u32) -> io::Result<Vec<u8>> {
        let graph = self.graph();
        let ends = graph.steps.iter().map(|step| (step.from, step.to));
        let closures: Vec<_> = ends.filter(|(from, to)| from.abs_diff(*to) != 1).collect();
        let [before, after] = [before, after].map(|state| Scene {
            path: state.poses.iter().map(P::position).collect(),
            closures: closures.clone(),
            landmarks: state.landmarks.iter().map(P::landmark_position).collect(),
        });
        scene::trajectory(&before, &after, size)
    }
}

/// Makes a file error an error of the output, not of an input.
fn written(result: blockmul::Result<()>) -> Result<(), Failure> {
    result.map_err(|error| match error {
        Error::Io { path, source } => Failure::Output(path.display().to_string(), source),
        error => error.into(),
    })
}
