//! Matrices in files, one file or folder here per format.
//!
//! [`read`] and [`write()`] tell the format by the name; each format's own module has more to choose.
//! Readers take nothing on trust: what a file says is checked against what it holds, memory is asked for as the data
//! proves it, and a refusal is [`Error::Parse`], `path:line: reason`.
pub mod matrix_market;
mod output;
mod source;
mod words;

use std::path::Path;

pub use output::{NoneUnfinished, discard_unfinished, write_whole};

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
}

/// The formats known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Matrix Market exchange files, see [`matrix_market`].
    MatrixMarket,
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

/// Reads the file at `path`, in the format its name tells (see [`Format::of`]), plain or gzip (told by its first bytes).
///
/// # Errors
/// [`Error::Io`] when the system refuses the file; [`Error::Parse`] with the line for anything the format does not
/// allow; [`Error::Memory`] when the entries do not fit the host.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<MatrixFile> {
    let path = path.as_ref();
    match Format::of(path) {
        Format::MatrixMarket => matrix_market::read(path, options),
    }
}

/// Writes `matrix` to the file at `path`, in the format its name tells, in place of what was there once it is whole.
///
/// # Errors
/// [`Error::Io`] with the path; a file that was there is then as it was.
pub fn write<M: Matrix>(path: impl AsRef<Path>, matrix: &M, options: &WriteOptions) -> Result<()> {
    let path = path.as_ref();
    match Format::of(path) {
        Format::MatrixMarket => matrix_market::write(path, matrix, options),
    }
}

impl Format {
    /// Every format.
    pub const ALL: &[Self] = &[Self::MatrixMarket];

    /// The name the command uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::MatrixMarket => "matrix-market",
        }
    }

    /// The format of a file of this name, `.gz` apart: Matrix Market for any name that tells no other.
    pub fn of(_path: &Path) -> Self {
        Self::MatrixMarket
    }
}

impl Layout {
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

/// An empty vector with room for `count` elements, or [`Error::Memory`].
fn room<T>(count: usize, what: &str) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    grow(&mut vector, count, what)?;
    Ok(vector)
}

/// Room for `more` elements, or [`Error::Memory`].
fn grow<T>(vector: &mut Vec<T>, more: usize, what: &str) -> Result<()> {
    vector.try_reserve(more).map_err(|_| Error::Memory {
        what: format!("{what} of a file"),
        needed: (vector.len() as u64 + more as u64).saturating_mul(size_of::<T>() as u64),
        available: crate::host_memory::available().unwrap_or(0),
        place: "host".into(),
    })
}
