//! Matrices in files, one file or folder here per format.
//!
//! [`read`] and [`write()`] tell the format by the name; each format's own module has more to choose.
//!
//! | Format | Names | Blocks | Packed | Written from |
//! |---|---|---|---|---|
//! | [Matrix Market](matrix_market) | `.mtx`, none | of [`X.bla`](bla) beside `X.mtx` | yes | any matrix |
//! | [SciPy's `.npz`](npz) | `.npz` | kept (BSR) | packed by itself | any matrix |
//! | [Edge list](edge_list) | `.txt` `.el` `.edges` `.tsv` | no | yes | square matrices |
//! | [Plain binary](binary) | `.bin` `.bsr` `.bcsr` | kept (BSR) | yes | any matrix |
//!
//! Packed are files in gzip, bzip2, xz or zstd, told by their first bytes; written are gzip (`.gz`)
//! and bzip2 (`.bz2`). A file that begins with `%%MatrixMarket` is one of Matrix Market's whatever
//! its name, and so is the matrix in an archive of tar (`NAME.tar.gz`) as the SuiteSparse
//! collection has them. Other endings are refused.
//!
//! Readers take nothing on trust: what a file says is checked against what it holds, memory is asked for as the data
//! proves it, and a refusal is [`Error::Parse`], `path:line: reason`, or [`Error::Malformed`] for files without lines.
mod archive;
mod assemble;
pub mod binary;
pub mod bla;
pub mod edge_list;
mod events;
mod format;
pub mod matrix_market;
pub mod npz;
mod output;
mod packing;
pub(crate) mod source;
mod unpacked;
pub(crate) mod words;
mod zstd;

use std::path::Path;

pub use format::Format;
pub use output::{NoneUnfinished, check_name, discard_unfinished, linked, try_discard_unfinished, write_whole};

#[cfg(test)]
pub(crate) use packing::tests as tests_of_packings;
use packing::without_packing;

use crate::{BlockShape, Csc, Error, Matrix, Progress, Result};

/// A matrix as a file holds it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MatrixFile {
    /// The matrix, symmetric and skew-symmetric ones in full; explicit zeros are entries.
    pub matrix: Csc<f64>,
    /// The format of the file.
    pub format: Format,
    /// The blocks the file says its matrix is made of.
    pub layout: Option<Layout>,
    /// The kind of values the file declares.
    pub field: Field,
    /// The symmetry the file declares.
    pub symmetry: Symmetry,
    /// Entries written in the file, before expansion and summing; of an array all values, zeros too.
    pub stored: u64,
    /// What is not as the format has it and was read all the same, as `path:line: reason`.
    pub warnings: Vec<String>,
}

/// How a matrix is cut into blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// Blocks of one shape.
    Uniform(BlockShape),
    /// Where each row and each column of blocks ends, in scalars, ascending; sizes differ, or pass [`BlockShape::MAX_SIDE`].
    Mixed {
        /// Ends of the block rows.
        row_ends: Vec<u64>,
        /// Ends of the block columns.
        col_ends: Vec<u64>,
    },
}

/// The kind of values a file declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// Decimal numbers.
    Real,
    /// Integers, each held exactly.
    Integer,
    /// No values; every entry is read as 1.
    Pattern,
}

/// The symmetry a file declares, and with it which entries it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Symmetry {
    /// Every entry is written.
    General,
    /// A = Aᵀ, the lower triangle with the diagonal is written.
    Symmetric,
    /// A = -Aᵀ, the lower triangle without the diagonal is written.
    SkewSymmetric,
}

/// How to read a file.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// Sum entries at the same place, in the order of the file, instead of refusing them. In a pattern each counts 1.
    pub sum_duplicates: bool,
    /// Rows and columns that a file may declare whatever it holds. Beyond it there must be an entry in the file for
    /// every 16 of them, so that a short file cannot ask for much memory. 2^24 unless set.
    pub max_unproven_lines: u64,
    /// Told bytes of the file read.
    pub progress: Option<Progress>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { sum_duplicates: false, max_unproven_lines: 1 << 24, progress: None }
    }
}

/// How to write a file.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Told entries written.
    pub progress: Option<Progress>,
}

/// Reads the file at `path`, in the format its name tells (see [`Format::of`]) unless its beginning
/// tells another, plain or packed (told by its first bytes).
///
/// An `X.mtx` that says nothing of blocks itself has those of [`X.bla`](bla) beside it, where there is one.
///
/// # Errors
/// [`Error::Io`] when the system refuses the file; [`Error::Parse`] with the line, or
/// [`Error::Malformed`], for anything the format does not allow, and for an ending that is not
/// known; [`Error::Memory`] when the entries do not fit the host.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<MatrixFile> {
    let path = path.as_ref();
    events::reading(path, || match Format::of_input(path)? {
        Format::MatrixMarket => with_layout_beside(path, matrix_market::read(path, options)?),
        Format::Npz => npz::read(path, options),
        Format::Binary => binary::read(path, options),
        Format::EdgeList => edge_list::read(path, options),
    })
}

/// Writes `matrix` to the file at `path`, in the format its name tells, in place of what was there once it is whole.
///
/// # Errors
/// [`Error::Io`] with the path; [`Error::Argument`] for a matrix that the format cannot hold, and
/// as [`Format::of_output`]. A file that was there is then as it was.
pub fn write<M: Matrix>(path: impl AsRef<Path>, matrix: &M, options: &WriteOptions) -> Result<()> {
    let path = path.as_ref();
    events::writing(path, matrix, || match Format::of_output(path)? {
        Format::MatrixMarket => matrix_market::write(path, matrix, options),
        Format::Npz => npz::write(path, matrix, options),
        Format::Binary => binary::write(path, matrix),
        Format::EdgeList => edge_list::write(path, matrix, options),
    })
}

fn with_layout_beside(path: &Path, mut file: MatrixFile) -> Result<MatrixFile> {
    if file.layout.is_none()
        && let Some(beside) = bla::beside(path)
    {
        let pattern = file.matrix.pattern();
        file.layout = Some(bla::read(beside, pattern.nrows() as u64, pattern.ncols() as u64)?);
    }
    Ok(file)
}

impl Layout {
    /// Of blocks that end there, in scalars, ascending: [`Layout::Uniform`] wherever it can be.
    pub fn of_ends(row_ends: Vec<u64>, col_ends: Vec<u64>) -> Self {
        let side = |ends: &[u64]| {
            let side = *ends.first()?;
            (1u64..).zip(ends).all(|(count, &end)| count.checked_mul(side) == Some(end)).then_some(side as usize)
        };
        let shape = side(&row_ends).zip(side(&col_ends)).and_then(|(rows, cols)| BlockShape::new(rows, cols).ok());
        shape.map_or(Self::Mixed { row_ends, col_ends }, Self::Uniform)
    }

    /// The shape of every block, where they have one.
    pub fn uniform(&self) -> Option<BlockShape> {
        match self {
            Self::Uniform(shape) => Some(*shape),
            Self::Mixed { .. } => None,
        }
    }
}

impl Field {
    /// The word in a Matrix Market file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Integer => "integer",
            Self::Pattern => "pattern",
        }
    }
}

impl Symmetry {
    /// The word in a Matrix Market file.
    pub fn name(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Symmetric => "symmetric",
            Self::SkewSymmetric => "skew-symmetric",
        }
    }
}

/// The value, of NaNs always the same: which bits one has depends on the device that made it.
fn one_nan(value: f64) -> f64 {
    if value.is_nan() { f64::from_bits(0x7ff8 << 48) } else { value }
}

/// An empty vector with room for `count` elements, or [`Error::Memory`].
fn room<T>(count: usize, what: &str) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    grow(&mut vector, count, what)?;
    Ok(vector)
}

/// Room for `more` elements, or [`Error::Memory`]: large room is asked for only where the host has it, for a system that
/// promises more than it has would end the process later.
pub(crate) fn grow<T>(vector: &mut Vec<T>, more: usize, what: &str) -> Result<()> {
    let needed = (vector.len() as u64 + more as u64).saturating_mul(size_of::<T>() as u64);
    let what = || format!("{what} of a file");
    if more > vector.capacity() - vector.len() {
        crate::host::memory::check_large(what, needed)?;
    }
    vector.try_reserve(more).map_err(|_| Error::Memory {
        what: what(),
        needed,
        available: crate::host::memory::available().unwrap_or(0),
        place: "host".into(),
    })
}

/// Adds a value that the file has proved to be there.
fn push<T>(vector: &mut Vec<T>, value: T, what: &str) -> Result<()> {
    if vector.len() == vector.capacity() {
        grow(vector, vector.len().max(1024), what)?;
    }
    vector.push(value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_uniform_where_they_can_be() {
        let uniform = |rows, cols| Layout::Uniform(BlockShape::new(rows, cols).unwrap());
        assert_eq!(Layout::of_ends(vec![2, 4], vec![3, 6, 9]), uniform(2, 3));
        assert_eq!(Layout::of_ends(vec![1], vec![32]), uniform(1, 32));
        for (row_ends, col_ends) in [
            (vec![2, 5], vec![3]),
            (vec![33], vec![1]),
            (vec![], vec![1]),
            (vec![0, 0], vec![1]),
            (vec![1 << 63, u64::MAX], vec![1]),
        ] {
            let mixed = Layout::Mixed { row_ends: row_ends.clone(), col_ends: col_ends.clone() };
            assert_eq!(Layout::of_ends(row_ends, col_ends), mixed);
        }
    }
}
