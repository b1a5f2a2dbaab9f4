//! Output files that do not have their final names yet.
//!
//! On Linux an unfinished file has no name at all, so nothing remains of it however the process
//! ends. If an unfinished file replaces another file, it has a temporary name only between linking
//! and renaming. If the system or the file system does not support files without names, an
//! unfinished file has a temporary name in the folder of its final name. A file with a temporary
//! name is registered before it is created and until it has its final name, so that a handler that
//! ends the process early can remove it.
use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::Path;
#[cfg(target_os = "linux")]
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use tempfile::{NamedTempFile, TempPath};

/// An unfinished file. The file is removed when this value is dropped.
pub(super) struct Unfinished {
    file: File,
    number: u64,
}

/// The part of an unfinished file by which other threads can discard it.
#[derive(Debug)]
struct Registered {
    number: u64,
    /// The temporary name of the file, if it has one.
    name: Option<TempPath>,
}

/// The unfinished files of this process. One lock is held while a file is created, renamed or
/// removed, so these steps never overlap.
static UNFINISHED: Mutex<Vec<Registered>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<Registered>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Unfinished {
    /// Creates a file that is to become `target`.
    pub(super) fn begin(target: &Path) -> io::Result<Self> {
        Self::begin_as(target, without_name(target))
    }

    /// The implementation of [`begin`](Self::begin). If `without_name` is given, the file without a
    /// name that it holds is used.
    fn begin_as(target: &Path, without_name: Option<File>) -> io::Result<Self> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let mut files = unfinished();
        let (file, name) = match without_name {
            Some(file) => (file, None),
            None => {
                let (file, name) = builder(target).tempfile_in(folder(target))?.into_parts();
                (file, Some(name))
            }
        };
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        files.push(Registered { number, name });
        Ok(Self { file, number })
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its final name. If another file has this name, that file is replaced.
    pub(super) fn take_place(self, target: &Path) -> io::Result<()> {
        let mut files = unfinished();
        let Some(place) = files.iter().position(|one| one.number == self.number) else {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "discarded before the file was complete"));
        };
        match files.swap_remove(place).name {
            Some(name) => Ok(name.persist(target)?),
            None => name_as(&self.file, target),
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().retain(|one| one.number != self.number);
    }
}

/// The folder that contains a path.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates temporary files with the permissions of `target`.
fn builder(target: &Path) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".blockmul-");
    // By default only the owner may read a temporary file, but an unfinished file becomes an
    // ordinary file, so it gets the permissions of one.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode(target)));
    #[cfg(not(unix))]
    let _ = target;
    builder
}

/// The permissions of the file that is replaced; if no file is replaced, everyone may read and
/// write. The system applies the umask to the permissions, whether a file is replaced or not.
#[cfg(unix)]
fn mode(target: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(target).map_or(0o666, |found| found.permissions().mode())
}

/// A file without a name in the folder of `target`, with the permissions of `target`, or `None` if
/// the file cannot be created, or could not get a name later.
#[cfg(target_os = "linux")]
fn without_name(target: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::TMPFILE.bits() as i32;
    let mut options = File::options();
    // The file is opened for reading, too, in case it must be copied.
    let file = options.read(true).write(true).mode(mode(target)).custom_flags(flags).open(folder(target)).ok()?;
    fs::exists(path_of(&file)).is_ok_and(|exists| exists).then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn without_name(_: &Path) -> Option<File> {
    None
}

/// Gives a file without a name the name `target`. If another file has this name, that file is
/// replaced.
fn name_as(file: &File, target: &Path) -> io::Result<()> {
    // Linking does not replace a file. If the name exists, the file gets a temporary name and is
    // renamed.
    if link(file, target).is_ok() {
        return Ok(());
    }
    let linked = builder(target).make_in(folder(target), |beside| link(file, beside));
    let beside = match linked {
        Ok(linked) => linked.into_temp_path(),
        Err(_) => copy(file, target)?.into_temp_path(),
    };
    Ok(beside.persist(target)?)
}

/// Copies a file that cannot be linked to a temporary file in the folder of `target`.
fn copy(mut file: &File, target: &Path) -> io::Result<NamedTempFile> {
    let mut copied = builder(target).tempfile_in(folder(target))?;
    file.rewind()?;
    io::copy(&mut file, &mut copied)?;
    copied.as_file().sync_all()?;
    Ok(copied)
}

#[cfg(target_os = "linux")]
fn link(file: &File, to: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, path_of(file), CWD, to, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A path at which the system finds an open file.
#[cfg(target_os = "linux")]
fn path_of(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Removes the unfinished files of [`write_whole`](super::write_whole) on all threads. No file is
/// created or renamed while the caller keeps the result.
///
/// A handler of Ctrl-C keeps the result until the process ends, so that each output file is either
/// complete or unchanged. If the process continues, the interrupted writes fail.
pub fn discard_unfinished() -> NoneUnfinished {
    let mut files = unfinished();
    files.clear();
    NoneUnfinished { _files: files }
}

/// Like [`discard_unfinished`], but returns `None` if a file is being created or renamed at this
/// moment, perhaps on this very thread. This function is for a process that ends because it is out
/// of memory.
pub fn try_discard_unfinished() -> Option<NoneUnfinished> {
    let mut files = match UNFINISHED.try_lock() {
        Ok(files) => files,
        Err(TryLockError::Poisoned(files)) => files.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    files.clear();
    Some(NoneUnfinished { _files: files })
}

/// A guard. While it lives, there are no unfinished files; see [`discard_unfinished`].
#[must_use = "another file may begin once this is dropped"]
#[derive(Debug)]
pub struct NoneUnfinished {
    _files: MutexGuard<'static, Vec<Registered>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn files(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    /// Writes "after" to a file that is created with or without a temporary name.
    fn written(target: &Path, without_name: Option<File>) -> Unfinished {
        let begun = Unfinished::begin_as(target, without_name).unwrap();
        begun.file().write_all(b"after").unwrap();
        begun
    }

    #[test]
    fn a_file_without_a_name_ends_as_one_with_a_temporary_name() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("c.mtx");
        let Some(file) = without_name(&target) else {
            assert!(!cfg!(target_os = "linux") || !Path::new("/proc/self/fd").exists() || no_tmpfile(place.path()));
            return;
        };
        for (file, seen, before) in [(None, 1, None), (Some(file), 0, None), (without_name(&target), 0, Some("before"))]
        {
            let _none = fs::remove_file(&target);
            before.into_iter().for_each(|text| fs::write(&target, text).unwrap());
            let begun = written(&target, file);
            assert_eq!(files(place.path()), seen + usize::from(before.is_some()));
            begun.take_place(&target).unwrap();
            assert_eq!((fs::read(&target).unwrap().as_slice(), files(place.path())), (b"after".as_slice(), 1));
        }
        // If the system refuses a link, the file is copied.
        let begun = written(&target, without_name(&target));
        fs::write(&target, "before").unwrap();
        copy(begun.file(), &target).unwrap().persist(&target).unwrap();
        drop(begun);
        assert_eq!((fs::read(&target).unwrap().as_slice(), files(place.path())), (b"after".as_slice(), 1));
    }

    /// Whether the file system of a folder does not support files without names.
    fn no_tmpfile(folder: &Path) -> bool {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{Mode, OFlags, open};
            open(folder, OFlags::TMPFILE | OFlags::RDWR, Mode::RUSR).is_err()
        }
        #[cfg(not(target_os = "linux"))]
        folder.exists()
    }

    #[test]
    #[cfg(unix)]
    fn permissions_do_not_depend_on_how_a_file_begins() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("c.mtx");
        let permissions = |name: bool| {
            written(&target, if name { None } else { without_name(&target) }).take_place(&target).unwrap();
            fs::metadata(&target).unwrap().permissions().mode() & 0o7777
        };
        for mode in [None, Some(0o600), Some(0o640), Some(0o777)] {
            let set = || match mode {
                Some(mode) => fs::set_permissions(&target, fs::Permissions::from_mode(mode)).unwrap(),
                None => drop(fs::remove_file(&target)),
            };
            let [with, without] = [true, false].map(|name| {
                set();
                permissions(name)
            });
            assert_eq!(with, without, "{mode:?}");
        }
    }

    #[test]
    fn what_is_discarded_leaves_what_was_there_and_fails() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("c.mtx");
        fs::write(&target, "before").unwrap();
        for without in [None, without_name(&target)] {
            let begun = written(&target, without);
            // Other tests write files at the same time and must not be disturbed, so this test
            // discards only its own file.
            unfinished().retain(|one| one.number != begun.number);
            assert_eq!(files(place.path()), 1, "gone at once");
            let error = begun.take_place(&target).unwrap_err();
            assert_eq!(error.to_string(), "discarded before the file was complete");
            assert_eq!((fs::read(&target).unwrap().as_slice(), files(place.path())), (b"before".as_slice(), 1));
        }
    }
}
