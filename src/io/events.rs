//! Logs events for files that are read and written, with their times.
use super::MatrixFile;
use crate::{Result, events::ms};
use std::{path::Path, time::Instant};

/// Reads a matrix with `read` and logs an event.
pub(super) fn reading(path: &Path, read: impl FnOnce() -> Result<MatrixFile>) -> Result<MatrixFile> {
    let start = Instant::now();
    let found = read()?;
    let (file, format, ms, matrix) = (path.display(), found.format, ms(start), &found.matrix);
    let (rows, cols, entries) = (matrix.nrows(), matrix.ncols(), matrix.nnz());
    tracing::info!(target: "blockmul::io", %file, ?format, rows, cols, entries, ms, "read");
    Ok(found)
}

/// Writes a matrix of `entries` entries with `write` and logs an event.
pub(super) fn writing(path: &Path, entries: usize, write: impl FnOnce() -> Result<()>) -> Result<()> {
    let start = Instant::now();
    write()?;
    let (file, ms) = (path.display(), ms(start));
    tracing::info!(target: "blockmul::io", %file, entries, ms, "written");
    Ok(())
}
