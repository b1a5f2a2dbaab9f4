//! The zip archive: finds members by name and names the errors in it.
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use zip::{ZipArchive, result::ZipError};

use super::member::Member;
use crate::io::packing::{FIRST, Packing};
use crate::io::unpacked::fill;
use crate::io::zipped::listed;
use crate::{Error, Progress, Result};

pub(super) struct Archive<R> {
    zip: ZipArchive<R>,
    name: PathBuf,
}

impl<R: Read + Seek> Archive<R> {
    /// Reads the list of members.
    pub fn open(mut reader: R, name: &Path) -> Result<Self> {
        let mut first = Vec::new();
        if fill(&mut reader, &mut first, FIRST).is_ok()
            && let Some(packing) = Packing::of_bytes(&first)
        {
            let reason = format!("this is {}, and an .npz is packed already: unpack it first", packing.name());
            return Err(malformed(name, "the archive", reason));
        }
        reader.rewind().map_err(|source| Error::Io { path: name.to_owned(), source })?;
        let zip = ZipArchive::new(reader).map_err(|error| broken_zip(name, "the archive", error))?;
        Ok(Self { zip, name: name.to_owned() })
    }

    pub fn has(&self, array: &str) -> bool {
        self.zip.index_for_name(&format!("{array}.npy")).is_some()
    }

    /// The names of the members in a message.
    pub fn listed(&self) -> String {
        let names: Vec<_> = self.zip.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
        listed(names.iter().map(String::as_str))
    }

    /// The member that holds an array; its header is read.
    pub fn array(&mut self, array: &str) -> Result<Member<'_>> {
        let file = format!("{array}.npy");
        let place = format!("member {file}");
        if !self.has(array) {
            return Err(malformed(&self.name, "the archive", format!("there is no {place}")));
        }
        let bytes = self.zip.by_name(&file).map_err(|error| broken_zip(&self.name, &place, error))?;
        Member::open(bytes, &self.name, place)
    }

    /// The error `path: place: reason`.
    pub fn refuse(&self, place: impl Into<String>, reason: impl Into<String>) -> Error {
        malformed(&self.name, place, reason)
    }
}

pub(super) fn malformed(path: &Path, place: impl Into<String>, reason: impl Into<String>) -> Error {
    Error::Malformed { path: path.to_owned(), place: place.into(), reason: reason.into() }
}

fn broken_zip(path: &Path, place: &str, error: ZipError) -> Error {
    match error {
        ZipError::Io(error) => broken(path, place, error),
        error => malformed(path, place, error.to_string()),
    }
}

/// Damaged packed data is an error of the file, any other that of the system.
pub(super) fn broken(path: &Path, place: &str, error: io::Error) -> Error {
    match error.raw_os_error() {
        Some(_) => Error::Io { path: path.to_owned(), source: error },
        None => malformed(path, place, format!("the data is damaged: {error}")),
    }
}

/// A reader that reports how much of a file has been read.
pub(super) struct Counted<R> {
    reader: R,
    total: u64,
    done: u64,
    reported: u64,
    progress: Option<Progress>,
}

impl<R> Counted<R> {
    pub fn new(reader: R, total: u64, progress: Option<Progress>) -> Self {
        Self { reader, total, done: 0, reported: 0, progress }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        const STEP: u64 = 1 << 20;
        let bytes = self.reader.read(to)?;
        self.done = (self.done + bytes as u64).min(self.total);
        if let Some(progress) = self.progress.as_ref().filter(|_| self.done >= self.reported + STEP) {
            self.reported = self.done;
            progress.tell(self.done, self.total);
        }
        Ok(bytes)
    }
}

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.reader.seek(to)
    }
}
