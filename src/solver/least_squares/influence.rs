//! Writes the names of unknowns without influence.
use super::{Coordinate, WithoutInfluence};
use crate::solver::problem::Named;

/// The maximum number of unknowns that a message names.
const NAMED: usize = 5;

impl Coordinate {
    /// The names of the unknown and of its coordinate.
    pub fn names<P: Named>(&self, problem: &P) -> (String, &'static str) {
        let Self { group, number, coordinate } = *self;
        let unknown = problem.unknown(group, number).unwrap_or_else(|| format!("unknown {number} of group {group}"));
        (unknown, problem.coordinates(group).get(coordinate).copied().unwrap_or("a number"))
    }
}

impl WithoutInfluence {
    /// Describes the unknowns without influence and their coordinates, for example "rotation x, y
    /// of camera 2; z of point 6". Only the first unknowns are named.
    pub fn text<P: Named>(&self, problem: &P) -> String {
        let unknowns: Vec<&[Coordinate]> =
            self.first.chunk_by(|a, b| (a.group, a.number) == (b.group, b.number)).take(NAMED).collect();
        let named: usize = unknowns.iter().map(|of_one| of_one.len()).sum();
        let of_one = |of_one: &&[Coordinate]| {
            let coordinates = together(of_one.iter().map(|at| at.names(problem).1));
            format!("{coordinates} of {}", of_one[0].names(problem).0)
        };
        let mut all: Vec<String> = unknowns.iter().map(of_one).collect();
        if self.count > named {
            all.push(format!("{} more", self.count - named));
        }
        all.join("; ")
    }
}

/// Joins names of coordinates. Words that repeat words of the name before are left out, as in
/// "rotation x, y".
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
    use crate::solver::problem::{BundleProblem, Loss, bal};

    #[test]
    fn words_that_are_the_same_stand_once_and_the_rest_is_counted() -> crate::Result<()> {
        let names = ["rotation x", "rotation z", "translation x", "focal length", "k1", "k2"];
        assert_eq!(together(names.into_iter()), "rotation x, z, translation x, focal length, k1, k2");
        let text_of_file = "1 7 1\n0 6 25 0\n 0 0 0  0 0 0  50 0 0\n".to_owned() + &" 1 0 -2\n".repeat(7);
        let problem = BundleProblem::new(bal::read_from(text_of_file.as_bytes(), "one.txt")?, Loss::Squared)?;
        let at = |group, number, coordinate| Coordinate { group, number, coordinate };
        let found = WithoutInfluence { count: 1203, first: vec![at(0, 0, 0), at(0, 0, 1), at(1, 0, 2)] };
        assert_eq!(found.text(&problem), "rotation x, y of camera 0; z of point 6; 1200 more");
        assert_eq!(found.first[2].names(&problem), ("point 6".into(), "z"));
        Ok(())
    }
}
