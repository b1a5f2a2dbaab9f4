//! Writes `coordinate real general` files with one element on each line. All threads produce chunks
//! of lines.
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::{digits, header::NOTE};
use crate::io::WriteOptions;
use crate::io::output::write_unpacked;
use crate::io::packing::Packing;
use crate::{BlockShape, Result, matrix::AnyView};

/// Number of elements in a chunk, which is about 1 MiB of text.
const CHUNK: u64 = 1 << 15;

/// Writes `matrix` to the file at `path`. An earlier file is replaced when the new file is
/// complete. The file is packed with gzip if its name ends in `.gz`, with bzip2 if it ends in
/// `.bz2`.
///
/// Every element of a block is written, including zeros. A comment such as `%%blockmul blocks 6x3`
/// gives the shape of the blocks. [`read`](super::read) returns it as
/// [`MatrixFile::layout`](crate::io::MatrixFile::layout), and other readers skip it.
///
/// Values are written with the fewest digits of their own type (0.1 in `f16` is `0.1`) from which
/// [`read`](super::read) and [`Element::from_f64`](crate::Element::from_f64) make the same bits,
/// including -0 and infinities. NaN is written as `nan`.
///
/// Text is produced and packed on all threads of the current rayon pool, a few MiB for each thread
/// at a time. The bytes of the file do not depend on the number of threads. A packed file consists
/// of many packed members, which gzip and bzip2 and their readers allow.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) with the path. An earlier file stays unchanged.
pub fn write<'m>(path: impl AsRef<Path>, matrix: impl Into<AnyView<'m>>, options: &WriteOptions) -> Result<()> {
    write_view(path.as_ref(), matrix.into(), options)
}

pub(in crate::io) fn write_view(path: &Path, matrix: AnyView<'_>, options: &WriteOptions) -> Result<()> {
    write_unpacked(path, &mut |writer, packing| write_chunks(writer, matrix, options, packing))
}

/// Writes `matrix` to any writer as [`write()`] does, but unpacked. The function writes large
/// pieces, so `writer` need not be buffered.
///
/// # Errors
/// The errors of `writer`.
pub fn write_to<'m>(mut writer: impl Write, matrix: impl Into<AnyView<'m>>, options: &WriteOptions) -> io::Result<()> {
    write_chunks(&mut writer, matrix.into(), options, None)
}

fn write_chunks(
    writer: &mut dyn Write,
    view: AnyView<'_>,
    options: &WriteOptions,
    packing: Option<Packing>,
) -> io::Result<()> {
    let lines = Lines { view };
    let elements = lines.elements();
    let make = |range: Range<u64>| -> io::Result<Vec<u8>> {
        let mut text = if range.start == 0 { lines.header() } else { Vec::new() };
        lines.append(range, &mut text)?;
        let Some(packing) = packing else { return Ok(text) };
        let mut packed = Vec::with_capacity(text.len() / 2);
        packing.pack(&mut packed, &mut |writer| writer.write_all(&text))?;
        Ok(packed)
    };
    // This thread writes one round of chunks while the pool produces the next round.
    let round = CHUNK * 2 * rayon::current_num_threads() as u64;
    let mut ready = make(0..elements.min(CHUNK)).map(|text| vec![text])?;
    let mut written = elements.min(CHUNK);
    loop {
        let (end, mut next, mut outcome) = ((written + round).min(elements), Ok(Vec::new()), Ok(()));
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| {
                let chunks = (end - written).div_ceil(CHUNK);
                let chunk = |chunk: u64| written + chunk * CHUNK..(written + (chunk + 1) * CHUNK).min(end);
                next = (0..chunks).into_par_iter().map(|number| make(chunk(number))).collect();
            });
            outcome = ready.iter().try_for_each(|text| writer.write_all(text));
        });
        outcome?;
        if let Some(progress) = &options.progress {
            progress.tell(written, elements);
        }
        ready = next?;
        if ready.is_empty() {
            return Ok(());
        }
        written = end;
    }
}

/// The lines of a matrix's elements, numbered column by column (in a row-major matrix row by row).
struct Lines<'a> {
    view: AnyView<'a>,
}

impl Lines<'_> {
    fn elements(&self) -> u64 {
        (self.view.pattern.nnz() * self.view.shape.area()) as u64
    }

    fn header(&self) -> Vec<u8> {
        let AnyView { kind, shape, .. } = self.view;
        let (nrows, ncols) = self.view.scalar_sides();
        let (rows, cols) = kind.oriented(shape.rows(), shape.cols());
        let note = if shape == BlockShape::SCALAR { String::new() } else { format!("{NOTE} blocks {rows}x{cols}\n") };
        let banner = "%%MatrixMarket matrix coordinate real general";
        format!("{banner}\n{note}{nrows} {ncols} {}\n", self.elements()).into_bytes()
    }

    /// Appends the lines numbered `range`.
    fn append(&self, range: Range<u64>, text: &mut Vec<u8>) -> io::Result<()> {
        let AnyView { pattern, shape, stride, .. } = self.view;
        let mut left = (range.end - range.start) as usize;
        if left == 0 {
            return Ok(());
        }
        text.reserve(left * 32);
        let (rows, cols) = (shape.rows(), shape.cols());
        // The position of the first line consists of the block column, the column in the block, the
        // entry and the row in the block.
        let entry = (range.start / shape.area() as u64) as usize;
        let mut block_col = pattern.col_ptr().partition_point(|&start| start <= entry as u64) - 1;
        let before = range.start as usize - pattern.entries(block_col).start * shape.area();
        let column = pattern.entries(block_col).len() * rows;
        let (mut inner, mut skip) = (before / column, before % column);
        while left > 0 {
            let col = (block_col * cols + inner) as u64;
            for entry in pattern.entries(block_col).skip(skip / rows) {
                let first = pattern.row_idx()[entry] as usize * rows;
                for i in (skip % rows..rows).take(left) {
                    let at = entry * stride + inner * rows + i;
                    self.append_line(text, (first + i) as u64, col, at)?;
                    left -= 1;
                }
                skip = 0;
                if left == 0 {
                    return Ok(());
                }
            }
            skip = 0;
            inner += 1;
            if inner == cols {
                (block_col, inner) = (block_col + 1, 0);
            }
        }
        Ok(())
    }

    /// Appends the line of the element whose value is at index `at`.
    fn append_line(&self, text: &mut Vec<u8>, row: u64, col: u64, at: usize) -> io::Result<()> {
        let (row, col) = self.view.kind.oriented(row, col);
        for index in [row, col] {
            text.extend_from_slice(itoa::Buffer::new().format(index + 1).as_bytes());
            text.push(b' ');
        }
        digits::append(text, self.view.values, at)?;
        text.push(b'\n');
        Ok(())
    }
}
