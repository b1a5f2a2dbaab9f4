//! Files of problems: their formats, and [`read`], which recognises the format by the contents.
pub mod bal;
mod builder;
pub mod g2o;
pub mod isam;
mod numbers;

use super::Graph;
use crate::{Result, events::ms, io::words::quote};
use bal::BundleAdjustment;
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

/// Beginnings of g2o's keywords.
const G2O: [&[u8]; 4] = [b"VERTEX", b"EDGE", b"PARAMS", b"FIX"];

/// Reads the file at `path`, plain or packed. The format is BAL's if the first word is a number,
/// iSAM's or g2o's if it is one of their keywords. A tar archive with one file stands for that
/// file.
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
/// As [`bal::read`], [`isam::read`] and [`g2o::read`]; [`Error::Parse`](crate::Error::Parse) if the
/// first word belongs to none of these formats.
pub fn read(path: impl AsRef<Path>) -> Result<Problem> {
    let (start, path) = (Instant::now(), path.as_ref());
    let mut text = Numbers::open(path)?;
    let (format, problem) = match text.first_word()? {
        word if word.first().is_some_and(u8::is_ascii_digit) => {
            ("BAL", bal::parse(text).map(Problem::BundleAdjustment))
        }
        word if isam::is_keyword(&word) => ("iSAM", isam::parse(text).map(Problem::Graph)),
        word if word.is_empty() || G2O.iter().any(|begin| word.starts_with(begin)) => {
            ("g2o", g2o::parse(text).map(Problem::Graph))
        }
        word => {
            return text.refuse(format!(
                "{} begins neither a bundle adjustment of BAL, which is a number, nor a graph of g2o or iSAM, which is a keyword as \
                 VERTEX_SE2",
                quote(&word)
            ));
        }
    };
    let problem = problem?;
    tracing::info!(target: "blockmul::io", file = %path.display(), format, ms = ms(start), "read");
    Ok(problem)
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
