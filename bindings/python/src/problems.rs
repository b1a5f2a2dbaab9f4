//! Whole least-squares problems: bundle adjustments and graphs of poses and landmarks. Python
//! checks the arrays, and passes them contiguous.
mod files;
mod graphs;
mod solved;

pub use files::{read_bal, read_graph};
pub use graphs::pose_graph;

use crate::{
    devices::{Wanted, wanted_device},
    errors::refused,
    running::detached,
};
use blockmul::solver::{
    least_squares::{Limits, Linear, Options, StepMethod},
    problem::{AnyProblem, AnyState, BundleAdjustment, BundleProblem, LeastSquares, Loss, Observation},
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::{prelude::*, types::PyDict};
use solved::Begun;

/// Borrowed numbers of an array.
pub type Floats<'py> = PyReadonlyArray1<'py, f64>;
/// Borrowed indices, which Python has checked in a copy of its own.
pub type Indices<'py> = PyReadonlyArray1<'py, u32>;
/// The new arrays of a solution.
pub type Moved<'py> = Bound<'py, PyArray1<f64>>;

/// The options of `blockmul._problems.Options`.
#[derive(FromPyObject)]
pub struct Given {
    loss: Option<String>,
    method: String,
    linear: String,
    start: String,
    iterations: u32,
    tolerance: f64,
    damping: f64,
}

impl Given {
    pub fn loss(&self) -> PyResult<Loss> {
        let loss = self.loss.as_deref().unwrap_or("squared");
        loss.parse().map_err(|why: String| refused("loss", why))
    }

    pub fn options(&self) -> Options {
        Options {
            method: match &self.method[..] {
                "gauss-newton" => StepMethod::GaussNewton,
                _ => StepMethod::LevenbergMarquardt,
            },
            linear: match &self.linear[..] {
                "normal-cholesky" => Linear::NormalCholesky,
                "schur-cholesky" => Linear::SchurCholesky,
                "conjugate-gradients" => Linear::ConjugateGradients(Limits::default()),
                _ => Linear::Cholesky,
            },
            iterations: self.iterations,
            tolerance: self.tolerance,
            lambda: self.damping,
        }
    }
}

/// The arrays of a bundle adjustment.
#[derive(FromPyObject)]
pub struct Bundle<'py> {
    cameras: Floats<'py>,
    points: Floats<'py>,
    camera_index: Indices<'py>,
    point_index: Indices<'py>,
    observations: Floats<'py>,
    hold: Indices<'py>,
    hold_points: Indices<'py>,
}

impl Bundle<'_> {
    fn adjustment(&self) -> PyResult<BundleAdjustment> {
        let mut adjustment = BundleAdjustment::default();
        adjustment.cameras = rows(self.cameras.as_slice()?);
        adjustment.points = rows(self.points.as_slice()?);
        let (cameras, points) = (self.camera_index.as_slice()?, self.point_index.as_slice()?);
        let places = self.observations.as_slice()?.as_chunks().0;
        let seen = cameras.iter().zip(points).zip(places);
        adjustment.observations =
            seen.map(|((&camera, &point), &place)| Observation { camera, point, place }).collect();
        Ok(adjustment)
    }
}

/// The rows of an array of `N` columns.
pub fn rows<const N: usize>(numbers: &[f64]) -> Vec<[f64; N]> {
    numbers.as_chunks().0.to_vec()
}

/// Solves a bundle adjustment. Returns its cameras and points, and the facts for the summary.
#[pyfunction]
#[pyo3(signature = (arrays, options, device=None, each=None))]
pub fn bundle_adjust<'py>(
    py: Python<'py>,
    arrays: Bundle<'py>,
    options: Given,
    device: Option<Wanted>,
    each: Option<Py<PyAny>>,
) -> PyResult<(Moved<'py>, Moved<'py>, Bound<'py, PyDict>)> {
    let loss = options.loss()?;
    let given = arrays.adjustment()?;
    let (cameras, points) = (arrays.hold.as_slice()?, arrays.hold_points.as_slice()?);
    let (_, device) = wanted_device(device)?;
    let (problem, begun) = detached(py, || {
        let (origin, mut notes) = (given.far_origin(), Vec::new());
        let near = match origin {
            Some(origin @ [x, y, z]) => {
                notes.push(format!("the origin is far from the scene: solved about ({x}, {y}, {z})"));
                given.about(origin)
            }
            None => given,
        };
        let problem = BundleProblem::new(near, loss)?.hold(cameras, points)?;
        let start = problem.start().into();
        Ok((AnyProblem::Bundle(problem), Begun { origin, notes, ..Begun::new(start) }))
    })?;
    // The callback may write into the arrays.
    let (mut cameras, mut points) = (arrays.cameras.as_slice()?.to_vec(), arrays.points.as_slice()?.to_vec());
    drop(arrays);
    let ended = begun.solve(py, &problem, device, options.options(), each)?;
    if let (AnyProblem::Bundle(problem), Some(AnyState::Bundle(state))) = (&problem, ended.state()) {
        let mut solved = problem.with_state(state.clone());
        if let Some(origin) = ended.begun.origin {
            solved = solved.about(origin.map(|x| -x));
        }
        cameras = unless_missing(cameras, solved.cameras, problem.missing_cameras());
        points = unless_missing(points, solved.points, problem.missing_points());
    }
    Ok((PyArray1::from_vec(py, cameras), PyArray1::from_vec(py, points), ended.facts(py, &problem)?))
}

/// The solved rows, in which the rows that are not unknown have the bits that were given.
pub fn unless_missing<const N: usize>(
    given: Vec<f64>,
    mut solved: Vec<[f64; N]>,
    missing: impl Iterator<Item = u32>,
) -> Vec<f64> {
    let given = given.as_chunks().0;
    missing.for_each(|one| solved[one as usize] = given[one as usize]);
    solved.into_flattened()
}
