//! Methods of a product with a dense matrix: how entries of A are divided among work-items.
use super::{Request, gcoo::Gcoo, tuning};
use crate::{BlockShape, Result, device::Work, named::named, vector::lines::Index};
use serde::Serialize;

/// The division of A's entries among work-items in a product with a dense matrix. All methods give
/// equal bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DenseMethod {
    /// The method that is estimated to be the fastest.
    Auto,
    /// Each row is computed by itself. In a matrix of blocks, each row of blocks is computed by
    /// itself.
    Rows,
    /// Neighbouring rows are computed in groups. Entries of a group in one column share a row of
    /// the dense matrix (GCOO of Shi, Wang and Chu, 2020). In a matrix of blocks the rows are rows
    /// of blocks. A group of rows of blocks has about as many scalar rows as a group of scalars.
    Gcoo,
}

impl DenseMethod {
    /// Every method except [`DenseMethod::Auto`].
    pub const ALL: &[Self] = &[Self::Rows, Self::Gcoo];

    /// The name that the command uses for the method.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Rows => "rows",
            Self::Gcoo => "gcoo",
        }
    }
}

named!(DenseMethod, "method", &[DenseMethod::Auto], DenseMethod::ALL);

/// A method, and the reason for it in a sentence.
#[derive(Debug, Clone)]
pub(super) struct MethodChoice {
    pub method: DenseMethod,
    pub why: String,
}

/// Chooses the method: the requested one, or the one estimated to be the fastest. Also returns the
/// groups for [`DenseMethod::Gcoo`], which were made to count how often they use each row of D.
pub(super) fn choose(
    work: &Work,
    index: &Index,
    shape: BlockShape,
    request: &Request,
) -> Result<(MethodChoice, Option<Gcoo>)> {
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
        Ok((MethodChoice { method: DenseMethod::Rows, why }, None))
    };
    match request.method {
        DenseMethod::Gcoo => {
            let groups = Gcoo::new(work, index, lines, long)?;
            let why = format!("gcoo, as asked for: {}", reuse(groups.reuse_percent(), lines, rows));
            Ok((MethodChoice { method: DenseMethod::Gcoo, why }, Some(groups)))
        }
        DenseMethod::Rows => by_rows("rows, as asked for".into()),
        DenseMethod::Auto if lines == 1 => by_rows(format!("rows: a row of blocks of {shape} shares its rows of D")),
        DenseMethod::Auto if least > 100 * lines => {
            by_rows("rows: on this kind of device they are faster than groups".into())
        }
        DenseMethod::Auto => {
            let groups = Gcoo::new(work, index, lines, long)?;
            let choice = by_reuse(groups.reuse_percent(), least, lines, rows);
            let groups = (choice.method == DenseMethod::Gcoo).then_some(groups);
            Ok((choice, groups))
        }
    }
}

/// Chooses by reuse. `lines` is the number of lines in a group, and `rows` the name of these lines.
/// On average a group uses each row of D that it loads `percent` / 100 times; groups are chosen if
/// this number is at least `least` / 100.
pub(super) fn by_reuse(percent: u64, least: usize, lines: usize, rows: &str) -> MethodChoice {
    let (found, least_text) = (reuse(percent, lines, rows), format!("{}.{:02}", least / 100, least % 100));
    match percent >= least as u64 {
        true => MethodChoice { method: DenseMethod::Gcoo, why: format!("gcoo: {found}, {least_text} or more pay") },
        false => {
            let why = format!("rows: {found}, fewer than the {least_text} that pay");
            MethodChoice { method: DenseMethod::Rows, why }
        }
    }
}

pub(super) fn reuse(percent: u64, lines: usize, rows: &str) -> String {
    let times = format!("{}.{:02}", percent / 100, percent % 100);
    format!("groups of {lines} {rows} use a row of D {times} times")
}
