//! The options with their levels. A row describes a product: it has a level of each option. A
//! product refuses some rows. The rows of [`covering`] have all pairs of levels that are not
//! refused.
use crate::common::Random;
use blockmul::Method;

/// The options with their numbers of levels. Level 0 is the default.
pub const OPTIONS: [(&str, usize); 13] = [
    ("kind", 4),
    ("A transposed", 2),
    ("B transposed", 2),
    ("weights", 4),
    ("part", 3),
    ("mask", 2),
    ("drop", 2),
    ("alignment", 2),
    ("memory limit", 2),
    ("how", 3),
    ("chain", 2),
    ("method", 1 + Method::ALL.len()),
    ("element", 3),
];
pub const KIND: usize = 0;
pub const A_T: usize = 1;
pub const B_T: usize = 2;
pub const WEIGHTS: usize = 3;
pub const PART: usize = 4;
pub const MASK: usize = 5;
pub const DROP: usize = 6;
pub const ALIGNMENT: usize = 7;
pub const LIMIT: usize = 8;
pub const HOW: usize = 9;
pub const CHAIN: usize = 10;
pub const METHOD: usize = 11;
pub const ELEMENT: usize = 12;

// Levels of the options `kind` and `how`.
pub const BLOCKS: usize = 0;
pub const SCALARS: usize = 1;
pub const ROW_MAJOR: usize = 2;
pub const GROUPS: usize = 3;
pub const RUN: usize = 0;
pub const PLAN: usize = 1;
pub const TO_HOST: usize = 2;

/// Entries (blocks) below this number are dropped.
pub const TOLERANCE: f64 = 3.0;

/// A level of each option.
pub type Row = [usize; OPTIONS.len()];

/// Returns the beginning of the error message if a row is refused.
pub fn refusal(row: &Row) -> Option<&'static str> {
    if row[MASK] == 1 && row[PART] > 0 {
        return Some("a masked product has the mask's pattern: a part");
    }
    if row[MASK] == 1 && row[DROP] == 1 {
        return Some("a masked product has the mask's pattern: no entry");
    }
    if row[DROP] == 1 && row[HOW] == PLAN {
        return Some("a plan's pattern does not depend on values");
    }
    if row[DROP] == 1 && row[KIND] == GROUPS {
        return Some("entries of groups are not dropped");
    }
    if row[ALIGNMENT] == 1 && row[KIND] == SCALARS {
        return Some("scalars lie side by side");
    }
    None
}

/// A pair of levels of two options.
type Pair = ((usize, usize), (usize, usize));

fn pairs(row: &Row) -> impl Iterator<Item = Pair> {
    let at = |option: usize| (option, row[option]);
    (0..row.len()).flat_map(move |i| (i + 1..row.len()).map(move |k| (at(i), at(k))))
}

/// Returns rows that are not refused. Together the returned rows have every pair of levels that is
/// not refused.
pub fn covering(random: &mut Random) -> Vec<Row> {
    let mut wanted = std::collections::BTreeSet::new();
    for i in 0..OPTIONS.len() {
        for k in i + 1..OPTIONS.len() {
            for (x, y) in (0..OPTIONS[i].1).flat_map(|x| (0..OPTIONS[k].1).map(move |y| (x, y))) {
                let mut row = [0; OPTIONS.len()];
                (row[i], row[k]) = (x, y);
                if refusal(&row).is_none() {
                    wanted.insert(((i, x), (k, y)));
                }
            }
        }
    }
    let mut rows = Vec::new();
    while let Some(&((i, x), (k, y))) = wanted.first() {
        // Several random rows that have the first missing pair are tried. The row with the most
        // missing pairs is taken.
        let candidate = |_| {
            let mut row: Row = std::array::from_fn(|option| random.below(OPTIONS[option].1));
            (row[i], row[k]) = (x, y);
            // Options that cause a refusal are set to their default, except for the two options of
            // the pair.
            for option in [DROP, MASK, ALIGNMENT, PART, HOW, KIND] {
                if refusal(&row).is_some() && option != i && option != k {
                    row[option] = 0;
                }
            }
            row
        };
        let candidates: Vec<Row> = (0..60).map(candidate).filter(|row| refusal(row).is_none()).collect();
        let gain = |row: &&Row| pairs(row).filter(|pair| wanted.contains(pair)).count();
        let best = *candidates.iter().max_by_key(gain).expect("plain but for the pair it is not refused");
        pairs(&best).for_each(|pair| {
            wanted.remove(&pair);
        });
        rows.push(best);
    }
    rows
}
