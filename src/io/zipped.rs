//! Reads the one text in a zip archive, such as a download with a readme.
//!
//! A zip archive has its list of files at its end, so archives are read from files only, not from
//! streams. The reader takes the only `.mtx` file. If there is no `.mtx` file, the reader takes the
//! only file with the ending of a graph, a problem or a mesh. If there is no such file either, it
//! takes the only `.txt` file. If there are several candidates, it takes the file with the
//! archive's name. The text is unpacked while it is read, so reading needs no more memory than
//! reading a file packed with gzip.
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::{Crc, read::DeflateDecoder};
use zip::{CompressionMethod, ZipArchive, result::ZipError};

use super::malformed;
use super::packing::{has_ending, without_packing};
use super::reporting::ReportingFile;
use super::unpacked::fill;
use super::words::quote;
use crate::{Error, Progress, Result};

/// Endings of texts that are read, in addition to `.mtx` and `.txt`. A `.txt` file may also be
/// notes.
const TEXTS: [&str; 10] = ["el", "edges", "tsv", "g2o", "graph", "bal", "toro", "ply", "obj", "off"];

/// The maximum number of members in an archive, because the list of members is held in memory.
pub(super) const MOST_MEMBERS: usize = 10_000;

/// The name that an error uses if it concerns the archive as a whole, not one of its files.
const ARCHIVE: &str = "the archive";

/// Whether these are the first bytes of a zip archive, which may be empty.
pub(super) fn begins_as_zip(first: &[u8]) -> bool {
    first.starts_with(b"PK\x03\x04") || first.starts_with(b"PK\x05\x06")
}

/// Whether the file at `path` begins like a zip archive.
pub(super) fn is_zip(path: &Path) -> bool {
    let mut first = Vec::new();
    File::open(path).is_ok_and(|mut file| fill(&mut file, &mut first, 4).is_ok()) && begins_as_zip(&first)
}

/// The error for an archive whose list of files cannot be reached, because the archive is in a
/// stream or is itself packed.
pub(super) fn unreadable(path: &Path) -> Error {
    refuse(path, "this is a zip archive: unpack it first")
}

/// A zip archive and its list of files.
pub(super) struct Zip {
    list: ZipArchive<File>,
    path: PathBuf,
    /// The files, without folders and without files that operating systems add.
    names: Vec<String>,
}

impl Zip {
    /// Reads the list of the archive at `path`.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        let list = list(file, path)?;
        let is_own = |name: &String| {
            let file = name.rsplit('/').next().unwrap_or_default();
            !file.is_empty() && !file.starts_with('.') && !name.starts_with("__MACOSX/")
        };
        let all = list.file_names().filter_map(|name| Some(name.ok()?.into_owned()));
        let names = all.filter(is_own).collect();
        Ok(Self { list, path: path.to_owned(), names })
    }

    /// Whether the archive is one of SciPy: it has a member `format`, or it has arrays and no text
    /// to read.
    pub fn is_npz(&self) -> bool {
        let has_arrays = || self.names.iter().any(|name| has_ending(Path::new(name), "npy"));
        self.list.index_for_name("format.npy").is_some() || (has_arrays() && self.chosen().is_none())
    }

    /// The text to read, and its path in messages.
    pub fn text(&mut self, progress: Option<Progress>) -> Result<(PathBuf, impl Read + Send + use<>)> {
        let path = &self.path;
        let name = self.chosen().map(ToOwned::to_owned).ok_or_else(|| {
            let names = listed(self.names.iter().map(String::as_str));
            let why = "a zip archive is read if one of its files is a matrix, a graph, a problem or a mesh";
            refuse(path, format!("{why}; unpack it first: {names}"))
        })?;
        let index = self.list.index_for_name(&name).ok_or_else(|| refuse(path, "its list of files is damaged"))?;
        let member = self.list.by_index_raw(index).map_err(|error| broken(path, ARCHIVE, error))?;
        let method = member.compression();
        let start = member.data_start().filter(|_| !member.encrypted());
        let (Some(start), CompressionMethod::Stored | CompressionMethod::Deflated) = (start, method) else {
            let how = if member.encrypted() { "encrypted".to_owned() } else { format!("packed by {method}") };
            return Err(refuse_member(path, &name, &format!("{how}, which is not read")));
        };
        let mut packed = ReportingFile::open(path, progress)?;
        packed.seek(SeekFrom::Start(start)).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        let packed = packed.take(member.compressed_size());
        let reader = match method {
            CompressionMethod::Stored => Bytes::Stored(packed),
            _ => Bytes::Deflated(DeflateDecoder::new(packed)),
        };
        let checked = Checked { reader, found: Crc::new(), crc: member.crc32(), bytes: member.size() };
        Ok((path.join(&name), checked))
    }

    /// The name of the text to read.
    fn chosen(&self) -> Option<&str> {
        let stem = |name: &str| without_packing(Path::new(name)).file_stem().map(ToOwned::to_owned);
        let is_named = |name: &&&str| stem(name).as_deref() == self.path.file_stem();
        let is_note = |name: &str| stem(name).is_some_and(|stem| stem.eq_ignore_ascii_case("readme"));
        let names = || self.names.iter().map(String::as_str);
        let ending_in = |endings: &[&str]| -> Vec<&str> {
            names()
                .filter(|name| endings.iter().any(|ending| has_ending(Path::new(name), ending)) && !is_note(name))
                .collect()
        };
        let groups = [&["mtx"][..], &TEXTS, &["txt"]].map(ending_in);
        let group = groups.iter().find(|group| !group.is_empty());
        group
            .and_then(|group| only(group.iter()).or_else(|| only(group.iter().filter(is_named))).copied())
            .or_else(|| only(names()).filter(|name| Path::new(name).extension().is_none()))
    }
}

/// The error for a file in the archive at `path` that is refused.
pub(super) fn refuse_member(path: &Path, name: &str, why: &str) -> Error {
    refuse(path, format!("{} is {why}: unpack it first", quote(name.as_bytes())))
}

/// Reads the list of the archive called `path`.
pub(super) fn list<R: Read + Seek>(reader: R, path: &Path) -> Result<ZipArchive<R>> {
    let list = ZipArchive::new(reader).map_err(|error| broken(path, ARCHIVE, error))?;
    match list.len() {
        many if many > MOST_MEMBERS => Err(refuse(path, format!("it has {many} files, {MOST_MEMBERS} at most"))),
        _ => Ok(list),
    }
}

/// The error of an archive, or of the member that `place` names.
pub(super) fn broken(path: &Path, place: &str, error: ZipError) -> Error {
    match error {
        ZipError::Io(error) => damaged(path, place, error),
        error => malformed(path, place, error.to_string()),
    }
}

/// Makes the error of a failed read: an error of the file if packed data is damaged, otherwise an
/// error of the system.
pub(super) fn damaged(path: &Path, place: &str, error: io::Error) -> Error {
    match error.raw_os_error() {
        Some(_) => Error::Io { path: path.to_owned(), source: error },
        None => malformed(path, place, format!("the data is damaged: {error}")),
    }
}

fn refuse(path: &Path, reason: impl Into<String>) -> Error {
    malformed(path, ARCHIVE, reason)
}

/// The element, if there is only one.
pub(super) fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    found.next().filter(|_| found.next().is_none())
}

/// The names of an archive's files, for a message.
pub(super) fn listed<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    const SHOWN: usize = 12;
    let count = names.len();
    let mut shown: Vec<_> = names.take(SHOWN).map(|name| quote(name.as_bytes())).collect();
    if count > SHOWN {
        shown.push(format!("{} more", count - SHOWN));
    }
    if shown.is_empty() { "it has none".into() } else { format!("it has {}", shown.join(", ")) }
}

/// The bytes of a file in an archive.
enum Bytes<R> {
    Stored(R),
    Deflated(DeflateDecoder<R>),
}

/// A reader that compares the checksum at the end.
struct Checked<R> {
    reader: Bytes<R>,
    found: Crc,
    crc: u32,
    bytes: u64,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let bytes = match &mut self.reader {
            Bytes::Stored(reader) => reader.read(to),
            Bytes::Deflated(reader) => reader.read(to),
        }?;
        self.found.update(&to[..bytes]);
        // The checksum counts bytes modulo 2^32.
        let is_whole = self.found.sum() == self.crc && self.found.amount() == self.bytes as u32;
        match bytes == 0 && !to.is_empty() && !is_whole {
            true => {
                Err(io::Error::new(ErrorKind::InvalidData, "the checksum of the zip archive does not match the data"))
            }
            false => Ok(bytes),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io::{Cursor, Write};
    use zip::{ZipWriter, write::SimpleFileOptions};

    /// Makes an archive from these files (names and bytes).
    pub(crate) fn archive_of(files: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn archive(folder: &Path, name: &str, files: &[(&str, &[u8])], method: CompressionMethod) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, archive_of(files, method)).unwrap();
        path
    }

    fn open(path: &Path) -> Result<(PathBuf, impl Read)> {
        Zip::open(path)?.text(None)
    }

    fn chosen(files: &[&str]) -> std::result::Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<_> = files.iter().map(|&name| (name, &b"1 2\n"[..])).collect();
        let path = archive(folder.path(), "a.zip", &files, CompressionMethod::Stored);
        let (text, _) = open(&path).map_err(|error| error.to_string())?;
        Ok(text.strip_prefix(&path).unwrap().to_str().unwrap().into())
    }

    #[test]
    fn the_one_file_that_is_meant_is_taken() {
        for (files, name) in [
            (&["m.mtx", "readme.html"][..], "m.mtx"),
            (&["x/m.mtx.gz", "x/notes.txt", "x/"], "x/m.mtx.gz"),
            (&["b.mtx", "a.mtx"], "a.mtx"),
            (&["web.edges", "README.txt"], "web.edges"),
            (&["LICENSE.txt", "web.edges", "notes.txt"], "web.edges"),
            (&["labels.edges", "x/a.edges", "a.txt"], "x/a.edges"),
            (&["README.txt", "LICENSE.txt", "a.txt.gz"], "a.txt.gz"),
            (&["README.txt", "web.txt"], "web.txt"),
            (&["__MACOSX/._m.g2o", ".DS_Store", "m.g2o"], "m.g2o"),
            (&["matrix"], "matrix"),
        ] {
            assert_eq!(chosen(files).as_deref(), Ok(name), "{files:?}");
        }
        for files in [
            &["b.mtx", "c.mtx"][..],
            &["b.el", "c.el", "a.txt"],
            &["a.el", "a.edges"],
            &["readme.html"],
            &["m.bin"],
            &["m.npz"],
            &[],
        ] {
            let reason = chosen(files).unwrap_err();
            assert!(reason.contains("a.zip: the archive: a zip archive is read if one of its files is "), "{reason}");
            assert!(reason.contains("unpack it first: it has "), "{reason}");
            assert!(files.iter().all(|name| reason.contains(&format!("\"{name}\""))), "{reason}");
        }
    }

    #[test]
    fn lists_of_files_are_bounded() {
        let names: Vec<_> = (0..=MOST_MEMBERS).map(|number| number.to_string()).collect();
        let files: Vec<_> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
        let list = |files| list(Cursor::new(archive_of(files, CompressionMethod::Stored)), Path::new("a.zip"));
        assert_eq!(list(&files[1..]).unwrap().len(), 10_000);
        let refused = list(&files).map(drop).unwrap_err().to_string();
        assert_eq!(refused, "a.zip: the archive: it has 10001 files, 10000 at most");
    }

    #[test]
    fn its_bytes_are_read_and_checked() {
        let folder = tempfile::tempdir().unwrap();
        let text = "1 2\n".repeat(1000);
        let read = |path: &Path| {
            let (mut all, (name, mut reader)) = (Vec::new(), open(path).unwrap());
            reader.read_to_end(&mut all).map(|_| (name, all))
        };
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            let path = archive(folder.path(), "a.zip", &[("b.html", b"<"), ("x/a.el", text.as_bytes())], method);
            assert_eq!(read(&path).unwrap(), (path.join("x/a.el"), text.clone().into_bytes()));
            // A wrong bit in the text, or in the packed bytes.
            let mut bytes = std::fs::read(&path).unwrap();
            let name = bytes.windows(6).position(|six| six == b"x/a.el").unwrap();
            bytes[name + 8] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            let kind = read(&path).unwrap_err().kind();
            assert!(
                matches!(kind, ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn a_damaged_archive_is_no_fault_of_ours() {
        let folder = tempfile::tempdir().unwrap();
        let path = archive(folder.path(), "a.zip", &[("a.el", b"1 2\n")], CompressionMethod::Deflated);
        let whole = std::fs::read(&path).unwrap();
        for length in 4..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let reason = open(&path).map(drop).unwrap_err().to_string();
            assert!(reason.contains("a.zip: the archive: "), "{length}: {reason}");
        }
        // Either a wrong byte is detected, or it does not matter: it may be, for example, in the
        // time stamp of a file.
        let mut read = 0;
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            std::fs::write(&path, damaged).unwrap();
            let mut all = Vec::new();
            if open(&path).is_ok_and(|(_, mut reader)| reader.read_to_end(&mut all).is_ok()) {
                assert_eq!(all, b"1 2\n", "byte {at}");
                read += 1;
            }
        }
        assert!((1..whole.len()).contains(&read), "{read} of {}", whole.len());
    }
}
