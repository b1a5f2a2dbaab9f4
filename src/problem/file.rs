//! Files of which only the contents tell what they are.
use super::{BundleAdjustment, Graph, bal, g2o, isam, numbers::Numbers};
use crate::{Result, events::ms};
use std::{path::Path, time::Instant};

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// Cameras and points.
    BundleAdjustment(BundleAdjustment),
    /// Poses, and landmarks perhaps.
    Graph(Graph),
}

/// Reads the file at `path`: one of BAL if its first word is a number, of iSAM if it is one of iSAM's keywords, else of g2o.
///
/// ```
/// use blockmul::problem::{self, Problem};
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
/// As [`bal::read`], [`isam::read`] and [`g2o::read`].
pub fn read(path: impl AsRef<Path>) -> Result<Problem> {
    let (start, path) = (Instant::now(), path.as_ref());
    let mut text = Numbers::open(path)?;
    let (format, problem) = match text.first_word()? {
        word if word.first().is_some_and(u8::is_ascii_digit) => {
            ("BAL", bal::parse(text).map(Problem::BundleAdjustment))
        }
        word if isam::is_keyword(&word) => ("iSAM", isam::parse(text).map(Problem::Graph)),
        _ => ("g2o", g2o::parse(text).map(Problem::Graph)),
    };
    let problem = problem?;
    tracing::info!(target: "blockmul::io", file = %path.display(), format, ms = ms(start), "read");
    Ok(problem)
}
