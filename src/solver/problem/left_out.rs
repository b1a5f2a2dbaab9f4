//! Cameras, points, poses and landmarks that are not unknowns, and the reasons.

/// The reason why a camera, point, pose or landmark is not an unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The caller holds the camera or point, or the solver holds the pose, because nothing else
    /// fixes its part of the graph.
    Held,
    /// The file fixes the pose or landmark.
    Fixed,
    /// The camera, point, pose or landmark has no observations or measurements.
    Unseen,
}

/// Cameras, points, poses or landmarks that have no columns in J for the same reason.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// The kind of the members: "camera", "point", "pose" or "landmark".
    pub kind: &'static str,
    /// 0 for cameras and poses, 1 for points and landmarks: if J has two groups of columns, the
    /// group that lacks these members.
    pub group: usize,
    /// The names of the members in the file, in the file's order.
    pub names: Vec<u64>,
    /// Number of members of this kind.
    pub all: usize,
    /// The reason.
    pub why: Why,
}

impl LeftOut {
    /// The maximum number of names in a list.
    pub const NAMED: usize = 10;

    pub(super) fn by_reason(
        kind: &'static str,
        group: usize,
        all: usize,
        missing: impl Iterator<Item = (Why, u64)>,
    ) -> impl Iterator<Item = Self> {
        let missing: Vec<(Why, u64)> = missing.collect();
        [Why::Held, Why::Fixed, Why::Unseen].into_iter().filter_map(move |why| {
            let names: Vec<u64> = missing.iter().filter(|(is, _)| *is == why).map(|&(_, name)| name).collect();
            (!names.is_empty()).then_some(Self { kind, group, names, all, why })
        })
    }

    /// Describes the members with a bounded list of names, such as `poses 0, 4 and 7`.
    pub fn listed(&self) -> String {
        let Self { kind, names, .. } = self;
        let words: Vec<String> = names.iter().take(Self::NAMED).map(u64::to_string).collect();
        match (names.len(), &words[..]) {
            (1, [one]) => format!("{kind} {one}"),
            (count, words) if count > words.len() => {
                format!("{kind}s {} and {} more", words.join(", "), count - words.len())
            }
            (_, [first @ .., last]) => format!("{kind}s {} and {last}", first.join(", ")),
            _ => format!("no {kind}s"),
        }
    }

    /// The kind of measurements of these members, as a plural noun.
    pub fn evidence(&self) -> &'static str {
        if matches!(self.kind, "camera" | "point") { "observations" } else { "measurements" }
    }

    /// A sentence that says which of the matrices `names` have no blocks for these members, or
    /// `None` if none of these matrices has blocks for this kind of member. `names` are S and names
    /// from `Linearization::matrix_names`.
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
        let (matrices, all) = (affected.join(", "), self.all);
        (!affected.is_empty()).then(|| format!("{matrices} {verb} no {blocks} for {} (of {all}): {why}", self.listed()))
    }
}

/// The members and the reason.
impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.why {
            Why::Held => write!(f, "held: {}", self.listed()),
            Why::Fixed => write!(f, "fixed by the file: {}", self.listed()),
            Why::Unseen => write!(f, "without {}: {} (of {})", self.evidence(), self.listed(), self.all),
        }
    }
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
            assert_eq!(left(names, Why::Held).to_string(), format!("held: {want}"));
        }
        assert_eq!(left(3..4, Why::Unseen).to_string(), "without observations: camera 3 (of 99)");
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
