//! The unpacked bytes of a file, read line by line or as they are.
use super::MeshFormat;
use crate::{
    Error, Result,
    io::{
        grow,
        unpacked::Unpacked,
        words::{self, quote},
    },
};
use std::{
    io::Read,
    path::{Path, PathBuf},
};

/// Bytes that are read at once.
const AT_ONCE: usize = 1 << 20;

pub(super) struct Bytes {
    name: PathBuf,
    bytes: Vec<u8>,
    /// Bytes that were taken.
    at: usize,
    /// Lines that were taken.
    lines: u64,
}

impl Bytes {
    pub fn new(reader: impl Read, name: &Path) -> Result<Self> {
        let of_file = |source| Error::Io { path: name.to_owned(), source };
        let mut reader = Unpacked::new(reader).map_err(of_file)?;
        let mut bytes = Vec::new();
        loop {
            let more = AT_ONCE.max(bytes.len() / 2);
            grow(&mut bytes, more, "the bytes")?;
            let room = (bytes.capacity() - bytes.len()) as u64;
            if reader.by_ref().take(room).read_to_end(&mut bytes).map_err(of_file)? == 0 {
                return Ok(Self { name: name.to_owned(), bytes, at: 0, lines: 0 });
            }
        }
    }

    /// The next line, without its line end (LF, CR LF or CR); `None` at the end of the file.
    pub fn line(&mut self) -> Option<&[u8]> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return None;
        }
        let (line, end) = rest.split_at(memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len()));
        self.at += line.len() + if end.starts_with(b"\r\n") { 2 } else { end.len().min(1) };
        self.lines += 1;
        Some(line)
    }

    /// The next line that has words before a comment (`#`), its words; `None` at the end.
    pub fn words(&mut self) -> Option<Vec<Vec<u8>>> {
        loop {
            let line = self.line()?;
            let line = &line[..memchr::memchr(b'#', line).unwrap_or(line.len())];
            let words: Vec<_> = words::words(line).map(<[u8]>::to_vec).collect();
            if !words.is_empty() {
                return Some(words);
            }
        }
    }

    /// The format of the first word. Nothing is taken.
    pub fn format(&mut self) -> Result<MeshFormat> {
        let words = self.next_words(|| "a mesh begins".into())?;
        match MeshFormat::that_begins(&words[0]) {
            Some(format) => {
                (self.at, self.lines) = (0, 0);
                Ok(format)
            }
            None => self.refuse(format!(
                "no mesh begins with {}: an .obj does with v, a .ply with ply, an .off with OFF",
                quote(&words[0])
            )),
        }
    }

    /// As [`Bytes::words`]; the end of the file is an error that says what is missing.
    pub fn next_words(&mut self, what: impl FnOnce() -> String) -> Result<Vec<Vec<u8>>> {
        match self.words() {
            Some(words) => Ok(words),
            None => self.refuse(format!("the file ends before {}", what())),
        }
    }

    /// The bytes that were not taken.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// An error on the line that was taken last.
    pub fn refuse<T>(&self, reason: impl Into<String>) -> Result<T> {
        Err(Error::Parse { path: self.name.clone(), line: self.lines.max(1), reason: reason.into() })
    }

    /// An error in data without lines.
    pub fn malformed<T>(&self, place: String, reason: impl Into<String>) -> Result<T> {
        Err(Error::Malformed { path: self.name.clone(), place, reason: reason.into() })
    }

    /// Three coordinates, the words from `first` on.
    pub fn point(&self, words: &[Vec<u8>], first: usize) -> Result<[f64; 3]> {
        let mut point = [0.0; 3];
        for (coordinate, (at, name)) in point.iter_mut().zip((first..).zip(["x", "y", "z"])) {
            match words.get(at) {
                None => return self.refuse(format!("a vertex has no {name}")),
                Some(word) => *coordinate = self.number(word, name)?,
            }
        }
        Ok(point)
    }

    /// A finite number.
    pub fn number(&self, word: &[u8], what: &str) -> Result<f64> {
        match self.any_number(word, what)? {
            number if number.is_finite() => Ok(number),
            number => self.refuse(format!("{what} is {number}")),
        }
    }

    /// A number, finite or not.
    pub fn any_number(&self, word: &[u8], what: &str) -> Result<f64> {
        fast_float2::parse(word).or_else(|_| self.refuse(format!("{what}: {} is not a number", quote(word))))
    }

    /// A count.
    pub fn count(&self, word: &[u8], what: &str) -> Result<u64> {
        words::count(word, what).or_else(|why| self.refuse(why))
    }

    /// A corner of a face: one of `vertices`, counted from 0.
    pub fn corner(&self, word: &[u8], vertices: usize) -> Result<u32> {
        match self.count(word, "a corner")? {
            corner if corner < vertices as u64 => Ok(corner as u32),
            corner => self.refuse(format!("corner {corner} is none of {vertices} vertices, counted from 0")),
        }
    }
}
