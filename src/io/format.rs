//! The formats of matrix files, and their names.
use std::path::Path;
use std::str::FromStr;

use super::packing::{Packing, has_ending, is_archive, without_packing};
use crate::{Error, Result, named};

/// File formats of matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileFormat {
    /// Matrix Market exchange files, see [`matrix_market`](super::matrix_market).
    MatrixMarket,
    /// Archives of `scipy.sparse.save_npz`, see [`npz`](super::npz).
    Npz,
    /// Lists of a graph's edges, see [`edge_list`](super::edge_list).
    EdgeList,
    /// Compressed rows in plain binary, see [`binary`](super::binary).
    Binary,
    /// Grouped coordinates, see [`gcoo`](super::gcoo).
    Gcoo,
}

impl FileFormat {
    /// Every format.
    pub const ALL: &[Self] = &[Self::MatrixMarket, Self::Npz, Self::EdgeList, Self::Binary, Self::Gcoo];

    /// The name of the format in the command.
    pub fn name(self) -> &'static str {
        match self {
            Self::MatrixMarket => "matrix-market",
            Self::Npz => "npz",
            Self::EdgeList => "edge-list",
            Self::Binary => "binary",
            Self::Gcoo => "gcoo",
        }
    }

    /// The endings of file names in this format, without the endings of packings such as `.gz`. The
    /// first ending is the usual one.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Self::MatrixMarket => &["mtx"],
            Self::Npz => &["npz"],
            Self::EdgeList => &["txt", "el", "edges", "tsv"],
            Self::Binary => &["bin", "bsr", "bcsr"],
            Self::Gcoo => &["gcoo"],
        }
    }

    /// The format of a file with this name, or `None` if the ending is unknown.
    ///
    /// Packings (`.gz`, `.bz2`, `.xz`, `.zst`) and case are ignored. Names without an ending are
    /// Matrix Market files. Archives (`.zip`, `.tar`, `.tgz` and similar) are taken to contain a
    /// Matrix Market file.
    pub fn of(path: &Path) -> Option<Self> {
        let mut formats = Self::ALL.iter().copied();
        let known = |format: &Self| format.endings().iter().any(|known| has_ending(path, known));
        let name = without_packing(path);
        let is_market = name.extension().is_none() || is_archive(&name);
        formats.find(known).or(is_market.then_some(Self::MatrixMarket))
    }

    /// The format in which a matrix is written to a file with this name.
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
}

pub(super) fn unknown(path: &Path) -> String {
    let name = without_packing(path);
    let ending = name.extension().unwrap_or_default().to_string_lossy();
    format!("unknown ending .{}", ending.replace(char::is_control, "?"))
}

/// All endings as text: `.mtx, .npz, .txt, ...`.
pub(super) fn all_endings() -> String {
    let endings = FileFormat::ALL.iter().flat_map(|format| format.endings());
    endings.map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(", ")
}

/// Parses [`FileFormat::name`].
impl FromStr for FileFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        named::find("format", &[Self::ALL], Self::name, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_by_name() {
        for (name, format) in [
            ("a.mtx", FileFormat::MatrixMarket),
            ("a.MTX.gz", FileFormat::MatrixMarket),
            ("a", FileFormat::MatrixMarket),
            (".txt", FileFormat::MatrixMarket), // a hidden file without an extension
            ("a.txt.mtx", FileFormat::MatrixMarket),
            ("a.npz", FileFormat::Npz),
            ("roadNet-CA.txt.gz", FileFormat::EdgeList),
            ("roadNet-CA.txt.bz2", FileFormat::EdgeList),
            ("a.b.EL", FileFormat::EdgeList),
            ("a.edges", FileFormat::EdgeList),
            ("a.tsv.GZ", FileFormat::EdgeList),
            ("a.bin", FileFormat::Binary),
            ("a.bsr.gz", FileFormat::Binary),
            ("a.BCSR", FileFormat::Binary),
            ("a.gcoo.gz", FileFormat::Gcoo),
            ("a.mtx.xz", FileFormat::MatrixMarket),
            ("a.npz.zst", FileFormat::Npz),
            ("a.tar.gz", FileFormat::MatrixMarket),
            ("a.tgz", FileFormat::MatrixMarket),
            ("a.zip", FileFormat::MatrixMarket),
        ] {
            assert_eq!(FileFormat::of(Path::new(name)), Some(format), "{name}");
        }
        for name in ["a.foo", "a.mtx.foo", "a.foo.gz", "a.1", "a.tar.foo"] {
            assert_eq!(FileFormat::of(Path::new(name)), None, "{name}");
        }
        for &format in FileFormat::ALL {
            assert_eq!(format.name().parse::<FileFormat>().unwrap(), format);
        }
        let error = "mtx".parse::<FileFormat>().unwrap_err().to_string();
        assert_eq!(error, "no format \"mtx\"; there are: matrix-market, npz, edge-list, binary, gcoo");
    }

    #[test]
    fn unknown_endings_are_refused_with_those_known() {
        let refused = FileFormat::of_output(Path::new("b/a.foo.gz")).unwrap_err().to_string();
        assert_eq!(
            refused,
            "b/a.foo.gz: unknown ending .foo; matrices are written to .mtx, .npz, .txt, .el, .edges, .tsv, .bin, .bsr, .bcsr, \
             .gcoo, packed if .gz or .bz2 follows"
        );
        assert!(
            FileFormat::of_output(Path::new("a.mtx.xz")).unwrap_err().to_string().contains("xz is read, not written")
        );
        assert_eq!(FileFormat::of_output(Path::new("/dev/null")).unwrap(), FileFormat::MatrixMarket);
    }
}
