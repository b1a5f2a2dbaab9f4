//! Edge lists, the format of the graphs in SNAP's collection. Each edge is a line `from to` or
//! `from to weight`.
//!
//! Node numbers start at 0 and may have gaps. The edge from i to j is the entry in row i and column
//! j. The module [`graph`](crate::graph) treats that entry as the edge from j to i. For paths along
//! the file's edges, use the transposed matrix. The matrix is square and just large enough for the
//! largest node number. If a comment `# Nodes: N` before the first edge announces more nodes, the
//! matrix has N rows and columns. (In SNAP's files N is usually smaller, because it counts only
//! nodes that have an edge.)
//!
//! If the file has no weights, the matrix is a pattern and every value is 1. Lines that begin with
//! `#` or `%` are comments. Words are separated by blanks or tabs. Files may be packed.
//!
//! ```
//! use blockmul::io::{ValueType, ReadOptions, edge_list::read_from};
//! let text = "# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t2\n7\t0\n";
//! let file = read_from(text.as_bytes(), "graph.txt", &ReadOptions::default())?;
//! assert_eq!((file.matrix.nrows(), file.matrix.nnz(), file.field), (8, 2, ValueType::Pattern));
//! # Ok::<(), blockmul::Error>(())
//! ```
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::Path;

use super::assemble::{HOW_TO_SUM, check_lines, compress};
use super::matrix_market::append_value;
use super::source::{Block, Source};
use super::words::{count, counted, quote, words};
use super::{FileFormat, MatrixFile, ReadOptions, Symmetry, ValueType, WriteOptions, grow, write_whole};
use crate::{Error, Pattern, Result, element::ElementType, matrix::AnyView};

/// Reads the file at `path`, plain or packed (recognised by its first bytes, not its name).
///
/// # Errors
/// [`Error::Io`] if the system refuses the file; [`Error::Parse`] with the line for anything the
/// format does not allow; [`Error::Memory`] if the edges do not fit the host.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<MatrixFile> {
    read_source(Source::open(path.as_ref(), options.progress.clone())?, options)
}

/// Reads bytes, plain or packed, from any reader to its end. Error messages use `name` as the path.
/// The length is unknown, so `options.progress` is not called.
///
/// # Errors
/// The errors of [`read`].
pub fn read_from(reader: impl Read + Send, name: impl AsRef<Path>, options: &ReadOptions) -> Result<MatrixFile> {
    read_source(Source::new(reader, name.as_ref())?, options)
}

fn read_source(mut source: Source<'_>, options: &ReadOptions) -> Result<MatrixFile> {
    let (mut parts, end) = source.map_blocks(|block| {
        let part = Part::parse(&block);
        if part.trouble.is_some() { ControlFlow::Break(part) } else { ControlFlow::Continue(part) }
    });
    let (words, (nodes, line)) = join(&mut parts, &source)?;
    end?;
    let stored = parts.iter().map(|part| part.from.len() as u64).sum();
    check_lines("nodes", nodes, stored, options.max_unproven_lines).map_err(|reason| source.refuse(line, reason))?;
    let edges = parts.iter().flat_map(Part::edges);
    let matrix = match compress(nodes as usize, nodes as usize, edges, options.sum_duplicates)? {
        Ok(matrix) => matrix,
        Err(place) => {
            let mut lines = parts.iter().flat_map(|part| part.lines_at(place));
            let (first, again) = (lines.next().unwrap_or(0), lines.next().unwrap_or(0));
            let reason =
                format!("a second edge from {} to {}, the first is on line {first}{HOW_TO_SUM}", place.0, place.1);
            return Err(source.refuse(again, reason));
        }
    };
    Ok(MatrixFile {
        matrix,
        format: FileFormat::EdgeList,
        layout: None,
        field: if words == 3 { ValueType::Real } else { ValueType::Pattern },
        element: ElementType::F64,
        symmetry: Symmetry::General,
        stored,
        is_array: false,
        groups: None,
        warnings: Vec::new(),
    })
}

/// Joins those results of the parts of a file that concern the whole file, or returns the first
/// error.
fn join(parts: &mut [Part], source: &Source<'_>) -> Result<(usize, (u64, u64))> {
    let (mut words, mut nodes) = (0, (0, 0));
    for part in parts {
        if words == 0 {
            nodes = nodes.max(part.announced);
        }
        let (found, line) = part.words;
        if words != 0 && found != 0 && words != found {
            return Err(source.refuse(line, wrong_form(found, words)));
        }
        words = words.max(found);
        // If several lines need the same number of nodes, the first of these lines is kept.
        if part.nodes.0 > nodes.0 {
            nodes = part.nodes;
        }
        match part.trouble.take() {
            Some(Trouble::Form(line, found)) => return Err(source.refuse(line, wrong_form(found, words))),
            Some(Trouble::Line(line, reason)) => return Err(source.refuse(line, reason)),
            Some(Trouble::Memory(error)) => return Err(error),
            None => {}
        }
    }
    Ok((words, nodes))
}

/// The edges of a chunk of text, in the order of the file.
#[derive(Default)]
struct Part {
    from: Vec<u32>,
    to: Vec<u32>,
    /// Weights of the edges; empty if the file has no weights.
    weights: Vec<f64>,
    /// Number of words on a line with an edge, which must be the same for all edges, and the number
    /// of the first such line.
    words: (usize, u64),
    /// Number of nodes that the edges need, and the first line with an edge that needs this number.
    nodes: (u64, u64),
    /// Number of nodes that comments before the first edge announce, and the line of the comment.
    announced: (u64, u64),
    /// `(edge, line)` for each edge that is not on the line directly after the previous edge.
    jumps: Vec<(usize, u64)>,
    next_line: u64,
    /// The reason why reading this part of the file ended early.
    trouble: Option<Trouble>,
}

enum Trouble {
    /// A line with an unexpected number of words: the line, and its number of words. The expected
    /// number may be known only from earlier chunks.
    Form(u64, usize),
    Line(u64, String),
    Memory(Error),
}

impl Part {
    fn parse(block: &Block<'_>) -> Self {
        let mut part = Self::default();
        let lines = block.lines as usize;
        let room = grow(&mut part.from, lines, "edges").and_then(|()| grow(&mut part.to, lines, "edges"));
        part.trouble = room.map_err(Trouble::Memory).and_then(|()| part.lines(block)).err();
        part
    }

    fn lines(&mut self, block: &Block<'_>) -> std::result::Result<(), Trouble> {
        let text = block.bytes.strip_suffix(b"\n").unwrap_or(block.bytes);
        let mut start = 0;
        for (line, end) in (block.first_line..).zip(memchr::memchr_iter(b'\n', text).chain([text.len()])) {
            self.line(line, &text[start..end])?;
            if self.weights.len() == 1 {
                grow(&mut self.weights, block.lines as usize, "edges").map_err(Trouble::Memory)?;
            }
            start = end + 1;
        }
        Ok(())
    }

    fn line(&mut self, line: u64, text: &[u8]) -> std::result::Result<(), Trouble> {
        let mut rest = words(text);
        let Some(first) = rest.next() else { return Ok(()) };
        if matches!(first[0], b'#' | b'%') {
            if self.from.is_empty() {
                self.announced = nodes_in(text).map_or(self.announced, |nodes| self.announced.max((nodes, line)));
            }
            return Ok(());
        }
        let (second, third, too_many) = (rest.next(), rest.next(), rest.next().is_some());
        let found = 1 + usize::from(second.is_some()) + usize::from(third.is_some());
        let Some(second) = second.filter(|_| !too_many && (self.words.0 == 0 || self.words.0 == found)) else {
            return Err(Trouble::Form(line, words(text).count()));
        };
        if self.words.0 == 0 {
            self.words = (found, line);
        }
        let refuse = |reason| Trouble::Line(line, reason);
        let (from, to) = (node(first, "from").map_err(refuse)?, node(second, "to").map_err(refuse)?);
        if let Some(third) = third {
            self.weights.push(weight(third).map_err(refuse)?);
        }
        let nodes = u64::from(from.max(to)) + 1;
        if nodes > self.nodes.0 {
            self.nodes = (nodes, line);
        }
        if line != self.next_line {
            self.jumps.push((self.from.len(), line));
        }
        self.next_line = line + 1;
        self.from.push(from);
        self.to.push(to);
        Ok(())
    }

    fn edges(&self) -> impl Iterator<Item = (u32, u32, f64)> + Clone {
        let edges = self.from.iter().zip(&self.to).enumerate();
        edges.map(|(edge, (&from, &to))| (from, to, self.weights.get(edge).copied().unwrap_or(1.0)))
    }

    /// The numbers of the lines whose edges have the ends `place` (from, to).
    fn lines_at(&self, place: (u32, u32)) -> impl Iterator<Item = u64> {
        let found = (0..self.from.len()).filter(move |&edge| (self.from[edge], self.to[edge]) == place);
        found.map(|edge| {
            let (first, line) = self.jumps[self.jumps.partition_point(|&(first, _)| first <= edge) - 1];
            line + (edge - first) as u64
        })
    }
}

/// The error for a line of `found` words after lines of `expected` words; `expected` is 0 for the
/// first line.
fn wrong_form(found: usize, expected: usize) -> String {
    let form = match expected {
        0 => "\"from to\" or \"from to weight\" is expected",
        2 => "\"from to\" is expected, as on the lines before",
        _ => "\"from to weight\" is expected, as on the lines before",
    };
    format!("{} where {form}", counted(found, "word"))
}

/// The number N in a comment with `Nodes: N`.
fn nodes_in(comment: &[u8]) -> Option<u64> {
    let mut words = words(comment);
    words.find(|word| word.eq_ignore_ascii_case(b"nodes:"))?;
    count(words.next()?, "nodes").ok()
}

fn node(word: &[u8], what: &str) -> std::result::Result<u32, String> {
    // A number of nine digits fits `u32`. Words of ten or more characters, and words with
    // characters that are not digits, are parsed with checks.
    if word.len() < 10 && word.iter().all(u8::is_ascii_digit) {
        return Ok(word.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')));
    }
    const LAST: u64 = Pattern::MAX_LINES - 1;
    match count(word, what)? {
        node if node <= LAST => Ok(node as u32),
        node => Err(format!("{what}: node {node} is above {LAST}, the last that is supported")),
    }
}

fn weight(word: &[u8]) -> std::result::Result<f64, String> {
    match std::str::from_utf8(word).ok().and_then(|text| text.parse::<f64>().ok()) {
        None => Err(format!("weight: {} is not a number", quote(word))),
        Some(value) if value.is_infinite() && word.iter().any(u8::is_ascii_digit) => {
            Err(format!("weight: {} is too large for a 64-bit float", quote(word)))
        }
        Some(value) => Ok(value),
    }
}

/// Writes a square matrix to the file at `path`. An earlier file is replaced when the new file is
/// complete. The file is packed with gzip if its name ends in `.gz`, with bzip2 if it ends in
/// `.bz2`.
///
/// If all weights are 1, they are left out. If not, weights are written with the fewest digits that
/// give the same bits when read.
///
/// # Errors
/// [`Error::Argument`] if the matrix is not square; [`Error::Io`] with the path. An earlier file
/// stays unchanged.
pub fn write<'m>(path: impl AsRef<Path>, matrix: impl Into<AnyView<'m>>, options: &WriteOptions) -> Result<()> {
    write_view(path.as_ref(), matrix.into(), options)
}

pub(super) fn write_view(path: &Path, matrix: AnyView<'_>, options: &WriteOptions) -> Result<()> {
    check_square(matrix)?;
    write_whole(path, |writer| write_lines(writer, matrix, options))
}

/// Writes `matrix` to any writer as [`write()`] does, but unpacked. The function writes a few KiB
/// at a time, so `writer` need not be buffered.
///
/// # Errors
/// The errors of `writer`; [`io::ErrorKind::InvalidInput`] if the matrix is not square.
pub fn write_to<'m>(mut writer: impl Write, matrix: impl Into<AnyView<'m>>, options: &WriteOptions) -> io::Result<()> {
    write_lines(&mut writer, matrix.into(), options)
}

fn write_lines(writer: &mut dyn Write, matrix: AnyView<'_>, options: &WriteOptions) -> io::Result<()> {
    const BUFFER_BYTES: usize = 1 << 16;
    let nodes = check_square(matrix).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let AnyView { kind, pattern, shape, stride, values } = matrix;
    let (rows, cols, area) = (shape.rows(), shape.cols(), shape.area());
    let entries = pattern.nnz() * area;
    let weighted = (0..pattern.nnz()).any(|entry| (0..area).any(|i| matrix.number(entry, i) != 1.0));
    let mut text = Vec::with_capacity(BUFFER_BYTES + 128);
    writeln!(text, "# Directed graph: an edge from a row to a column for each entry of a matrix")?;
    writeln!(text, "# Nodes: {nodes} Edges: {entries}")?;
    writeln!(text, "# from\tto{}", if weighted { "\tweight" } else { "" })?;
    let mut written = 0;
    for (block_col, entry) in (0..pattern.ncols()).flat_map(|col| pattern.entries(col).map(move |entry| (col, entry))) {
        let first = pattern.row_idx()[entry] as usize * rows;
        for i in 0..area {
            let (from, to) = kind.oriented(first + i % rows, block_col * cols + i / rows);
            write!(text, "{from}\t{to}")?;
            if weighted {
                text.push(b'\t');
                append_value(&mut text, values, entry * stride + i)?;
            }
            text.push(b'\n');
        }
        written += area;
        if text.len() >= BUFFER_BYTES {
            writer.write_all(&text)?;
            text.clear();
            options.progress.iter().for_each(|progress| progress.tell(written as u64, entries as u64));
        }
    }
    writer.write_all(&text)
}

/// The number of rows, or an error if the number of columns differs.
fn check_square(matrix: AnyView<'_>) -> Result<usize> {
    match matrix.scalar_sides() {
        (rows, cols) if rows == cols => Ok(rows),
        (rows, cols) => {
            Err(Error::Argument(format!("a list of edges holds a square matrix, this one is {rows}x{cols}")))
        }
    }
}

#[cfg(test)]
mod tests;
