//! The ways to share A out, and the choice among them.
use super::{Request, gcoo::Gcoo, tuning};
use crate::{BlockShape, Error, Result, device::Work, tuning::Numbers, vector::lines::Index};
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
    /// (GCOO of Shi, Wang and Chu, 2020). Of scalars alone: a row of blocks is such a group.
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
    let Numbers { dense_group_lines: lines, dense_reuse_percent: least, .. } = request.numbers;
    let long = tuning::longest(&request.numbers, index.pattern());
    let chosen = |method, why| (Choice { method, why }, None);
    match request.method {
        DenseMethod::Gcoo if shape != BlockShape::SCALAR => {
            Err(Error::Argument(format!("gcoo groups rows of scalars: A has blocks of {shape}")))
        }
        DenseMethod::Gcoo => {
            let groups = Gcoo::new(work, index, lines, long)?;
            let why = format!("gcoo, as asked for: {}", reuse(&groups, lines));
            Ok((Choice { method: DenseMethod::Gcoo, why }, Some(groups)))
        }
        DenseMethod::Rows => Ok(chosen(DenseMethod::Rows, "rows, as asked for".into())),
        DenseMethod::Auto if shape != BlockShape::SCALAR => {
            Ok(chosen(DenseMethod::Rows, format!("rows: a row of blocks of {shape} shares its rows of D")))
        }
        DenseMethod::Auto if least > 100 * lines => {
            Ok(chosen(DenseMethod::Rows, "rows: on this kind of device they are faster than groups".into()))
        }
        DenseMethod::Auto => {
            let groups = Gcoo::new(work, index, lines, long)?;
            let found = reuse(&groups, lines);
            let least_text = format!("{}.{:02}", least / 100, least % 100);
            match groups.reuse_percent() >= least as u64 {
                true => {
                    let why = format!("gcoo: {found}, {least_text} or more pay");
                    Ok((Choice { method: DenseMethod::Gcoo, why }, Some(groups)))
                }
                false => Ok(chosen(DenseMethod::Rows, format!("rows: {found}, fewer than the {least_text} that pay"))),
            }
        }
    }
}

fn reuse(groups: &Gcoo, lines: usize) -> String {
    let percent = groups.reuse_percent();
    let times = format!("{}.{:02}", percent / 100, percent % 100);
    format!("groups of {lines} rows use a row of D {times} times")
}
