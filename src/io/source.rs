//! The bytes of a file, unpacked where gzip, in blocks of whole lines, with the number of each line.
//!
//! One buffer serves the whole file: a block is what lies in it up to the last line end; the rest moves to the front
//! before the next read. So a line never straddles two blocks, and blocks can be parsed apart from one another.
use std::io::{Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::{Error, Result};

/// Longest line: it must fit the buffer. The format says 1024 bytes; comments in the wild are longer.
const BUFFER_BYTES: usize = 1 << 20;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Whole lines, the last of the file perhaps without its line end.
#[derive(Debug)]
pub struct Block<'a> {
    /// Number of the first line, from 1.
    pub first_line: u64,
    /// Never empty.
    pub bytes: &'a [u8],
}

pub struct Source<'r> {
    reader: Box<dyn Read + 'r>,
    name: PathBuf,
    buffer: Vec<u8>,
    /// Bytes of the buffer handed out, ready to be (whole lines), read.
    taken: usize,
    ready: usize,
    filled: usize,
    ended: bool,
    lines: u64,
}

impl<'r> Source<'r> {
    /// Looks at the first two bytes for gzip's.
    pub fn new(mut reader: impl Read + 'r, name: &Path) -> Result<Self> {
        let mut magic = [0; 2];
        let mut known = 0;
        while known < magic.len() {
            match reader.read(&mut magic[known..]) {
                Ok(0) => break,
                Ok(bytes) => known += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::Io { path: name.to_owned(), source }),
            }
        }
        let whole = Cursor::new(magic).take(known as u64).chain(reader);
        let reader: Box<dyn Read + 'r> = match magic == GZIP_MAGIC {
            true => Box::new(MultiGzDecoder::new(whole)),
            false => Box::new(whole),
        };
        let buffer = vec![0; BUFFER_BYTES];
        Ok(Self { reader, name: name.to_owned(), buffer, taken: 0, ready: 0, filled: 0, ended: false, lines: 0 })
    }

    /// Lines handed out so far, at least 1: where a file ends, for messages.
    pub fn lines(&self) -> u64 {
        self.lines.max(1)
    }

    /// `path:line: reason`.
    pub fn refuse(&self, line: u64, reason: impl Into<String>) -> Error {
        Error::Parse { path: self.name.clone(), line, reason: reason.into() }
    }

    /// The next line without its line end (LF or CRLF); `None` at the end of the file.
    pub fn line(&mut self) -> Result<Option<&[u8]>> {
        if !self.fill()? {
            return Ok(None);
        }
        let rest = &self.buffer[self.taken..self.ready];
        let line = rest.split(|&byte| byte == b'\n').next().unwrap_or(rest);
        self.taken += (line.len() + 1).min(rest.len());
        self.lines += 1;
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// All whole lines at hand; `None` at the end of the file.
    pub fn block(&mut self) -> Result<Option<Block<'_>>> {
        if !self.fill()? {
            return Ok(None);
        }
        let bytes = &self.buffer[self.taken..self.ready];
        let first_line = self.lines + 1;
        self.lines += line_ends(bytes) + u64::from(!bytes.ends_with(b"\n"));
        self.taken = self.ready;
        Ok(Some(Block { first_line, bytes }))
    }

    /// Makes at least one whole line ready; `false` at the end of the file.
    fn fill(&mut self) -> Result<bool> {
        if self.taken < self.ready {
            return Ok(true);
        }
        self.buffer.copy_within(self.ready..self.filled, 0);
        self.filled -= self.ready;
        (self.taken, self.ready) = (0, 0);
        while !self.ended && self.filled < self.buffer.len() {
            match self.reader.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.ended = true,
                Ok(bytes) => self.filled += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(error)),
            }
        }
        let read = &self.buffer[..self.filled];
        self.ready = match read.iter().rposition(|&byte| byte == b'\n') {
            _ if self.ended => self.filled,
            Some(last) => last + 1,
            None => return Err(self.refuse(self.lines + 1, format!("a line of more than {BUFFER_BYTES} bytes"))),
        };
        Ok(self.ready > 0)
    }

    /// What is wrong with the packed data is the file's fault, the rest the system's.
    fn broken(&self, error: std::io::Error) -> Error {
        let line = self.lines + 1 + line_ends(&self.buffer[..self.filled]);
        match error.kind() {
            ErrorKind::UnexpectedEof => self.refuse(line, "the gzip data is cut off here"),
            ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                self.refuse(line, format!("the gzip data is damaged at or after this line: {error}"))
            }
            _ => Error::Io { path: self.name.clone(), source: error },
        }
    }
}

fn line_ends(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out a few bytes at a time, as pipes do.
    struct Trickle<'a>(&'a [u8], usize);
    impl Read for Trickle<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let bytes = self.1.min(to.len()).min(self.0.len());
            to[..bytes].copy_from_slice(&self.0[..bytes]);
            self.0 = &self.0[bytes..];
            Ok(bytes)
        }
    }

    #[test]
    fn lines_then_blocks_number_every_line_once() {
        // Two buffers and a bit, so that a line straddles the first two reads; no line end at the end.
        let text = (1..=BUFFER_BYTES / 4).map(|i| format!("{i:>7}\r\n")).collect::<String>() + "end";
        for step in [1, 7, BUFFER_BYTES] {
            let mut source = Source::new(Trickle(text.as_bytes(), step), Path::new("t")).unwrap();
            assert_eq!(source.line().unwrap(), Some(&b"      1"[..]));
            let (mut line, mut all) = (2, b"      1\r\n".to_vec());
            while let Some(block) = source.block().unwrap() {
                assert_eq!(block.first_line, line);
                assert!(block.bytes.ends_with(b"\n") || block.bytes.ends_with(b"end"));
                line += block.bytes.split_inclusive(|&byte| byte == b'\n').count() as u64;
                all.extend_from_slice(block.bytes);
            }
            assert_eq!(all, text.as_bytes());
            assert_eq!(source.lines(), line - 1);
        }
    }

    #[test]
    fn the_longest_line_fits_and_one_byte_more_does_not() {
        let text = [vec![b'x'; BUFFER_BYTES - 1], b"\n\n".to_vec()].concat();
        let mut source = Source::new(&text[..], Path::new("t")).unwrap();
        assert_eq!(source.line().unwrap().unwrap().len(), BUFFER_BYTES - 1);
        assert_eq!(source.line().unwrap(), Some(&b""[..]));
        assert_eq!(source.line().unwrap(), None);
        let text = [b"\n".to_vec(), vec![b'x'; BUFFER_BYTES], b"\n".to_vec()].concat();
        let mut source = Source::new(&text[..], Path::new("t")).unwrap();
        assert_eq!(source.line().unwrap(), Some(&b""[..]));
        assert!(source.line().unwrap_err().to_string().starts_with("t:2: a line of more than"));
    }

    #[test]
    fn an_empty_file_has_no_line() {
        let mut source = Source::new(std::io::empty(), Path::new("t")).unwrap();
        assert_eq!(source.line().unwrap(), None);
        assert!(source.block().unwrap().is_none());
    }
}
