//! Matrix Market exchange files, plain or packed, in and out, on all threads.
//!
//! The format is that of Boisvert, Pozo and Remington, *The Matrix Market Exchange Formats: Initial Design* (NISTIR 5935,
//! 1996): a banner, comments, a line of sizes, the matrix. In `coordinate` files the sizes are `rows columns entries` and
//! there is one line per entry with indices from 1; in `array` files they are `rows columns`, and every element of the
//! matrix, or of the triangle its symmetry leaves, is a line of its own, column after column. Of an array the elements
//! that are not 0 (nor -0) become entries; of a coordinate file all that are written do, zeros too.
//!
//! Read are the fields `real`, `integer` and `pattern` (every value 1) and the symmetries `general`, `symmetric` and
//! `skew-symmetric`, expanded to the full matrix. `complex` and `hermitian` are refused.
//!
//! Taken: the banner in any case, and with one `%` for two, which is a
//! [warning](MatrixFile::warnings), LF or CRLF, blank and comment lines anywhere after the banner
//! (bytes of any encoding in comments), blanks around anything, exponents with `E` or `D`, `inf`
//! and `nan` where the field is `real`. A real number that is too small becomes 0, as IEEE rounding
//! has it; one that is too large is refused, and so is an integer that `f64` cannot hold exactly. A
//! line is at most a mebibyte.
//!
//! A comment before the sizes may be a note, `%%blockmul blocks 6x3`: the matrix is made of blocks of 6 rows and 3
//! columns. It is what [`write()`] writes for a matrix of blocks and becomes [`MatrixFile::layout`], so that
//! [`Csc::to_blocks`](crate::Csc::to_blocks) gives the same blocks again. Any other comment says nothing.
//!
//! # Threads and memory
//!
//! Reading and writing use the ambient rayon pool (`RAYON_NUM_THREADS`, or the pool a caller installs); neither what is
//! read, to the bit, nor what is said of a broken file depends on the number of threads. Reading holds half a mebibyte of
//! text a thread, 16 bytes for each entry written (8 in a pattern), and the matrix: 12 bytes for each of its entries and 8
//! for each column. No more than the lines read so far prove is asked for; the matrix once all entries are there.
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
pub use write::{write, write_to};

use super::source::Source;
use super::{Format, Layout, MatrixFile, ReadOptions};
use crate::Result;
use header::Header;
pub(super) use header::is_banner;

/// Reads the file at `path`, plain or packed (told by its first bytes, not its name), or the matrix
/// of an archive of tar there, as the SuiteSparse collection has them: its member NAME/NAME.mtx,
/// else its only sparse matrix, else its only file.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the system refuses the file; [`Error::Parse`](crate::Error::Parse) with the line for anything the format does not
/// allow; [`Error::Memory`](crate::Error::Memory) when the entries do not fit the host.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<MatrixFile> {
    read_source(Source::open(path.as_ref(), options.progress.clone())?, options)
}

/// Reads a file's bytes, plain or packed, from anywhere; `name` stands in messages where [`read`] has the path. Nobody
/// knows the length, so `options.progress` is told nothing.
///
/// The reader is read to its end, half a mebibyte at a time; it need not be buffered.
///
/// # Errors
/// As [`read`].
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
            let reason = format!("a second entry at ({}, {}), the first is on line {first}", place.0 + 1, place.1 + 1);
            return Err(source.refuse(again, reason));
        }
    };
    Ok(MatrixFile {
        matrix,
        format: Format::MatrixMarket,
        layout: header.blocks.map(Layout::Uniform),
        field: header.field,
        symmetry: header.symmetry,
        stored: header.stored,
        warnings: header.warnings,
    })
}
