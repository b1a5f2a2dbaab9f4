//! Cameras, points, poses and landmarks that are no unknowns, in words and as JSON.
use blockmul::solver::problem::{BundleProblem, GraphProblem, Manifold};
use serde_json::json;

/// Most names in a list.
const NAMED: usize = 10;

/// The reason why something is no unknown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The solver holds it, because nothing else holds its part of the graph.
    Held,
    /// The file fixes it.
    Fixed,
    /// It has no observations or measurements.
    Unseen,
}

/// Members of one kind that have no columns in J for one reason.
pub struct LeftOut {
    kind: &'static str,
    /// The group of J's columns in which they are missing.
    group: usize,
    /// Their names in the file, in its order.
    names: Vec<u64>,
    /// Number of members of this kind.
    all: usize,
    why: Why,
}

impl LeftOut {
    /// The cameras and points of a bundle adjustment without observations.
    pub fn of_bundle(problem: &BundleProblem) -> Vec<Self> {
        let (cameras, points) = (problem.problem().cameras.len(), problem.problem().points.len());
        let unseen = |one: u32| (Why::Unseen, one.into());
        let mut left = Self::by_reason(("camera", 0, cameras), problem.missing_cameras().map(unseen));
        left.extend(Self::by_reason(("point", 1, points), problem.missing_points().map(unseen)));
        left
    }

    /// The poses and landmarks of a graph that are held, fixed or not measured.
    pub fn of_graph<P: Manifold>(problem: &GraphProblem<P>) -> Vec<Self> {
        let graph = problem.graph();
        let is_in = |list: &[u32], one: u32| list.binary_search(&one).is_ok();
        let poses = problem.missing_poses().map(|one| {
            let why = match is_in(problem.held(), one) {
                true => Why::Held,
                false if is_in(&graph.fixed_poses, one) => Why::Fixed,
                false => Why::Unseen,
            };
            (why, graph.pose_name(one))
        });
        let landmarks = problem.missing_landmarks().map(|one| {
            let why = if is_in(&graph.fixed_landmarks, one) { Why::Fixed } else { Why::Unseen };
            (why, graph.landmark_name(one))
        });
        let mut left = Self::by_reason(("pose", 0, graph.poses.len()), poses);
        left.extend(Self::by_reason(("landmark", 1, graph.landmarks.len()), landmarks));
        left
    }

    fn by_reason(
        (kind, group, all): (&'static str, usize, usize),
        missing: impl Iterator<Item = (Why, u64)>,
    ) -> Vec<Self> {
        let missing: Vec<(Why, u64)> = missing.collect();
        let of = |why: Why| {
            let names: Vec<u64> = missing.iter().filter(|(is, _)| *is == why).map(|&(_, name)| name).collect();
            (!names.is_empty()).then_some(Self { kind, group, names, all, why })
        };
        [Why::Held, Why::Fixed, Why::Unseen].into_iter().filter_map(of).collect()
    }

    /// Whether the solver chose to hold these.
    pub fn is_held(&self) -> bool {
        self.why == Why::Held
    }

    /// What is measured of this kind.
    fn evidence(&self) -> &'static str {
        if matches!(self.kind, "camera" | "point") { "observations" } else { "measurements" }
    }

    /// The members in words, such as `poses 0, 4 and 7`.
    pub fn listed(&self) -> String {
        let Self { kind, names, .. } = self;
        let words: Vec<String> = names.iter().take(NAMED).map(u64::to_string).collect();
        match (names.len(), &words[..]) {
            (1, [one]) => format!("{kind} {one}"),
            (count, words) if count > words.len() => {
                format!("{kind}s {} and {} more", words.join(", "), count - words.len())
            }
            (_, [first @ .., last]) => format!("{kind}s {} and {last}", first.join(", ")),
            _ => format!("no {kind}s"),
        }
    }

    /// The members and the reason, as a message.
    pub fn said(&self) -> String {
        match self.why {
            Why::Held => format!("held: {}", self.listed()),
            Why::Fixed => format!("fixed by the file: {}", self.listed()),
            Why::Unseen => format!("without {}: {} (of {})", self.evidence(), self.listed(), self.all),
        }
    }

    /// A message that these members have no blocks in some of the matrices `names`; `None` if
    /// none of these has blocks of this kind.
    pub fn of_matrices(&self, names: &[&str]) -> Option<String> {
        let has = |name: &&str| match *name {
            "U" | "S" | "Jc" => self.group == 0,
            "V" | "Jp" => self.group == 1,
            name => matches!(name, "H" | "J" | "W"),
        };
        let mut affected: Vec<&str> = names.iter().copied().filter(has).collect();
        affected.dedup();
        let is_one = self.names.len() == 1;
        let why = match (self.why, is_one) {
            (Why::Held, true) => "it is held".to_owned(),
            (Why::Held, false) => "they are held".to_owned(),
            (Why::Fixed, true) => "the file fixes it".to_owned(),
            (Why::Fixed, false) => "the file fixes them".to_owned(),
            (Why::Unseen, true) => format!("it has no {}", self.evidence()),
            (Why::Unseen, false) => format!("they have no {}", self.evidence()),
        };
        let verb = if affected.len() == 1 { "has" } else { "have" };
        let blocks = if is_one { "block" } else { "blocks" };
        let matrices = affected.join(", ");
        (!affected.is_empty())
            .then(|| format!("{matrices} {verb} no {blocks} for {} (of {}): {why}", self.listed(), self.all))
    }

    /// The members as JSON, with a bounded list of names.
    pub fn json(&self) -> serde_json::Value {
        let why = match self.why {
            Why::Held => "held".to_owned(),
            Why::Fixed => "fixed".to_owned(),
            Why::Unseen => format!("no {}", self.evidence()),
        };
        let first: Vec<u64> = self.names.iter().copied().take(NAMED).collect();
        json!({"kind": self.kind, "why": why, "count": self.names.len(), "of": self.all, "first": first})
    }
}

/// What the solver holds, and all that is no unknown, as JSON.
pub fn json(left: &[LeftOut]) -> (serde_json::Value, serde_json::Value) {
    let held = left.iter().find(|left| left.is_held()).map(LeftOut::listed);
    (json!(held), left.iter().map(LeftOut::json).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(names: std::ops::Range<u64>, why: Why) -> LeftOut {
        LeftOut { kind: "camera", group: 0, names: names.collect(), all: 99, why }
    }

    #[test]
    fn lists_are_bounded() {
        for (names, want) in [
            (3..4, "camera 3"),
            (3..5, "cameras 3 and 4"),
            (0..10, "cameras 0, 1, 2, 3, 4, 5, 6, 7, 8 and 9"),
            (0..50, "cameras 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 40 more"),
        ] {
            assert_eq!(left(names, Why::Held).listed(), want);
        }
        assert_eq!(left(0..50, Why::Held).json()["first"].as_array().unwrap().len(), 10);
    }

    #[test]
    fn matrices_with_such_blocks_are_named() {
        let unseen = left(3..4, Why::Unseen);
        let said = |names: &[&str]| unseen.of_matrices(names);
        assert_eq!(said(&["U"]).unwrap(), "U has no block for camera 3 (of 99): it has no observations");
        assert_eq!(said(&["V", "Jp", "Omega"]), None);
        assert_eq!(said(&["V", "H", "W"]).unwrap(), "H, W have no block for camera 3 (of 99): it has no observations");
        let fixed = left(3..5, Why::Fixed).of_matrices(&["S"]).unwrap();
        assert_eq!(fixed, "S has no blocks for cameras 3 and 4 (of 99): the file fixes them");
    }
}
