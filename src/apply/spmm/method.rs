//! The ways to share A out, and the choice among them.
use super::{Request, gcoo::Gcoo, tuning};
use crate::{BlockShape, Error, Result, device::Work, vector::lines::Index};
use serde::Serialize;

/// How the entries of A are shared out in a product with a dense matrix. All give the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DenseMethod {
    /// As estimated to be the fastest.
    Auto,
    /// Each row by itself; of a matrix of blocks each row of blocks.
    Rows,
    /// Groups of neighbouring rows, whose entries in one column share a row of the dense matrix
    /// (GCOO of Shi, Wang and Chu, 2020). Of a matrix of blocks groups of rows of blocks, as many
    /// as have the scalar rows of a group.
    Gcoo,
}

impl DenseMethod {
    /// Every way but [`DenseMethod::Auto`].
    pub const ALL: &[Self] = &[Self::Rows, Self::Gcoo];

    /// The name that the command uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Rows => "rows",
            Self::Gcoo => "gcoo",
        }
    }
}

impl std::fmt::Display for DenseMethod {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for DenseMethod {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        let mut all = [Self::Auto].iter().chain(Self::ALL).copied();
        all.find(|method| method.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|method| method.name()).collect();
            Error::Argument(format!("no method is named \"{name}\"; there are: auto, {}", names.join(", ")))
        })
    }
}

/// A way, and the reason for it in a sentence.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub method: DenseMethod,
    pub why: String,
}

/// The way that is asked for or estimated to be the fastest, and the groups if it is
/// [`DenseMethod::Gcoo`]. They are made to count how often their rows of D are used.
pub(super) fn choose(
    work: &Work,
    index: &Index,
    shape: BlockShape,
    request: &Request,
) -> Result<(Choice, Option<Gcoo>)> {
    let (least, (side, _)) = (request.numbers.dense_reuse_percent, request.sides(shape));
    let lines = tuning::group_lines(&request.numbers, side);
    let rows = if shape == BlockShape::SCALAR { "rows" } else { "rows of blocks" };
    let long = tuning::longest(&request.numbers, index.pattern());
    let by_rows = |why: String| -> Result<_> {
        let why = match request.explained && lines > 1 {
            true => {
                let percent = Gcoo::new(work, index, lines, long)?.reuse_percent();
                format!("{why}; {}", reuse(percent, lines, &format!("{rows} would")))
            }
            false => why,
        };
        Ok((Choice { method: DenseMethod::Rows, why }, None))
    };
    match request.method {
        DenseMethod::Gcoo => {
            let groups = Gcoo::new(work, index, lines, long)?;
            let why = format!("gcoo, as asked for: {}", reuse(groups.reuse_percent(), lines, rows));
            Ok((Choice { method: DenseMethod::Gcoo, why }, Some(groups)))
        }
        DenseMethod::Rows => by_rows("rows, as asked for".into()),
        DenseMethod::Auto if lines == 1 => by_rows(format!("rows: a row of blocks of {shape} shares its rows of D")),
        DenseMethod::Auto if least > 100 * lines => {
            by_rows("rows: on this kind of device they are faster than groups".into())
        }
        DenseMethod::Auto => {
            let groups = Gcoo::new(work, index, lines, long)?;
            let choice = by_reuse(groups.reuse_percent(), least, (lines, rows));
            let groups = (choice.method == DenseMethod::Gcoo).then_some(groups);
            Ok((choice, groups))
        }
    }
}

/// The way for groups of so many `rows`, whose entries meet each row of D that they load
/// `percent` / 100 times: groups if these are at least `least` / 100.
pub(super) fn by_reuse(percent: u64, least: usize, (lines, rows): (usize, &str)) -> Choice {
    let (found, least_text) = (reuse(percent, lines, rows), format!("{}.{:02}", least / 100, least % 100));
    match percent >= least as u64 {
        true => Choice { method: DenseMethod::Gcoo, why: format!("gcoo: {found}, {least_text} or more pay") },
        false => {
            let why = format!("rows: {found}, fewer than the {least_text} that pay");
            Choice { method: DenseMethod::Rows, why }
        }
    }
}

pub(super) fn reuse(percent: u64, lines: usize, rows: &str) -> String {
    let times = format!("{}.{:02}", percent / 100, percent % 100);
    format!("groups of {lines} {rows} use a row of D {times} times")
}
