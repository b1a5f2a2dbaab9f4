//! Writes a solution to a file.
use crate::failure::Failure;
use crate::output::of_output;
use blockmul::solver::problem::{self, AnyProblem, AnyState, Problem};
use std::path::Path;

/// Writes the problem with `state` as its values, in the format of the problem. If a bundle
/// adjustment was moved, `origin` is the point of the file's coordinates that became the origin.
/// The written values of such an adjustment are moved back.
pub fn write(problem: &AnyProblem, state: &AnyState, origin: Option<[f64; 3]>, path: &Path) -> Result<(), Failure> {
    let solved = match (problem.with_state(state.clone())?, origin) {
        (Problem::BundleAdjustment(solved), Some(origin)) => solved.about(origin.map(|x| -x)).into(),
        (solved, _) => solved,
    };
    problem::write(path, &solved).map_err(of_output)
}
