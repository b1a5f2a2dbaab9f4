//! Methods and formats that take no part in a contest.
use blockmul::plan::Format;
use serde::{Serialize, Serializer};

/// A method or a format that takes no part, and why.
#[derive(Serialize)]
pub struct LeftOut {
    pub name: String,
    pub why: String,
    /// The fraction of the products that a method leaves to others, if that is the reason.
    pub part: Option<f64>,
}

impl LeftOut {
    pub fn format(format: Format, why: String) -> Self {
        Self { name: format.to_string(), why, part: None }
    }
}

/// Serializes formats that were left out, for the JSON of a study of formats.
pub fn formats<S: Serializer>(all: &[LeftOut], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(all.iter().map(|of| serde_json::json!({"format": of.name, "why": of.why})))
}

/// Returns a line for each method or format that was left out, with the number of contests and a
/// reason. If there are several reasons, the line gives the one with the smallest part of the
/// products left to other methods.
pub fn text<'c>(contests: impl ExactSizeIterator<Item = &'c Vec<LeftOut>>, what: &str) -> Option<String> {
    let (count, mut all) = (contests.len(), Vec::<(&str, Vec<&LeftOut>)>::new());
    for left_out in contests.flatten() {
        match all.iter_mut().find(|(name, _)| *name == left_out.name) {
            Some((_, reasons)) => reasons.push(left_out),
            None => all.push((&left_out.name, vec![left_out])),
        }
    }
    let line = |(name, reasons): &(&str, Vec<&LeftOut>)| {
        let part = |of: &LeftOut| of.part.unwrap_or(f64::INFINITY);
        let least = reasons.iter().min_by(|one, other| part(one).total_cmp(&part(other)))?;
        let why = if least.part.is_some() { format!("it {} in one", least.why) } else { least.why.clone() };
        Some(format!("{name} is left out of {} of {count}{what}: {why}", reasons.len()))
    };
    (!all.is_empty()).then(|| all.iter().filter_map(line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_was_left_out_left_the_least_part_in_one() {
        let of = |parts: &[Option<f64>]| {
            let left_out = |part: &Option<f64>| LeftOut {
                name: "hub".into(),
                why: part.map_or("no memory".into(), |part| format!("leaves {:.1} %", 100.0 * part)),
                part: *part,
            };
            let contests: Vec<_> = parts.iter().map(|part| vec![left_out(part)]).collect();
            text(contests.iter(), " products").unwrap()
        };
        assert_eq!(
            of(&[Some(1.0), Some(0.392), None, Some(0.5)]),
            "hub is left out of 4 of 4 products: it leaves 39.2 % in one"
        );
        assert_eq!(of(&[None]), "hub is left out of 1 of 1 products: no memory");
    }
}
