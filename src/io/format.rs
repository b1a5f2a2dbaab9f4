//! Which format a file is in: by its name, and by its first bytes where they tell.
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use super::packing::without_packing;
use super::unpacked::Unpacked;
use super::words::words;
use crate::{Error, Result};

/// The formats known here.
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

    /// The name the command uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::MatrixMarket => "matrix-market",
            Self::Npz => "npz",
            Self::EdgeList => "edge-list",
            Self::Binary => "binary",
        }
    }

    /// The format of a file of this name, `.gz` and `.bz2` apart and in any case: Matrix Market for any name that tells no other.
    pub fn of(path: &Path) -> Self {
        let name = without_packing(path);
        let extension = name.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("npz") => Self::Npz,
            Some("bin" | "bsr" | "bcsr") => Self::Binary,
            Some("txt" | "el" | "edges" | "tsv") => Self::EdgeList,
            _ => Self::MatrixMarket,
        }
    }
}

/// By [`Format::name`].
impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|format| format.name()).collect();
            Error::Argument(format!("no format is named \"{name}\"; there are: {}", names.join(", ")))
        })
    }
}

/// Whether a file, unpacked, begins with Matrix Market's banner. What is no regular file could not be read again.
pub(super) fn begins_as_matrix_market(path: &Path) -> Result<bool> {
    const BANNER: &[u8] = b"%%MatrixMarket";
    let io = |source| Error::Io { path: path.to_owned(), source };
    if !std::fs::metadata(path).map_err(io)?.is_file() {
        return Ok(false);
    }
    let mut start = [0; 512];
    let mut known = 0;
    // What cannot be unpacked is for the reader to refuse, which knows the line.
    let Ok(mut text) = Unpacked::new(File::open(path).map_err(io)?) else { return Ok(false) };
    while known < start.len() {
        match text.read(&mut start[known..]) {
            Ok(0) | Err(_) => break,
            Ok(bytes) => known += bytes,
        }
    }
    let first = words(&start[..known]).next().unwrap_or_default();
    Ok(first.get(..BANNER.len()).is_some_and(|word| word.eq_ignore_ascii_case(BANNER)))
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
        ] {
            assert_eq!(Format::of(Path::new(name)), format, "{name}");
        }
        for &format in Format::ALL {
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
        }
        let error = "mtx".parse::<Format>().unwrap_err().to_string();
        assert_eq!(error, "no format is named \"mtx\"; there are: matrix-market, npz, edge-list, binary");
    }
}
