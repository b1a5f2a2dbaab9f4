//! A file and a picture of a solution.
use crate::failure::Failure;
use crate::output::of_output;
use crate::scene::{self, Cloud, Scene};
use blockmul::solver::problem::{
    self, AnyProblem, AnyState, BundleProblem, BundleState, GraphProblem, GraphState, Manifold, Named, Problem,
};
use std::io;
use std::path::Path;

/// The eliminated unknown with this number, by its name in the file.
pub fn eliminated(problem: &AnyProblem, number: usize) -> Option<String> {
    let name = problem.unknown(1, number)?;
    Some(if problem.has_chi2() { name } else { format!("{name} (from 0)") })
}

/// Writes the problem with `state` as its values, in its own format. `origin` is that of the
/// coordinates of a bundle adjustment, if it is not the file's.
pub fn write(problem: &AnyProblem, state: &AnyState, origin: Option<[f64; 3]>, path: &Path) -> Result<(), Failure> {
    let solved = match (problem.with_state(state.clone())?, origin) {
        (Problem::BundleAdjustment(solved), Some(origin)) => solved.about(origin.map(|x| -x)).into(),
        (solved, _) => solved,
    };
    problem::write(path, &solved).map_err(of_output)
}

/// A PNG file of both states, `size` pixels wide.
pub fn picture(problem: &AnyProblem, states: [&AnyState; 2], size: u32) -> io::Result<Vec<u8>> {
    match (problem, states) {
        (AnyProblem::Bundle(problem), [AnyState::Bundle(before), AnyState::Bundle(after)]) => {
            scene::cloud(&cloud(problem, before), &cloud(problem, after), size)
        }
        (AnyProblem::Plane(problem), [AnyState::Plane(before), AnyState::Plane(after)]) => {
            scene::trajectory(&path(problem, before), &path(problem, after), size)
        }
        (AnyProblem::Space(problem), [AnyState::Space(before), AnyState::Space(after)]) => {
            scene::trajectory(&path(problem, before), &path(problem, after), size)
        }
        _ => Err(io::Error::other("no picture of this kind of problem")),
    }
}

fn cloud(problem: &BundleProblem, state: &BundleState) -> Cloud {
    let mut cameras: Vec<_> = state.cameras.iter().map(scene::Camera::of_bal).collect();
    let seen = problem.problem().observations.iter().map(|seen| (seen.camera as usize, seen.point as usize));
    let negative = seen.filter(|&(camera, _)| state.cameras[camera][6] < 0.0);
    scene::face(&mut cameras, negative.map(|(camera, point)| (camera, &state.points[point])));
    Cloud { points: state.points.clone(), cameras }
}

fn path<P: Manifold>(problem: &GraphProblem<P>, state: &GraphState<P>) -> Scene {
    let ends = problem.graph().steps.iter().map(|step| (step.from, step.to));
    Scene {
        path: state.poses.iter().map(P::position).collect(),
        closures: ends.filter(|(from, to)| from.abs_diff(*to) != 1).collect(),
        landmarks: state.landmarks.iter().map(P::landmark_position).collect(),
    }
}

/// The reason why a problem has no cost, gradient or H: the row of J that is not finite.
pub fn not_finite(problem: &AnyProblem, row: Option<usize>) -> String {
    let measurement = row.map_or("a measurement".to_owned(), |row| problem.measurement(row));
    format!("{measurement}: its residual or derivative is not finite, or too large to be squared; correct or remove it")
}
