//! Edge lists, as SNAP's collection has its graphs: a line `from to` or `from to weight` per edge, plain or gzip.
//!
//! Node numbers count from 0 and may have gaps; the edge from i to j is the entry in row i and column j. The matrix is
//! square, as large as the largest number asks for, or as a comment `# Nodes: N` before the first edge does where that is
//! more (in SNAP's own files it is mostly less, for it counts the nodes that have an edge). Without weights the matrix is
//! a pattern, every value 1. Lines that begin with `#` or `%` are comments; words stand between blanks or tabs.
//!
//! ```
//! use blockmul::io::{Field, ReadOptions, edge_list::read_from};
//! let text = "# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t2\n7\t0\n";
//! let file = read_from(text.as_bytes(), "graph.txt", &ReadOptions::default())?;
//! assert_eq!((file.matrix.nrows(), file.matrix.nnz(), file.field), (8, 2, Field::Pattern));
//! # Ok::<(), blockmul::Error>(())
//! ```
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use super::assemble::{check_lines, compress};
use super::matrix_market::write_value;
use super::source::{Block, Source};
use super::words::{count, quote, words};
use super::{Field, Format, MatrixFile, ReadOptions, Symmetry, WriteOptions, grow, write_whole};
use crate::{Element, Error, Matrix, Pattern, Result, matrix::CbcView};

/// Reads the file at `path`, plain or gzip (told by its first bytes, not its name).
///
/// # Errors
/// [`Error::Io`] when the system refuses the file; [`Error::Parse`] with the line for anything the format does not
/// allow; [`Error::Memory`] when the edges do not fit the host.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<MatrixFile> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    read_from(file, path, options)
}

/// Reads a file's bytes, plain or gzip, from anywhere, to the end; `name` stands in messages where [`read`] has the path.
///
/// # Errors
/// As [`read`].
pub fn read_from(reader: impl Read + Send, name: impl AsRef<Path>, options: &ReadOptions) -> Result<MatrixFile> {
    let mut source = Source::new(reader, name.as_ref())?;
    let mut edges = Edges::default();
    while let Some(block) = source.block()? {
        edges.reserve(block.bytes.len())?;
        edges.parse(&block).map_err(|(line, reason)| source.refuse(line, reason))?;
    }
    let stored = edges.from.len() as u64;
    let (nodes, line) = edges.nodes;
    check_lines("nodes", nodes, stored, options.max_unproven_lines).map_err(|reason| source.refuse(line, reason))?;
    let entries = edges.from.iter().zip(&edges.to).enumerate();
    let entries = entries.map(|(edge, (&from, &to))| (from, to, edges.weights.get(edge).copied().unwrap_or(1.0)));
    let matrix = match compress(nodes as usize, nodes as usize, entries, options.sum_duplicates)? {
        Ok(matrix) => matrix,
        Err(place) => {
            let (first, again) = edges.lines_at(place);
            let reason = format!("a second edge from {} to {}, the first is on line {first}", place.0, place.1);
            return Err(source.refuse(again, reason));
        }
    };
    Ok(MatrixFile {
        matrix,
        format: Format::EdgeList,
        layout: None,
        field: if edges.weighted() { Field::Real } else { Field::Pattern },
        symmetry: Symmetry::General,
        stored,
    })
}

/// The edges in the order of the file.
#[derive(Default)]
struct Edges {
    from: Vec<u32>,
    to: Vec<u32>,
    /// Empty without weights.
    weights: Vec<f64>,
    /// Words on an edge's line, once there is one: all have as many.
    words: usize,
    /// Nodes that the edges so far, or a comment before them, ask for, and the line that does.
    nodes: (u64, u64),
    /// `(edge, line)` wherever an edge is not on the line after the one before it.
    jumps: Vec<(usize, u64)>,
    next_line: u64,
}

impl Edges {
    fn weighted(&self) -> bool {
        self.words == 3
    }

    /// Makes room for the edges that `bytes` more bytes can hold.
    fn reserve(&mut self, bytes: usize) -> Result<()> {
        // The shortest edge: `1 1` and its line end, which the last may lack; with a weight `1 1 1`.
        let shortest = if self.weighted() { 6 } else { 4 };
        let more = bytes / shortest + 1;
        grow(&mut self.from, more, "edges")?;
        grow(&mut self.to, more, "edges")?;
        // A first block may turn out to hold weights.
        if self.words != 2 { grow(&mut self.weights, more, "edges") } else { Ok(()) }
    }

    /// Reads the lines of `block`, or gives the line that is wrong and why.
    fn parse(&mut self, block: &Block<'_>) -> std::result::Result<(), (u64, String)> {
        let text = block.bytes.strip_suffix(b"\n").unwrap_or(block.bytes);
        for (line, text) in (block.first_line..).zip(text.split(|&byte| byte == b'\n')) {
            self.line(line, text).map_err(|reason| (line, reason))?;
        }
        Ok(())
    }

    fn line(&mut self, line: u64, text: &[u8]) -> std::result::Result<(), String> {
        let mut rest = words(text);
        let Some(first) = rest.next() else { return Ok(()) };
        if matches!(first[0], b'#' | b'%') {
            if self.from.is_empty() {
                self.nodes = nodes_in(text).map_or(self.nodes, |nodes| self.nodes.max((nodes, line)));
            }
            return Ok(());
        }
        let (second, third, too_many) = (rest.next(), rest.next(), rest.next().is_some());
        let found = 1 + usize::from(second.is_some()) + usize::from(third.is_some());
        let Some(second) = second.filter(|_| !too_many && (self.words == 0 || self.words == found)) else {
            let form = match self.words {
                0 => "\"from to\" or \"from to weight\" is expected".to_owned(),
                2 => format!("\"from to\" is expected, as on line {}", self.jumps[0].1),
                _ => format!("\"from to weight\" is expected, as on line {}", self.jumps[0].1),
            };
            return Err(format!("{} words where {form}", words(text).count()));
        };
        let (from, to) = (node(first, "from")?, node(second, "to")?);
        if let Some(third) = third {
            self.weights.push(weight(third)?);
        }
        self.words = found;
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

    /// Lines of the first two edges between nodes where there are two.
    fn lines_at(&self, place: (u32, u32)) -> (u64, u64) {
        let mut found = (0..self.from.len()).filter(|&edge| (self.from[edge], self.to[edge]) == place);
        let mut next = || found.next().map_or(0, |edge| self.line_of(edge));
        (next(), next())
    }

    fn line_of(&self, edge: usize) -> u64 {
        let (first, line) = self.jumps[self.jumps.partition_point(|&(first, _)| first <= edge) - 1];
        line + (edge - first) as u64
    }
}

/// `N` of a comment with `Nodes: N`.
fn nodes_in(comment: &[u8]) -> Option<u64> {
    let mut words = words(comment);
    words.find(|word| word.eq_ignore_ascii_case(b"nodes:"))?;
    count(words.next()?, "nodes").ok()
}

fn node(word: &[u8], what: &str) -> std::result::Result<u32, String> {
    // Nine digits fit; whatever is longer, or no digits, is looked at with care.
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

/// Writes a square matrix to the file at `path`, gzip when the name ends in `.gz`, in place of what was there once it is
/// whole. Weights are left out when all are 1, else they have the fewest digits that read back to the same bits.
///
/// # Errors
/// [`Error::Argument`] for a matrix that is not square; [`Error::Io`] with the path. A file that was there is then as it
/// was.
pub fn write<M: Matrix>(path: impl AsRef<Path>, matrix: &M, options: &WriteOptions) -> Result<()> {
    check_square(matrix)?;
    write_whole(path.as_ref(), |writer| write_to(writer, matrix, options))
}

/// Writes `matrix` as [`write()`] does, plain, to anything; a few KiB at a time, so `writer` need not be buffered.
///
/// # Errors
/// Those of `writer`; [`io::ErrorKind::InvalidInput`] for a matrix that is not square.
pub fn write_to<M: Matrix>(mut writer: impl Write, matrix: &M, options: &WriteOptions) -> io::Result<()> {
    const BUFFER_BYTES: usize = 1 << 16;
    let nodes = check_square(matrix).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let cbc = matrix.as_cbc();
    let (pattern, rows, cols, area) = (cbc.pattern, cbc.shape.rows(), cbc.shape.cols(), cbc.shape.area());
    let entries = pattern.nnz() * area;
    let one = M::Element::from_f64(1.0);
    let weighted = (0..pattern.nnz()).any(|entry| cbc.block(entry).iter().any(|&value| value != one));
    let mut text = Vec::with_capacity(BUFFER_BYTES + 128);
    writeln!(text, "# Directed graph: an edge from a row to a column for each entry of a matrix")?;
    writeln!(text, "# Nodes: {nodes} Edges: {entries}")?;
    writeln!(text, "# from\tto{}", if weighted { "\tweight" } else { "" })?;
    let mut written = 0;
    for (block_col, entry) in (0..pattern.ncols()).flat_map(|col| pattern.entries(col).map(move |entry| (col, entry))) {
        let first = pattern.row_idx()[entry] as usize * rows;
        for (i, &value) in cbc.block(entry).iter().enumerate() {
            let (row, col) = (first + i % rows, block_col * cols + i / rows);
            let (from, to) = if M::ROW_MAJOR { (col, row) } else { (row, col) };
            write!(text, "{from}\t{to}")?;
            if weighted {
                text.push(b'\t');
                write_value(&mut text, value)?;
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

/// The number of rows, which is that of the columns.
fn check_square<M: Matrix>(matrix: &M) -> Result<usize> {
    let CbcView { pattern, shape, .. } = matrix.as_cbc();
    let (rows, cols) = (pattern.nrows() * shape.rows(), pattern.ncols() * shape.cols());
    let (rows, cols) = if M::ROW_MAJOR { (cols, rows) } else { (rows, cols) };
    match rows == cols {
        true => Ok(rows),
        false => Err(Error::Argument(format!("a list of edges holds a square matrix, this one is {rows}x{cols}"))),
    }
}

#[cfg(test)]
mod tests;
