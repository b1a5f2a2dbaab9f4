//! The entries of one chunk of lines, which is parsed independently of all others.
use super::header::Header;
use super::{line, plain};
use crate::io::source::Block;
use crate::io::{ValueType, room};
use crate::{Error, Result};

/// Entries in the order of the file, with indices from 0. A symmetric matrix is not expanded here.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// The rows of the entries. For an array, before [`Part::place`], the number (from 0) of each
    /// value that is not 0.
    pub rows: Vec<u32>,
    /// The columns of the entries. For an array, empty before [`Part::place`].
    pub cols: Vec<u32>,
    /// Values; empty for a pattern.
    pub values: Vec<f64>,
    /// Number of entries read; in an array the number of all values, including zeros.
    pub len: u64,
    /// `(entry, line)` for each entry that is not on the line directly after the previous entry.
    /// Messages need the line of an entry, and a list of exceptions takes hardly any memory.
    jumps: Vec<(u64, u64)>,
    /// The reason why the chunk was not read to its end.
    pub trouble: Option<Trouble>,
}

#[derive(Debug)]
pub(super) enum Trouble {
    /// The first wrong line and the reason.
    Line(u64, String),
    Memory(Error),
}

impl Part {
    /// Parses the lines of `block` up to the first one that is wrong.
    pub fn parse(block: &Block<'_>, header: &Header) -> Self {
        let mut part = Self::default();
        part.trouble = part.take(block, header).err();
        part.give_back();
        part
    }

    /// Frees memory that was reserved for entries and is not used, because some lines are blank,
    /// comments, or zeros of an array. All parts are kept until the whole file has been read.
    fn give_back(&mut self) {
        if self.rows.len() < self.rows.capacity() / 2 {
            self.rows.shrink_to_fit();
            self.cols.shrink_to_fit();
            self.values.shrink_to_fit();
        }
    }

    fn take(&mut self, block: &Block<'_>, header: &Header) -> std::result::Result<(), Trouble> {
        self.reserve(block, header).map_err(Trouble::Memory)?;
        let (mut rest, mut line, mut next_line) = (block.bytes, block.first_line, 0);
        while !rest.is_empty() {
            let (row, col, value, length) = match plain::entry(rest, header) {
                Some(entry) => entry,
                None if rest[0] == b'\n' => {
                    (rest, line) = (&rest[1..], line + 1);
                    continue;
                }
                None => {
                    let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
                    let text = rest[..length].strip_suffix(b"\n").unwrap_or(rest);
                    if line::is_comment(text) {
                        (rest, line) = (&rest[length..], line + 1);
                        continue;
                    }
                    let careful = line::entry(text, header);
                    let (row, col, value) = careful.map_err(|reason| Trouble::Line(line, reason))?;
                    (row, col, value, length)
                }
            };
            if line != next_line {
                self.jumps.push((self.len, line));
            }
            if !header.is_array {
                self.rows.push(row);
                self.cols.push(col);
            } else if value != 0.0 {
                self.rows.push(self.len as u32); // a chunk has fewer bytes than 2^32
            }
            if header.field != ValueType::Pattern && (!header.is_array || value != 0.0) {
                self.values.push(value);
            }
            self.len += 1;
            (rest, line) = (&rest[length..], line + 1);
            next_line = line;
        }
        Ok(())
    }

    /// Reserves memory for the most entries that the lines and bytes of a chunk can contain.
    fn reserve(&mut self, block: &Block<'_>, header: &Header) -> Result<()> {
        // Bytes of the shortest line with an entry (`1 1 1`, `1 1` or `1`) and of its line end. The
        // last line may lack the line end.
        let shortest = match header.field {
            _ if header.is_array => 2,
            ValueType::Pattern => 4,
            _ => 6,
        };
        let most = (block.lines as usize).min(block.bytes.len() / shortest + 1);
        self.rows = room(most, "entries")?;
        if !header.is_array {
            self.cols = room(most, "entries")?;
        }
        if header.field != ValueType::Pattern {
            self.values = room(most, "entries")?;
        }
        Ok(())
    }

    /// Computes the rows and columns of the values of an array. `first` values come before this
    /// part.
    pub fn place(&mut self, first: u64, header: &Header) -> Result<()> {
        self.cols = room(self.rows.len(), "entries")?;
        let Some(&number) = self.rows.first() else { return Ok(()) };
        // The last column that starts at or before the first value.
        let (mut col, mut beyond) = (0, header.ncols);
        while beyond - col > 1 {
            let middle = col + (beyond - col) / 2;
            match header.places_before(middle) <= first + u64::from(number) {
                true => col = middle,
                false => beyond = middle,
            }
        }
        let (mut start, mut end) = (header.places_before(col), header.places_before(col + 1));
        for row in &mut self.rows {
            let place = first + u64::from(*row);
            while place >= end {
                col += 1;
                (start, end) = (end, header.places_before(col + 1));
            }
            *row = (header.first_row(col) + place - start) as u32;
            self.cols.push(col as u32);
        }
        Ok(())
    }

    /// The line of an entry.
    pub fn line_of(&self, entry: u64) -> u64 {
        let (first, line) = self.jumps[self.jumps.partition_point(|&(first, _)| first <= entry) - 1];
        line + (entry - first)
    }

    /// The lines of the entries with this row and column, in the order of the file.
    pub fn lines_at(&self, (row, col): (u32, u32)) -> impl Iterator<Item = u64> {
        let here = move |&(_, place): &(u64, (&u32, &u32))| place == (&row, &col);
        (0..).zip(self.rows.iter().zip(&self.cols)).filter(here).map(|(entry, _)| self.line_of(entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Symmetry;

    #[test]
    fn lines_without_entries_keep_no_memory() {
        for (is_array, lines) in [(false, "\n"), (false, "% none\n"), (true, "0\n")] {
            let header = Header::example(ValueType::Real, Symmetry::General, is_array);
            let text = lines.repeat(3000);
            let part = Part::parse(&Block { first_line: 3, lines: 3000, bytes: text.as_bytes() }, &header);
            assert!(part.trouble.is_none(), "{:?}", part.trouble);
            assert_eq!([part.rows.capacity(), part.cols.capacity(), part.values.capacity()], [0; 3], "{lines:?}");
        }
    }
}
