//! Graphs of poses and landmarks.
use super::{Floats, Given, Indices, Moved, solved::Begun, unless_missing};
use crate::{
    devices::{Wanted, wanted_device},
    errors::refused,
    running::{Size, watched},
};
use blockmul::{
    Device, Error, Result,
    solver::{
        least_squares::{
            Clock,
            start::{self, Start},
            weight_warnings,
        },
        problem::{
            AnyProblem, AnyState, Graph, LeastSquares, Loss, Manifold, Named, Place, Plane, PoseGraph, Sighting, Space,
            Step,
        },
    },
};
use numpy::PyArray1;
use pyo3::{prelude::*, types::PyDict};

/// The arrays of a graph. The information is of one measurement or of all.
#[derive(FromPyObject)]
pub struct Arrays<'py> {
    in_space: bool,
    poses: Floats<'py>,
    names: numpy::PyReadonlyArray1<'py, u64>,
    i: Indices<'py>,
    j: Indices<'py>,
    measurements: Floats<'py>,
    information: Floats<'py>,
    landmarks: Floats<'py>,
    landmark_names: numpy::PyReadonlyArray1<'py, u64>,
    sighting_pose: Indices<'py>,
    sighting_landmark: Indices<'py>,
    sightings: Floats<'py>,
    sighting_information: Floats<'py>,
    hold: Indices<'py>,
    hold_landmarks: Indices<'py>,
}

/// A space whose poses and landmarks are rows of arrays.
pub trait Rows<const POSE: usize, const LANDMARK: usize>: Manifold {
    fn pose(row: [f64; POSE]) -> Option<Self::Pose>;
    fn row(pose: &Self::Pose) -> [f64; POSE];
    fn landmark(row: [f64; LANDMARK]) -> Self::Landmark;
    fn landmark_row(landmark: &Self::Landmark) -> [f64; LANDMARK];
    fn step_matrix(rows: &[f64]) -> Self::PoseInformation;
    fn sighting_matrix(rows: &[f64]) -> Self::LandmarkInformation;
}

impl Rows<3, 2> for Plane {
    fn pose(row: [f64; 3]) -> Option<Self::Pose> {
        Some(Plane::pose(row))
    }

    fn row(pose: &Self::Pose) -> [f64; 3] {
        Plane::coordinates(pose)
    }

    fn landmark(row: [f64; 2]) -> Self::Landmark {
        row.into()
    }

    fn landmark_row(landmark: &Self::Landmark) -> [f64; 2] {
        (*landmark).into()
    }

    fn step_matrix(rows: &[f64]) -> Self::PoseInformation {
        <Self as Place>::PoseInformation::from_row_slice(rows)
    }

    fn sighting_matrix(rows: &[f64]) -> Self::LandmarkInformation {
        <Self as Place>::LandmarkInformation::from_row_slice(rows)
    }
}

impl Rows<7, 3> for Space {
    fn pose(row: [f64; 7]) -> Option<Self::Pose> {
        Space::pose(row)
    }

    fn row(pose: &Self::Pose) -> [f64; 7] {
        Space::coordinates(pose)
    }

    fn landmark(row: [f64; 3]) -> Self::Landmark {
        row.into()
    }

    fn landmark_row(landmark: &Self::Landmark) -> [f64; 3] {
        (*landmark).into()
    }

    fn step_matrix(rows: &[f64]) -> Self::PoseInformation {
        <Self as Place>::PoseInformation::from_row_slice(rows)
    }

    fn sighting_matrix(rows: &[f64]) -> Self::LandmarkInformation {
        <Self as Place>::LandmarkInformation::from_row_slice(rows)
    }
}

/// The matrices of `count` measurements, of which there is one or one for each.
fn matrices(numbers: &[f64], side: usize, count: usize) -> impl Iterator<Item = &[f64]> {
    let area = side * side;
    let step = if numbers.len() == area { 0 } else { area };
    (0..count).map(move |number| &numbers[number * step..][..area])
}

impl Arrays<'_> {
    fn graph<const POSE: usize, const LANDMARK: usize, P: Rows<POSE, LANDMARK>>(&self) -> PyResult<PoseGraph<P>> {
        let poses_of = |name: &'static str, numbers: &[f64]| -> PyResult<Vec<P::Pose>> {
            let poses = numbers.as_chunks().0.iter().map(|&row| P::pose(row));
            poses.collect::<Option<_>>().ok_or_else(|| refused(name, "a quaternion has length 0"))
        };
        let landmarks_of = |numbers: &[f64]| -> Vec<P::Landmark> {
            numbers.as_chunks().0.iter().map(|&row| P::landmark(row)).collect()
        };
        let mut graph = PoseGraph::default();
        graph.poses = poses_of("poses", self.poses.as_slice()?)?;
        graph.pose_names = self.names.as_slice()?.to_vec();
        graph.landmarks = landmarks_of(self.landmarks.as_slice()?);
        graph.landmark_names = self.landmark_names.as_slice()?.to_vec();
        graph.fixed_poses = self.hold.as_slice()?.to_vec();
        graph.fixed_landmarks = self.hold_landmarks.as_slice()?.to_vec();
        let ends = self.i.as_slice()?.iter().zip(self.j.as_slice()?);
        let measured = poses_of("measurements", self.measurements.as_slice()?)?;
        let information = matrices(self.information.as_slice()?, P::POSE, measured.len());
        let steps = ends.zip(measured).zip(information);
        graph.steps = steps
            .map(|(((&from, &to), measured), rows)| Step { from, to, measured, information: P::step_matrix(rows) })
            .collect();
        let ends = self.sighting_pose.as_slice()?.iter().zip(self.sighting_landmark.as_slice()?);
        let measured = landmarks_of(self.sightings.as_slice()?);
        let information = matrices(self.sighting_information.as_slice()?, P::LANDMARK, measured.len());
        let sightings = ends.zip(measured).zip(information);
        graph.sightings = sightings
            .map(|(((&pose, &landmark), measured), rows)| Sighting {
                pose,
                landmark,
                measured,
                information: P::sighting_matrix(rows),
            })
            .collect();
        Ok(graph)
    }
}

/// The rows of all poses or landmarks.
pub fn rows_of<T, const N: usize>(all: &[T], row: impl Fn(&T) -> [f64; N]) -> Vec<[f64; N]> {
    all.iter().map(row).collect()
}

/// Makes the problem of a graph, and chooses its start.
fn begin(graph: Graph, loss: Loss, wanted: &str, device: &Device) -> Result<(AnyProblem, Begun)> {
    let (all, weightless) = (graph.measurements(), graph.weightless());
    let (problem, rewarding) = start::weighable(graph.into());
    let mut notes: Vec<String> = rewarding.iter().map(ToString::to_string).collect();
    notes.extend(weight_warnings(rewarding.map_or(0, |rewarding| rewarding.losing), weightless, all));
    let problem = AnyProblem::new(problem, loss)?;
    if problem.unknown(0, 0).is_none() && problem.unknown(1, 0).is_none() {
        let why = "nothing is unknown: every pose and landmark is held or without measurements";
        return Err(Error::Argument(why.into()));
    }
    let clock = Clock::start(device);
    let (state, start) = match wanted {
        "file" => (problem.start(), Start::File),
        "chordal" => (problem.chordal(device)?, Start::Chordal),
        _ => {
            let chosen = problem.cheaper(device)?;
            notes.push(chosen.text());
            (chosen.state, chosen.start)
        }
    };
    let (start_ms, kernels_ms) = (clock.ms(), clock.kernels_ms());
    Ok((problem, Begun { start, start_ms, kernels_ms, notes, ..Begun::new(state) }))
}

/// Solves a graph. Returns its poses and landmarks, and the facts for the summary.
#[pyfunction]
#[pyo3(signature = (arrays, options, device=None, each=None))]
pub fn pose_graph<'py>(
    py: Python<'py>,
    arrays: Arrays<'py>,
    options: Given,
    device: Option<Wanted>,
    each: Option<Py<PyAny>>,
) -> PyResult<(Moved<'py>, Moved<'py>, Bound<'py, PyDict>)> {
    let loss = options.loss()?;
    let graph: Graph = match arrays.in_space {
        true => arrays.graph::<7, 3, Space>()?.into(),
        false => arrays.graph::<3, 2, Plane>()?.into(),
    };
    let (_, device) = wanted_device(device)?;
    let begin = || begin(graph, loss, &options.start, &device);
    let (problem, begun) = watched(py, None, Size::OnDevice, begin)?;
    // The callback may write into the arrays.
    let (poses, landmarks) = (arrays.poses.as_slice()?.to_vec(), arrays.landmarks.as_slice()?.to_vec());
    drop(arrays);
    let ended = begun.solve(py, &problem, device, options.options(), each)?;
    // After a failure the arrays are those of the start.
    let state = ended.state().unwrap_or(&ended.begun.state);
    let (poses, landmarks) = match (&problem, state) {
        (AnyProblem::Plane(problem), AnyState::Plane(state)) => (
            unless_missing(poses, rows_of(&state.poses, Plane::coordinates), problem.missing_poses()),
            unless_missing(landmarks, rows_of(&state.landmarks, Plane::landmark_row), problem.missing_landmarks()),
        ),
        (AnyProblem::Space(problem), AnyState::Space(state)) => (
            unless_missing(poses, rows_of(&state.poses, Space::coordinates), problem.missing_poses()),
            unless_missing(landmarks, rows_of(&state.landmarks, Space::landmark_row), problem.missing_landmarks()),
        ),
        _ => (poses, landmarks),
    };
    Ok((PyArray1::from_vec(py, poses), PyArray1::from_vec(py, landmarks), ended.facts(py, &problem)?))
}
