//! Anchors of a chordal relaxation, for sets of poses that only fixed landmarks hold. The poses of
//! such a set are solved relative to one of them, the *anchor*, and then all are moved together.
use super::start::nearest_rotation;
use crate::solver::problem::{Manifold, PoseGraph, Sets, Sighting, is_zero};
use nalgebra::{Matrix3, Vector3};
use std::collections::BTreeMap;

/// The anchors of a graph, with the sightings between their poses and fixed landmarks.
pub struct Anchors {
    /// For each pose, the first pose of the set of poses that steps connect.
    first: Vec<u32>,
    /// For each anchor, the sightings of fixed landmarks from poses of its set.
    sightings: BTreeMap<u32, Vec<usize>>,
}

impl Anchors {
    /// Makes an anchor for each set of poses connected by steps, if no pose of the set is in `held`
    /// and at least one pose sees a fixed landmark.
    pub fn new<P: Manifold>(graph: &PoseGraph<P>, held: &[u32]) -> Self {
        let mut sets = Sets::new(graph.poses.len());
        let mut is_tied = vec![false; graph.poses.len()];
        for step in &graph.steps {
            sets.join(step.from, step.to);
            for pose in [step.from, step.to] {
                is_tied[pose as usize] = true;
            }
        }
        let mut sightings: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (number, one) in graph.sightings.iter().enumerate() {
            let counts = is_tied[one.pose as usize] && !is_zero(P::sighting_information(&one.information));
            if counts && graph.fixed_landmarks.binary_search(&one.landmark).is_ok() {
                sightings.entry(sets.root(one.pose)).or_default().push(number);
            }
        }
        held.iter().for_each(|&pose| drop(sightings.remove(&sets.root(pose))));
        Self { first: (0..graph.poses.len() as u32).map(|pose| sets.root(pose)).collect(), sightings }
    }

    /// Whether the pose keeps its position until all poses are solved.
    pub fn is_anchor(&self, pose: usize) -> bool {
        self.sightings.contains_key(&(pose as u32))
    }

    /// Moves the set of each anchor as one rigid body. The motion minimizes the sum of the squared
    /// distances between fixed landmarks and the places where the poses of the set saw them (W.
    /// Kabsch, 1976).
    pub fn align<P: Manifold>(
        &self,
        graph: &PoseGraph<P>,
        rotations: &mut [Matrix3<f64>],
        translations: &mut [Vector3<f64>],
    ) {
        let mut moves = BTreeMap::new();
        for (&anchor, sightings) in &self.sightings {
            let pair = |&number: &usize| {
                let Sighting { pose, landmark, measured, .. } = &graph.sightings[number];
                let seen = Vector3::from(P::landmark_position(measured));
                let at = rotations[*pose as usize] * seen + translations[*pose as usize];
                (at, Vector3::from(P::landmark_position(&graph.landmarks[*landmark as usize])))
            };
            let pairs: Vec<_> = sightings.iter().map(pair).collect();
            let share = 1.0 / pairs.len() as f64;
            let [from, to] = pairs.iter().fold([Vector3::zeros(); 2], |[a, b], (x, y)| [a + x * share, b + y * share]);
            let mut turn: Matrix3<f64> = pairs.iter().map(|(x, y)| (y - to) * (x - from).transpose()).sum();
            if P::LANDMARK == 2 {
                // In the plane, poses only turn about z, so this term makes every other rotation
                // worse.
                turn[(2, 2)] += 2.0 * turn.norm();
            }
            moves.insert(anchor, (nearest_rotation(&turn), from, to));
        }
        for (pose, first) in self.first.iter().enumerate() {
            if let Some((turn, from, to)) = moves.get(first) {
                rotations[pose] = turn * rotations[pose];
                translations[pose] = turn * (translations[pose] - from) + to;
            }
        }
    }
}
