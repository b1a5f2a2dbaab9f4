//! Block layouts of SLAM++: `X.bla` describes the blocks of the matrix in `X.mtx`.
//!
//! The format is the one of `CUberBlockMatrix::Save_BlockLayout` and `Load_BlockLayout` (SLAM++
//! 2.3, `src/slam/BlockMatrix.cpp`, <https://sourceforge.net/projects/slam-plus-plus/>).
//!
//! A file has these four lines. Line ends count as blanks, and offsets start at 0:
//! 1. the size in scalars, with the number of stored elements;
//! 2. the size in blocks, with the number of stored blocks;
//! 3. the first row of each block row, and the end of the last block row;
//! 4. the first column of each block column, and the end of the last block column.
//!
//! ```text
//! 7 x 6 (24)
//! 3 x 2 (4)
//! 0 3 6 7
//! 0 3 6
//! ```
//!
//! The two numbers in brackets are written correctly, but a reader ignores them, because in
//! symmetric files they count half of the matrix.
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::encoding::{after_mark, refused};
use super::packing::{has_ending, without_packing};
use super::words::{count, is_blank, quote};
use super::{BlockLayout, write_whole};
use crate::{Error, Pattern, Result, matrix::AnyView};

/// The path of the layout for the matrix at `path`: `X.bla` for `X.mtx`, `X.mtx.gz` and
/// `X.mtx.bz2`.
pub fn place_beside(path: &Path) -> PathBuf {
    without_packing(path).with_extension("bla")
}

/// The path at which [`io::read`](super::read) looks for the layout of the matrix at `path`, or
/// `None` if the name does not end in `.mtx`.
pub fn place_read(path: &Path) -> Option<PathBuf> {
    has_ending(path, "mtx").then(|| place_beside(path))
}

/// The path of the layout next to the Matrix Market file at `path`, if this layout exists. A pipe
/// with this name does not count, because opening it may block forever.
pub fn beside(path: &Path) -> Option<PathBuf> {
    place_read(path).filter(|layout| layout.is_file())
}

/// Reads the layout of a matrix of `nrows` x `ncols` scalars.
///
/// # Errors
/// [`Error::Io`] if the system refuses the file; [`Error::Parse`] with the line for anything the
/// format does not allow, and for the layout of a matrix of another size.
pub fn read(path: impl AsRef<Path>, nrows: u64, ncols: u64) -> Result<BlockLayout> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    read_from(file, path, nrows, ncols)
}

/// Reads a layout from any reader, to its end. Error messages use `name` as the path.
///
/// # Errors
/// The errors of [`read`].
pub fn read_from(reader: impl Read, name: impl AsRef<Path>, nrows: u64, ncols: u64) -> Result<BlockLayout> {
    // `longest` bytes are enough for all numbers, which are below 2^32, and the blanks between
    // them. A longer text cannot be the layout of a matrix of this size.
    let longest = 1024 + 16 * (nrows.min(Pattern::MAX_LINES) + ncols.min(Pattern::MAX_LINES));
    let mut text = Vec::new();
    let read = reader.take(longest).read_to_end(&mut text);
    read.map_err(|source| Error::Io { path: name.as_ref().to_owned(), source })?;
    parse(&text, nrows, ncols).map_err(|(line, reason)| Error::Parse { path: name.as_ref().to_owned(), line, reason })
}

/// Writes the layout of `matrix` in the format that [`read`] accepts. An earlier file is replaced
/// when the new file is complete.
///
/// # Errors
/// [`Error::Io`] with the path; [`Error::Argument`] if the layout and the matrix have different
/// sizes.
pub fn write<'m>(path: impl AsRef<Path>, matrix: impl Into<AnyView<'m>>, layout: &BlockLayout) -> Result<()> {
    let text = text(matrix.into(), layout)?;
    write_whole(path.as_ref(), |writer| writer.write_all(text.as_bytes()))
}

/// Writes to any writer as [`write()`] does.
///
/// # Errors
/// The errors of `writer`; [`io::ErrorKind::InvalidInput`] if the layout and the matrix have
/// different sizes.
pub fn write_to<'m>(mut writer: impl Write, matrix: impl Into<AnyView<'m>>, layout: &BlockLayout) -> io::Result<()> {
    let text = text(matrix.into(), layout).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    writer.write_all(text.as_bytes())
}

/// A line, and the reason why it is refused.
type Refusal = (u64, String);

/// The words between blanks and line ends, each with its line.
struct Words<'a> {
    rest: &'a [u8],
    line: u64,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        while let Some((&first, rest)) = self.rest.split_first().filter(|&(&byte, _)| byte == b'\n' || is_blank(byte)) {
            self.line += u64::from(first == b'\n');
            self.rest = rest;
        }
        let end = self.rest.iter().position(|&byte| byte == b'\n' || is_blank(byte)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn count(&mut self, what: &str) -> std::result::Result<u64, Refusal> {
        let word = self.next().ok_or_else(|| (self.line, format!("the file ends where {what} is expected")))?;
        count(word, what).map_err(|reason| (self.line, reason))
    }

    /// Reads `ROWS x COLUMNS (STORED)` and returns ROWS and COLUMNS. Messages put `prefix` before
    /// the noun.
    fn size(&mut self, prefix: &str) -> std::result::Result<(u64, u64), Refusal> {
        let rows = self.count(&format!("{prefix}rows"))?;
        match self.next() {
            Some(b"x") => {}
            word => return Err((self.line, format!("{} where \"x\" is expected", quote(word.unwrap_or_default())))),
        }
        let cols = self.count(&format!("{prefix}columns"))?;
        let stored = self.next().unwrap_or_default();
        match stored.strip_prefix(b"(").and_then(|word| word.strip_suffix(b")")).map(|word| count(word, "stored")) {
            Some(Ok(_)) => Ok((rows, cols)),
            _ => Err((self.line, format!("{} where \"(STORED)\" is expected", quote(stored)))),
        }
    }

    /// Reads the ends of `blocks` block rows or columns. The last block row or column ends at
    /// `size`.
    fn ends(&mut self, what: &str, blocks: u64, size: u64) -> std::result::Result<Vec<u64>, Refusal> {
        let start = self.count(&format!("the start of the {what}s"))?;
        if start != 0 {
            return Err((self.line, format!("the {what}s start at {start}, not at 0")));
        }
        let mut ends = Vec::new();
        let mut previous = 0;
        for block in 0..blocks {
            let end = self.count(&format!("the end of {what} {block}"))?;
            if end <= previous || end > size {
                return Err((self.line, format!("{what} {block} is from {previous} to {end}, of {size} in all")));
            }
            ends.push(end);
            previous = end;
        }
        if previous != size {
            return Err((self.line, format!("the {what}s end at {previous}, not at {size}")));
        }
        Ok(ends)
    }
}

fn parse(text: &[u8], nrows: u64, ncols: u64) -> std::result::Result<BlockLayout, Refusal> {
    if let Some(reason) = refused(text) {
        return Err((1, reason));
    }
    let mut words = Words { rest: after_mark(text), line: 1 };
    let (rows, cols) = words.size("")?;
    if (rows, cols) != (nrows, ncols) {
        return Err((words.line, format!("the layout is of a matrix of {rows}x{cols}, this one is {nrows}x{ncols}")));
    }
    let (block_rows, block_cols) = words.size("block ")?;
    let row_ends = words.ends("block row", block_rows, rows)?;
    let col_ends = words.ends("block column", block_cols, cols)?;
    match words.next() {
        Some(word) => Err((words.line, format!("{} after the end of the layout", quote(word)))),
        None => Ok(BlockLayout::of_ends(row_ends, col_ends)),
    }
}

fn text(matrix: AnyView<'_>, layout: &BlockLayout) -> Result<String> {
    let (rows, cols) = matrix.scalar_sides();
    let (nrows, ncols) = (rows as u64, cols as u64);
    let [row_ends, col_ends] = layout.ends(nrows, ncols);
    for (what, ends, size) in [("rows", &row_ends, nrows), ("columns", &col_ends, ncols)] {
        let last = ends.last().copied().unwrap_or(0);
        if last != size || !ends.is_sorted_by(|a, b| a < b) || ends.first() == Some(&0) {
            return Err(Error::Argument(format!("blocks up to {last} do not cut {size} {what}")));
        }
    }
    let (of_rows, of_cols) = matrix.kind.oriented(&row_ends, &col_ends);
    let stored = stored(matrix, of_rows, of_cols);
    let line = |ends: &[u64]| ends.iter().fold("0".to_owned(), |line, end| format!("{line} {end}"));
    Ok(format!(
        "{nrows} x {ncols} ({})\n{} x {} ({})\n{}\n{}\n",
        stored.elements,
        row_ends.len(),
        col_ends.len(),
        stored.blocks,
        line(&row_ends),
        line(&col_ends)
    ))
}

struct StoredCounts {
    blocks: u64,
    elements: u64,
}

/// Counts the blocks in which the matrix has an entry. A row-major matrix is treated as the
/// compressed columns of its transpose.
fn stored(matrix: AnyView<'_>, row_ends: &[u64], col_ends: &[u64]) -> StoredCounts {
    let AnyView { pattern, shape, .. } = matrix;
    let mut stored = StoredCounts { blocks: 0, elements: 0 };
    // For each block row, the last block column in which an entry was found.
    let mut seen = vec![u64::MAX; row_ends.len()];
    let (mut block_col, mut start) = (0, 0);
    for col in 0..pattern.ncols() * shape.cols() {
        while col_ends[block_col] <= col as u64 {
            start = col_ends[block_col];
            block_col += 1;
        }
        for &row in pattern.column(col / shape.cols()) {
            let rows = u64::from(row) * shape.rows() as u64..(u64::from(row) + 1) * shape.rows() as u64;
            let mut block_row = row_ends.partition_point(|&end| end <= rows.start);
            while block_row < row_ends.len() && (block_row == 0 || row_ends[block_row - 1] < rows.end) {
                if seen[block_row] != block_col as u64 {
                    seen[block_row] = block_col as u64;
                    let height = row_ends[block_row] - if block_row == 0 { 0 } else { row_ends[block_row - 1] };
                    stored.blocks += 1;
                    stored.elements += height * (col_ends[block_col] - start);
                }
                block_row += 1;
            }
        }
    }
    stored
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockShape, Cbc, Csc, Csr, Matrix};
    use proptest::prelude::*;

    #[test]
    #[cfg(unix)]
    fn a_pipe_beside_a_matrix_is_no_layout() {
        let folder = tempfile::tempdir().unwrap();
        let (matrix, layout) = (folder.path().join("a.mtx"), folder.path().join("a.bla"));
        assert_eq!(beside(&matrix), None);
        assert!(std::process::Command::new("mkfifo").arg(&layout).status().unwrap().success());
        assert_eq!(beside(&matrix), None);
        std::fs::remove_file(&layout).unwrap();
        std::fs::write(&layout, "").unwrap();
        assert_eq!(beside(&matrix), Some(layout));
    }

    fn parsed(text: &str, nrows: u64, ncols: u64) -> std::result::Result<BlockLayout, String> {
        read_from(text.as_bytes(), "a.bla", nrows, ncols).map_err(|error| error.to_string())
    }

    fn written<M: Matrix>(matrix: &M, layout: &BlockLayout) -> String {
        let mut text = Vec::new();
        write_to(&mut text, matrix, layout).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn layouts_are_read_and_written_as_slam_plus_plus_does() {
        let mixed = BlockLayout::Mixed { row_ends: vec![3, 6, 7], col_ends: vec![3, 6] };
        // The entries are in three of the six blocks. Two of the three blocks are 3x3, and one is
        // 1x3.
        let matrix = Csc::from_triplets(7, 6, [(0, 0, 1.0), (2, 1, 1.0), (6, 2, 1.0), (5, 5, 1.0)]).unwrap();
        let text = "7 x 6 (21)\n3 x 2 (3)\n0 3 6 7\n0 3 6\n";
        assert_eq!(written(&matrix, &mixed), text);
        assert_eq!(parsed(text, 7, 6), Ok(mixed.clone()));
        assert_eq!(parsed(&text.replace('\n', "\r\n"), 7, 6), Ok(mixed.clone()));
        assert_eq!(parsed(&format!("\u{feff}{text}"), 7, 6), Ok(mixed.clone()));
        assert_eq!(parsed(&text.replace(' ', "\n"), 7, 6), Ok(mixed));
        let row_major = Csr::from_transpose(matrix.transpose());
        assert_eq!(written(&row_major, &BlockLayout::Mixed { row_ends: vec![3, 6, 7], col_ends: vec![3, 6] }), text);

        let shape = BlockShape::new(2, 3).unwrap();
        let blocks: Cbc<f32> = matrix.to_blocks(BlockShape::new(1, 3).unwrap()).unwrap().cast();
        let tall = BlockLayout::Mixed { row_ends: vec![1, 7], col_ends: vec![6] };
        assert_eq!(written(&blocks, &tall), "7 x 6 (42)\n2 x 1 (2)\n0 1 7\n0 6\n");
        let even = Csc::from_triplets(4, 6, [(0, 0, 1.0)]).unwrap();
        let text = written(&even.to_blocks(shape).unwrap(), &BlockLayout::Uniform(shape));
        assert_eq!(text, "4 x 6 (6)\n2 x 2 (1)\n0 2 4\n0 3 6\n");
        assert_eq!(parsed(&text, 4, 6), Ok(BlockLayout::Uniform(shape)));
        let empty = Csc::<f64>::from_triplets(0, 0, []).unwrap();
        let none = BlockLayout::Mixed { row_ends: vec![], col_ends: vec![] };
        assert_eq!(written(&empty, &none), "0 x 0 (0)\n0 x 0 (0)\n0\n0\n");
        assert_eq!(parsed("0 x 0 (0)\n0 x 0 (0)\n0\n0\n", 0, 0), Ok(none));
    }

    #[test]
    fn broken_layouts_are_refused_with_the_line() {
        let refused = |text: &str| parsed(text, 4, 4).unwrap_err();
        let wide: Vec<u8> = "4 x 4".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(refused(str::from_utf8(&wide).unwrap()).starts_with("a.bla:1: the text is UTF-16, "));
        assert_eq!(refused(""), "a.bla:1: the file ends where rows is expected");
        assert_eq!(refused("4 4 (3)\n"), "a.bla:1: \"4\" where \"x\" is expected");
        assert_eq!(refused("4 x"), "a.bla:1: the file ends where columns is expected");
        assert_eq!(refused("4 x -4 (3)"), "a.bla:1: columns: \"-4\" is not a whole number from 0");
        assert_eq!(refused("4 x 4 3\n"), "a.bla:1: \"3\" where \"(STORED)\" is expected");
        assert_eq!(refused("4 x 4 (x)\n"), "a.bla:1: \"(x)\" where \"(STORED)\" is expected");
        assert_eq!(refused("4 x 6 (3)\n"), "a.bla:1: the layout is of a matrix of 4x6, this one is 4x4");
        assert_eq!(refused("4 x 4 (3)\n2 x y (1)\n"), "a.bla:2: block columns: \"y\" is not a whole number from 0");
        let ends = |rows: &str, cols: &str| refused(&format!("4 x 4 (3)\n2 x 2 (1)\n{rows}\n{cols}\n"));
        assert_eq!(ends("1 2 4", "0 2 4"), "a.bla:3: the block rows start at 1, not at 0");
        assert_eq!(ends("0 2 5", "0 2 4"), "a.bla:3: block row 1 is from 2 to 5, of 4 in all");
        assert_eq!(ends("0 2 2", "0 2 4"), "a.bla:3: block row 1 is from 2 to 2, of 4 in all");
        assert_eq!(ends("0 2 3", "0 2 4"), "a.bla:3: the block rows end at 3, not at 4");
        assert_eq!(ends("0 2 4", "0 3 2"), "a.bla:4: block column 1 is from 3 to 2, of 4 in all");
        assert_eq!(ends("0 2 4", "0 2"), "a.bla:5: the file ends where the end of block column 1 is expected");
        assert_eq!(ends("0 2 4", "0 2 4 7"), "a.bla:4: \"7\" after the end of the layout");
        // A count that would need much memory, without the ends that it announces.
        let many = refused("4 x 4 (3)\n18446744073709551615 x 1 (1)\n0 1");
        assert_eq!(many, "a.bla:3: the file ends where the end of block row 1 is expected");
    }

    #[test]
    fn layouts_of_another_size_are_not_written() {
        let matrix = Csc::from_triplets(5, 4, [(0, 0, 1.0)]).unwrap();
        let refused = |layout| text((&matrix).into(), &layout).unwrap_err().to_string();
        let shape = BlockShape::new(2, 2).unwrap();
        assert_eq!(refused(BlockLayout::Uniform(shape)), "blocks up to 4 do not cut 5 rows");
        let falling = BlockLayout::Mixed { row_ends: vec![5], col_ends: vec![2, 2, 4] };
        assert_eq!(refused(falling), "blocks up to 4 do not cut 4 columns");
    }

    proptest! {
        #[test]
        fn any_layout_comes_back(rows in prop::collection::vec(1..40u64, 0..9), cols in prop::collection::vec(1..40u64, 0..9)) {
            let ends = |sides: &[u64]| sides.iter().scan(0, |end, side| { *end += side; Some(*end) }).collect::<Vec<_>>();
            let layout = BlockLayout::of_ends(ends(&rows), ends(&cols));
            let (nrows, ncols) = (rows.iter().sum::<u64>(), cols.iter().sum::<u64>());
            let matrix = Csc::<f64>::from_triplets(nrows as usize, ncols as usize, []).unwrap();
            prop_assert_eq!(parsed(&written(&matrix, &layout), nrows, ncols), Ok(layout));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..40), words in "[0-9x() \n]{0,60}") {
            let _ = read_from(&bytes[..], "a", 3, 3);
            let _ = parsed(&words, 3, 3);
            let _ = parsed(&format!("3 x 3 (1)\n{words}"), 3, 3);
        }
    }
}
