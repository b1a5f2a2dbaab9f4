//! Recognises the format of a file by its name, and by its first bytes if they are characteristic.
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use super::archive::{BLOCK, begins_as_archive};
use super::encoding::after_mark;
use super::packing::{Packing, has_ending, is_archive, without_packing};
use super::unpacked::{Peeked, Unpacked};
use super::words::words;
use super::zipped::{self, Zip, refuse_member};
use super::{binary, malformed, matrix_market};
use crate::{Error, Result};

/// File formats of matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Matrix Market exchange files, see [`matrix_market`](super::matrix_market).
    MatrixMarket,
    /// Archives of `scipy.sparse.save_npz`, see [`npz`](super::npz).
    Npz,
    /// Lists of a graph's edges, see [`edge_list`](super::edge_list).
    EdgeList,
    /// Compressed rows in plain binary, see [`binary`](super::binary).
    Binary,
}

impl Format {
    /// Every format.
    pub const ALL: &[Self] = &[Self::MatrixMarket, Self::Npz, Self::EdgeList, Self::Binary];

    /// The name that the command uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::MatrixMarket => "matrix-market",
            Self::Npz => "npz",
            Self::EdgeList => "edge-list",
            Self::Binary => "binary",
        }
    }

    /// Endings of file names in this format, without those of packings; the first is the usual one.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Self::MatrixMarket => &["mtx"],
            Self::Npz => &["npz"],
            Self::EdgeList => &["txt", "el", "edges", "tsv"],
            Self::Binary => &["bin", "bsr", "bcsr"],
        }
    }

    /// The format of a file of this name; `None` if the ending is unknown.
    ///
    /// Packings (`.gz`, `.bz2`, `.xz`, `.zst`) are ignored, and so is case. Names without an ending
    /// are Matrix Market files. Archives (`.zip`, `.tar`, `.tgz` and the like) hold one.
    pub fn of(path: &Path) -> Option<Self> {
        let mut formats = Self::ALL.iter().copied();
        let known = |format: &Self| format.endings().iter().any(|known| has_ending(path, known));
        let name = without_packing(path);
        let is_market = name.extension().is_none() || is_archive(&name);
        formats.find(known).or(is_market.then_some(Self::MatrixMarket))
    }

    /// The format in which a matrix is written to a file of this name.
    ///
    /// # Errors
    /// [`Error::Argument`] for an unknown ending, and for packings and archives that can only be
    /// read.
    pub fn of_output(path: &Path) -> Result<Self> {
        Packing::check_written(path)?;
        Self::of(path).ok_or_else(|| {
            let reason = format!("matrices are written to {}, packed if .gz or .bz2 follows", all_endings());
            Error::Argument(format!("{}: {}; {reason}", path.display(), unknown(path)))
        })
    }

    /// The format of the file at `path`: by its first bytes if they are characteristic, else by its
    /// name.
    pub(super) fn of_input(path: &Path) -> Result<Self> {
        let by_name = Self::of(path);
        match (by_name, beginning(path)?) {
            (_, Beginning::Zip) => match Zip::open(path) {
                Ok(zip) => Self::in_archive(zip, path),
                // A damaged file is left to the reader.
                Err(_) if by_name == Some(Self::Npz) => Ok(Self::Npz),
                Err(error) => Err(error),
            },
            (_, Beginning::Of(Self::MatrixMarket)) => Ok(Self::MatrixMarket),
            (Some(format), _) | (None, Beginning::Of(format)) => Ok(format),
            (None, Beginning::Unknown) => Err(not_read(path)),
        }
    }

    /// The format of a zip archive, or of the text in it that is to be read.
    fn in_archive(mut zip: Zip, path: &Path) -> Result<Self> {
        if zip.is_npz() {
            return Ok(Self::Npz);
        }
        let (member, bytes) = zip.text(None)?;
        match beginning_of(Box::new(bytes)) {
            // The reader of this format takes files, not members of archives.
            Beginning::Of(Self::Binary) => {
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

fn unknown(path: &Path) -> String {
    let name = without_packing(path);
    let ending = name.extension().unwrap_or_default().to_string_lossy();
    format!("unknown ending .{}", ending.replace(char::is_control, "?"))
}

/// `.mtx, .npz, .txt, ...`.
fn all_endings() -> String {
    let endings = Format::ALL.iter().flat_map(|format| format.endings());
    endings.map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(", ")
}

/// Parses [`Format::name`].
impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|format| format.name()).collect();
            Error::Argument(format!("no format is named \"{name}\"; there are: {}", names.join(", ")))
        })
    }
}

/// The evidence of a file's first unpacked bytes.
enum Beginning {
    Of(Format),
    /// A zip archive that is not packed: of NumPy's arrays, or of other files.
    Zip,
    Unknown,
}

/// Looks at the first bytes of a file. Only regular files are looked at, since others cannot be
/// read a second time.
fn beginning(path: &Path) -> Result<Beginning> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    if !std::fs::metadata(path).map_err(io)?.is_file() {
        return Ok(Beginning::Unknown);
    }
    Ok(beginning_of(Box::new(File::open(path).map_err(io)?)))
}

fn beginning_of(reader: Box<dyn Read + '_>) -> Beginning {
    // A stream that cannot be unpacked is left to the reader, whose refusal has the line.
    let Ok(text) = Unpacked::new(reader) else { return Beginning::Unknown };
    let text = Peeked::new(text, BLOCK);
    let first = after_mark(text.first());
    if matrix_market::is_banner(words(first).next().unwrap_or_default()) || begins_as_archive(text.first()) {
        return Beginning::Of(Format::MatrixMarket);
    }
    if binary::begins_with_magic(first) {
        return Beginning::Of(Format::Binary);
    }
    let is_zip = text.inner().packing().is_none() && zipped::begins_as_zip(first);
    if is_zip { Beginning::Zip } else { Beginning::Unknown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_by_name() {
        for (name, format) in [
            ("a.mtx", Format::MatrixMarket),
            ("a.MTX.gz", Format::MatrixMarket),
            ("a", Format::MatrixMarket),
            (".txt", Format::MatrixMarket), // a hidden file without an extension
            ("a.txt.mtx", Format::MatrixMarket),
            ("a.npz", Format::Npz),
            ("roadNet-CA.txt.gz", Format::EdgeList),
            ("roadNet-CA.txt.bz2", Format::EdgeList),
            ("a.b.EL", Format::EdgeList),
            ("a.edges", Format::EdgeList),
            ("a.tsv.GZ", Format::EdgeList),
            ("a.bin", Format::Binary),
            ("a.bsr.gz", Format::Binary),
            ("a.BCSR", Format::Binary),
            ("a.mtx.xz", Format::MatrixMarket),
            ("a.npz.zst", Format::Npz),
            ("a.tar.gz", Format::MatrixMarket),
            ("a.tgz", Format::MatrixMarket),
            ("a.zip", Format::MatrixMarket),
        ] {
            assert_eq!(Format::of(Path::new(name)), Some(format), "{name}");
        }
        for name in ["a.foo", "a.mtx.foo", "a.foo.gz", "a.1", "a.tar.foo"] {
            assert_eq!(Format::of(Path::new(name)), None, "{name}");
        }
        for &format in Format::ALL {
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
        }
        let error = "mtx".parse::<Format>().unwrap_err().to_string();
        assert_eq!(error, "no format is named \"mtx\"; there are: matrix-market, npz, edge-list, binary");
    }

    #[test]
    fn unknown_endings_are_refused_with_those_known() {
        let refused = Format::of_output(Path::new("b/a.foo.gz")).unwrap_err().to_string();
        assert_eq!(
            refused,
            "b/a.foo.gz: unknown ending .foo; matrices are written to .mtx, .npz, .txt, .el, .edges, .tsv, .bin, .bsr, .bcsr, \
             packed if .gz or .bz2 follows"
        );
        assert!(Format::of_output(Path::new("a.mtx.xz")).unwrap_err().to_string().contains("xz is read, not written"));
        assert_eq!(Format::of_output(Path::new("/dev/null")).unwrap(), Format::MatrixMarket);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.foo");
        std::fs::write(&path, "1 1 0\n").unwrap();
        let refused = Format::of_input(&path).unwrap_err();
        let expected = format!("{}: unknown ending .foo: matrices are read from .mtx, .npz,", path.display());
        assert!(refused.to_string().starts_with(&expected), "{refused}");
        assert_eq!(refused.kind(), crate::error::ErrorKind::Input);
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(Format::of_input(&path), Err(Error::Io { .. })));
    }

    #[test]
    fn the_first_bytes_overrule_the_ending() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.foo");
        let numpy = zip_of("data.npy", b"");
        let banner = zip_of("a.txt", b"\xef\xbb\xbf%%MatrixMarket matrix coordinate\n");
        for (bytes, format) in [
            (&b"%%matrixmarket matrix\n"[..], Format::MatrixMarket),
            (b"%MatrixMarket matrix coordinate\n", Format::MatrixMarket),
            (b"\xef\xbb\xbf%%MatrixMarket matrix coordinate\n", Format::MatrixMarket),
            (b"BCSR0001 and more", Format::Binary),
            (&numpy, Format::Npz),
            (&banner, Format::MatrixMarket),
            (&zip_of("a.edges", b"1 2\n"), Format::EdgeList),
            (&zip_of("a.mtx.gz", b"1 2\n"), Format::MatrixMarket),
        ] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(Format::of_input(&path).unwrap(), format);
        }
        let npz = folder.path().join("a.npz");
        for (bytes, format) in [
            (zip_of("data.npy", b""), Format::Npz),
            (zip_of("a.mtx", b"1 2\n"), Format::MatrixMarket),
            (b"PK\x03\x04 and no more".to_vec(), Format::Npz),
            (b"1 2\n".to_vec(), Format::Npz),
        ] {
            std::fs::write(&npz, bytes).unwrap();
            assert_eq!(Format::of_input(&npz).unwrap(), format);
        }
        let stored = zip::CompressionMethod::Stored;
        for (files, format) in [
            (&[("a.mtx", &b"1 2\n"[..]), ("b.npy", b"")][..], Format::MatrixMarket),
            (&[("a.el", b"1 2\n"), ("format.npy", b"")], Format::Npz),
            (&[("readme.txt", b""), ("data.npy", b"")], Format::Npz),
        ] {
            for path in [&path, &npz] {
                std::fs::write(path, zipped::tests::archive_of(files, stored)).unwrap();
                assert_eq!(Format::of_input(path).unwrap(), format, "{files:?}");
            }
        }
        for name in ["matrix", "a.mtx"] {
            std::fs::write(&path, zip_of(name, b"BCSR0001 and more")).unwrap();
            let refused = Format::of_input(&path).unwrap_err().to_string();
            let expected = format!("a.foo: the archive: \"{name}\" is plain binary: unpack it first");
            assert!(refused.ends_with(&expected), "{refused}");
        }
        std::fs::write(&path, zip_of("a.g2o", b"FIX 0\n")).unwrap();
        let refused = Format::of_input(&path).unwrap_err().to_string();
        assert!(refused.contains("a.foo/a.g2o: unknown ending .g2o: matrices are read from"), "{refused}");
    }

    fn zip_of(name: &str, bytes: &[u8]) -> Vec<u8> {
        zipped::tests::archive_of(&[(name, bytes)], zip::CompressionMethod::Stored)
    }
}
