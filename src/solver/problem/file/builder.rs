//! Collects a graph line by line, and reads poses and matrices from the numbers of a line.
use super::numbers::Numbers;
use crate::{
    Result,
    io::{grow, push, words::quote},
    solver::problem::{Place, Plane, PoseGraph, Sighting, Space, Step},
};
use nalgebra::{Isometry2, Isometry3, SMatrix};
use std::collections::{HashMap, VecDeque};

/// The pose with coordinates x and y and an angle.
pub(super) fn planar(numbers: [f64; 3]) -> Isometry2<f64> {
    Plane::pose(numbers)
}

/// Reads a pose x, y, z and a quaternion x, y, z, w of any length except 0.
pub(super) fn spatial(text: &mut Numbers<'_>) -> Result<Isometry3<f64>> {
    let [x, y, z] = text.reals("a translation")?;
    let [i, j, k, w] = text.reals("a quaternion")?;
    match Space::pose([x, y, z, i, j, k, w]) {
        Some(pose) => Ok(pose),
        None => text.refuse("a quaternion of length 0 is no rotation"),
    }
}

/// Records whether a graph is in the plane or in space, and the first line that shows this. Refuses
/// a keyword of the plane in a graph in space, and the reverse.
pub(super) fn show_space(
    known: &mut Option<(bool, u64)>,
    text: &Numbers<'_>,
    tag: &[u8],
    in_space: bool,
) -> Result<()> {
    let (first, line) = *known.get_or_insert((in_space, text.line()));
    if first == in_space {
        return Ok(());
    }
    let of = if first { "space" } else { "the plane" };
    text.refuse(format!("{} in a graph that is in {of} since line {line}", quote(tag)))
}

/// Reads a symmetric matrix from its upper triangle, row by row.
pub(super) fn upper<const N: usize>(text: &mut Numbers<'_>) -> Result<SMatrix<f64, N, N>> {
    let mut matrix = SMatrix::zeros();
    for row in 0..N {
        for col in row..N {
            let value = text.real("an element of an information matrix")?;
            matrix[(row, col)] = value;
            matrix[(col, row)] = value;
        }
    }
    Ok(matrix)
}

/// Returns the matrix if all its elements are finite, otherwise an error with the number of the
/// line.
pub(super) fn finite<const R: usize, const C: usize>(
    text: &Numbers<'_>,
    matrix: SMatrix<f64, R, C>,
) -> Result<SMatrix<f64, R, C>> {
    match matrix.iter().all(|number| number.is_finite()) {
        true => Ok(matrix),
        false => text.refuse(NOT_FINITE),
    }
}

const NOT_FINITE: &str = "these numbers lead to a value that is not finite";

/// A pose or a landmark of the file, given by its number among the poses or among the landmarks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Vertex {
    Pose(u32),
    Landmark(u32),
}

/// A measurement between vertices that are given by name.
struct NamedMeasurement<M, I> {
    line: u64,
    from: u64,
    to: u64,
    measured: M,
    information: I,
}

/// Collects a graph line by line. Names are resolved at the end, because an edge may come before
/// its vertices.
pub(super) struct Builder<P: Place> {
    graph: PoseGraph<P>,
    /// The vertices by their names. The key is true for a landmark if landmarks have names of their
    /// own.
    vertices: HashMap<(bool, u64), Vertex>,
    landmarks_named_apart: bool,
    steps: Vec<NamedMeasurement<P::Pose, P::PoseInformation>>,
    sightings: Vec<NamedMeasurement<P::Landmark, P::LandmarkInformation>>,
    fixed: Vec<(u64, u64)>,
}

impl<P: Place> Builder<P> {
    /// A builder for a format. Poses and landmarks share one set of names, unless
    /// `landmarks_named_apart` is true.
    pub fn new(landmarks_named_apart: bool) -> Self {
        Self {
            graph: PoseGraph::default(),
            vertices: HashMap::new(),
            landmarks_named_apart,
            steps: vec![],
            sightings: vec![],
            fixed: vec![],
        }
    }

    fn name(&mut self, text: &Numbers<'_>, name: u64, vertex: Vertex) -> Result<()> {
        let apart = self.landmarks_named_apart && matches!(vertex, Vertex::Landmark(_));
        match self.vertices.insert((apart, name), vertex) {
            None => Ok(()),
            Some(_) => text.refuse(format!("a second vertex {name}")),
        }
    }

    pub fn pose(&mut self, text: &Numbers<'_>, name: u64, pose: P::Pose) -> Result<()> {
        self.name(text, name, Vertex::Pose(self.graph.poses.len() as u32))?;
        push(&mut self.graph.pose_names, name, "vertices")?;
        push(&mut self.graph.poses, pose, "vertices")
    }

    pub fn landmark(&mut self, text: &Numbers<'_>, name: u64, landmark: P::Landmark) -> Result<()> {
        self.name(text, name, Vertex::Landmark(self.graph.landmarks.len() as u32))?;
        push(&mut self.graph.landmark_names, name, "vertices")?;
        push(&mut self.graph.landmarks, landmark, "vertices")
    }

    pub fn fix(&mut self, text: &Numbers<'_>, name: u64) -> Result<()> {
        push(&mut self.fixed, (text.line(), name), "vertices")
    }

    pub fn step(
        &mut self,
        text: &Numbers<'_>,
        (from, to): (u64, u64),
        measured: P::Pose,
        information: P::PoseInformation,
    ) -> Result<()> {
        if from == to {
            return text.refuse(format!("an edge from vertex {from} to itself"));
        }
        push(&mut self.steps, NamedMeasurement { line: text.line(), from, to, measured, information }, "edges")
    }

    /// For each step, the number of its line, and the numbers in it from which the information is
    /// computed.
    pub fn numbers(&self) -> impl Iterator<Item = (u64, P::PoseInformation)> {
        self.steps.iter().map(|step| (step.line, step.information))
    }

    /// Computes the information of each step from the numbers in its line.
    pub fn weigh<const N: usize>(
        &mut self,
        text: &Numbers<'_>,
        of: impl Fn(SMatrix<f64, N, N>) -> SMatrix<f64, N, N>,
    ) -> Result<()>
    where
        P: Place<PoseInformation = SMatrix<f64, N, N>>,
    {
        for step in &mut self.steps {
            step.information = of(step.information);
            if !step.information.iter().all(|number| number.is_finite()) {
                return text.refuse_on(step.line, NOT_FINITE);
            }
        }
        Ok(())
    }

    pub fn sighting(
        &mut self,
        text: &Numbers<'_>,
        (from, to): (u64, u64),
        measured: P::Landmark,
        information: P::LandmarkInformation,
    ) -> Result<()> {
        push(&mut self.sightings, NamedMeasurement { line: text.line(), from, to, measured, information }, "edges")
    }

    /// Returns the graph. If `placing` is true, the measurements determine the places of poses and
    /// landmarks that have no place in the file. Placing starts from the poses with places, or from
    /// the first pose. Placing uses chains of as few edges as possible. If several chains are
    /// equally short, it uses the edges that are earlier in the file.
    pub fn finish(mut self, text: &Numbers<'_>, placing: bool) -> Result<PoseGraph<P>> {
        if placing {
            self.place_others(text)?;
        }
        let apart = self.landmarks_named_apart;
        let pose = |line: u64, name: u64| match self.vertices.get(&(false, name)) {
            Some(&Vertex::Pose(pose)) => Ok(pose),
            Some(Vertex::Landmark(_)) => text.refuse_on(line, format!("vertex {name} is a landmark, not a pose")),
            None => text.refuse_on(line, format!("there is no vertex {name} in the file")),
        };
        let landmark = |line: u64, name: u64| match self.vertices.get(&(apart, name)) {
            Some(&Vertex::Landmark(landmark)) => Ok(landmark),
            Some(Vertex::Pose(_)) => text.refuse_on(line, format!("vertex {name} is a pose, not a landmark")),
            None => text.refuse_on(line, format!("there is no vertex {name} in the file")),
        };
        let graph = &mut self.graph;
        grow(&mut graph.steps, self.steps.len(), "edges")?;
        for &NamedMeasurement { line, from, to, measured, information } in &self.steps {
            graph.steps.push(Step { from: pose(line, from)?, to: pose(line, to)?, measured, information });
        }
        grow(&mut graph.sightings, self.sightings.len(), "edges")?;
        for &NamedMeasurement { line, from, to, measured, information } in &self.sightings {
            let (pose, landmark) = (pose(line, from)?, landmark(line, to)?);
            graph.sightings.push(Sighting { pose, landmark, measured, information });
        }
        for &(line, name) in &self.fixed {
            match self.vertices.get(&(false, name)) {
                Some(&Vertex::Pose(pose)) => graph.fixed_poses.push(pose),
                Some(&Vertex::Landmark(landmark)) => graph.fixed_landmarks.push(landmark),
                None => return text.refuse_on(line, format!("there is no vertex {name} in the file")),
            }
        }
        for fixed in [&mut graph.fixed_poses, &mut graph.fixed_landmarks] {
            fixed.sort_unstable();
            fixed.dedup();
        }
        Ok(self.graph)
    }

    fn place_others(&mut self, text: &Numbers<'_>) -> Result<()> {
        // For each pose, the steps that begin there, and, with `true`, the steps that end there.
        let mut steps: HashMap<u64, Vec<(usize, bool)>> = HashMap::new();
        let mut names = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            for (name, ends) in [(step.from, false), (step.to, true)] {
                let of_pose = steps.entry(name).or_insert_with(|| {
                    names.push((name, step.line));
                    Vec::new()
                });
                of_pose.push((number, ends));
            }
        }
        let given = self.graph.pose_names.iter().copied().zip(self.graph.poses.iter().copied());
        let mut placed: HashMap<u64, P::Pose> = given.collect();
        let mut next: VecDeque<u64> = self.graph.pose_names.iter().copied().collect();
        if let (true, Some(&(first, _))) = (placed.is_empty(), names.first()) {
            placed.insert(first, P::origin());
            next.push_back(first);
        }
        while let Some(name) = next.pop_front() {
            let pose = placed[&name];
            for &(number, ends) in steps.get(&name).map_or(&[][..], Vec::as_slice) {
                let step = &self.steps[number];
                let (other, way) = match ends {
                    false => (step.to, step.measured),
                    true => (step.from, P::inverse(&step.measured)),
                };
                placed.entry(other).or_insert_with(|| {
                    next.push_back(other);
                    P::compose(&pose, &way)
                });
            }
        }
        let nowhere =
            |line, name| text.refuse_on(line, format!("no edges lead to pose {name} from a pose whose place is known"));
        for (name, line) in names {
            match placed.get(&name) {
                Some(_) if self.vertices.contains_key(&(false, name)) => {}
                Some(&pose) if P::is_finite(&pose) => self.pose(text, name, pose)?,
                Some(_) => return text.refuse_on(line, format!("the measured place of pose {name} is not finite")),
                None => return nowhere(line, name),
            }
        }
        for number in 0..self.sightings.len() {
            let NamedMeasurement { line, from, to, measured, .. } = self.sightings[number];
            let Some(pose) = placed.get(&from) else { return nowhere(line, from) };
            if !self.vertices.contains_key(&(self.landmarks_named_apart, to)) {
                let place = P::place(pose, &measured);
                if !P::landmark_is_finite(&place) {
                    return text.refuse_on(line, format!("the measured place of landmark {to} is not finite"));
                }
                self.landmark(text, to, place)?;
            }
        }
        Ok(())
    }
}
