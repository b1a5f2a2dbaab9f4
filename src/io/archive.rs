//! The matrix inside a tar archive, as the SuiteSparse collection packs its matrices: `NAME.tar.gz`
//! contains `NAME/NAME.mtx` together with right-hand sides, coordinates and notes.
//!
//! The reader takes the first of these members that exists:
//! 1. the member NAME/NAME.mtx, where NAME is the name of the archive;
//! 2. the only member of the form FOLDER/FOLDER.mtx;
//! 3. the only sparse matrix, recognised by its banner;
//! 4. the only file.
//!
//! If the archive has the first choice, the search ends there. Choices 2 to 4 depend on all
//! members, so for them the archive is read a second time. A stream cannot be read again, so the
//! reader takes the first member FOLDER/FOLDER.mtx of a stream.
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use tar::Header;

use super::malformed;
use super::packing::without_packing;
use super::unpacked::fill;
use super::words::words;
use super::zipped::{MOST_MEMBERS, listed, only};
use crate::{Error, Result};

/// Bytes of a header. Members of a tar archive begin at multiples of the size of a header.
pub(super) const BLOCK: usize = 512;
/// Maximum number of bytes of a name, and of the list of a member's attributes.
const LONGEST_NOTE: u64 = 1 << 16;
/// Whether these are the first bytes of an archive: a header with a correct checksum.
pub(super) fn begins_as_archive(first: &[u8]) -> bool {
    first.get(..BLOCK).is_some_and(|block| is_header(Header::from_byte_slice(block)))
}

fn is_header(header: &Header) -> bool {
    let bytes = header.as_bytes();
    let sum: u32 = bytes[..148].iter().chain(&bytes[156..]).map(|&byte| u32::from(byte)).sum();
    header.cksum().is_ok_and(|written| written == sum + 8 * u32::from(b' '))
}

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TarMember {
    name: String,
    /// The byte of the unpacked archive at which the file begins.
    start: u64,
    bytes: u64,
    /// Whether the file is a Matrix Market file in coordinates.
    sparse: bool,
}

impl TarMember {
    /// The name of the file in messages.
    pub fn path(&self, archive: &Path) -> PathBuf {
        archive.join(&self.name)
    }

    fn ends_in_mtx(&self) -> bool {
        let ending = Path::new(&self.name).extension();
        ending.is_some_and(|ending| ending.eq_ignore_ascii_case("mtx"))
    }

    /// The folder, if the member is called FOLDER/FOLDER.mtx.
    fn folder(&self) -> Option<&str> {
        let name = self.name.strip_prefix("./").unwrap_or(&self.name);
        let (folder, file) = name.split_once('/')?;
        (file.len() == folder.len() + 4 && file.starts_with(folder) && self.ends_in_mtx()).then_some(folder)
    }
}

/// The position of the chosen member relative to the reader.
pub(super) enum Place<R> {
    /// The reader is at the member's first byte.
    Here(TarMember, R),
    /// The reader is after the member.
    Behind(TarMember),
}

/// Reads the archive called `path` until the member to take is known.
pub(super) fn find<R: Read>(reader: R, path: &Path, is_stream: bool) -> Result<Place<R>> {
    let plain = without_packing(path);
    let own = plain.file_stem().unwrap_or_default();
    let refuse = |reason: String| malformed(path, "the archive", reason);
    let broken = |error: io::Error| match (error.raw_os_error(), error.kind()) {
        (Some(_), _) => Error::Io { path: path.to_owned(), source: error },
        (None, ErrorKind::UnexpectedEof) => refuse("it is cut off".into()),
        (None, _) => refuse(format!("it is damaged: {error}")),
    };
    let mut walk = Walk { reader, at: 0, next: 0 };
    let mut members = Vec::new();
    while let Some(mut member) = walk.next().map_err(broken)? {
        if member.folder().is_some_and(|folder| is_stream || own == folder) {
            return Ok(Place::Here(member, walk.reader));
        }
        if member.ends_in_mtx() {
            member.sparse = walk.begins_with_coordinates(&member).map_err(broken)?;
        }
        if members.len() == MOST_MEMBERS {
            return Err(refuse(format!(
                "it has more than {MOST_MEMBERS} files, none of them {0}/{0}.mtx",
                own.display()
            )));
        }
        members.push(member);
    }
    match choose(&members) {
        Some(member) => Ok(Place::Behind(member.clone())),
        None => {
            let names = listed(members.iter().map(|member| member.name.as_str()));
            Err(refuse(format!("which of its files is the matrix? {names}")))
        }
    }
}

/// The error for an archive in a stream that would have to be read twice.
pub(super) fn passed(path: &Path) -> Error {
    let reason = "from a stream, only a member NAME/NAME.mtx is taken; give the path of the file";
    malformed(path, "the archive", reason)
}

fn choose(members: &[TarMember]) -> Option<&TarMember> {
    let only = |is: fn(&TarMember) -> bool| only(members.iter().filter(|member| is(member)));
    only(|member| member.folder().is_some()).or_else(|| only(|member| member.sparse)).or_else(|| only(|_| true))
}

/// The headers of an archive, one after another.
struct Walk<R> {
    reader: R,
    /// Number of bytes read.
    at: u64,
    /// The byte at which the next header begins.
    next: u64,
}

impl<R: Read> Walk<R> {
    /// The next regular file, with the reader at its first byte, or `None` at the end of the
    /// archive.
    fn next(&mut self) -> io::Result<Option<TarMember>> {
        let (mut long_name, mut long_size) = (None, None);
        loop {
            let skipped = pass(&mut self.reader, self.next - self.at)?;
            self.at += skipped;
            let mut block = Vec::new();
            fill(&mut self.reader, &mut block, BLOCK)?;
            self.at += block.len() as u64;
            if block.iter().all(|&byte| byte == 0) {
                return Ok(None);
            }
            if block.len() < BLOCK {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let header = Header::from_byte_slice(&block);
            if !is_header(header) {
                return Err(damaged(format!("there is no header at byte {}", self.at - BLOCK as u64)));
            }
            let bytes = long_size.take().map_or_else(|| header.entry_size(), Ok)?;
            let kind = header.entry_type();
            self.next = bytes
                .checked_next_multiple_of(BLOCK as u64)
                .and_then(|bytes| bytes.checked_add(self.at))
                .ok_or_else(|| damaged(format!("a member of {bytes} bytes")))?;
            if kind.is_gnu_longname() {
                long_name = Some(self.note(bytes)?);
            } else if kind.is_pax_local_extensions() {
                let note = self.note(bytes)?;
                long_name = attribute(&note, b"path").map(<[u8]>::to_vec).or(long_name);
                long_size = attribute(&note, b"size").and_then(|size| std::str::from_utf8(size).ok()?.parse().ok());
            } else if kind.is_gnu_sparse() {
                return Err(damaged("it has files with holes, which are not read".into()));
            } else if kind.is_file() || kind.is_contiguous() {
                let name = long_name.take().unwrap_or_else(|| header.path_bytes().into_owned());
                return Ok(Some(TarMember { name: shown(&name), start: self.at, bytes, sparse: false }));
            } else if !kind.is_gnu_longlink() && !kind.is_pax_global_extensions() {
                (long_name, long_size) = (None, None);
            }
        }
    }

    /// Reads a member that holds an attribute of the next member, such as a long name.
    fn note(&mut self, bytes: u64) -> io::Result<Vec<u8>> {
        if bytes > LONGEST_NOTE {
            return Err(damaged(format!("a name of {bytes} bytes, {LONGEST_NOTE} at most")));
        }
        let mut note = Vec::new();
        fill(&mut self.reader, &mut note, bytes as usize)?;
        self.at += note.len() as u64;
        Ok(note)
    }

    /// Whether a member begins with the banner of a coordinate file. Reads its first bytes.
    fn begins_with_coordinates(&mut self, member: &TarMember) -> io::Result<bool> {
        let mut first = Vec::new();
        fill(&mut self.reader, &mut first, member.bytes.min(BLOCK as u64) as usize)?;
        self.at += first.len() as u64;
        let line = first.split(|&byte| byte == b'\n').next().unwrap_or_default().to_ascii_lowercase();
        let mut banner = words(&line).skip(2);
        Ok(banner.next() == Some(b"coordinate"))
    }
}

fn damaged(reason: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}

/// Makes a name printable, for messages.
fn shown(name: &[u8]) -> String {
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..end]).replace(char::is_control, "?")
}

/// The value of an attribute in lines `LENGTH KEY=VALUE`. LENGTH counts the whole line.
fn attribute<'n>(mut note: &'n [u8], key: &[u8]) -> Option<&'n [u8]> {
    let mut found = None;
    while !note.is_empty() {
        let blank = note.iter().position(|&byte| byte == b' ')?;
        let length: usize = std::str::from_utf8(&note[..blank]).ok()?.parse().ok()?;
        let line = note.get(blank + 1..length)?.strip_suffix(b"\n")?;
        if let Some(value) = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(b"=")) {
            found = Some(value);
        }
        note = &note[length..];
    }
    found
}

/// Reads `count` bytes and discards them.
fn pass(reader: &mut impl Read, count: u64) -> io::Result<u64> {
    match io::copy(&mut reader.take(count), &mut io::sink())? {
        passed if passed < count => Err(ErrorKind::UnexpectedEof.into()),
        passed => Ok(passed),
    }
}

/// The archive ended inside a member, although the compressed stream may be complete.
#[derive(Debug, thiserror::Error)]
#[error("the archive is cut off here")]
pub(super) struct CutOff;

/// The bytes of one member. After the member the rest of the archive is read too, to verify the
/// checksums.
pub(super) struct MemberBytes<R> {
    reader: R,
    /// Number of bytes to skip before the member begins.
    before: u64,
    left: u64,
}

impl<R: Read> MemberBytes<R> {
    /// The bytes of a member that begins at the current position of the reader.
    pub fn here(member: &TarMember, reader: R) -> Self {
        Self { reader, before: 0, left: member.bytes }
    }

    /// The bytes of a member of an archive. The reader is at the first byte of the archive.
    pub fn from_start(member: &TarMember, reader: R) -> Self {
        Self { reader, before: member.start, left: member.bytes }
    }
}

impl<R: Read> Read for MemberBytes<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        pass(&mut self.reader, std::mem::take(&mut self.before))?;
        if to.is_empty() {
            return Ok(0);
        }
        if self.left == 0 {
            return io::copy(&mut self.reader, &mut io::sink()).map(|_| 0);
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(to.len());
        match self.reader.read(&mut to[..most])? {
            0 => Err(io::Error::new(ErrorKind::UnexpectedEof, CutOff)),
            bytes => {
                self.left -= bytes as u64;
                Ok(bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests;
