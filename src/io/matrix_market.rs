//! Matrix Market exchange format (Boisvert, Pozo, Remington, NISTIR 5935, 1996): coordinate files, plain or gzip.
//!
//! Fields real, integer and pattern; symmetries general, symmetric and skew-symmetric, which are expanded. Everything else is refused with
//! `path:line: reason`. A file is never believed about its size: memory follows the bytes that are there.
mod lines;
mod number;
#[cfg(test)]
mod tests;

use crate::{Csc, Element, Error, Pattern, Result, io::write_beside};
use lines::Lines;
use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
};

/// How to read.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Add entries of the same place instead of refusing them.
    pub sum_duplicates: bool,
}

/// What the values of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// Floating-point numbers.
    Real,
    /// Whole numbers.
    Integer,
    /// None: every entry counts as 1.
    Pattern,
}

/// Which entries a file leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Symmetry {
    /// None.
    General,
    /// Those above the diagonal, equal to those below.
    Symmetric,
    /// Those on the diagonal, which are 0, and those above, the negatives of those below.
    SkewSymmetric,
}

/// A matrix as read, expanded to all its entries.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MatrixMarket {
    /// The matrix.
    pub matrix: Csc<f64>,
    /// What the file's values were.
    pub field: Field,
    /// What the file left out.
    pub symmetry: Symmetry,
}

/// Reads a file, plain or gzip (told by its first bytes, not its name).
///
/// # Errors
/// [`Error::Io`], [`Error::Parse`] with the line, [`Error::Memory`].
pub fn read(path: &Path, options: ReadOptions) -> Result<MatrixMarket> {
    let file = File::open(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    read_from(BufReader::with_capacity(1 << 16, file), path, options)
}

/// Reads from anything; `name` stands for the path in messages.
///
/// # Errors
/// As [`read`].
///
/// ```
/// use blockmul::io::matrix_market::{ReadOptions, read_from};
/// let text = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4.5\n2 1 -1e3\n";
/// let a = read_from(&text[..], "a.mtx".as_ref(), ReadOptions::default())?.matrix;
/// assert_eq!(a.values(), [4.5, -1000.0, -1000.0]);
/// let error = read_from(&text[..50], "a.mtx".as_ref(), ReadOptions::default()).unwrap_err();
/// assert!(error.to_string().starts_with("a.mtx:2: "));
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn read_from(mut reader: impl BufRead, name: &Path, options: ReadOptions) -> Result<MatrixMarket> {
    let failed = |source| Error::Io { path: name.to_owned(), source };
    let mut bytes = Vec::new();
    if reader.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]) {
        flate2::bufread::MultiGzDecoder::new(reader).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        reader.read_to_end(&mut bytes).map_err(failed)?;
    }
    parse(&bytes, name, options)
}

/// Banner and size line.
struct Header {
    field: Field,
    symmetry: Symmetry,
    nrows: u64,
    ncols: u64,
    entries: u64,
}

#[derive(Default)]
struct Entries {
    rows: Vec<u32>,
    cols: Vec<u32>,
    values: Vec<f64>,
}

fn parse(bytes: &[u8], name: &Path, options: ReadOptions) -> Result<MatrixMarket> {
    let mut lines = Lines::new(bytes, name);
    let header = parse_header(&mut lines)?;
    let entries = parse_entries(&mut lines, &header, bytes.len() as u64)?;
    let matrix = compress(&header, entries, options, |row, col| duplicate(bytes, name, &header, row, col))?;
    Ok(MatrixMarket { matrix, field: header.field, symmetry: header.symmetry })
}

fn parse_header(lines: &mut Lines<'_>) -> Result<Header> {
    let banner = lines.next_line().unwrap_or_default();
    let words: Vec<String> = lines::words(banner).map(|word| String::from_utf8_lossy(word).to_lowercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (format, field, symmetry) = match words[..] {
        ["%%matrixmarket", "matrix", format, field, symmetry] => (format, field, symmetry),
        ["%%matrixmarket", object, ..] if object != "matrix" => {
            return Err(lines.error(format!("\"{object}\" is not supported, only \"matrix\"")));
        }
        ["%%matrixmarket", ..] => {
            return Err(lines.error("the banner must read %%MatrixMarket matrix FORMAT FIELD SYMMETRY".into()));
        }
        _ => return Err(lines.error("not a Matrix Market file: it must begin with %%MatrixMarket".into())),
    };
    match format {
        "coordinate" => {}
        "array" => return Err(lines.error("array format (a dense matrix) is not supported, only coordinate".into())),
        other => return Err(lines.error(format!("unknown format \"{other}\", expected coordinate"))),
    }
    let field = match field {
        "real" => Field::Real,
        "integer" => Field::Integer,
        "pattern" => Field::Pattern,
        "complex" => return Err(lines.error("complex values are not supported, only real, integer and pattern".into())),
        other => return Err(lines.error(format!("unknown field \"{other}\", expected real, integer or pattern"))),
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" if field == Field::Pattern => {
            return Err(lines.error("a pattern cannot be skew-symmetric: it has no signs".into()));
        }
        "skew-symmetric" => Symmetry::SkewSymmetric,
        "hermitian" => return Err(lines.error("hermitian matrices are complex, which is not supported".into())),
        other => {
            return Err(
                lines.error(format!("unknown symmetry \"{other}\", expected general, symmetric or skew-symmetric"))
            );
        }
    };
    let sizes =
        lines.next_data().ok_or_else(|| lines.error("the size line (rows columns entries) is missing".into()))?;
    let sizes: Vec<&[u8]> = lines::words(sizes).collect();
    let [rows, cols, entries] = sizes[..] else {
        return Err(
            lines.error(format!("the size line must have 3 numbers (rows columns entries), it has {}", sizes.len()))
        );
    };
    let size = |what: &str, word: &[u8]| {
        number::unsigned(word)
            .ok_or_else(|| lines.error(format!("{what} \"{}\" is not a whole number", lines::show(word))))
    };
    let header = Header {
        field,
        symmetry,
        nrows: size("rows", rows)?,
        ncols: size("columns", cols)?,
        entries: size("entries", entries)?,
    };
    for (what, dimension) in [("rows", header.nrows), ("columns", header.ncols)] {
        if dimension > Pattern::MAX_LINES {
            return Err(lines.error(format!("{dimension} {what}, at most {} are supported", Pattern::MAX_LINES)));
        }
    }
    if symmetry != Symmetry::General && header.nrows != header.ncols {
        return Err(
            lines.error(format!("a symmetric matrix must be square, this one is {}x{}", header.nrows, header.ncols))
        );
    }
    // A column pointer takes memory that no entry proves; more columns than the host has memory for are refused here.
    crate::host_memory::check("the column pointers", header.ncols.saturating_mul(16))?;
    Ok(header)
}

fn parse_entries(lines: &mut Lines<'_>, header: &Header, file_bytes: u64) -> Result<Entries> {
    let mut entries = Entries::default();
    // The shortest entry is "1 1" and its line's end: no more entries than that can be there, whatever the header says.
    let believed = header.entries.min(file_bytes / 4 + 1) as usize;
    entries.rows.reserve_exact(believed);
    entries.cols.reserve_exact(believed);
    entries.values.reserve_exact(believed);
    while let Some(line) = lines.next_data() {
        if entries.rows.len() as u64 == header.entries {
            return Err(lines.error(format!("more entries than the {} announced", header.entries)));
        }
        let (row, col, value) = parse_entry(lines, header, line)?;
        entries.rows.push(row);
        entries.cols.push(col);
        entries.values.push(value);
    }
    match entries.rows.len() as u64 == header.entries {
        true => Ok(entries),
        false => Err(lines.error(format!("the file ends after {} of {} entries", entries.rows.len(), header.entries))),
    }
}

/// One entry, its row and column from 0.
fn parse_entry(lines: &Lines<'_>, header: &Header, line: &[u8]) -> Result<(u32, u32, f64)> {
    let expected = if header.field == Field::Pattern { 2 } else { 3 };
    let mut words = lines::words(line);
    let mut word = |found| {
        words.next().ok_or_else(|| lines.error(format!("an entry has {expected} numbers here, this line has {found}")))
    };
    let (row, col) = (word(0)?, word(1)?);
    let value = if header.field == Field::Pattern { None } else { Some(word(2)?) };
    if let Some(extra) = words.next() {
        return Err(
            lines.error(format!("an entry has {expected} numbers here, \"{}\" is one too many", lines::show(extra)))
        );
    }
    let index = |what: &str, word: &[u8], limit: u64| match number::unsigned(word) {
        Some(index) if (1..=limit).contains(&index) => Ok(index as u32 - 1),
        Some(index) => Err(lines.error(format!("{what} {index} is outside 1..={limit}"))),
        None => Err(lines.error(format!("{what} \"{}\" is not a whole number from 1 on", lines::show(word)))),
    };
    let (row, col) = (index("row", row, header.nrows)?, index("column", col, header.ncols)?);
    match header.symmetry {
        Symmetry::Symmetric if row < col => {
            return Err(lines.error(format!(
                "({}, {}) is above the diagonal, which a symmetric file leaves out",
                row + 1,
                col + 1
            )));
        }
        Symmetry::SkewSymmetric if row <= col => {
            return Err(lines.error(format!(
                "({}, {}) is not below the diagonal: a skew-symmetric file leaves it out",
                row + 1,
                col + 1
            )));
        }
        _ => {}
    }
    let value = match (header.field, value) {
        (Field::Real, Some(word)) => number::real(word),
        (Field::Integer, Some(word)) => number::integer(word),
        _ => Ok(1.0),
    };
    Ok((row, col, value.map_err(|reason| lines.error(reason))?))
}

/// Entries to columns, by counting; `duplicate` makes the error for a place named twice.
fn compress(
    header: &Header,
    entries: Entries,
    options: ReadOptions,
    duplicate: impl Fn(u32, u32) -> Error,
) -> Result<Csc<f64>> {
    let (nrows, ncols) = (header.nrows as usize, header.ncols as usize);
    let Entries { rows, cols, values } = entries;
    let mirrored = |i: usize| header.symmetry != Symmetry::General && rows[i] != cols[i];
    let mut col_ptr = vec![0u64; ncols + 1];
    for i in 0..rows.len() {
        col_ptr[cols[i] as usize + 1] += 1;
        if mirrored(i) {
            col_ptr[rows[i] as usize + 1] += 1;
        }
    }
    (0..ncols).for_each(|col| col_ptr[col + 1] += col_ptr[col]);
    let mut next = col_ptr.clone();
    let mut sorted = vec![(0u32, 0f64); col_ptr[ncols] as usize];
    let mut place = |row: u32, col: u32, value: f64| {
        let to = &mut next[col as usize];
        sorted[*to as usize] = (row, value);
        *to += 1;
    };
    for i in 0..rows.len() {
        place(rows[i], cols[i], values[i]);
        if mirrored(i) {
            place(cols[i], rows[i], if header.symmetry == Symmetry::SkewSymmetric { -values[i] } else { values[i] });
        }
    }
    drop((rows, cols, values));
    let (mut row_idx, mut kept) = (Vec::with_capacity(sorted.len()), Vec::with_capacity(sorted.len()));
    for col in 0..ncols {
        let column = &mut sorted[col_ptr[col] as usize..col_ptr[col + 1] as usize];
        column.sort_by_key(|&(row, _)| row); // stable: duplicates are added in the file's order
        col_ptr[col] = row_idx.len() as u64;
        let start = row_idx.len();
        for &(row, value) in column.iter() {
            if row_idx.len() > start && row_idx.last() == Some(&row) {
                if !options.sum_duplicates {
                    return Err(duplicate(row, col as u32));
                }
                *kept.last_mut().unwrap_or(&mut 0.0) += value;
            } else {
                row_idx.push(row);
                kept.push(value);
            }
        }
    }
    col_ptr[ncols] = row_idx.len() as u64;
    Csc::new(Pattern::new(nrows, ncols, col_ptr, row_idx)?, kept)
}

/// Reads again to name the lines of a place that is there twice.
fn duplicate(bytes: &[u8], name: &Path, header: &Header, row: u32, col: u32) -> Error {
    let mut lines = Lines::new(bytes, name);
    let mut first: Option<u64> = None;
    if parse_header(&mut lines).is_ok() {
        while let Some(line) = lines.next_data() {
            let Ok((r, c, _)) = parse_entry(&lines, header, line) else { break };
            let same = (r, c) == (row, col) || (header.symmetry != Symmetry::General && (c, r) == (row, col));
            match first {
                None if same => first = Some(lines.number()),
                Some(line) if same => {
                    return lines.error(format!(
                        "({}, {}) is already in line {line} (sum duplicates to add them)",
                        r + 1,
                        c + 1
                    ));
                }
                _ => {}
            }
        }
    }
    lines.error(format!("({}, {}) is there twice", row + 1, col + 1))
}

/// Writes a coordinate real general file; gzip where the name ends in `.gz`. Digits are the fewest that read back to the same bits.
///
/// # Errors
/// [`Error::Io`]; what stood at `path` before is then still there.
pub fn write<T: Element>(path: &Path, matrix: &Csc<T>) -> Result<()> {
    write_beside(path, |writer| write_to(writer, matrix))
}

/// As [`write()`], into anything.
///
/// # Errors
/// Those of `writer`.
pub fn write_to<T: Element>(mut writer: impl Write, matrix: &Csc<T>) -> std::io::Result<()> {
    writeln!(writer, "%%MatrixMarket matrix coordinate real general")?;
    writeln!(writer, "{} {} {}", matrix.nrows(), matrix.ncols(), matrix.nnz())?;
    for col in 0..matrix.ncols() {
        for entry in matrix.pattern().entries(col) {
            let row = matrix.pattern().row_idx()[entry] + 1;
            // Debug prints 1e300 where Display prints three hundred digits.
            writeln!(writer, "{row} {} {:?}", col + 1, matrix.values()[entry])?;
        }
    }
    Ok(())
}
