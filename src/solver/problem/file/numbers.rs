//! Reads the numbers of a text one by one. Errors name the line.
use crate::{
    Result,
    io::source::Source,
    io::words::{count, is_blank, quote},
};
use std::{io::Read, ops::Range, path::Path};

/// Reads a text word by word.
pub(super) struct Numbers<'r> {
    source: Source<'r>,
    line: Vec<u8>,
    /// Number of bytes of the current line that have been read.
    at: usize,
    /// Whether a caller only inspected the current line, so that it is still the next line to read.
    held: bool,
}

impl Numbers<'static> {
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self::of(Source::open(path, None)?))
    }
}

impl<'r> Numbers<'r> {
    pub fn new(reader: impl Read + Send + 'r, name: &Path) -> Result<Self> {
        Ok(Self::of(Source::new(reader, name)?))
    }

    fn of(source: Source<'r>) -> Self {
        Self { source, line: Vec::new(), at: 0, held: false }
    }

    /// Returns the number of the current line.
    pub fn line(&self) -> u64 {
        self.source.lines()
    }

    /// Makes an error on the current line.
    pub fn refuse<T>(&self, reason: impl Into<String>) -> Result<T> {
        self.refuse_on(self.line(), reason)
    }

    /// Makes an error on an earlier line.
    pub fn refuse_on<T>(&self, line: u64, reason: impl Into<String>) -> Result<T> {
        Err(self.source.refuse(line, reason))
    }

    /// Returns the first word of the text that is not in a comment (`#`), or an empty word if there
    /// is no such word. Only the comments before the word are consumed.
    pub fn first_word(&mut self) -> Result<Vec<u8>> {
        while self.next_line()? {
            let word = self.word_here().map_or(&[][..], |word| &self.line[word]).to_owned();
            if !word.starts_with(b"#") {
                (self.at, self.held) = (0, true);
                return Ok(word);
            }
        }
        Ok(Vec::new())
    }

    /// Moves to the next line that has words. Returns `false` at the end of the text.
    pub fn next_line(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.held) {
            return Ok(true);
        }
        loop {
            self.source.skip_empty()?;
            let Some(line) = self.source.line()? else { break };
            self.line.clear();
            self.line.extend_from_slice(line);
            self.at = 0;
            if !self.line.iter().all(|&byte| is_blank(byte)) {
                return Ok(true);
            }
        }
        self.line.clear();
        self.at = 0;
        Ok(false)
    }

    /// Returns the range of the next word of the current line.
    fn word_here(&mut self) -> Option<Range<usize>> {
        self.held = false;
        let start = self.at + self.line[self.at..].iter().position(|&byte| !is_blank(byte))?;
        let length = self.line[start..].iter().position(|&byte| is_blank(byte));
        self.at = length.map_or(self.line.len(), |length| start + length);
        Some(start..self.at)
    }

    /// Returns the next word of the current line. `what` describes it in an error.
    pub fn word(&mut self, what: &str) -> Result<&[u8]> {
        match self.word_here() {
            Some(word) => Ok(&self.line[word]),
            None => self.refuse(format!("the line ends where {what} is expected")),
        }
    }

    /// Returns the range of the next word, which may be on a later line.
    fn word_anywhere(&mut self, what: &str) -> Result<Range<usize>> {
        loop {
            if let Some(word) = self.word_here() {
                return Ok(word);
            }
            if !self.next_line()? {
                return self.refuse(format!("the file ends where {what} is expected"));
            }
        }
    }

    /// Whether the current line has another word.
    pub fn more(&self) -> bool {
        self.line[self.at..].iter().any(|&byte| !is_blank(byte))
    }

    /// Refuses further words on the current line.
    pub fn end_of_line(&mut self) -> Result<()> {
        match self.word_here() {
            None => Ok(()),
            Some(word) => {
                let word = quote(&self.line[word]);
                self.refuse(format!("{word} is one word too many"))
            }
        }
    }

    /// Refuses further words in the text.
    pub fn end(&mut self) -> Result<()> {
        self.end_of_line()?;
        match self.next_line()? {
            true => self.end_of_line(),
            false => Ok(()),
        }
    }

    fn as_count(&self, word: Range<usize>, what: &str) -> Result<u64> {
        count(&self.line[word], what).or_else(|reason| self.refuse(reason))
    }

    fn as_real(&self, word: Range<usize>, what: &str) -> Result<f64> {
        let word = &self.line[word];
        match fast_float2::parse::<f64, _>(word) {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(_) => self.refuse(format!("{what}: {} is not a finite number", quote(word))),
            Err(_) => self.refuse(format!("{what}: {} is not a number", quote(word))),
        }
    }

    /// Reads a nonnegative integer from this line.
    pub fn count(&mut self, what: &str) -> Result<u64> {
        match self.word_here() {
            Some(word) => self.as_count(word, what),
            None => self.refuse(format!("the line ends where {what} is expected")),
        }
    }

    /// Reads a finite number from this line.
    pub fn real(&mut self, what: &str) -> Result<f64> {
        match self.word_here() {
            Some(word) => self.as_real(word, what),
            None => self.refuse(format!("the line ends where {what} is expected")),
        }
    }

    /// Reads `N` finite numbers from this line.
    pub fn reals<const N: usize>(&mut self, what: &str) -> Result<[f64; N]> {
        let mut values = [0.0; N];
        for value in &mut values {
            *value = self.real(what)?;
        }
        Ok(values)
    }

    /// Reads a nonnegative integer from this line or a later one.
    pub fn count_anywhere(&mut self, what: &str) -> Result<u64> {
        let word = self.word_anywhere(what)?;
        self.as_count(word, what)
    }

    /// Reads `N` finite numbers from this line or later ones.
    pub fn reals_anywhere<const N: usize>(&mut self, what: &str) -> Result<[f64; N]> {
        let mut values = [0.0; N];
        for value in &mut values {
            let word = self.word_anywhere(what)?;
            *value = self.as_real(word, what)?;
        }
        Ok(values)
    }
}
