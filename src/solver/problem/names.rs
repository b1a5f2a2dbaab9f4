//! The names that unknowns and measurements have in a problem's file, for messages of solvers.
use super::{BundleProblem, GraphProblem, LeastSquares, LeftOut, Manifold, Observation, Sighting, Step, Why};

/// A problem whose unknowns and measurements have names.
///
/// A solver numbers unknowns by the columns of J, and measurements by the rows of J. A camera,
/// point, pose or landmark may have another number in the problem than its column has in J, because
/// some have no column. The names in a file are arbitrary.
pub trait Named: LeastSquares {
    /// The kind of problem, such as "bundle adjustment".
    fn kind(&self) -> &'static str;

    /// Whether twice the cost is a χ², as for graphs. The cost of a bundle adjustment is in squared
    /// pixels.
    fn has_chi2(&self) -> bool;

    /// The contents of the problem in one line: "49 cameras, 7776 points, 31843 observations".
    fn describe(&self) -> String;

    /// The name of the unknown with this number in its group of columns of J.
    fn unknown(&self, group: usize, number: usize) -> Option<String>;

    /// The names of the numbers that describe an unknown of this group.
    fn coordinates(&self, group: usize) -> &'static [&'static str];

    /// A description of the measurement in this row of J.
    fn measurement(&self, row: usize) -> String;

    /// The members that have no columns in J.
    fn left_out(&self) -> Vec<LeftOut>;
}

/// Joins numbers and their nouns.
fn counted(all: impl Iterator<Item = (usize, &'static str)>) -> String {
    let one = |(count, noun)| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    all.map(one).collect::<Vec<_>>().join(", ")
}

impl Named for BundleProblem {
    fn kind(&self) -> &'static str {
        "bundle adjustment"
    }

    fn has_chi2(&self) -> bool {
        false
    }

    fn describe(&self) -> String {
        let problem = self.problem();
        let all = [(problem.cameras.len(), "camera"), (problem.points.len(), "point")];
        counted(all.into_iter().chain([(problem.observations.len(), "observation")]))
    }

    fn unknown(&self, group: usize, number: usize) -> Option<String> {
        match self.kinds().nth(group)? {
            0 => self.unknown_camera(number).map(|camera| format!("camera {camera}")),
            _ => self.unknown_point(number).map(|point| format!("point {point}")),
        }
    }

    fn coordinates(&self, group: usize) -> &'static [&'static str] {
        const CAMERA: [&str; 9] = [
            "rotation x",
            "rotation y",
            "rotation z",
            "translation x",
            "translation y",
            "translation z",
            "focal length",
            "k1",
            "k2",
        ];
        if self.kinds().nth(group) == Some(0) { &CAMERA } else { &["x", "y", "z"] }
    }

    fn measurement(&self, row: usize) -> String {
        let Observation { camera, point, .. } = self.problem().observations[row];
        format!("camera {camera} sees point {point} (from 0; observation {})", row + 1)
    }

    fn left_out(&self) -> Vec<LeftOut> {
        let (cameras, points) = (self.problem().cameras.len(), self.problem().points.len());
        let with_why = |held: &[u32], one: u32| {
            (if held.binary_search(&one).is_ok() { Why::Held } else { Why::Unseen }, one.into())
        };
        let of_cameras = self.missing_cameras().map(|one| with_why(self.held_cameras(), one));
        let of_points = self.missing_points().map(|one| with_why(self.held_points(), one));
        let cameras = LeftOut::by_reason("camera", 0, cameras, of_cameras);
        cameras.chain(LeftOut::by_reason("point", 1, points, of_points)).collect()
    }
}

impl<P: Manifold> Named for GraphProblem<P> {
    fn kind(&self) -> &'static str {
        if P::LANDMARK == 2 { "pose graph in the plane" } else { "pose graph in space" }
    }

    fn has_chi2(&self) -> bool {
        true
    }

    fn describe(&self) -> String {
        let graph = self.graph();
        let landmarks = [(graph.landmarks.len(), "landmark"), (graph.sightings.len(), "sighting")];
        let [landmarks, sightings] = landmarks.map(|of| Some(of).filter(|(count, _)| *count > 0));
        let (poses, steps) = ((graph.poses.len(), "pose"), (graph.steps.len(), "step"));
        counted([Some(poses), landmarks, Some(steps), sightings].into_iter().flatten())
    }

    fn unknown(&self, group: usize, number: usize) -> Option<String> {
        let graph = self.graph();
        match group {
            0 => self.unknown_pose(number).map(|pose| format!("pose {}", graph.pose_name(pose as u32))),
            _ => self.unknown_landmark(number).map(|of| format!("landmark {}", graph.landmark_name(of as u32))),
        }
    }

    fn coordinates(&self, group: usize) -> &'static [&'static str] {
        match (group, P::LANDMARK) {
            (0, 2) => &["x", "y", "angle"],
            (0, _) => &["translation x", "translation y", "translation z", "rotation x", "rotation y", "rotation z"],
            _ => &["x", "y", "z"],
        }
    }

    fn measurement(&self, row: usize) -> String {
        let graph = self.graph();
        match row.checked_sub(graph.steps.len()) {
            None => {
                let Step { from, to, .. } = graph.steps[row];
                format!("the edge from {} to {}", graph.pose_name(from), graph.pose_name(to))
            }
            Some(sighting) => {
                let Sighting { pose, landmark, .. } = graph.sightings[sighting];
                format!("the edge from {} to landmark {}", graph.pose_name(pose), graph.landmark_name(landmark))
            }
        }
    }

    fn left_out(&self) -> Vec<LeftOut> {
        let graph = self.graph();
        let is_in = |list: &[u32], one: u32| list.binary_search(&one).is_ok();
        let poses = self.missing_poses().map(|one| {
            let why = match is_in(self.held(), one) {
                true => Why::Held,
                false if is_in(&graph.fixed_poses, one) => Why::Fixed,
                false => Why::Unseen,
            };
            (why, graph.pose_name(one))
        });
        let landmarks = self.missing_landmarks().map(|one| {
            let why = if is_in(&graph.fixed_landmarks, one) { Why::Fixed } else { Why::Unseen };
            (why, graph.landmark_name(one))
        });
        let poses = LeftOut::by_reason("pose", 0, graph.poses.len(), poses);
        poses.chain(LeftOut::by_reason("landmark", 1, graph.landmarks.len(), landmarks)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Loss, bal};
    use super::*;

    #[test]
    fn what_is_not_seen_is_left_out_and_the_rest_keeps_its_name() -> crate::Result<()> {
        let seen_twice = "2 8 7\n0 1 25 0\n".to_owned() + &"0 6 25 0\n".repeat(6) + &" 1 0 -2\n".repeat(2 * 3 + 8);
        let problem = BundleProblem::new(bal::read_from(seen_twice.as_bytes(), "b.txt")?, Loss::Squared)?;
        let left: Vec<_> = problem.left_out().into_iter().map(|of| (of.kind, of.names, of.all, of.why)).collect();
        let points = vec![0, 2, 3, 4, 5, 7];
        assert_eq!(left, [("camera", vec![1], 2, Why::Unseen), ("point", points, 8, Why::Unseen)]);
        assert_eq!(
            [0, 1].map(|number| problem.unknown(1, number)),
            ["point 1", "point 6"].map(|name| Some(name.into()))
        );
        assert_eq!(problem.describe(), "2 cameras, 8 points, 7 observations");
        assert_eq!(problem.measurement(2), "camera 0 sees point 6 (from 0; observation 3)");
        Ok(())
    }
}
