//! Writes a solution to a file, and names unknowns and measurements in messages.
use crate::failure::Failure;
use crate::output::of_output;
use blockmul::solver::problem::{self, AnyProblem, AnyState, Named, Problem};
use std::path::Path;

/// The name of the eliminated unknown with this number, as in the file.
pub fn eliminated(problem: &AnyProblem, number: usize) -> Option<String> {
    let name = problem.unknown(1, number)?;
    Some(if problem.has_chi2() { name } else { format!("{name} (from 0)") })
}

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

/// Returns the reason why a problem has no cost, gradient or H: the row of J that is not finite.
pub fn not_finite(problem: &AnyProblem, row: Option<usize>) -> String {
    let measurement = row.map_or("a measurement".to_owned(), |row| problem.measurement(row));
    format!("{measurement}: its residual or derivative is not finite, or too large to be squared; correct or remove it")
}
