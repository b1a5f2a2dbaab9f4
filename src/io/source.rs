//! The unpacked bytes of a file in chunks of whole lines, with line numbers.
//!
//! A chunk (`Block`) is the part of a full buffer up to the last line end in the buffer. The rest
//! of the buffer moves to the front of the next buffer. So no line is divided between two chunks,
//! and chunks can be parsed independently on any thread.
mod bytes;

use std::io::{ErrorKind, Read};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::archive::{BLOCK, CutOff, MemberBytes, Place, begins_as_archive, find, passed};
use super::encoding;
use super::packing::Packing;
use super::reporting::ReportingFile;
use super::unpacked::{Peeked, Unpacked};
use super::zipped::{self, Zip};
use crate::{Error, Progress, Result};

/// Maximum length of a line. The Matrix Market format limits lines to 1024 bytes, but comments in
/// real files are longer.
const LINE_BYTES: usize = 1 << 20;
/// Bytes of a chunk. A chunk and its parsed entries fit the cache of a core.
const BLOCK_BYTES: usize = 1 << 19;

/// A chunk of whole lines. The last line of the file may lack its line end.
#[derive(Debug)]
pub struct Block<'a> {
    /// Number of the chunk's first line in the file, counted from 1.
    pub first_line: u64,
    /// Number of lines.
    pub lines: u64,
    /// The bytes, at least one.
    pub bytes: &'a [u8],
}

pub struct Source<'r> {
    reader: Box<dyn Read + Send + 'r>,
    packing: Option<Packing>,
    name: PathBuf,
    buffer: Vec<u8>,
    /// The ends, in the buffer, of the bytes that were returned, of the whole lines, and of the
    /// bytes that were read.
    taken: usize,
    ready: usize,
    filled: usize,
    ended: bool,
    /// Whether a carriage return without a line feed also ends a line.
    returns: bool,
    lines: u64,
}

/// The bytes of a file or of any reader. All readers have this one type, so that unpacking is
/// compiled once.
type Bytes<'r> = Box<dyn Read + Send + 'r>;

impl Source<'static> {
    /// Opens the file at `path`, or the text in the archive at `path`. `progress` gets the number
    /// of bytes read, before unpacking.
    pub fn open(path: &Path, progress: Option<Progress>) -> Result<Self> {
        let again = || -> Result<Bytes<'_>> { Ok(Box::new(ReportingFile::open(path, progress.clone())?)) };
        let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
        if is_file && zipped::is_zip(path) {
            let (member, bytes) = Zip::open(path)?.text(progress)?;
            return Self::with_reopen(Box::new(bytes), &member, BLOCK_BYTES, None);
        }
        Self::with_reopen(again()?, path, BLOCK_BYTES, is_file.then_some(&again))
    }
}

impl<'r> Source<'r> {
    /// Opens a reader. The first bytes of the data show how they are packed.
    pub fn new(reader: impl Read + Send + 'r, name: &Path) -> Result<Self> {
        Self::in_blocks(reader, name, BLOCK_BYTES)
    }

    /// Makes a source like [`Source::new`], with chunks of about `block_bytes` bytes. If a line is
    /// longer than `block_bytes`, its chunk is longer, too.
    pub fn in_blocks(reader: impl Read + Send + 'r, name: &Path, block_bytes: usize) -> Result<Self> {
        Self::with_reopen(Box::new(reader), name, block_bytes, None)
    }

    /// Opens a file, or the matrix in an archive. `again` opens the same bytes a second time, if
    /// possible.
    fn with_reopen(
        reader: Bytes<'r>,
        name: &Path,
        block_bytes: usize,
        again: Option<&dyn Fn() -> Result<Bytes<'r>>>,
    ) -> Result<Self> {
        let unpack = |reader| Unpacked::new(reader).map_err(|error| broken(name, None, 1, error));
        let reader = Peeked::new(unpack(reader)?, BLOCK);
        let packing = reader.inner().packing();
        if zipped::begins_as_zip(reader.first()) {
            return Err(zipped::unreadable(name));
        }
        if !begins_as_archive(reader.first()) {
            return Self::reading(Box::new(reader), packing, name.to_owned(), block_bytes);
        }
        let (member, bytes): (_, Bytes<'r>) = match (find(reader, name, again.is_none())?, again) {
            (Place::Here(member, reader), _) => (member.path(name), Box::new(MemberBytes::here(&member, reader))),
            (Place::Behind(member), Some(again)) => {
                (member.path(name), Box::new(MemberBytes::from_start(&member, unpack(again()?)?)))
            }
            (Place::Behind(_), None) => return Err(passed(name)),
        };
        Self::reading(bytes, packing, member, block_bytes)
    }

    /// Reads a text from its first byte, and skips a byte order mark.
    fn reading(reader: Bytes<'r>, packing: Option<Packing>, name: PathBuf, block_bytes: usize) -> Result<Self> {
        let mut reader = Peeked::new(reader, encoding::FIRST);
        if let Some(reason) = encoding::refused(reader.first()) {
            return Err(Error::Parse { path: name, line: 1, reason });
        }
        reader.pass(reader.first().len() - encoding::after_mark(reader.first()).len());
        let (reader, buffer) = (Box::new(reader), vec![0; block_bytes.clamp(1, LINE_BYTES)]);
        Ok(Self {
            reader,
            packing,
            name,
            buffer,
            taken: 0,
            ready: 0,
            filled: 0,
            ended: false,
            returns: false,
            lines: 0,
        })
    }

    /// The name of the text: the name of the file, or of the archive's member.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Number of lines returned so far, at least 1. Messages about the end of the file name this
    /// line.
    pub fn lines(&self) -> u64 {
        self.lines.max(1)
    }

    /// The error `path:line: reason`.
    pub fn refuse(&self, line: u64, reason: impl Into<String>) -> Error {
        Error::Parse { path: self.name.clone(), line, reason: reason.into() }
    }

    /// The next line without its line end (LF or CRLF), or `None` at the end of the file.
    pub fn line(&mut self) -> Result<Option<&[u8]>> {
        if !self.fill()? {
            return Ok(None);
        }
        let rest = &self.buffer[self.taken..self.ready];
        if self.returns {
            let (line, whole) = bytes::up_to_return(rest);
            self.taken += whole;
            self.lines += 1;
            return Ok(Some(line));
        }
        let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        self.taken += (line.len() + 1).min(rest.len());
        self.lines += 1;
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Skips empty lines. A small packed file may have any number of empty lines.
    pub fn skip_empty(&mut self) -> Result<()> {
        while self.fill()? {
            let rest = &self.buffer[self.taken..self.ready];
            let empty = rest.iter().position(|&byte| byte != b'\n').unwrap_or(rest.len());
            self.taken += empty;
            self.lines += empty as u64;
            if self.taken < self.ready {
                break;
            }
        }
        Ok(())
    }

    /// All whole lines in the buffer, or `None` at the end of the file.
    pub fn block(&mut self) -> Result<Option<Block<'_>>> {
        if !self.fill()? {
            return Ok(None);
        }
        let bytes = &self.buffer[self.taken..self.ready];
        let block = Block { first_line: self.lines + 1, lines: lines_in(bytes), bytes };
        self.lines += block.lines;
        self.taken = self.ready;
        Ok(Some(block))
    }

    /// Calls `parse` on every following chunk. Returns the values in the order of the file, and the
    /// error that ended reading early.
    ///
    /// Each thread of the pool reads (and unpacks) a chunk when its turn comes, then parses it
    /// while the next thread reads. Memory holds one chunk for each thread. After `parse` returns
    /// `Break`, no further chunk is read, but some later chunks may already have been read. The
    /// returned values always include the values of all chunks up to the first `Break`.
    pub fn map_blocks<T: Send>(
        &mut self,
        parse: impl Fn(Block<'_>) -> ControlFlow<T, T> + Sync,
    ) -> (Vec<T>, Result<()>) {
        let (enough, spares, mut end) = (AtomicBool::new(false), Mutex::new(Vec::new()), Ok(()));
        let spare = || spares.lock().unwrap_or_else(|broken| broken.into_inner());
        let blocks = std::iter::from_fn(|| {
            if enough.load(Ordering::Relaxed) {
                return None;
            }
            let buffer = spare().pop().unwrap_or_default();
            self.take_block(buffer).unwrap_or_else(|error| {
                end = Err(error);
                None
            })
        });
        let parse_one = |(number, OwnBlock { first_line, lines, buffer, bytes }): (usize, OwnBlock)| {
            let value = match parse(Block { first_line, lines, bytes: &buffer[bytes] }) {
                ControlFlow::Continue(value) => value,
                ControlFlow::Break(value) => {
                    enough.store(true, Ordering::Relaxed);
                    value
                }
            };
            spare().push(buffer);
            (number, value)
        };
        let mut values: Vec<_> = blocks.enumerate().par_bridge().map(parse_one).collect();
        values.sort_unstable_by_key(|&(number, _)| number);
        (values.into_iter().map(|(_, value)| value).collect(), end)
    }

    /// Like [`Source::block`], but the caller gets the buffer. `spare` becomes the next buffer.
    fn take_block(&mut self, mut spare: Vec<u8>) -> Result<Option<OwnBlock>> {
        let Some(Block { first_line, lines, bytes }) = self.block()? else { return Ok(None) };
        let length = bytes.len();
        let bytes = self.ready - length..self.ready;
        if spare.len() < self.buffer.len() {
            spare = vec![0; self.buffer.len()];
        }
        let rest = self.ready..self.filled;
        spare[..rest.len()].copy_from_slice(&self.buffer[rest.clone()]);
        (self.taken, self.ready, self.filled) = (0, 0, rest.len());
        Ok(Some(OwnBlock { first_line, lines, buffer: std::mem::replace(&mut self.buffer, spare), bytes }))
    }

    /// Prepares at least one whole line. Returns `false` at the end of the file.
    fn fill(&mut self) -> Result<bool> {
        if self.taken < self.ready {
            return Ok(true);
        }
        self.buffer.copy_within(self.ready..self.filled, 0);
        self.filled -= self.ready;
        (self.taken, self.ready) = (0, 0);
        loop {
            self.read_on()?;
            self.ready = match self.last_line_end() {
                _ if self.ended => self.filled,
                Some(last) => last + 1,
                None if self.buffer.len() < LINE_BYTES => {
                    self.buffer.resize((self.buffer.len() * 2).min(LINE_BYTES), 0);
                    continue;
                }
                None => return Err(self.refuse(self.lines + 1, format!("a line of more than {LINE_BYTES} bytes"))),
            };
            return Ok(self.ready > 0);
        }
    }

    fn broken(&self, error: std::io::Error) -> Error {
        broken(&self.name, self.packing, self.lines + 1 + line_ends(&self.buffer[..self.filled]), error)
    }
}

/// Makes the error of a failed read: an error of the file if packed data is damaged, otherwise an
/// error of the system.
fn broken(name: &Path, packing: Option<Packing>, line: u64, error: std::io::Error) -> Error {
    let reason = match (packing.map(Packing::name), error.kind()) {
        _ if error.get_ref().is_some_and(|reason| reason.is::<CutOff>()) => error.to_string(),
        (Some(packing), ErrorKind::UnexpectedEof) => format!("the {packing} data is cut off here"),
        (Some(packing), ErrorKind::InvalidInput | ErrorKind::InvalidData) => {
            format!("the {packing} data is damaged at or after this line: {error}")
        }
        // The unpacked file is in a zip archive.
        (None, ErrorKind::UnexpectedEof | ErrorKind::InvalidInput | ErrorKind::InvalidData)
            if error.raw_os_error().is_none() =>
        {
            format!("the data is damaged at or after this line: {error}")
        }
        _ => return Error::Io { path: name.to_owned(), source: error },
    };
    Error::Parse { path: name.to_owned(), line, reason }
}

/// A chunk that owns its buffer. `bytes` is the range of the chunk in the buffer.
struct OwnBlock {
    first_line: u64,
    lines: u64,
    buffer: Vec<u8>,
    bytes: Range<usize>,
}

fn line_ends(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

fn lines_in(bytes: &[u8]) -> u64 {
    line_ends(bytes) + u64::from(!bytes.ends_with(b"\n"))
}

#[cfg(test)]
mod tests;
