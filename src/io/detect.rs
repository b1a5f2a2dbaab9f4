//! Recognises the format of a file by its first bytes if they are characteristic, otherwise by its
//! name.
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::archive::{BLOCK, begins_as_archive};
use super::encoding::after_mark;
use super::format::{FileFormat, all_endings, unknown};
use super::unpacked::{Peeked, Unpacked};
use super::words::words;
use super::zipped::{self, Zip, refuse_member};
use super::{binary, gcoo, malformed, matrix_market};
use crate::{Error, Result};

impl FileFormat {
    /// The format of the file at `path`: by its first bytes if they are characteristic, otherwise
    /// by its name.
    pub(super) fn of_input(path: &Path) -> Result<Self> {
        let by_name = Self::of(path);
        match (by_name, beginning(path)?) {
            (_, Beginning::Zip) => match Zip::open(path) {
                Ok(zip) => Self::in_archive(zip, path),
                // If the archive is damaged, the reader of `.npz` reports it.
                Err(_) if by_name == Some(Self::Npz) => Ok(Self::Npz),
                Err(error) => Err(error),
            },
            (_, Beginning::Of(Self::MatrixMarket)) => Ok(Self::MatrixMarket),
            (Some(format), _) | (None, Beginning::Of(format)) => Ok(format),
            (None, Beginning::Unknown) => Err(not_read(path)),
        }
    }

    /// The format of a zip archive, or of the text inside it that is to be read.
    fn in_archive(mut zip: Zip, path: &Path) -> Result<Self> {
        if zip.is_npz() {
            return Ok(Self::Npz);
        }
        let (member, bytes) = zip.text(None)?;
        match beginning_of(Box::new(bytes)) {
            // The readers of plain binary and GCOO files cannot read members of archives.
            Beginning::Of(Self::Binary | Self::Gcoo) => {
                let name = member.file_name().unwrap_or_default().to_string_lossy();
                Err(refuse_member(path, &name, "plain binary"))
            }
            Beginning::Of(format) => Ok(format),
            _ => Self::of(&member).ok_or_else(|| not_read(&member)),
        }
    }
}

fn not_read(path: &Path) -> Error {
    let reason = format!("matrices are read from {}, packed ones too, and from archives .tar and .zip", all_endings());
    malformed(path, unknown(path), reason)
}

/// The format that the first unpacked bytes of a file show.
enum Beginning {
    Of(FileFormat),
    /// A zip archive, of NumPy's arrays or of other files, that is not itself packed.
    Zip,
    Unknown,
}

/// Reads the first bytes of a file. Only regular files are examined, because other files cannot be
/// read a second time.
fn beginning(path: &Path) -> Result<Beginning> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    if !std::fs::metadata(path).map_err(io)?.is_file() {
        return Ok(Beginning::Unknown);
    }
    Ok(beginning_of(Box::new(File::open(path).map_err(io)?)))
}

fn beginning_of(reader: Box<dyn Read + '_>) -> Beginning {
    // If the stream cannot be unpacked, the reader reports it later, with the line.
    let Ok(text) = Unpacked::new(reader) else { return Beginning::Unknown };
    let text = Peeked::new(text, BLOCK);
    let first = after_mark(text.first());
    if matrix_market::is_banner(words(first).next().unwrap_or_default()) || begins_as_archive(text.first()) {
        return Beginning::Of(FileFormat::MatrixMarket);
    }
    if binary::begins_with_magic(first) {
        return Beginning::Of(FileFormat::Binary);
    }
    if gcoo::begins_with_magic(first) {
        return Beginning::Of(FileFormat::Gcoo);
    }
    let is_zip = text.inner().packing().is_none() && zipped::begins_as_zip(first);
    if is_zip { Beginning::Zip } else { Beginning::Unknown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_no_known_format_are_refused_with_the_endings_that_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.foo");
        std::fs::write(&path, "1 1 0\n").unwrap();
        let refused = FileFormat::of_input(&path).unwrap_err();
        let expected = format!("{}: unknown ending .foo: matrices are read from .mtx, .npz,", path.display());
        assert!(refused.to_string().starts_with(&expected), "{refused}");
        assert_eq!(refused.kind(), crate::error::ErrorKind::Input);
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(FileFormat::of_input(&path), Err(Error::Io { .. })));
    }

    #[test]
    fn the_first_bytes_overrule_the_ending() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.foo");
        let numpy = zip_of("data.npy", b"");
        let banner = zip_of("a.txt", b"\xef\xbb\xbf%%MatrixMarket matrix coordinate\n");
        for (bytes, format) in [
            (&b"%%matrixmarket matrix\n"[..], FileFormat::MatrixMarket),
            (b"%MatrixMarket matrix coordinate\n", FileFormat::MatrixMarket),
            (b"\xef\xbb\xbf%%MatrixMarket matrix coordinate\n", FileFormat::MatrixMarket),
            (b"BCSR0001 and more", FileFormat::Binary),
            (b"GCOO0002 and more", FileFormat::Gcoo),
            (&numpy, FileFormat::Npz),
            (&banner, FileFormat::MatrixMarket),
            (&zip_of("a.edges", b"1 2\n"), FileFormat::EdgeList),
            (&zip_of("a.mtx.gz", b"1 2\n"), FileFormat::MatrixMarket),
        ] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(FileFormat::of_input(&path).unwrap(), format);
        }
        let npz = folder.path().join("a.npz");
        for (bytes, format) in [
            (zip_of("data.npy", b""), FileFormat::Npz),
            (zip_of("a.mtx", b"1 2\n"), FileFormat::MatrixMarket),
            (b"PK\x03\x04 and no more".to_vec(), FileFormat::Npz),
            (b"1 2\n".to_vec(), FileFormat::Npz),
        ] {
            std::fs::write(&npz, bytes).unwrap();
            assert_eq!(FileFormat::of_input(&npz).unwrap(), format);
        }
        let stored = zip::CompressionMethod::Stored;
        for (files, format) in [
            (&[("a.mtx", &b"1 2\n"[..]), ("b.npy", b"")][..], FileFormat::MatrixMarket),
            (&[("a.el", b"1 2\n"), ("format.npy", b"")], FileFormat::Npz),
            (&[("readme.txt", b""), ("data.npy", b"")], FileFormat::Npz),
        ] {
            for path in [&path, &npz] {
                std::fs::write(path, zipped::tests::archive_of(files, stored)).unwrap();
                assert_eq!(FileFormat::of_input(path).unwrap(), format, "{files:?}");
            }
        }
        for name in ["matrix", "a.mtx"] {
            std::fs::write(&path, zip_of(name, b"BCSR0001 and more")).unwrap();
            let refused = FileFormat::of_input(&path).unwrap_err().to_string();
            let expected = format!("a.foo: the archive: \"{name}\" is plain binary: unpack it first");
            assert!(refused.ends_with(&expected), "{refused}");
        }
        std::fs::write(&path, zip_of("a.g2o", b"FIX 0\n")).unwrap();
        let refused = FileFormat::of_input(&path).unwrap_err().to_string();
        assert!(refused.contains("a.foo/a.g2o: unknown ending .g2o: matrices are read from"), "{refused}");
    }

    fn zip_of(name: &str, bytes: &[u8]) -> Vec<u8> {
        zipped::tests::archive_of(&[(name, bytes)], zip::CompressionMethod::Stored)
    }
}
