//! Output files that are whole or not there.
use crate::{Error, Result};
use std::{
    io::{BufWriter, Write},
    path::Path,
};

/// Writes a file beside its place and renames it: a failure leaves what was there. Compressed where the name ends in `.gz`.
pub(crate) fn write_beside(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
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
