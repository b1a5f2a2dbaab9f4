//! The parts of a graph that can only move as a whole, and the poses and landmarks that hold each
//! part in place.
//!
//! A part is a set of free poses and landmarks that are connected by measurements with nonzero
//! weight. A fixed vertex does not connect parts. For example, two parts that see the same fixed
//! landmark can turn about it separately.
use super::{Manifold, PoseGraph, Sighting, Step, information::is_zero};
use crate::{Error, Result};
use nalgebra::Vector3;
use std::collections::BTreeMap;

/// The poses that are held in addition to the poses that the file fixes, and the parts that can
/// still turn.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Gauge {
    /// The first measured pose of each part that has no measurement of a fixed vertex, ascending. A
    /// [`GraphProblem`](super::GraphProblem) holds these poses.
    pub held: Vec<u32>,
    /// Parts that see fixed landmarks and can still turn, in the order of their first poses.
    pub loose: Vec<Loose>,
    /// Number of parts.
    pub parts: usize,
}

/// A part of a graph that can turn, because all landmarks that hold it are at one place or, in
/// space, on one line.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Loose {
    /// The first pose of the part.
    pub pose: u32,
    /// Number of poses of the part.
    pub poses: usize,
    /// The landmarks that hold the part, ascending: fixed landmarks that are seen from the part,
    /// and landmarks of the part that a fixed pose sees.
    pub landmarks: Vec<u32>,
}

/// A part under construction.
#[derive(Default)]
struct Part {
    poses: usize,
    /// Whether a step connects the part to a fixed pose.
    is_anchored: bool,
    landmarks: Vec<u32>,
    /// The largest measured distance of a landmark that holds the part.
    range: f64,
}

/// Disjoint sets of numbers. The root of a set is its smallest number.
pub(crate) struct Sets(Vec<u32>);

impl Sets {
    pub fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    pub fn root(&mut self, mut one: u32) -> u32 {
        while self.0[one as usize] != one {
            self.0[one as usize] = self.0[self.0[one as usize] as usize];
            one = self.0[one as usize];
        }
        one
    }

    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

impl<P: Manifold> PoseGraph<P> {
    /// The poses that a [`GraphProblem`](super::GraphProblem) holds fixed, ascending: the poses
    /// that the file fixes, and [`Gauge::held`].
    pub fn held(&self) -> Vec<u32> {
        let mut held = self.gauge().held;
        held.extend(&self.fixed_poses);
        held.sort_unstable();
        held
    }

    /// Finds the poses that hold the parts of the graph, and the parts that can turn.
    ///
    /// A fixed pose holds a part if a step connects it to the part. Landmarks that are fixed or
    /// seen from a fixed pose also hold a part, if they are at two places in the plane, or in space
    /// at three places that are not on one line. The measurements between the poses of a part are
    /// not examined, so two poses may still turn about a landmark that both see. The square of a
    /// short distance between landmarks is lost in H by rounding. So a distance counts as zero
    /// below 1.5e-8 of the largest distance between the landmarks, or of the largest distance at
    /// which one of the landmarks was seen.
    pub fn gauge(&self) -> Gauge {
        let parts = self.parts();
        let mut gauge = Gauge { parts: parts.len(), ..Gauge::default() };
        for (first, mut part) in parts {
            part.landmarks.sort_unstable();
            part.landmarks.dedup();
            match (part.is_anchored, part.landmarks.is_empty()) {
                (true, _) => {}
                (false, true) => gauge.held.push(first),
                (false, false) if self.determine(&part) => {}
                (false, false) => {
                    let Part { poses, landmarks, .. } = part;
                    gauge.loose.push(Loose { pose: first, poses, landmarks });
                }
            }
        }
        gauge
    }

    /// The parts by their first measured poses. If all measurements of a landmark have weight zero,
    /// the landmark belongs to no part.
    fn parts(&self) -> BTreeMap<u32, Part> {
        let is_fixed_pose = |pose: u32| self.fixed_poses.binary_search(&pose).is_ok();
        let is_fixed_landmark = |landmark: u32| self.fixed_landmarks.binary_search(&landmark).is_ok();
        // Measurements of vertices that do not exist connect nothing. A problem that has
        // measurements of missing vertices is refused later.
        let (poses, landmarks) = (self.poses.len(), self.landmarks.len());
        let are_steps = |step: &&Step<P>| (step.from.max(step.to) as usize) < poses;
        let are_sightings = |one: &&Sighting<P>| (one.pose as usize) < poses && (one.landmark as usize) < landmarks;
        let weighted = |step: &&Step<P>| !is_zero(P::step_information(&step.information));
        let steps = || self.steps.iter().filter(are_steps).filter(weighted);
        let weighted = |one: &&Sighting<P>| !is_zero(P::sighting_information(&one.information));
        let sightings = || self.sightings.iter().filter(are_sightings).filter(weighted);
        let landmarks_from = poses as u32;
        let mut sets = Sets::new(poses + landmarks);
        for &Step { from, to, .. } in steps() {
            if !is_fixed_pose(from) && !is_fixed_pose(to) {
                sets.join(from, to);
            }
        }
        for &Sighting { pose, landmark, .. } in sightings() {
            if !is_fixed_pose(pose) && !is_fixed_landmark(landmark) {
                sets.join(pose, landmarks_from + landmark);
            }
        }
        let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
        let mut is_counted = vec![false; poses];
        for pose in self.measured().filter(|&pose| (pose as usize) < poses && !is_fixed_pose(pose)) {
            if !std::mem::replace(&mut is_counted[pose as usize], true) {
                parts.entry(sets.root(pose)).or_default().poses += 1;
            }
        }
        let mut of = |vertex: u32, change: &dyn Fn(&mut Part)| {
            parts.get_mut(&sets.root(vertex)).into_iter().for_each(change);
        };
        for &Step { from, to, .. } in steps() {
            match (is_fixed_pose(from), is_fixed_pose(to)) {
                (true, false) => of(to, &|part| part.is_anchored = true),
                (false, true) => of(from, &|part| part.is_anchored = true),
                _ => {}
            }
        }
        for Sighting { pose, landmark, measured, .. } in sightings() {
            let part = match (is_fixed_pose(*pose), is_fixed_landmark(*landmark)) {
                (true, false) => landmarks_from + landmark,
                (false, true) => *pose,
                _ => continue,
            };
            of(part, &|part| {
                part.landmarks.push(*landmark);
                part.range = part.range.max(Vector3::from(P::landmark_position(measured)).norm());
            });
        }
        parts
    }

    /// Whether the landmarks that hold a part determine its position and rotation.
    fn determine(&self, part: &Part) -> bool {
        let place = |&landmark: &u32| Vector3::from(P::landmark_position(&self.landmarks[landmark as usize]));
        let mut places = part.landmarks.iter().map(place);
        let Some(first) = places.next() else { return false };
        let mut ways: Vec<Vector3<f64>> = places.map(|place| place - first).collect();
        let nothing = f64::EPSILON.sqrt();
        let mut least = nothing * part.range;
        // The longest distance gives a direction. After the longest distance, the extent
        // perpendicular to its direction is examined.
        for _ in 1..P::LANDMARK {
            let longest = ways.iter().copied().max_by(|a, b| a.norm().total_cmp(&b.norm()));
            let Some(direction) = longest.filter(|way| way.norm() > least) else { return false };
            least = least.max(nothing * direction.norm());
            let direction = direction.normalize();
            ways.iter_mut().for_each(|way| *way -= direction * direction.dot(way));
        }
        true
    }
}

impl Gauge {
    /// Refuses a graph with a part that can turn, because H is then singular without damping. The
    /// error names the first part that can turn, and says what to fix.
    pub(super) fn check_undamped<P: Manifold>(&self, graph: &PoseGraph<P>) -> Result<()> {
        let Some(Loose { pose, poses, landmarks }) = self.loose.first() else { return Ok(()) };
        let seen: Vec<String> = landmarks.iter().take(8).map(|&one| graph.landmark_name(one).to_string()).collect();
        let and_more = landmarks.len().saturating_sub(seen.len());
        let more = if and_more > 0 { format!(" and {and_more} more") } else { String::new() };
        let are_fixed = landmarks.iter().all(|one| graph.fixed_landmarks.binary_search(one).is_ok());
        let held = if are_fixed { "fixed" } else { "fixed or seen from a fixed pose" };
        let (landmarks_are, others) = match (landmarks.len(), P::LANDMARK) {
            (1, 2) => (format!("landmark {} alone is", seen[0]), "another landmark"),
            (1, _) => (format!("landmark {} alone is", seen[0]), "two other landmarks"),
            (_, 2) => (format!("landmarks {}{more}, all in one place, are", seen.join(", ")), "one at another place"),
            _ => (format!("landmarks {}{more}, all on one line, are", seen.join(", ")), "one off that line"),
        };
        Err(Error::Argument(format!(
            "{} of {} free parts of the graph can turn, first the one of pose {} ({poses} poses in all): {landmarks_are} {held}; fix a pose, \
             or {others}, or use damping (Levenberg-Marquardt)",
            self.loose.len(),
            self.parts,
            graph.pose_name(*pose),
        )))
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Result,
        solver::problem::{Graph, Manifold, PoseGraph, g2o},
    };

    /// A graph in the plane whose poses are all at the origin. Landmarks have names from 100.
    fn plane(steps: &[(u64, u64)], sightings: &[(u64, u64)], places: &[[f64; 2]], fixed: &str) -> String {
        let poses = (0..8).map(|name| format!("VERTEX_SE2 {name} 0 0 0\n"));
        let landmarks = places.iter().zip(100..).map(|([x, y], name)| format!("VERTEX_XY {name} {x} {y}\n"));
        let steps = steps.iter().map(|(from, to)| format!("EDGE_SE2 {from} {to} 1 0 0 1 0 0 1 0 1\n"));
        let sightings = sightings.iter().map(|(from, to)| format!("EDGE_SE2_XY {from} {to} 1 0 1 0 1\n"));
        poses.chain(landmarks).chain(steps).chain(sightings).collect::<String>() + fixed
    }

    fn of(text: &str) -> Result<(Vec<u32>, Vec<u32>)> {
        fn of<P: Manifold>(graph: &PoseGraph<P>) -> (Vec<u32>, Vec<u32>) {
            let gauge = graph.gauge();
            assert_eq!(gauge.check_undamped(graph).is_ok(), gauge.loose.is_empty());
            (gauge.held, gauge.loose.iter().map(|loose| loose.pose).collect())
        }
        Ok(match g2o::read_from(text.as_bytes(), "x.g2o")? {
            Graph::Plane(graph) => of(&graph),
            Graph::Space(graph) => of(&graph),
        })
    }

    #[test]
    fn each_part_is_held_on_its_own() -> Result<()> {
        // Poses 0, 3 and 7 have no measurements.
        let steps = [(1, 2), (4, 5), (5, 6)];
        let check = |sightings: &[(u64, u64)], fixed: &str, held: &[u32], loose: &[u32]| -> Result<()> {
            let found = of(&plane(&steps, sightings, &[[1.0, 0.0], [3.0, 0.0]], fixed))?;
            assert_eq!((&found.0[..], &found.1[..]), (held, loose), "{sightings:?} {fixed}");
            Ok(())
        };
        check(&[], "", &[1, 4], &[])?;
        check(&[(2, 100), (6, 100)], "", &[1], &[])?;
        check(&[(2, 100), (6, 100)], "FIX 100", &[], &[1, 4])?;
        check(&[(2, 100), (6, 100), (4, 101)], "FIX 100 101", &[], &[1])?;
        check(&[(2, 100)], "FIX 100", &[4], &[1])?;
        check(&[(2, 100), (6, 100)], "FIX 5", &[], &[])?;
        check(&[(2, 100), (6, 100)], "FIX 5 100", &[], &[1])?;
        // A fixed pose sees landmarks of two parts.
        check(&[(2, 100), (1, 101), (0, 100)], "FIX 0", &[4], &[1])?;
        check(&[(2, 100), (1, 101), (0, 100), (0, 101)], "FIX 0", &[4], &[])?;
        check(&[], "FIX 5", &[1], &[])?;
        // A fixed vertex without measurements holds nothing.
        check(&[], "FIX 0 100", &[1, 4], &[])
    }

    /// Tests that measurements of weight zero connect nothing. A pose that has only measurements of
    /// weight zero is a part of its own.
    #[test]
    fn weightless_measurements_join_nothing() -> Result<()> {
        let weightless = "EDGE_SE2 2 4 1 0 0 0 0 0 0 0 0\nEDGE_SE2 4 7 1 0 0 0 0 0 0 0 0\n";
        let text = plane(&[(1, 2), (4, 5)], &[], &[], weightless);
        assert_eq!(of(&text)?, (vec![1, 4, 7], vec![]));
        Ok(())
    }

    /// Tests that two landmarks count as one place if their distance is lost in the rounding of H.
    /// The result does not depend on how far the origin is.
    #[test]
    fn places_are_told_apart_by_their_distance_alone() -> Result<()> {
        for (apart, loose) in [(0.0, 1), (1e-9, 1), (1e-7, 0), (2.0, 0)] {
            let places = [[5e5, 4e5], [5e5 + apart, 4e5], [5e5, 4e5]];
            let found = of(&plane(&[(0, 1)], &[(0, 100), (1, 101), (1, 102)], &places, "FIX 100 101 102"))?;
            assert_eq!((found.0.len(), found.1.len()), (0, loose), "{apart}");
        }
        Ok(())
    }

    #[test]
    fn in_space_three_places_on_a_line_do_not_hold() -> Result<()> {
        let text = |places: &[[f64; 3]], fixed: &str| {
            let mut text = String::from("PARAMS_SE3OFFSET 0 0 0 0 0 0 0 1\nVERTEX_SE3:QUAT 0 0 0 0 0 0 0 1\n");
            for ([x, y, z], name) in places.iter().zip(1..) {
                text +=
                    &format!("VERTEX_TRACKXYZ {name} {x} {y} {z}\nEDGE_SE3_TRACKXYZ 0 {name} 0 1 2 2 1 0 0 1 0 1\n");
            }
            text + fixed
        };
        let line = [[1e6, 2.0, 3.0], [1e6 + 1.0, 4.0, 6.0], [1e6 - 3.0, -4.0, -6.0]];
        assert_eq!(of(&text(&line, "FIX 1"))?, (vec![], vec![0]));
        assert_eq!(of(&text(&line, "FIX 1 2"))?, (vec![], vec![0]));
        assert_eq!(of(&text(&line, "FIX 1 2 3"))?, (vec![], vec![0]));
        for (off, loose) in [(1e-9, vec![0]), (1e-3, vec![])] {
            let mut places = line;
            places[1][2] += off;
            assert_eq!(of(&text(&places, "FIX 1 2 3"))?, (vec![], loose), "{off}");
        }
        Ok(())
    }

    #[test]
    fn what_to_fix_is_said() -> Result<()> {
        let said = |sightings: &[(u64, u64)], fixed: &str| -> Result<String> {
            let text = plane(&[(1, 2), (4, 5)], sightings, &[[1.0, 0.0], [1.0, 0.0]], fixed);
            let Graph::Plane(graph) = g2o::read_from(text.as_bytes(), "x.g2o")? else { unreachable!() };
            Ok(graph.gauge().check_undamped(&graph).expect_err(fixed).to_string())
        };
        let one = said(&[(2, 100)], "FIX 100")?;
        assert_eq!(
            one,
            "1 of 2 free parts of the graph can turn, first the one of pose 1 (2 poses in all): landmark 100 alone is fixed; fix a pose, or \
             another landmark, or use damping (Levenberg-Marquardt)"
        );
        let seen = said(&[(2, 100), (7, 100)], "FIX 7")?;
        assert!(seen.contains("landmark 100 alone is fixed or seen from a fixed pose; fix"), "{seen}");
        let two = said(&[(2, 100), (2, 101)], "FIX 100 101")?;
        assert!(two.contains("landmarks 100, 101, all in one place, are fixed"), "{two}");
        Ok(())
    }
}
