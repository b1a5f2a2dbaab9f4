//! Finds members of the zip archive by name, and makes the errors that name them.
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::member::NpyMember;
use crate::io::malformed;
use crate::io::packing::{FIRST, Packing};
use crate::io::unpacked::fill;
use crate::io::zipped::{self, listed};
use crate::{Error, Result};

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
        Ok(Self { zip: zipped::list(reader, name)?, name: name.to_owned() })
    }

    pub fn has(&self, array: &str) -> bool {
        self.zip.index_for_name(&format!("{array}.npy")).is_some()
    }

    /// The names of the members, for a message.
    pub fn listed(&self) -> String {
        let names: Vec<_> = self.zip.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
        listed(names.iter().map(String::as_str))
    }

    /// The member that holds an array, after its header is read.
    pub fn array(&mut self, array: &str) -> Result<NpyMember<'_>> {
        let file = format!("{array}.npy");
        let place = format!("member {file}");
        if !self.has(array) {
            return Err(malformed(&self.name, "the archive", format!("there is no {place}")));
        }
        let bytes = self.zip.by_name(&file).map_err(|error| zipped::broken(&self.name, &place, error))?;
        NpyMember::open(bytes, &self.name, place)
    }

    /// The error `path: place: reason`.
    pub fn refuse(&self, place: impl Into<String>, reason: impl Into<String>) -> Error {
        malformed(&self.name, place, reason)
    }
}
