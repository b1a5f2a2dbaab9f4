//! Cameras, points, poses and landmarks that are no unknowns, in words and as JSON.
use blockmul::solver::problem::{LeftOut, Why};
use serde_json::json;

/// Most names in a list.
const NAMED: usize = 10;

/// What is measured of this kind.
fn evidence(left: &LeftOut) -> &'static str {
    if matches!(left.kind, "camera" | "point") { "observations" } else { "measurements" }
}

/// The members in words, such as `poses 0, 4 and 7`.
pub fn listed(left: &LeftOut) -> String {
    let LeftOut { kind, names, .. } = left;
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
pub fn said(left: &LeftOut) -> String {
    match left.why {
        Why::Held => format!("held: {}", listed(left)),
        Why::Fixed => format!("fixed by the file: {}", listed(left)),
        Why::Unseen => format!("without {}: {} (of {})", evidence(left), listed(left), left.all),
    }
}

/// A message that these members have no blocks in some of the matrices `names`; `None` if
/// none of these has blocks of this kind.
pub fn of_matrices(left: &LeftOut, names: &[&str]) -> Option<String> {
    let has = |name: &&str| match *name {
        "U" | "S" | "Jc" => left.group == 0,
        "V" | "Jp" => left.group == 1,
        name => matches!(name, "H" | "J" | "W"),
    };
    let mut affected: Vec<&str> = names.iter().copied().filter(has).collect();
    affected.dedup();
    let is_one = left.names.len() == 1;
    let why = match (left.why, is_one) {
        (Why::Held, true) => "it is held".to_owned(),
        (Why::Held, false) => "they are held".to_owned(),
        (Why::Fixed, true) => "the file fixes it".to_owned(),
        (Why::Fixed, false) => "the file fixes them".to_owned(),
        (Why::Unseen, true) => format!("it has no {}", evidence(left)),
        (Why::Unseen, false) => format!("they have no {}", evidence(left)),
    };
    let verb = if affected.len() == 1 { "has" } else { "have" };
    let blocks = if is_one { "block" } else { "blocks" };
    let matrices = affected.join(", ");
    (!affected.is_empty())
        .then(|| format!("{matrices} {verb} no {blocks} for {} (of {}): {why}", listed(left), left.all))
}

/// The members as JSON, with a bounded list of names.
fn one(left: &LeftOut) -> serde_json::Value {
    let why = match left.why {
        Why::Held => "held".to_owned(),
        Why::Fixed => "fixed".to_owned(),
        Why::Unseen => format!("no {}", evidence(left)),
    };
    let first: Vec<u64> = left.names.iter().copied().take(NAMED).collect();
    json!({"kind": left.kind, "why": why, "count": left.names.len(), "of": left.all, "first": first})
}

/// What the solver holds, and all that is no unknown, as JSON.
pub fn json(left: &[LeftOut]) -> (serde_json::Value, serde_json::Value) {
    let held = left.iter().find(|left| left.why == Why::Held).map(listed);
    (json!(held), left.iter().map(one).collect())
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
            assert_eq!(listed(&left(names, Why::Held)), want);
        }
        assert_eq!(one(&left(0..50, Why::Held))["first"].as_array().unwrap().len(), 10);
    }

    #[test]
    fn matrices_with_such_blocks_are_named() {
        let unseen = left(3..4, Why::Unseen);
        let said = |names: &[&str]| of_matrices(&unseen, names);
        assert_eq!(said(&["U"]).unwrap(), "U has no block for camera 3 (of 99): it has no observations");
        assert_eq!(said(&["V", "Jp", "Omega"]), None);
        assert_eq!(said(&["V", "H", "W"]).unwrap(), "H, W have no block for camera 3 (of 99): it has no observations");
        let fixed = of_matrices(&left(3..5, Why::Fixed), &["S"]).unwrap();
        assert_eq!(fixed, "S has no blocks for cameras 3 and 4 (of 99): the file fixes them");
    }
}
