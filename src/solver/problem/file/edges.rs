//! Graphs in the text formats of iSAM and of TORO. Both formats use the keywords EDGE2 and EDGE3,
//! but the numbers after the measurement have different meanings.
use super::{
    builder::{Builder, finite, planar, show_space},
    keywords::unknown,
    numbers::Numbers,
};
use crate::{
    Result,
    solver::problem::{Graph, Plane, Space},
};
use nalgebra::{Isometry3, Matrix3, SMatrix, Translation3, UnitQuaternion, Vector2, Vector3};

/// The format of a file of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edges {
    /// The format of [`isam`](super::isam), in which the numbers after a measurement are the root
    /// of an information matrix.
    Isam,
    /// The format of [`toro`](super::toro), in which the numbers after a measurement are an
    /// information matrix. In the plane they are in an order of their own.
    Toro,
}

impl std::fmt::Display for Edges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Isam => "iSAM",
            Self::Toro => "TORO",
        })
    }
}

const ISAM: [&str; 8] =
    ["ODOMETRY", "LANDMARK", "POINT3", "POSE3D_INIT", "SOLVE", "POSE3D_TRUE", "EDGE3_INIT", "EDGE3_TRUE"];
const TORO: [&str; 5] = ["VERTEX", "VERTEX2", "VERTEX3", "EDGE", "EQUIV"];
const BOTH: [&str; 2] = ["EDGE2", "EDGE3"];
/// Keywords of lines that are skipped, because only iSAM's evaluation uses them.
const PASSED: [&str; 4] = ["SOLVE", "POSE3D_TRUE", "EDGE3_INIT", "EDGE3_TRUE"];
const SPACE: [&str; 4] = ["EDGE3", "POINT3", "POSE3D_INIT", "VERTEX3"];

/// Whether a file that begins with this word is in the format of iSAM or TORO.
pub(super) fn is_keyword(word: &[u8]) -> bool {
    keywords().any(|keyword| keyword.as_bytes() == word)
}

fn keywords() -> impl Iterator<Item = &'static str> {
    ISAM.into_iter().chain(TORO).chain(BOTH)
}

/// A graph, its format, and the evidence for the format.
pub(super) struct Parsed {
    pub graph: Graph,
    pub edges: Edges,
    pub why: String,
}

/// The evidence for the format of a file.
struct Shown {
    edges: Edges,
    by: String,
}

struct Reader {
    plane: Builder<Plane>,
    space: Builder<Space>,
    /// Whether the graph is in space, and the first line that shows this.
    in_space: Option<(bool, u64)>,
    shown: Option<Shown>,
    /// Whether the file has lines of vertices, which only the format of TORO has.
    has_vertices: bool,
}

/// Reads a graph. If `wanted` does not choose the format, the format follows from keywords that
/// only one format has. If there are none, it follows from the numbers of `EDGE2`.
pub(super) fn parse(mut text: Numbers<'_>, wanted: Option<Edges>) -> Result<Parsed> {
    let shown = wanted.map(|edges| Shown { edges, by: "as requested".into() });
    let (plane, space) = (Builder::new(true), Builder::new(true));
    let mut reader = Reader { plane, space, in_space: None, shown, has_vertices: false };
    while text.next_line()? {
        reader.line(&mut text)?;
    }
    let Some((in_space, _)) = reader.in_space else { return text.refuse("the file has no measurements") };
    let Shown { edges, by: why } = match (reader.shown, in_space) {
        (Some(shown), _) => shown,
        (None, false) => shown_by_plane(&text, &reader.plane)?,
        (None, true) => shown_by_space(&text, &reader.space)?,
    };
    let placing = !reader.has_vertices;
    let graph = if in_space {
        reader.space.weigh(&text, |numbers| in_form(edges, numbers, squared, mirrored))?;
        Graph::Space(reader.space.finish(&text, placing)?)
    } else {
        reader.plane.weigh(&text, |numbers| in_form(edges, numbers, squared, reordered))?;
        Graph::Plane(reader.plane.finish(&text, placing)?)
    };
    Ok(Parsed { graph, edges, why })
}

impl Reader {
    fn line(&mut self, text: &mut Numbers<'_>) -> Result<()> {
        let tag = text.word("a keyword")?.to_owned();
        if tag.starts_with(b"#") {
            return Ok(());
        }
        let Some(keyword) = keywords().find(|keyword| keyword.as_bytes() == tag) else {
            return text.refuse(unknown(&tag, keywords()));
        };
        match (ISAM.contains(&keyword), TORO.contains(&keyword)) {
            (true, _) => self.show(text, Edges::Isam, keyword)?,
            (_, true) => self.show(text, Edges::Toro, keyword)?,
            _ => {}
        }
        if PASSED.contains(&keyword) {
            return Ok(());
        }
        if keyword == "EQUIV" {
            return text.refuse("\"EQUIV\" of TORO is not supported, that two vertices are one");
        }
        show_space(&mut self.in_space, text, &tag, SPACE.contains(&keyword))?;
        match keyword {
            "VERTEX" | "VERTEX2" => {
                let (name, pose) = (text.count("a vertex")?, planar(text.reals("a pose")?));
                self.has_vertices = true;
                self.plane.pose(text, name, pose)?;
            }
            "VERTEX3" | "POSE3D_INIT" => {
                let (name, pose) = (text.count("a pose")?, spatial(text)?);
                self.has_vertices |= keyword == "VERTEX3";
                self.space.pose(text, name, pose)?;
            }
            "LANDMARK" => {
                let (ends, [x, y]) = (ends(text)?, text.reals("a landmark")?);
                let root = triangle::<2>(text)?;
                let information = finite(text, squared(root))?;
                self.plane.sighting(text, ends, Vector2::new(x, y), information)?;
            }
            "POINT3" => {
                let (ends, [x, y, z]) = (ends(text)?, text.reals("a landmark")?);
                let root = if text.more() { triangle::<3>(text)? } else { Matrix3::identity() };
                let information = finite(text, squared(root))?;
                self.space.sighting(text, ends, Vector3::new(x, y, z), information)?;
            }
            "EDGE3" => {
                let (ends, measured) = (ends(text)?, spatial(text)?);
                let numbers = match text.more() {
                    true => triangle::<6>(text)?,
                    false => {
                        self.show(text, Edges::Isam, "EDGE3 without numbers of information")?;
                        SMatrix::identity()
                    }
                };
                self.space.step(text, ends, measured, numbers)?;
            }
            _ => {
                let (ends, measured) = (ends(text)?, planar(text.reals("a pose")?));
                let numbers = triangle::<3>(text)?;
                self.plane.step(text, ends, measured, numbers)?;
            }
        }
        text.end_of_line()
    }

    fn show(&mut self, text: &Numbers<'_>, edges: Edges, what: &str) -> Result<()> {
        let line = text.line();
        let shown = self.shown.get_or_insert_with(|| Shown { edges, by: format!("by {what} on line {line}") });
        if shown.edges == edges {
            return Ok(());
        }
        text.refuse(format!("{what} is {edges}'s, in a file that is {}'s {}", shown.edges, shown.by))
    }
}

fn ends(text: &mut Numbers<'_>) -> Result<(u64, u64)> {
    Ok((text.count("the first end of a measurement")?, text.count("the second end of a measurement")?))
}

/// Reads a pose x, y, z, roll, pitch and yaw.
fn spatial(text: &mut Numbers<'_>) -> Result<Isometry3<f64>> {
    let [x, y, z, roll, pitch, yaw] = text.reals("a pose")?;
    let rotation = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
    Ok(Isometry3::from_parts(Translation3::new(x, y, z), rotation))
}

/// Reads the numbers of an information matrix or of its root into the upper triangle, row by row.
fn triangle<const N: usize>(text: &mut Numbers<'_>) -> Result<SMatrix<f64, N, N>> {
    let mut numbers = SMatrix::<f64, N, N>::zeros();
    for row in 0..N {
        for col in row..N {
            numbers[(row, col)] = text.real("an element of an information matrix or its root")?;
        }
    }
    Ok(numbers)
}

fn in_form<M>(edges: Edges, numbers: M, isam: impl Fn(M) -> M, toro: impl Fn(M) -> M) -> M {
    match edges {
        Edges::Isam => isam(numbers),
        Edges::Toro => toro(numbers),
    }
}

/// The product RᵀR, where R is a root of an information matrix, given in iSAM's order.
fn squared<const N: usize>(root: SMatrix<f64, N, N>) -> SMatrix<f64, N, N> {
    root.transpose() * root
}

/// The symmetric matrix with an upper triangle that is given in TORO's order in space.
fn mirrored<const N: usize>(upper: SMatrix<f64, N, N>) -> SMatrix<f64, N, N> {
    SMatrix::from_fn(|row, col| upper[(row.min(col), row.max(col))])
}

/// The information matrix whose elements are given as I11 I12 I22 I33 I13 I23, which is TORO's
/// order in the plane.
fn reordered(numbers: Matrix3<f64>) -> Matrix3<f64> {
    let [i11, i12, i22] = [(0, 0), (0, 1), (0, 2)].map(|at| numbers[at]);
    let [i33, i13, i23] = [(1, 1), (1, 2), (2, 2)].map(|at| numbers[at]);
    Matrix3::new(i11, i12, i13, i12, i22, i23, i13, i23, i33)
}

/// Finds the format with which the information matrices of all steps are regular.
fn shown_by_plane(text: &Numbers<'_>, plane: &Builder<Plane>) -> Result<Shown> {
    let mut odd = [None; 2];
    let (mut count, mut first) = (0, 0);
    for (line, numbers) in plane.numbers().filter(|(_, numbers)| squared(*numbers) != reordered(*numbers)) {
        let is_root = numbers.diagonal().iter().all(|&x| x != 0.0);
        let is_information = reordered(numbers).cholesky().is_some();
        for (odd, is_regular) in odd.iter_mut().zip([is_root, is_information]) {
            *odd = odd.or((!is_regular).then_some(line));
        }
        (count, first) = (count + 1, if count == 0 { line } else { first });
    }
    let singular = |edges: Edges, line: u64| format!("EDGE2's numbers on line {line} are singular as {edges}'s");
    let orders = "EDGE2 is iSAM's, with the root of an information matrix R11 R12 R13 R22 R23 R33, or TORO's, with an information matrix I11 \
                  I12 I22 I33 I13 I23";
    match odd {
        _ if count == 0 => Ok(Shown { edges: Edges::Isam, by: "which TORO's form agrees with".into() }),
        [None, Some(line)] => Ok(Shown { edges: Edges::Isam, by: format!("because {}", singular(Edges::Toro, line)) }),
        [Some(line), None] => Ok(Shown { edges: Edges::Toro, by: format!("because {}", singular(Edges::Isam, line)) }),
        [None, None] => {
            text.refuse_on(first, format!("{orders}, and the numbers of all edges are regular by both: {CHOOSE}"))
        }
        [Some(isam), Some(toro)] => text.refuse_on(
            first,
            format!("{orders}, and by both some are singular, on line {isam} and on line {toro}: {CHOOSE}"),
        ),
    }
}

/// Accepts a file of `EDGE3` only if its numbers mean the same in both formats. Otherwise the
/// caller must choose the format.
fn shown_by_space(text: &Numbers<'_>, space: &Builder<Space>) -> Result<Shown> {
    match space.numbers().find(|(_, numbers)| squared(*numbers) != mirrored(*numbers)) {
        None => Ok(Shown { edges: Edges::Isam, by: "which TORO's form agrees with".into() }),
        Some((line, _)) => text.refuse_on(
            line,
            format!(
                "EDGE3 is iSAM's, with the root of an information matrix, or TORO's, with an information matrix, and no line shows which, as \
                 VERTEX3 would for TORO: {CHOOSE}"
            ),
        ),
    }
}

const CHOOSE: &str = "choose by --edges isam or --edges toro (Edges in the library)";
