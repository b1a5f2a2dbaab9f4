//! Problems with what commands need besides names: a file and a picture of the solution.
use crate::failure::Failure;
use crate::output::of_output;
use crate::scene::{self, Cloud, Scene};
use blockmul::solver::problem::{BundleProblem, Graph, GraphProblem, Manifold, Named, PoseGraph, bal, g2o};
use std::io;
use std::path::Path;

/// A problem that a command writes and draws.
pub trait Shown: Named {
    /// The eliminated unknown with this number, by its name in the file.
    fn eliminated(&self, number: usize) -> Option<String> {
        self.unknown(1, number)
    }

    /// Writes the problem with `state` as its values, in its own format. `origin` is that of the
    /// coordinates of a bundle adjustment, if it is not the file's.
    fn write(&self, state: &Self::State, origin: Option<[f64; 3]>, path: &Path) -> Result<(), Failure>;

    /// A PNG file of both states, `size` pixels wide.
    fn picture(&self, before: &Self::State, after: &Self::State, size: u32) -> io::Result<Vec<u8>>;
}

impl Shown for BundleProblem {
    fn eliminated(&self, number: usize) -> Option<String> {
        Some(format!("{} (from 0)", self.unknown(1, number)?))
    }

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

impl<P: Manifold> Shown for GraphProblem<P>
where
    Graph: From<PoseGraph<P>>,
{
    fn write(&self, state: &Self::State, _origin: Option<[f64; 3]>, path: &Path) -> Result<(), Failure> {
        g2o::write(path, &self.with_state(state.clone()).into()).map_err(of_output)
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
