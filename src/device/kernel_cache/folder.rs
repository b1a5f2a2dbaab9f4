//! The folder of the cache. Only the owner of the folder can write to it, and the size of the
//! folder is bounded.
use super::Cleared;
use crate::{Error, Result};
use std::{
    fs::{self, DirEntry, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, SystemTime},
};

/// Ending of a file that describes a kernel.
pub(super) const KNOWN: &str = "kernels";
/// Ending of a file that holds a binary.
pub(super) const BINARY: &str = "binary";
/// Number of characters of a key.
pub(super) const KEY_LENGTH: usize = 64;
/// Beginning of the names of files that are being written.
const UNFINISHED: &str = ".unfinished-";
/// Maximum size of all files together, in bytes. 256 MiB are enough for about 500 batches of
/// kernels that PoCL compiles, of about 500 KB each.
const MOST_BYTES: u64 = 256 << 20;
/// Maximum size of one file, in bytes. The cache never writes a file of more bytes.
const LARGEST: u64 = 64 << 20;
/// The time stamp of a cache file in use is renewed at most once a day.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The reason why a folder is not used.
#[derive(Debug)]
pub(super) enum Unusable {
    /// The system does not allow creating or inspecting the folder.
    Refused(io::Error),
    /// The folder belongs to another user.
    OfAnother,
    WritableByOthers,
    /// The folder would be created in the home of another user.
    HomeOfAnother,
}

pub(super) struct Folder {
    path: PathBuf,
    most_bytes: u64,
    /// Bytes that this process has written since it last searched for files to remove.
    written: AtomicU64,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, most_bytes: MOST_BYTES, written: AtomicU64::new(u64::MAX) }
    }

    #[cfg(test)]
    pub(super) fn of_bytes(path: PathBuf, most_bytes: u64) -> Self {
        Self { most_bytes, ..Self::new(path) }
    }

    /// Opens the folder at `path`, or creates it. The folder must belong to this user, and no other
    /// user may write to it. If `home` belongs to another user, no folder is created there, because
    /// the owner of `home` could not use it.
    pub(super) fn usable(path: PathBuf, home: Option<&Path>) -> std::result::Result<Self, Unusable> {
        if !path.is_dir() {
            let is_forbidden = |home: &Path| fs::metadata(home).is_ok_and(|about| is_anothers(&about));
            if home.is_some_and(|home| path.starts_with(home) && is_forbidden(home)) {
                return Err(Unusable::HomeOfAnother);
            }
            make(&path).map_err(Unusable::Refused)?;
        }
        let about = fs::metadata(&path).map_err(Unusable::Refused)?;
        match is_ours(&about) {
            true => Ok(Self::new(path)),
            false if is_owned(&about) => Err(Unusable::WritableByOthers),
            false => Err(Unusable::OfAnother),
        }
    }

    fn file(&self, key: &str, ending: &str) -> PathBuf {
        self.path.join(key).with_extension(ending)
    }

    /// Reads a file.
    pub(super) fn read(&self, key: &str, ending: &str) -> Option<Vec<u8>> {
        let mut file = open(&self.file(key, ending)).ok()?;
        let about = file.metadata().ok()?;
        if !about.is_file() || !is_ours(&about) || about.len() > LARGEST {
            return None;
        }
        let mut bytes = Vec::with_capacity(about.len() as usize);
        file.read_to_end(&mut bytes).ok()?;
        if about.modified().is_ok_and(|time| time.elapsed().is_ok_and(|age| age > DAY)) {
            let _a_reader_need_not_own_it = file.set_modified(SystemTime::now());
        }
        Some(bytes)
    }

    /// Writes a temporary file in the same folder and renames it.
    pub(super) fn write(&self, key: &str, ending: &str, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() as u64 > LARGEST {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "a binary larger than any that is read"));
        }
        let written = self.written.load(Relaxed).saturating_add(bytes.len() as u64);
        let look = written > self.most_bytes / 8;
        self.written.store(if look { 0 } else { written }, Relaxed);
        if look {
            self.prune();
        }
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.path)?;
        file.write_all(bytes)?;
        file.persist(self.file(key, ending))?;
        Ok(())
    }

    /// Removes the least recently used files until a quarter of the maximum size is free. Also
    /// removes unfinished files that are older than a day.
    fn prune(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        let mut files = Vec::new();
        for entry in entries.flatten() {
            let Ok(about) = entry.metadata() else { continue };
            let time = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            match kind(&entry) {
                Kind::Known | Kind::Binary => files.push((time, about.len(), entry.path())),
                Kind::Unfinished if time.elapsed().is_ok_and(|age| age > DAY) => {
                    let _another_may_have_removed_it = fs::remove_file(entry.path());
                }
                _ => {}
            }
        }
        let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        if bytes <= self.most_bytes {
            return;
        }
        files.sort();
        for (_, size, path) in files {
            if bytes <= self.most_bytes / 4 * 3 {
                break;
            }
            let _another_may_have_removed_it = fs::remove_file(path);
            bytes -= size;
        }
    }

    /// Removes every file of the cache.
    pub(super) fn clear(&self) -> Result<Cleared> {
        let mut cleared = Cleared::default();
        let failed = |path: &Path, source| Error::Io { path: path.to_owned(), source };
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(cleared),
            entries => entries.map_err(|error| failed(&self.path, error))?,
        };
        for entry in entries {
            let entry = entry.map_err(|error| failed(&self.path, error))?;
            let kind = kind(&entry);
            if matches!(kind, Kind::Other) {
                continue;
            }
            let bytes = entry.metadata().map_or(0, |about| about.len());
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(&entry.path(), error)),
                Ok(()) => {
                    cleared.kernels += u64::from(matches!(kind, Kind::Known));
                    cleared.bytes += bytes;
                }
            }
        }
        Ok(cleared)
    }
}

enum Kind {
    Known,
    Binary,
    Unfinished,
    Other,
}

fn kind(entry: &DirEntry) -> Kind {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    let is_key = |key: &str| key.len() == KEY_LENGTH && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    match name.rsplit_once('.') {
        _ if !entry.file_type().is_ok_and(|kind| kind.is_file()) => Kind::Other,
        _ if name.starts_with(UNFINISHED) => Kind::Unfinished,
        Some((key, KNOWN)) if is_key(key) => Kind::Known,
        Some((key, BINARY)) if is_key(key) => Kind::Binary,
        _ => Kind::Other,
    }
}

/// Opens a file for reading. A link is refused. The call does not wait, because opening a pipe or a
/// device could block forever.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    File::options().read(true).custom_flags(flags.bits() as i32).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Creates the folder and its missing parents, with access only for this user.
fn make(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Whether this user owns the folder and no other user may write to it.
#[cfg(unix)]
fn is_ours(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    is_owned(about) && about.mode() & 0o022 == 0
}

#[cfg(unix)]
fn is_owned(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    about.uid() == rustix::process::geteuid().as_raw()
}

/// Whether another user owns the folder. A folder of the superuser, such as `/tmp`, counts as
/// shared and not as another user's.
#[cfg(unix)]
fn is_anothers(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    !is_owned(about) && about.uid() != 0
}

/// On systems without owners and permissions, the user's cache folder counts as the user's own.
#[cfg(not(unix))]
fn is_ours(_about: &fs::Metadata) -> bool {
    true
}

#[cfg(not(unix))]
fn is_owned(_about: &fs::Metadata) -> bool {
    true
}

#[cfg(not(unix))]
fn is_anothers(_about: &fs::Metadata) -> bool {
    false
}
