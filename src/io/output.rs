//! Output files that are either whole or absent: written to a temporary file, renamed at the end.
//!
//! An unfinished file is registered from before it exists until it has its name, so that a handler
//! that ends the process early can remove it.
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use tempfile::{NamedTempFile, TempPath};

use super::packing::{Fill, Packing};
use crate::{Error, Result};

/// Calls `fill` with a buffered writer and puts the file in place when `fill` has succeeded. The
/// file is gzip if `path` ends in `.gz`, bzip2 if in `.bz2`.
///
/// If `path` is a link, the file it points to is replaced or made, and the link stays. Anything but
/// a regular file (a pipe, `/dev/null`) is written in place. The bytes are on the disk before the
/// file gets its name, so it is whole after a loss of power too.
///
/// # Errors
/// [`Error::Io`] with the path; [`Error::Argument`] for the name of an archive, or of a packing
/// that is only read (`.xz`, `.zst`). An earlier file stays as it was.
pub fn write_whole(path: &Path, mut fill: impl FnMut(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    write_packed(path, &mut fill)
}

/// Refuses the names that [`write_whole`] refuses, before there is anything to write.
///
/// # Errors
/// [`Error::Argument`] for the name of an archive, or of a packing that is only read.
pub fn check_name(path: &Path) -> Result<()> {
    Packing::check_written(path)
}

fn write_packed(path: &Path, fill: Fill<'_>) -> Result<()> {
    write_unpacked(path, &mut |writer, packing| match packing {
        Some(packing) => packing.pack(writer, fill),
        None => fill(writer),
    })
}

/// Writes a file, once, and packs it.
type FillPacked<'f> = &'f mut dyn FnMut(&mut dyn Write, Option<Packing>) -> io::Result<()>;

/// As [`write_whole`], but `fill` gets the packing and packs its output itself.
pub(super) fn write_unpacked(path: &Path, fill: FillPacked<'_>) -> Result<()> {
    check_name(path)?;
    attempt(path, &mut |writer| fill(writer, Packing::of_name(path)))
        .map_err(|source| Error::Io { path: path.to_owned(), source })
}

fn attempt(path: &Path, fill: Fill<'_>) -> io::Result<()> {
    let target = match fs::metadata(path) {
        Ok(found) if !found.is_file() => return buffered(&OpenOptions::new().write(true).open(path)?, fill),
        Ok(_) => path.canonicalize()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => linked(path),
        Err(error) => return Err(error),
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".blockmul-");
    // By default only the owner may read a temporary file; this one becomes an ordinary file.
    if let Some(permissions) = ordinary_permissions(&target) {
        builder.permissions(permissions);
    }
    let (file, beside) = Unfinished::begin(|| builder.tempfile_in(folder))?;
    buffered(&file, fill)?;
    file.sync_all()?;
    beside.take_place(&target)?;
    // Syncs the name too if the file system can; the file is whole without it.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// The path of the file that writing to `path` makes: `path` itself, or the end of its chain of
/// links.
pub fn linked(path: &Path) -> PathBuf {
    // The limit of Linux.
    const MOST_LINKS: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&place) {
            Ok(to) => place = place.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => break,
        }
    }
    place
}

/// Unfinished files of this process. One lock covers creating, renaming and removing, so each
/// happens before or after the others.
static UNFINISHED: Mutex<Vec<TempPath>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<TempPath>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the unfinished files of [`write_whole`] on all threads. While the result is held, no
/// file is renamed or created.
///
/// A handler of Ctrl-C holds it until the process ends: then each output is whole or as it was
/// before. If the process continues, the interrupted writes fail.
pub fn discard_unfinished() -> NoneUnfinished {
    let mut files = unfinished();
    files.clear();
    NoneUnfinished { _files: files }
}

/// As [`discard_unfinished`], but returns `None` if a file is being created or renamed right now,
/// perhaps on this very thread. For a process that ends because it is out of memory.
pub fn try_discard_unfinished() -> Option<NoneUnfinished> {
    let mut files = match UNFINISHED.try_lock() {
        Ok(files) => files,
        Err(TryLockError::Poisoned(files)) => files.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    files.clear();
    Some(NoneUnfinished { _files: files })
}

/// Guard: while it lives, no file is unfinished; see [`discard_unfinished`].
#[must_use = "another file may begin once this is dropped"]
#[derive(Debug)]
pub struct NoneUnfinished {
    _files: MutexGuard<'static, Vec<TempPath>>,
}

/// A registered file; removed when dropped.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    fn begin(create: impl FnOnce() -> io::Result<NamedTempFile>) -> io::Result<(File, Self)> {
        let mut files = unfinished();
        let (file, path) = create()?.into_parts();
        let begun = Self { path: path.to_path_buf() };
        files.push(path);
        Ok((file, begun))
    }

    fn take_place(self, target: &Path) -> io::Result<()> {
        let mut files = unfinished();
        match files.iter().position(|path| **path == *self.path) {
            Some(place) => files.swap_remove(place).persist(target).map_err(|error| error.error),
            None => Err(io::Error::new(io::ErrorKind::Interrupted, "given up before it was whole")),
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().retain(|path| **path != *self.path);
    }
}

fn buffered(file: &File, fill: Fill<'_>) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    fill(&mut writer)?;
    writer.flush()
}

/// The permissions of the file replaced, else read and write for all; the system applies the umask
/// to either.
#[cfg(unix)]
fn ordinary_permissions(target: &Path) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let replaced = fs::metadata(target).ok().map(|found| found.permissions());
    Some(replaced.unwrap_or_else(|| Permissions::from_mode(0o666)))
}

#[cfg(not(unix))]
fn ordinary_permissions(_: &Path) -> Option<Permissions> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_what_was_there_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.mtx");
        fs::write(&path, "before").unwrap();
        let error = write_whole(&path, |writer| {
            writer.write_all(&vec![0; 1 << 20])?;
            Err(io::Error::other("disk full"))
        })
        .unwrap_err();
        assert_eq!(error.to_string(), format!("{}: disk full", path.display()));
        assert_eq!(fs::read(&path).unwrap(), b"before");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_discarded_leaves_what_was_there_and_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.mtx");
        fs::write(&path, "before").unwrap();
        let files = || fs::read_dir(folder.path()).unwrap().count();
        // Other tests write at the same time and must not be disturbed: this one discards only its
        // own file.
        let error = write_whole(&path, |writer| {
            writer.write_all(b"after")?;
            assert_eq!(files(), 2);
            let mine = |path: &TempPath| path.parent() == Some(folder.path());
            unfinished().retain(|path| !mine(path));
            assert_eq!(files(), 1, "gone at once");
            Ok(())
        })
        .unwrap_err();
        assert!(error.to_string().ends_with("given up before it was whole"), "{error}");
        assert_eq!((fs::read(&path).unwrap(), files()), (b"before".to_vec(), 1));
    }

    #[test]
    #[cfg(unix)]
    fn replaces_what_a_link_points_to() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "before").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, |writer| writer.write_all(b"after")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"after");
    }

    #[test]
    #[cfg(unix)]
    fn makes_what_a_link_points_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("inner")).unwrap();
        std::os::unix::fs::symlink("inner/first", path("link")).unwrap();
        std::os::unix::fs::symlink("../file", path("inner/first")).unwrap();
        write_whole(&path("link"), |writer| writer.write_all(b"new")).unwrap();
        assert_eq!(fs::read(path("file")).unwrap(), b"new");
        assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());
        // A folder that does not exist, and links that form a circle.
        std::os::unix::fs::symlink("none/file", path("nowhere")).unwrap();
        std::os::unix::fs::symlink("round", path("round")).unwrap();
        for name in ["nowhere", "round"] {
            let error = write_whole(&path(name), |_| Ok(())).unwrap_err().to_string();
            assert!(error.starts_with(&path(name).display().to_string()), "{error}");
            assert!(fs::symlink_metadata(path(name)).unwrap().is_symlink());
        }
    }

    #[test]
    #[cfg(unix)]
    fn is_an_ordinary_file_and_keeps_the_permissions_of_the_one_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = tempfile::tempdir().unwrap();
        let (plain, path) = (folder.path().join("plain"), folder.path().join("c.mtx"));
        fs::write(&plain, "").unwrap();
        write_whole(&path, |_| Ok(())).unwrap();
        assert_eq!(mode(&path), mode(&plain));
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        write_whole(&path, |_| Ok(())).unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    #[cfg(unix)]
    fn a_device_is_written_not_replaced() {
        use std::os::unix::fs::FileTypeExt;
        write_whole(Path::new("/dev/null"), |writer| writer.write_all(b"gone")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none").join("c.mtx");
        let error = write_whole(&path, |_| Ok(())).unwrap_err();
        assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    }
}
