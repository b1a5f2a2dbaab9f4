//! The entries of a file as they come: rows, columns, values, and where the lines with none of them are.
//!
//! One pass over the bytes. Ordinary lines are read by [`plain`] below; whatever it does not take (comments, blank
//! lines, odd numbers, errors) goes to [`line::entry`], which knows the whole format and gives the reasons.
use super::header::Header;
use super::line;
use crate::Result;
use crate::io::source::Block;
use crate::io::words::is_blank;
use crate::io::{Field, Symmetry, grow, room};

/// Entries in the order of the file, as written (a symmetric matrix not expanded), indices from 0.
#[derive(Debug)]
pub(super) struct Entries {
    pub rows: Vec<u32>,
    pub cols: Vec<u32>,
    /// Empty for a pattern.
    pub values: Vec<f64>,
    /// `(entry, line)` wherever an entry is not on the line after the one before it: gives every entry's line at
    /// hardly any memory, which only the message about duplicates needs.
    jumps: Vec<(usize, u64)>,
    next_line: u64,
}

/// The shortest entry: `1 1` and its line end; with a value `1 1 1`.
fn shortest(header: &Header) -> usize {
    if header.field == Field::Pattern { 4 } else { 6 }
}

impl Entries {
    /// Room for the entries that `header` announces, as far as a file of `bytes` bytes can hold them.
    pub fn new(header: &Header, bytes: u64) -> Result<Self> {
        let room_for = header.stored.min(bytes / shortest(header) as u64) as usize;
        let valued = if header.field == Field::Pattern { 0 } else { room_for };
        Ok(Self {
            rows: room(room_for, "entries")?,
            cols: room(room_for, "entries")?,
            values: room(valued, "entries")?,
            jumps: Vec::new(),
            next_line: 0,
        })
    }

    /// Makes room for the entries that `bytes` more bytes can hold.
    pub fn reserve(&mut self, bytes: usize, header: &Header) -> Result<()> {
        // A last entry may lack its line end.
        let more = (bytes / shortest(header) + 1).min((header.stored - self.len()) as usize);
        grow(&mut self.rows, more, "entries")?;
        grow(&mut self.cols, more, "entries")?;
        if header.field != Field::Pattern {
            grow(&mut self.values, more, "entries")?;
        }
        Ok(())
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Reads the lines of `block`, or gives the line that is wrong and why.
    pub fn parse(&mut self, block: &Block<'_>, header: &Header) -> std::result::Result<(), (u64, String)> {
        let (mut rest, mut line) = (block.bytes, block.first_line);
        while !rest.is_empty() {
            let (row, col, value, length) = match plain(rest, header) {
                Some(entry) => entry,
                None => {
                    let length = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
                    let text = rest[..length].strip_suffix(b"\n").unwrap_or(rest);
                    if line::is_comment(text) {
                        (rest, line) = (&rest[length..], line + 1);
                        continue;
                    }
                    let (row, col, value) = line::entry(text, header).map_err(|reason| (line, reason))?;
                    (row, col, value, length)
                }
            };
            if self.len() == header.stored {
                return Err((line, format!("more entries than the {} of line {}", header.stored, header.size_line)));
            }
            if line != self.next_line {
                self.jumps.push((self.rows.len(), line));
            }
            self.next_line = line + 1;
            self.rows.push(row);
            self.cols.push(col);
            if header.field != Field::Pattern {
                self.values.push(value);
            }
            (rest, line) = (&rest[length..], line + 1);
        }
        Ok(())
    }

    /// The value of entry `entry`; 1 in a pattern.
    pub fn value(&self, entry: usize) -> f64 {
        self.values.get(entry).copied().unwrap_or(1.0)
    }

    /// Lines of the first two entries at a place where there are two.
    pub fn lines_at(&self, (row, col): (u32, u32)) -> (u64, u64) {
        let mut found = (0..self.rows.len()).filter(|&entry| (self.rows[entry], self.cols[entry]) == (row, col));
        let mut next = || found.next().map_or(0, |entry| self.line_of(entry));
        (next(), next())
    }

    fn line_of(&self, entry: usize) -> u64 {
        let (first, line) = self.jumps[self.jumps.partition_point(|&(first, _)| first <= entry) - 1];
        line + (entry - first) as u64
    }
}

/// An entry's line as nearly all are written, and its length in bytes with the line end; `None` for any other.
///
/// Takes nothing that [`line::entry`] refuses, and reads it as that does.
fn plain(bytes: &[u8], header: &Header) -> Option<(u32, u32, f64, usize)> {
    let (row, at) = plain_index(bytes, 0, header.nrows)?;
    let (col, at) = plain_index(bytes, at, header.ncols)?;
    let in_place = match header.symmetry {
        Symmetry::General => true,
        Symmetry::Symmetric => row >= col,
        Symmetry::SkewSymmetric => row > col,
    };
    let (value, at) = match header.field {
        Field::Pattern => (1.0, at),
        Field::Real => plain_word(bytes, at, |text| text.parse().ok().filter(|value: &f64| value.is_finite()))?,
        // 15 digits: below 2^53, so exact.
        Field::Integer => plain_word(bytes, at, |text| {
            let value: i64 = text.parse().ok().filter(|_| text.len() <= 15)?;
            Some(value as f64)
        })?,
    };
    let end = skip_blanks(bytes, at);
    let ended = bytes.get(end).is_none_or(|&byte| byte == b'\n');
    (in_place && ended).then_some((row, col, value, (end + 1).min(bytes.len())))
}

fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|&&byte| is_blank(byte)).count()
}

fn ends_word(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|&byte| byte == b'\n' || is_blank(byte))
}

/// Up to ten digits, 1 to `limit`, made an index from 0; and where they end.
fn plain_index(bytes: &[u8], at: usize, limit: u64) -> Option<(u32, usize)> {
    let start = skip_blanks(bytes, at);
    let (mut at, mut index) = (start, 0);
    while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        index = index * 10 + u64::from(digit);
        at += 1;
        if at - start > 10 {
            return None;
        }
    }
    ((1..=limit).contains(&index) && ends_word(bytes, at)).then(|| ((index - 1) as u32, at))
}

fn plain_word(bytes: &[u8], at: usize, read: impl Fn(&str) -> Option<f64>) -> Option<(f64, usize)> {
    let start = skip_blanks(bytes, at);
    let mut end = start;
    while !ends_word(bytes, end) {
        end += 1;
    }
    Some((read(std::str::from_utf8(&bytes[start..end]).ok()?)?, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header(field: Field, symmetry: Symmetry) -> Header {
        Header { field, symmetry, nrows: 12, ncols: 12, stored: 9, size_line: 2 }
    }

    proptest! {
        /// Lines made of the format's own pieces, right and wrong.
        #[test]
        fn plain_agrees_with_the_careful_reading(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "1", "2", "12", "13", "0", "-1", "+3", "007", "00000000000001", "1.5", "-0", "1e999", "1e-999",
                    "nan", "inf", "2.5d1", "9007199254740993", "123456789012345", "-12345678901234", "%", "x", ".", "",
                ]),
                0..5,
            ),
            blank in prop::sample::select(vec![" ", "\t", "  ", "\r"]),
            end in prop::sample::select(vec!["", "\n", "\r\n", " \n"]),
            next in prop::sample::select(vec!["", "4 4 4\n"]),
        ) {
            let text = words.join(blank) + end;
            let bytes = if end.ends_with('\n') { text.clone() + next } else { text.clone() };
            for field in [Field::Real, Field::Integer, Field::Pattern] {
                for symmetry in [Symmetry::General, Symmetry::Symmetric, Symmetry::SkewSymmetric] {
                    let header = header(field, symmetry);
                    if let Some((row, col, value, length)) = plain(bytes.as_bytes(), &header) {
                        prop_assert_eq!(length, text.len());
                        let careful = line::entry(text.trim_end_matches('\n').as_bytes(), &header);
                        let bits = |(row, col, value): (u32, u32, f64)| (row, col, value.to_bits());
                        prop_assert_eq!(Ok(bits((row, col, value))), careful.map(bits), "{:?}", text);
                    }
                }
            }
        }
    }

    #[test]
    fn plain_takes_plain_lines() {
        let real = header(Field::Real, Symmetry::General);
        assert_eq!(plain(b" 3\t12 -1.5e3 \r\n1 1 1\n", &real), Some((2, 11, -1500.0, 15)));
        assert_eq!(plain(b"1 1 1", &real), Some((0, 0, 1.0, 5)));
        let integer = header(Field::Integer, Symmetry::Symmetric);
        assert_eq!(plain(b"3 2 -7\n", &integer), Some((2, 1, -7.0, 7)));
        assert_eq!(plain(b"2 1\n", &header(Field::Pattern, Symmetry::General)), Some((1, 0, 1.0, 4)));
    }
}
