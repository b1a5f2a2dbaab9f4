//! The formats of problem files, and [`read`], which recognises the format by the contents.
pub mod bal;
mod builder;
mod edges;
pub mod g2o;
pub mod isam;
mod keywords;
mod numbers;
pub mod toro;

use super::Graph;
use crate::{Result, events::ms, io::words::quote};
use bal::BundleAdjustment;
pub use edges::Edges;
use numbers::Numbers;
use std::{path::Path, time::Instant};

/// The problem in a file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// Cameras and points.
    BundleAdjustment(BundleAdjustment),
    /// Poses, and landmarks if there are any.
    Graph(Graph),
}

/// The format of a problem file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemFormat {
    /// The format of [`bal`].
    Bal,
    /// The format of [`g2o`].
    G2o,
    /// The format of [`isam`] or [`toro`].
    Edges(Edges),
}

impl std::fmt::Display for ProblemFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bal => f.write_str("BAL"),
            Self::G2o => f.write_str("g2o"),
            Self::Edges(edges) => edges.fmt(f),
        }
    }
}

/// A problem, its format, and the notes of its reader.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProblemFile {
    /// The problem.
    pub problem: Problem,
    /// The format of the file.
    pub format: ProblemFormat,
    /// Notes for the user: how iSAM's format was distinguished from TORO's, and which lines were
    /// skipped.
    pub notes: Vec<String>,
}

/// Prefixes of g2o's keywords.
const G2O: [&[u8]; 4] = [b"VERTEX", b"EDGE", b"PARAMS", b"FIX"];

/// Reads the file at `path` like [`read_with`] with `None` as `edges`.
///
/// ```
/// use blockmul::solver::problem::{self, Problem};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("one.txt");
/// std::fs::write(&path, "# a comment\nODOMETRY 0 1 1 0 0.1  2 0 0 2 0 3\n")?;
/// assert!(matches!(problem::read(&path)?, Problem::Graph(_)));
/// std::fs::write(&path, "1 1 0\n0 0 0  0 0 0  50 0 0\n 1 0 -2\n")?;
/// assert!(matches!(problem::read(&path)?, Problem::BundleAdjustment(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of [`read_with`].
pub fn read(path: impl AsRef<Path>) -> Result<Problem> {
    Ok(read_with(path, None)?.problem)
}

/// Reads the file at `path`, plain or packed. If the first word is a number, the format is BAL's.
/// If the first word is a keyword of iSAM, TORO or g2o, the format is the one that has this
/// keyword. If the file is an archive (tar or zip) that contains one problem, that problem is read.
///
/// iSAM and TORO share `EDGE2` and `EDGE3`. A keyword that only one of these formats has, such as
/// `VERTEX2` or `ODOMETRY`, determines the format. If a file has no keyword except `EDGE2`, its
/// format is the one with which all information matrices are regular. `edges` must choose the
/// format if the only keyword is `EDGE3`, or if the matrices are regular with both formats or with
/// neither.
///
/// ```
/// use blockmul::solver::problem::{self, Edges, ProblemFormat};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("two.graph");
/// std::fs::write(&path, "EDGE2 0 1 1 0 0.1  44 0 44 400 0 0\n")?;
/// assert_eq!(problem::read_with(&path, None)?.format, ProblemFormat::Edges(Edges::Toro));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of [`bal::read`], [`isam::read`], [`toro::read`] and [`g2o::read`];
/// [`Error::Parse`](crate::Error::Parse) if the first word belongs to none of these formats, if
/// `edges` does not fit a keyword, or if `edges` must choose the format but is `None`.
pub fn read_with(path: impl AsRef<Path>, edges: Option<Edges>) -> Result<ProblemFile> {
    read_path(path.as_ref(), edges)
}

fn read_path(path: &Path, edges: Option<Edges>) -> Result<ProblemFile> {
    let start = Instant::now();
    let mut text = Numbers::open(path)?;
    let file = match text.first_word()? {
        word if edges::is_keyword(&word) => {
            let edges::Parsed { graph, edges, why } = edges::parse(text, edges)?;
            let notes = vec![format!("read as a graph of {edges}, {why}")];
            ProblemFile { problem: Problem::Graph(graph), format: ProblemFormat::Edges(edges), notes }
        }
        word if edges.is_some() && !word.is_empty() => {
            return text.refuse(format!(
                "{} begins no graph of iSAM or TORO: the form of edges cannot be chosen",
                quote(&word)
            ));
        }
        word if word.first().is_some_and(u8::is_ascii_digit) => ProblemFile {
            problem: Problem::BundleAdjustment(bal::parse(text)?),
            format: ProblemFormat::Bal,
            notes: vec![],
        },
        word if word.is_empty() || G2O.iter().any(|begin| word.starts_with(begin)) || keywords::is_data(&word) => {
            let (graph, notes) = g2o::parse(text)?;
            ProblemFile { problem: Problem::Graph(graph), format: ProblemFormat::G2o, notes }
        }
        word => {
            return text.refuse(format!(
                "{} begins neither a bundle adjustment of BAL, which is a number, nor a graph of g2o, iSAM or TORO, which is a keyword as \
                 VERTEX_SE2",
                quote(&word)
            ));
        }
    };
    tracing::info!(target: "blockmul::io", file = %path.display(), format = file.format.to_string(), ms = ms(start), "read");
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::tests_of_packings::{ALL, packed};

    #[test]
    fn contents_tell_whatever_the_name_and_the_packing() {
        let folder = tempfile::tempdir().unwrap();
        let bundle = "1 1 0\n0 0 0  0 0 0  50 0 0\n 1 0 -2\n";
        let graph = "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1 0 0\nEDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\n";
        for (number, packing) in ALL.into_iter().enumerate() {
            let path = folder.path().join(format!("{number}.anything"));
            std::fs::write(&path, packed(packing, bundle.as_bytes())).unwrap();
            assert!(matches!(read(&path).unwrap(), Problem::BundleAdjustment(_)), "{packing:?}");
            std::fs::write(&path, packed(packing, graph.as_bytes())).unwrap();
            assert!(matches!(read(&path).unwrap(), Problem::Graph(_)), "{packing:?}");
            let cut = packed(packing, graph.as_bytes());
            std::fs::write(&path, &cut[..cut.len() - 1]).unwrap();
            let cut = read(&path).err().map(|error| error.to_string().contains("data is cut off here"));
            assert_eq!(cut, packing.map(|_| true), "{packing:?}");
        }
    }

    fn read_text(text: &str, edges: Option<Edges>) -> Result<ProblemFile> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.graph");
        std::fs::write(&path, text).unwrap();
        read_with(&path, edges)
    }

    /// Tests the format that is found for a file of two lines `EDGE2`, for several numbers in these
    /// lines.
    #[test]
    fn edges_alone_are_of_the_format_that_makes_them_regular() {
        let edges = |[one, other]: [&str; 2]| format!("EDGE2 0 1 1 0 0 {one}\nEDGE2 1 2 1 0 0 {other}\n");
        const TORO: &str = "44 0 44 400 0 0";
        const ROOT: &str = "10 0 0 10 0 20";
        const EITHER: &str = "4 0 4 4 0 0.1";
        for (numbers, want) in [
            ([TORO, TORO], Ok(Edges::Toro)),
            ([ROOT, ROOT], Ok(Edges::Isam)),
            ([EITHER, TORO], Ok(Edges::Toro)),
            ([ROOT, EITHER], Ok(Edges::Isam)),
            // iSAM and TORO agree about the information matrix of an edge whose six numbers are 0.
            (["0 0 0 0 0 0", TORO], Ok(Edges::Toro)),
            (["0 0 0 0 0 0", "0 0 0 0 0 0"], Ok(Edges::Isam)),
            ([EITHER, EITHER], Err("are regular by both")),
            ([ROOT, TORO], Err("by both some are singular, on line 2 and on line 1")),
            (["44 0 44 0 0 0", TORO], Err("by both some are singular, on line 1 and on line 1")),
        ] {
            match (read_text(&edges(numbers), None), want) {
                (Ok(file), Ok(edges)) => {
                    assert_eq!(file.format, ProblemFormat::Edges(edges), "{numbers:?}");
                    assert!(file.notes[0].starts_with(&format!("read as a graph of {edges}, ")), "{:?}", file.notes);
                }
                (Err(error), Err(words)) => {
                    let said = error.to_string();
                    assert!(
                        said.contains(":1: EDGE2 is iSAM's") && said.contains(words) && said.contains("--edges toro"),
                        "{said}"
                    );
                }
                (read, want) => panic!("{numbers:?}: {read:?} {want:?}"),
            }
            // The format that the caller chooses takes precedence.
            for choice in [Edges::Isam, Edges::Toro] {
                assert_eq!(read_text(&edges(numbers), Some(choice)).unwrap().format, ProblemFormat::Edges(choice));
            }
            // A keyword of only one format determines the format of a file.
            let vertices = (0..3).map(|name| format!("VERTEX2 {name} 0 0 0\n")).collect::<String>();
            let toro = edges(numbers) + &vertices;
            assert_eq!(read_text(&toro, None).unwrap().format, ProblemFormat::Edges(Edges::Toro));
            let isam = edges(numbers) + "SOLVE\n";
            assert_eq!(read_text(&isam, None).unwrap().format, ProblemFormat::Edges(Edges::Isam));
            let both = read_text(&(isam + &vertices), None).unwrap_err().to_string();
            assert!(both.ends_with(":4: VERTEX2 is TORO's, in a file that is iSAM's by SOLVE on line 3"), "{both}");
        }
    }

    #[test]
    fn edges_in_space_ask_for_a_choice() {
        let diagonal = |x: f64| {
            let of_row = |row: usize| format!(" {x}{}", " 0".repeat(5 - row));
            "EDGE3 0 1 1 0 0 0 0 0.5".to_owned() + &(0..6).map(of_row).collect::<String>() + "\n"
        };
        let said = read_text(&diagonal(4.0), None).unwrap_err().to_string();
        assert!(said.contains(":1: EDGE3 is iSAM's, with the root") && said.contains("--edges isam"), "{said}");
        for (choice, want) in [(Edges::Isam, 16.0), (Edges::Toro, 4.0)] {
            let Problem::Graph(Graph::Space(graph)) = read_text(&diagonal(4.0), Some(choice)).unwrap().problem else {
                panic!("not in space")
            };
            assert_eq!(graph.steps[0].information, nalgebra::Matrix6::identity() * want);
        }
        let shown = |more: &str| read_text(&(diagonal(4.0) + more), None).unwrap().format;
        assert_eq!(shown("VERTEX3 0 0 0 0 0 0 0\nVERTEX3 1 0 0 0 0 0 0\n"), ProblemFormat::Edges(Edges::Toro));
        assert_eq!(shown("POINT3 0 0 1 0 0\n"), ProblemFormat::Edges(Edges::Isam));
        assert_eq!(shown("EDGE3 1 2 1 0 0 0 0 0\n"), ProblemFormat::Edges(Edges::Isam));
        // Identity matrices are the same in both formats.
        assert_eq!(read_text(&diagonal(1.0), None).unwrap().format, ProblemFormat::Edges(Edges::Isam));
    }

    #[test]
    fn a_choice_of_edges_is_for_files_with_them() {
        for text in ["VERTEX_SE2 0 0 0 0\n", "1 1 0\n0 0 0  0 0 0  50 0 0\n 1 0 -2\n"] {
            let said = read_text(text, Some(Edges::Toro)).unwrap_err().to_string();
            assert!(said.contains("begins no graph of iSAM or TORO"), "{said}");
        }
    }

    #[test]
    fn contents_of_no_problem_are_refused_on_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        std::fs::write(&path, "# a comment\n%%MatrixMarket matrix coordinate real general\n").unwrap();
        let refused = read(&path).unwrap_err().to_string();
        let expected = format!("{}:2: \"%%MatrixMarket\" begins neither a bundle adjustment of BAL", path.display());
        assert!(refused.starts_with(&expected), "{refused}");
    }
}
