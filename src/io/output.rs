//! Output files that are either complete or absent: a file gets its name only when it is complete.
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::packing::{Fill, Packing};
use super::unfinished::{Unfinished, folder};
use crate::{Error, Result};

/// Calls `fill` with a buffered writer. If `fill` succeeds, the file gets its name. The file is
/// packed with gzip if `path` ends in `.gz`, with bzip2 if it ends in `.bz2`.
///
/// If `path` is a link, the file it points to is replaced or created, and the link remains.
/// Anything that is not a regular file (a pipe, `/dev/null`) is written directly. The bytes are
/// written to the disk before the file gets its name, so a file with its name is complete even
/// after a power failure.
///
/// # Errors
/// [`Error::Io`] with the path; [`Error::Argument`] for the name of an archive, or of a packing
/// that can only be read (`.xz`, `.zst`). An earlier file stays unchanged.
pub fn write_whole(path: &Path, mut fill: impl FnMut(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    write_packed(path, &mut fill)
}

/// Refuses the same names as [`write_whole`], for callers that want to know before they have data
/// to write.
///
/// # Errors
/// [`Error::Argument`] for the name of an archive, or of a packing that can only be read.
pub fn check_name(path: &Path) -> Result<()> {
    Packing::check_written(path)
}

fn write_packed(path: &Path, fill: Fill<'_>) -> Result<()> {
    write_unpacked(path, &mut |writer, packing| match packing {
        Some(packing) => packing.pack(writer, fill),
        None => fill(writer),
    })
}

/// A function that writes and packs the contents of a file.
type FillPacked<'f> = &'f mut dyn FnMut(&mut dyn Write, Option<Packing>) -> io::Result<()>;

/// Like [`write_whole`], but `fill` gets the packing and packs its output itself.
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
    let unfinished = Unfinished::begin(&target)?;
    buffered(unfinished.file(), fill)?;
    unfinished.file().sync_all()?;
    unfinished.take_place(&target)?;
    // Also writes the name to the disk, if the file system allows it. The file is complete even if
    // its name cannot be written to the disk.
    let _ = File::open(folder(&target)).and_then(|folder| folder.sync_all());
    Ok(())
}

/// The file that writing to `path` creates: `path` itself, or the end of a chain of links that
/// begins there.
pub fn linked(path: &Path) -> PathBuf {
    // The longest chain of links that Linux follows.
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

fn buffered(file: &File, fill: Fill<'_>) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    fill(&mut writer)?;
    writer.flush()
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
        // The first link points into a folder that does not exist. The other links form a circle.
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
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
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
