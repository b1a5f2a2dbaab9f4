//! Matrix Market exchange files, plain or packed, read and written on all threads.
//!
//! The format is described by Boisvert, Pozo and Remington, *The Matrix Market Exchange Formats:
//! Initial Design* (NISTIR 5935, 1996). A file has a banner, comments, a line of sizes, and the
//! matrix.
//!
//! * A `coordinate` file has the sizes `rows columns entries` and one line for each entry, with
//!   indices from 1. Every entry in the file becomes an entry of the matrix, including zeros.
//! * An `array` file has the sizes `rows columns`. Every element of the matrix, or of the
//!   triangle that is stored for its symmetry, is on its own line, column after column. Elements
//!   other than 0 and -0 become entries.
//!
//! The reader accepts the fields `real`, `integer`, `unsigned-integer` (read as `integer`) and
//! `pattern` (every value is 1). The reader accepts the symmetries `general`, `symmetric` and
//! `skew-symmetric`, and expands symmetric and skew-symmetric files to the full matrix. The reader
//! refuses the field `complex` and the symmetry `hermitian`.
//!
//! The reader accepts the banner in upper or lower case, line ends LF and CRLF, blank lines and
//! comments anywhere after the banner (comments in any encoding), and blanks around words. The
//! reader accepts exponents with `E` or `D`, and `inf` and `nan` if the field is `real`. A banner
//! with one `%` instead of two gives a [warning](MatrixFile::warnings). A real number that is too
//! small becomes 0 by IEEE rounding. Numbers that are too large and integers that `f64` cannot hold
//! exactly are refused. A line has at most 1 MiB.
//!
//! A comment before the sizes may be a note `%%blockmul blocks 6x3`, which says that the matrix
//! consists of blocks of 6 rows and 3 columns. [`write()`] writes such a note for a matrix of
//! blocks. The reader returns the layout of the note as [`MatrixFile::layout`], and
//! [`Csc::to_blocks`](crate::Csc::to_blocks) then gives the same blocks again. All comments but
//! this note have no effect.
//!
//! # Threads and memory
//!
//! Reading and writing use the current rayon pool (`RAYON_NUM_THREADS`, or a pool that the caller
//! installs). The bits of the matrix and the message for a broken file do not depend on the number
//! of threads.
//!
//! A reader's memory holds 0.5 MiB of text for each thread, 16 bytes for each entry in the file (8
//! in a pattern), and the matrix. The matrix has 12 bytes for each entry and 8 bytes for each
//! column. Memory is allocated as lines are read; the arrays of the matrix are allocated after all
//! entries have been read.
//!
//! ```
//! use blockmul::io::{ReadOptions, matrix_market::{read_from, write_to}};
//! let text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 -0.5\n";
//! let file = read_from(text.as_bytes(), "example.mtx", &ReadOptions::default())?;
//! assert_eq!(file.matrix.values(), [4.0, -0.5, -0.5]); // columns 0, 0, 1
//! let mut copy = Vec::new();
//! write_to(&mut copy, &file.matrix, &Default::default()).unwrap();
//! assert!(copy.starts_with(b"%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n"));
//! # Ok::<(), blockmul::Error>(())
//! ```
mod columns;
mod digits;
mod entries;
mod header;
mod line;
mod part;
mod plain;
#[cfg(test)]
mod tests;
mod write;

use std::io::Read;
use std::path::Path;

pub(crate) use digits::append as append_value;
pub(super) use write::write_view;
pub use write::{write, write_to};

use super::assemble::HOW_TO_SUM;
use super::source::Source;
use super::{BlockLayout, FileFormat, MatrixFile, ReadOptions};
use crate::{Result, element::ElementType};
use header::Header;
pub(super) use header::is_banner;

/// Reads the file at `path`, plain or packed (recognised by its first bytes, not its name).
///
/// The file may be a tar archive, as in the SuiteSparse collection. The reader takes the archive's
/// member NAME/NAME.mtx, or its only sparse matrix, or its only file, in this order.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the system refuses the file;
/// [`Error::Parse`](crate::Error::Parse) with the line for anything the format does not allow;
/// [`Error::Memory`](crate::Error::Memory) if the entries do not fit the host.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<MatrixFile> {
    read_source(Source::open(path.as_ref(), options.progress.clone())?, options)
}

/// Reads bytes, plain or packed, from any reader. Error messages use `name` as the path. The length
/// is unknown, so `options.progress` is not called.
///
/// The function reads to the end, 0.5 MiB at a time, so `reader` need not be buffered.
///
/// # Errors
/// The errors of [`read`].
pub fn read_from(reader: impl Read + Send, name: impl AsRef<Path>, options: &ReadOptions) -> Result<MatrixFile> {
    read_source(Source::new(reader, name.as_ref())?, options)
}

fn read_source(mut source: Source<'_>, options: &ReadOptions) -> Result<MatrixFile> {
    let header = Header::read(&mut source, options)?;
    let parts = entries::read(&mut source, &header)?;
    let matrix = match columns::compress(&header, &parts, options.sum_duplicates)? {
        Ok(matrix) => matrix,
        Err(place) => {
            let mut lines = parts.iter().flat_map(|part| part.lines_at(place));
            let (first, again) = (lines.next().unwrap_or(0), lines.next().unwrap_or(0));
            let reason = format!(
                "a second entry at ({}, {}), the first is on line {first}{HOW_TO_SUM}",
                place.0 + 1,
                place.1 + 1
            );
            return Err(source.refuse(again, reason));
        }
    };
    Ok(MatrixFile {
        matrix,
        format: FileFormat::MatrixMarket,
        layout: header.blocks.map(BlockLayout::Uniform),
        field: header.field,
        element: ElementType::F64,
        symmetry: header.symmetry,
        stored: header.stored,
        is_array: header.is_array,
        groups: None,
        warnings: header.warnings,
    })
}
