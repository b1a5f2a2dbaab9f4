//! Reads the lines of a file and their words, and binary data after the lines. The reader holds
//! only a chunk of the file and one line in memory.
use super::MeshFormat;
use crate::{
    Error, Result,
    io::{
        source::Source,
        words::{self, quote},
    },
};

/// Maximum length of a line together with the lines that continue it.
const LONGEST: usize = 1 << 20;

pub(super) struct Text<'r> {
    source: Source<'r>,
    /// The current line, without its comment.
    line: Vec<u8>,
    /// Whether the current line is also the next line.
    again: bool,
}

impl<'r> Text<'r> {
    pub fn new(source: Source<'r>) -> Self {
        Self { source: source.with_returns(), line: Vec::new(), again: false }
    }

    /// Moves to the next line that has words before a comment (`#`). Returns `false` at the end of
    /// the file.
    pub fn advance(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.again) {
            return Ok(true);
        }
        self.line.clear();
        self.join()
    }

    /// Appends the next line that has words to the current line.
    fn join(&mut self) -> Result<bool> {
        loop {
            self.source.skip_empty()?;
            let Some(line) = self.source.line()? else { return Ok(false) };
            let line = &line[..memchr::memchr(b'#', line).unwrap_or(line.len())];
            if !line.iter().copied().all(words::is_blank) {
                self.line.extend_from_slice(line);
                return Ok(true);
            }
        }
    }

    /// Like [`Text::advance`], but a line that ends in a backslash continues on the next line.
    pub fn advance_whole(&mut self) -> Result<bool> {
        if !self.advance()? {
            return Ok(false);
        }
        while let Some(kept) = self.before_backslash() {
            self.line.truncate(kept);
            if !self.join()? {
                break;
            }
            if self.line.len() > LONGEST {
                return self.refuse(format!("a line of more than {LONGEST} bytes, with those that it continues"));
            }
        }
        Ok(true)
    }

    /// Number of bytes before the backslash, if a backslash is the last word of the line and the
    /// line has other words.
    fn before_backslash(&self) -> Option<usize> {
        let last = self.line.iter().rposition(|&byte| !words::is_blank(byte))?;
        let (before, word) = self.line.split_at(last);
        let is_a_word = word[0] == b'\\' && before.last().is_some_and(|&byte| words::is_blank(byte));
        (is_a_word && !before.iter().copied().all(words::is_blank)).then_some(last)
    }

    /// The words of the line.
    pub fn words(&self) -> impl Iterator<Item = &[u8]> {
        words::words(&self.line)
    }

    /// The first word of the line.
    pub fn first(&self) -> &[u8] {
        self.words().next().unwrap_or_default()
    }

    /// The first word at or after byte `from` of the line, and the byte at which it ends.
    pub fn word_from(&self, from: usize) -> Option<(&[u8], usize)> {
        let rest = &self.line[from..];
        let begin = from + rest.iter().position(|&byte| !words::is_blank(byte))?;
        let length = self.line[begin..].iter().position(|&byte| words::is_blank(byte));
        let end = length.map_or(self.line.len(), |length| begin + length);
        Some((&self.line[begin..end], end))
    }

    /// Whether the current line is the first of the file and equals `line`.
    pub fn begins_with(&self, line: &[u8]) -> bool {
        self.source.lines() == 1 && self.line == line
    }

    /// The format that the first word gives. The line of this word remains the next line.
    pub fn format(&mut self) -> Result<MeshFormat> {
        self.expect(|| "a mesh begins".into())?;
        self.again = true;
        match MeshFormat::that_begins(self.first()) {
            Some(format) => Ok(format),
            None => self.refuse(format!(
                "no mesh begins with {}: an .obj does with v, a .ply with ply, an .off with OFF",
                quote(self.first())
            )),
        }
    }

    /// Like [`Text::advance`], but the end of the file is an error that says what is missing.
    pub fn expect(&mut self, what: impl FnOnce() -> String) -> Result<()> {
        match self.advance()? {
            true => Ok(()),
            false => self.refuse(format!("the file ends before {}", what())),
        }
    }

    /// The next `count` bytes (at most 8), regardless of line ends, or `None` if the file has fewer
    /// bytes left.
    pub fn bytes(&mut self, count: usize) -> Result<Option<&[u8]>> {
        self.source.take(count)
    }

    /// Whether no more bytes follow.
    pub fn is_at_end(&mut self) -> Result<bool> {
        self.source.is_at_end()
    }

    /// An error on the current line.
    pub fn refuse<T>(&self, reason: impl Into<String>) -> Result<T> {
        Err(self.source.refuse(self.source.lines(), reason))
    }

    /// An error in data without lines.
    pub fn malformed<T>(&self, place: String, reason: impl Into<String>) -> Result<T> {
        Err(Error::Malformed { path: self.source.name().to_owned(), place, reason: reason.into() })
    }

    /// The point whose three coordinates are the first three of these words.
    pub fn point<'w>(&self, mut words: impl Iterator<Item = &'w [u8]>) -> Result<[f64; 3]> {
        let mut point = [0.0; 3];
        for (coordinate, name) in point.iter_mut().zip(["x", "y", "z"]) {
            match words.next() {
                None => return self.refuse(format!("a vertex has no {name}")),
                Some(word) => *coordinate = self.number(word, name)?,
            }
        }
        Ok(point)
    }

    /// Parses a finite number.
    fn number(&self, word: &[u8], what: &str) -> Result<f64> {
        match self.any_number(word, what)? {
            number if number.is_finite() => Ok(number),
            number => self.refuse(format!("{what} is {number}")),
        }
    }

    /// Parses a number, finite or not.
    pub fn any_number(&self, word: &[u8], what: &str) -> Result<f64> {
        fast_float2::parse(word).or_else(|_| self.refuse(format!("{what}: {} is not a number", quote(word))))
    }

    /// Parses a count.
    pub fn count(&self, word: &[u8], what: &str) -> Result<u64> {
        words::count(word, what).or_else(|why| self.refuse(why))
    }

    /// Parses a corner of a face: one of `vertices`, counted from 0.
    pub fn corner(&self, word: &[u8], vertices: usize) -> Result<u32> {
        match self.count(word, "a corner")? {
            corner if corner < vertices as u64 => Ok(corner as u32),
            corner => self.refuse(format!("corner {corner} is none of {vertices} vertices, counted from 0")),
        }
    }
}
