//! Lines of a text, counted from 1, and the words in them.
use crate::Error;
use std::path::Path;

pub(super) struct Lines<'a> {
    rest: &'a [u8],
    name: &'a Path,
    number: u64,
}

impl<'a> Lines<'a> {
    pub fn new(bytes: &'a [u8], name: &'a Path) -> Self {
        Self { rest: bytes, name, number: 0 }
    }

    /// The number of the line given last; after the end, of the line that is missing.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn next_line(&mut self) -> Option<&'a [u8]> {
        self.number += 1;
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
        let line = &self.rest[..end];
        self.rest = &self.rest[(end + 1).min(self.rest.len())..];
        Some(line)
    }

    /// The next line that is neither blank nor a comment.
    pub fn next_data(&mut self) -> Option<&'a [u8]> {
        loop {
            let line = self.next_line()?;
            match line.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None | Some(b'%') => continue,
                Some(_) => return Some(line),
            }
        }
    }

    pub fn error(&self, reason: String) -> Error {
        Error::Parse { path: self.name.to_owned(), line: self.number, reason }
    }
}

/// What white space separates; a carriage return is white space.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// A word for a message: no longer than a line, and printable whatever it holds.
pub(super) fn show(word: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(word).chars().take(40).flat_map(char::escape_debug).collect();
    if word.len() > 40 { text + "..." } else { text }
}
