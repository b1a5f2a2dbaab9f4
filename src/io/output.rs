//! Output files that are whole or not there.
use crate::{Error, Result};
use std::{
    fs::OpenOptions,
    io::{BufWriter, Write},
    path::Path,
};

/// Writes a file beside its place and renames it: a failure leaves what was there. Compressed where the name ends in `.gz`. What is
/// there and no regular file (a pipe, `/dev/null`) is written to and stays what it is; a link keeps pointing to its file.
///
/// # Errors
/// [`Error::Io`], those of `write` among them.
pub fn write_beside(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    let target = std::fs::canonicalize(path);
    let path = target.as_deref().unwrap_or(path);
    if path.metadata().is_ok_and(|there| !there.is_file()) {
        let mut file = BufWriter::new(OpenOptions::new().write(true).open(path).map_err(failed)?);
        return write(&mut file).and_then(|()| file.flush()).map_err(failed);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask, as for any new file
    let mut file = builder.prefix(".blockmul-").tempfile_in(folder).map_err(failed)?;
    {
        let mut buffered = BufWriter::with_capacity(1 << 20, file.as_file_mut());
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz")) {
            let mut compressed = flate2::write::GzEncoder::new(&mut buffered, flate2::Compression::default());
            write(&mut compressed).map_err(failed)?;
            compressed.finish().map_err(failed)?;
        } else {
            write(&mut buffered).map_err(failed)?;
        }
        buffered.flush().map_err(failed)?;
    }
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, symlink};

    #[test]
    fn special_files_and_links_stay_what_they_are() {
        let null = Path::new("/dev/null");
        write_beside(null, |writer| writer.write_all(b"gone")).unwrap();
        assert!(null.metadata().unwrap().file_type().is_char_device());

        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        write_beside(&link, |writer| writer.write_all(b"new")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        let failed = write_beside(&link, |_| Err(std::io::ErrorKind::Other.into()));
        assert!(failed.is_err());
        assert_eq!(std::fs::read(&file).unwrap(), b"new", "a failure leaves what was there");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "and nothing beside it");
    }
}
