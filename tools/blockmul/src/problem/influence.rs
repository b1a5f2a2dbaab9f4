//! Names of unknowns without influence, in messages and in JSON.
use blockmul::solver::{
    least_squares::{Coordinate, WithoutInfluence},
    problem::Named,
};
use serde_json::{Value, json};

/// Most unknowns that a message names.
const NAMED: usize = 5;

/// The unknowns with their numbers that are without influence: "rotation x, y of camera 2; ...".
pub fn text<P: Named>(problem: &P, of: &WithoutInfluence) -> String {
    let unknowns: Vec<&[Coordinate]> =
        of.first.chunk_by(|a, b| (a.group, a.number) == (b.group, b.number)).take(NAMED).collect();
    let named: usize = unknowns.iter().map(|of_one| of_one.len()).sum();
    let of_one = |of_one: &&[Coordinate]| {
        format!("{} of {}", together(of_one.iter().map(name::<P>)), unknown(problem, &of_one[0]))
    };
    let mut all: Vec<String> = unknowns.iter().map(of_one).collect();
    if of.count > named {
        all.push(format!("{} more", of.count - named));
    }
    all.join("; ")
}

/// The same for JSON.
pub fn json<P: Named>(problem: &P, of: &WithoutInfluence) -> Value {
    let one = |at: &Coordinate| json!({"unknown": unknown(problem, at), "coordinate": name::<P>(at)});
    json!({"count": of.count, "first": of.first.iter().map(one).collect::<Vec<_>>()})
}

fn unknown<P: Named>(problem: &P, at: &Coordinate) -> String {
    problem.unknown(at.group, at.number).unwrap_or_else(|| format!("unknown {} of group {}", at.number, at.group))
}

fn name<P: Named>(at: &Coordinate) -> &'static str {
    P::coordinates(at.group).get(at.coordinate).copied().unwrap_or("a number")
}

/// Names in a row. Words that are the same as in the name before are left out: "rotation x, y".
fn together(names: impl Iterator<Item = &'static str>) -> String {
    let (mut text, mut before) = (String::new(), "");
    for name in names {
        let (kind, letter) = name.rsplit_once(' ').unwrap_or(("", name));
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(if !kind.is_empty() && kind == before { letter } else { name });
        before = kind;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::solver::problem::{BundleProblem, Loss, bal};

    #[test]
    fn words_that_are_the_same_stand_once_and_the_rest_is_counted() {
        let names = ["rotation x", "rotation z", "translation x", "focal length", "k1", "k2"];
        assert_eq!(together(names.into_iter()), "rotation x, z, translation x, focal length, k1, k2");
        let text_of_file = "1 7 1\n0 6 25 0\n 0 0 0  0 0 0  50 0 0\n".to_owned() + &" 1 0 -2\n".repeat(7);
        let problem =
            BundleProblem::new(bal::read_from(text_of_file.as_bytes(), "one.txt").unwrap(), Loss::Squared).unwrap();
        let at = |group, number, coordinate| Coordinate { group, number, coordinate };
        let found = WithoutInfluence { count: 1203, first: vec![at(0, 0, 0), at(0, 0, 1), at(1, 0, 2)] };
        assert_eq!(text(&problem, &found), "rotation x, y of camera 0; z of point 6; 1200 more");
        assert_eq!(json(&problem, &found)["first"][2], json!({"unknown": "point 6", "coordinate": "z"}));
    }
}
