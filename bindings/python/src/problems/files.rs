//! Problems from files.
use super::graphs::{Rows, rows_of};
use crate::{errors::refused, running::detached};
use blockmul::solver::problem::{BundleAdjustment, Edges, Graph, PoseGraph, Problem, ProblemFile, read_with};
use numpy::PyArray1;
use pyo3::{IntoPyObjectExt, prelude::*, types::PyDict};
use std::path::PathBuf;

/// Reads a problem of any format.
fn read(py: Python<'_>, path: &PathBuf, edges: Option<Edges>) -> PyResult<ProblemFile> {
    detached(py, || read_with(path, edges))
}

/// Hands numbers to NumPy.
fn set<T: numpy::Element>(to: &Bound<'_, PyDict>, name: &str, numbers: Vec<T>) -> PyResult<()> {
    to.set_item(name, PyArray1::from_vec(to.py(), numbers))
}

fn wide(indices: impl Iterator<Item = u32>) -> Vec<i64> {
    indices.map(i64::from).collect()
}

/// The arrays of a bundle adjustment, each of one dimension.
#[pyfunction]
pub fn read_bal<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyDict>> {
    let Problem::BundleAdjustment(problem) = read(py, &path, None)?.problem else {
        return Err(refused(&path.display().to_string(), "a graph of poses: use read_g2o"));
    };
    let BundleAdjustment { cameras, points, observations, .. } = problem;
    let of = PyDict::new(py);
    set(&of, "cameras", cameras.into_flattened())?;
    set(&of, "points", points.into_flattened())?;
    set(&of, "camera_index", wide(observations.iter().map(|seen| seen.camera)))?;
    set(&of, "point_index", wide(observations.iter().map(|seen| seen.point)))?;
    set(&of, "observations", observations.iter().flat_map(|seen| seen.place).collect())?;
    Ok(of)
}

/// The arrays of a graph, each of one dimension, whether it is in space, and notes on the format.
#[pyfunction]
#[pyo3(signature = (path, edges=None))]
pub fn read_graph<'py>(py: Python<'py>, path: PathBuf, edges: Option<&str>) -> PyResult<Bound<'py, PyDict>> {
    let edges = match edges {
        Some("isam") => Some(Edges::Isam),
        Some("toro") => Some(Edges::Toro),
        _ => None,
    };
    let ProblemFile { problem, notes, .. } = read(py, &path, edges)?;
    let of = PyDict::new(py);
    of.set_item("notes", notes)?;
    of.set_item("in_space", matches!(problem, Problem::Graph(Graph::Space(_))).into_py_any(py)?)?;
    match problem {
        Problem::Graph(Graph::Plane(graph)) => hand(&of, &graph)?,
        Problem::Graph(Graph::Space(graph)) => hand(&of, &graph)?,
        _ => return Err(refused(&path.display().to_string(), "a bundle adjustment: use read_bal")),
    }
    Ok(of)
}

fn hand<const POSE: usize, const LANDMARK: usize, P: Rows<POSE, LANDMARK>>(
    to: &Bound<'_, PyDict>,
    graph: &PoseGraph<P>,
) -> PyResult<()> {
    let (steps, sightings) = (&graph.steps, &graph.sightings);
    set(to, "poses", rows_of(&graph.poses, P::row).into_flattened())?;
    set(to, "names", graph.pose_names.clone())?;
    set(to, "i", wide(steps.iter().map(|step| step.from)))?;
    set(to, "j", wide(steps.iter().map(|step| step.to)))?;
    set(to, "measurements", rows_of(steps, |step| P::row(&step.measured)).into_flattened())?;
    let information = steps.iter().flat_map(|step| P::step_information(&step.information)).copied();
    set(to, "information", information.collect())?;
    set(to, "landmarks", rows_of(&graph.landmarks, P::landmark_row).into_flattened())?;
    set(to, "landmark_names", graph.landmark_names.clone())?;
    set(to, "sighting_pose", wide(sightings.iter().map(|one| one.pose)))?;
    set(to, "sighting_landmark", wide(sightings.iter().map(|one| one.landmark)))?;
    set(to, "sightings", rows_of(sightings, |one| P::landmark_row(&one.measured)).into_flattened())?;
    let information = sightings.iter().flat_map(|one| P::sighting_information(&one.information)).copied();
    set(to, "sighting_information", information.collect())?;
    set(to, "hold", wide(graph.fixed_poses.iter().copied()))?;
    set(to, "hold_landmarks", wide(graph.fixed_landmarks.iter().copied()))
}
