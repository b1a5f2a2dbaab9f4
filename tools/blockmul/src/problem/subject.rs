//! Problems with the properties that commands need besides residuals: name, unknowns, file of the
//! solution.
use crate::failure::Failure;
use crate::output::of_output;
use crate::problem::left_out::LeftOut;
use crate::scene::{self, Cloud, Scene};
use crate::sizes::count;
use blockmul::solver::problem::{
    BundleProblem, Graph, GraphProblem, LeastSquares, Manifold, Observation, Plane, PoseGraph, Sighting, Space, Step,
    bal, g2o,
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

    /// The unknown with this number in its group, by its name in the file.
    fn unknown(&self, group: usize, number: usize) -> Option<String>;

    /// The eliminated unknown with this number, by its name in the file.
    fn eliminated(&self, number: usize) -> Option<String> {
        self.unknown(1, number)
    }

    /// The names of the numbers of an unknown.
    fn coordinates(group: usize) -> &'static [&'static str];

    /// The measurement of this row of J, by the names of the file.
    fn measurement(&self, row: usize) -> String;

    /// The members that are no unknowns.
    fn left_out(&self) -> Vec<LeftOut>;

    /// Writes the problem with `state` as its values, in its own format. `origin` is that of the
    /// coordinates of a bundle adjustment, if it is not the file's.
    fn write(&self, state: &Self::State, origin: Option<[f64; 3]>, path: &Path) -> Result<(), Failure>;

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
        Some(format!("{} (from 0)", self.unknown(1, number)?))
    }

    fn unknown(&self, group: usize, number: usize) -> Option<String> {
        match group {
            0 => self.unknown_camera(number).map(|camera| format!("camera {camera}")),
            _ => self.unknown_point(number).map(|point| format!("point {point}")),
        }
    }

    fn coordinates(group: usize) -> &'static [&'static str] {
        const CAMERA: [&str; 9] = [
            "rotation x",
            "rotation y",
            "rotation z",
            "translation x",
            "translation y",
            "translation z",
            "focal length",
            "k1",
            "k2",
        ];
        if group == 0 { &CAMERA } else { &["x", "y", "z"] }
    }

    fn measurement(&self, row: usize) -> String {
        let Observation { camera, point, .. } = self.problem().observations[row];
        format!("camera {camera} sees point {point} (from 0; observation {})", row + 1)
    }

    fn left_out(&self) -> Vec<LeftOut> {
        LeftOut::of_bundle(self)
    }

    /// A system that is singular is found when it is solved.
    fn write(&self, state: &Self::State, origin: Option<[f64; 3]>, path: &Path) -> Result<(), Failure> {
        let mut solved = self.with_state(state.clone());
        if let Some(origin) = origin {
            solved = solved.about(origin.map(|x| -x));
        }
        bal::write(path, &solved).map_err(of_output)
    }

    fn picture(&self, before: &Self::State, after: &Self::State, size: u32) -> io::Result<Vec<u8>> {
        let [before, after] = [before, after].map(|state| {
            let mut cameras: Vec<_> = state.cameras.iter().map(scene::Camera::of_bal).collect();
            let seen = self.problem().observations.iter().map(|seen| (seen.camera as usize, seen.point as usize));
            let negative = seen.filter(|&(camera, _)| state.cameras[camera][6] < 0.0);
            scene::face(&mut cameras, negative.map(|(camera, point)| (camera, &state.points[point])));
            Cloud { points: state.points.clone(), cameras }
        });
        scene::cloud(&before, &after, size)
    }
}

/// The reason why a problem has no cost, gradient or H: the row of J that is not finite.
pub fn not_finite<P: Named>(problem: &P, row: Option<usize>) -> String {
    let measurement = row.map_or("a measurement".to_owned(), |row| problem.measurement(row));
    format!("{measurement}: its residual or derivative is not finite, or too large to be squared; correct or remove it")
}

/// A manifold of poses, with its name and its variant of [`Graph`].
pub trait NamedManifold: Manifold {
    const NAME: &'static str;
    /// The names of a pose's numbers.
    const POSE_NUMBERS: &'static [&'static str];
    fn graph(graph: PoseGraph<Self>) -> Graph;
}

impl NamedManifold for Plane {
    const NAME: &'static str = "pose graph in the plane";
    const POSE_NUMBERS: &'static [&'static str] = &["x", "y", "angle"];
    fn graph(graph: PoseGraph<Self>) -> Graph {
        Graph::Plane(graph)
    }
}

impl NamedManifold for Space {
    const NAME: &'static str = "pose graph in space";
    const POSE_NUMBERS: &'static [&'static str] =
        &["translation x", "translation y", "translation z", "rotation x", "rotation y", "rotation z"];
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

    fn unknown(&self, group: usize, number: usize) -> Option<String> {
        let graph = self.graph();
        match group {
            0 => self.unknown_pose(number).map(|pose| format!("pose {}", graph.pose_name(pose as u32))),
            _ => self.unknown_landmark(number).map(|of| format!("landmark {}", graph.landmark_name(of as u32))),
        }
    }

    fn coordinates(group: usize) -> &'static [&'static str] {
        if group == 0 { P::POSE_NUMBERS } else { &["x", "y", "z"] }
    }

    fn measurement(&self, row: usize) -> String {
        let graph = self.graph();
        match row.checked_sub(graph.steps.len()) {
            None => {
                let Step { from, to, .. } = graph.steps[row];
                format!("the edge from {} to {}", graph.pose_name(from), graph.pose_name(to))
            }
            Some(sighting) => {
                let Sighting { pose, landmark, .. } = graph.sightings[sighting];
                format!("the edge from {} to landmark {}", graph.pose_name(pose), graph.landmark_name(landmark))
            }
        }
    }

    fn left_out(&self) -> Vec<LeftOut> {
        LeftOut::of_graph(self)
    }

    fn write(&self, state: &Self::State, _origin: Option<[f64; 3]>, path: &Path) -> Result<(), Failure> {
        g2o::write(path, &P::graph(self.with_state(state.clone()))).map_err(of_output)
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
