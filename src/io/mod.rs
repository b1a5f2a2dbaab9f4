//! Reads and writes matrices in files. Each format has a module.
//!
//! [`read`] and [`write()`] choose the format by the file's name. The module of each format has
//! more options.
//!
//! | Format | Names | Blocks | Packed | Written from |
//! |---|---|---|---|---|
//! | [Matrix Market](matrix_market) | `.mtx`, none | in [`X.bla`](bla) | yes | any matrix |
//! | [SciPy's `.npz`](npz) | `.npz` | kept (BSR) | packed by itself | any matrix |
//! | [Edge list](edge_list) | `.txt` `.el` `.edges` `.tsv` | no | yes | square matrices |
//! | [Plain binary](binary) | `.bin` `.bsr` `.bcsr` | kept (BSR) | yes | any matrix |
//! | [Grouped coordinates](gcoo) | `.gcoo` | kept | yes | any matrix |
//!
//! Files packed with gzip, bzip2, xz or zstd are recognised by their first bytes and unpacked.
//! Files can be written packed with gzip (`.gz`) and bzip2 (`.bz2`). A file that begins with
//! `%%MatrixMarket` is read as Matrix Market, whatever its name. The matrix in a tar archive
//! (`NAME.tar.gz`), as in the SuiteSparse collection, is also read as Matrix Market. A zip archive
//! may contain one matrix, and files of other kinds; the matrix is read in the format of its name.
//! A file whose name has none of these endings is refused.
//!
//! Texts are ASCII or UTF-8. A byte order mark at the beginning is skipped. A text in UTF-16 is
//! refused, and the message names UTF-16.
//!
//! Readers check every declaration of a file against its contents and allocate memory as the data
//! arrives. If a reader refuses a file, the error is [`Error::Parse`] (`path:line: reason`), or
//! [`Error::Malformed`] for files without lines.
mod archive;
mod assemble;
pub mod binary;
pub mod bla;
pub mod dense;
mod detect;
pub mod edge_list;
pub(crate) mod encoding;
mod events;
mod format;
pub mod gcoo;
pub mod matrix_market;
pub mod npz;
mod numbers;
mod output;
pub(crate) mod packing;
mod padding;
#[cfg(feature = "pictures")]
mod png;
mod reporting;
pub(crate) mod source;
mod unfinished;
pub(crate) mod unpacked;
pub(crate) mod words;
pub(crate) mod zipped;
mod zstd;

use std::path::Path;

pub use format::FileFormat;
pub use output::{check_name, linked, write_whole};
#[cfg(feature = "pictures")]
pub use png::encode_png;
pub use unfinished::{NoneUnfinished, discard_unfinished, try_discard_unfinished};

#[cfg(test)]
pub(crate) use packing::tests as tests_of_packings;
use packing::without_packing;

use crate::{
    BlockShape, Csc, Error, Progress, Result,
    element::ElementType,
    matrix::{AnyGcoo, AnyMatrix, AnyView, Grouping},
};

/// A matrix read from a file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MatrixFile {
    /// The matrix, expanded if the file is symmetric or skew-symmetric. Zeros that the file stores
    /// are entries.
    pub matrix: Csc<f64>,
    /// The format of the file.
    pub format: FileFormat,
    /// The blocks that the file declares.
    pub layout: Option<BlockLayout>,
    /// The type of values that the file declares.
    pub field: ValueType,
    /// The element type in which the file stores its values. The type is [`ElementType::F64`] for
    /// texts, and for numbers that no narrower type can represent.
    pub element: ElementType,
    /// The symmetry that the file declares.
    pub symmetry: Symmetry,
    /// Number of entries in the file, before expansion and summing; for an array the number of all
    /// values, including zeros.
    pub stored: u64,
    /// Whether the file is an array, which stores a dense matrix.
    pub is_array: bool,
    /// The groups of the matrix as the file stores them, if the file is in the format [GCOO](gcoo).
    pub groups: Option<AnyGcoo>,
    /// Deviations from the format that were accepted, as `path:line: reason`.
    pub warnings: Vec<String>,
}

/// The blocks of a matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockLayout {
    /// Blocks of one shape.
    Uniform(BlockShape),
    /// The ends of rows and columns of blocks, in scalars, ascending. The sizes of blocks differ or
    /// exceed [`BlockShape::MAX_SIDE`].
    Mixed {
        /// Ends of the block rows.
        row_ends: Vec<u64>,
        /// Ends of the block columns.
        col_ends: Vec<u64>,
    },
}

/// The type of values that a file declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueType {
    /// Decimal numbers.
    Real,
    /// Integers that are represented exactly.
    Integer,
    /// The file has no values. Every entry is read as 1.
    Pattern,
}

/// The symmetry that a file declares. The symmetry determines which entries the file stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Symmetry {
    /// The file stores every entry.
    General,
    /// A = Aᵀ, and the file stores the lower triangle with the diagonal.
    Symmetric,
    /// A = -Aᵀ, and the file stores the lower triangle without the diagonal.
    SkewSymmetric,
}

/// Options for reading a file.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// Whether to sum entries with the same row and column, in the order of the file, instead of
    /// refusing them. In a pattern each entry counts as 1.
    pub sum_duplicates: bool,
    /// The number of rows and of columns that a file may declare regardless of its contents. A file
    /// that declares more rows or columns than this number must have at least one entry for each 16
    /// rows or columns, so that a short file cannot make the reader allocate much memory. Default:
    /// 2^24.
    pub max_unproven_lines: u64,
    /// Called with the number of bytes read from the file.
    pub progress: Option<Progress>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { sum_duplicates: false, max_unproven_lines: 1 << 24, progress: None }
    }
}

/// Options for writing a file.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Called with the number of entries written.
    pub progress: Option<Progress>,
    /// The groups of a [`.gcoo`](gcoo) file.
    pub grouping: Grouping,
}

/// Reads the file at `path`, plain or packed (recognised by its first bytes).
///
/// The name gives the format (see [`FileFormat::of`]), unless the first bytes show another format.
/// If `X.mtx` has no note about blocks and a file [`X.bla`](bla) is next to it, that file gives the
/// layout.
///
/// # Errors
/// [`Error::Io`] if the system refuses the file; [`Error::Parse`] with the line, or
/// [`Error::Malformed`], for anything the format does not allow, and for an unknown ending;
/// [`Error::Memory`] if the entries do not fit the host.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<MatrixFile> {
    read_path(path.as_ref(), options)
}

fn read_path(path: &Path, options: &ReadOptions) -> Result<MatrixFile> {
    events::reading(path, || match FileFormat::of_input(path)? {
        FileFormat::MatrixMarket => with_layout_beside(path, matrix_market::read(path, options)?),
        FileFormat::Npz => npz::read(path, options),
        FileFormat::Binary => binary::read(path, options),
        FileFormat::Gcoo => gcoo::read_file(path, options),
        FileFormat::EdgeList => edge_list::read(path, options),
    })
}

/// Reads the matrix in the file at `path`, with the element type and the blocks that the file
/// declares.
///
/// The element type is [`MatrixFile::element`]. If the file has blocks of one shape other than 1x1,
/// the result is a [`Cbc`](crate::Cbc), otherwise a [`Csc`].
///
/// ```
/// use blockmul::{Csc, element::ElementType, io, matrix::AnyMatrix};
/// # fn main() -> blockmul::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("a.npz");
/// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 1.5f32), (1, 1, 2.0)])?);
/// io::write(&path, &a, &Default::default())?;
/// let found = io::read_any(&path, &Default::default())?;
/// assert_eq!((found.element(), &found), (ElementType::F32, &a));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The errors of [`read`]; [`Error::BlockDoesNotDivide`] if the size of the matrix is not a
/// multiple of the blocks.
pub fn read_any(path: impl AsRef<Path>, options: &ReadOptions) -> Result<AnyMatrix> {
    read_path(path.as_ref(), options)?.into_any()
}

/// Writes `matrix` to the file at `path`, in the format of the name. An earlier file is replaced
/// when the new file is complete. The matrix may be of any type, including [`AnyMatrix`].
///
/// # Errors
/// [`Error::Io`] with the path; [`Error::Argument`] if the format cannot hold the matrix; the
/// errors of [`FileFormat::of_output`]. An earlier file stays unchanged.
pub fn write<'m>(path: impl AsRef<Path>, matrix: impl Into<AnyView<'m>>, options: &WriteOptions) -> Result<()> {
    write_view(path.as_ref(), matrix.into(), options)
}

fn write_view(path: &Path, matrix: AnyView<'_>, options: &WriteOptions) -> Result<()> {
    events::writing(path, matrix.nnz(), || match FileFormat::of_output(path)? {
        FileFormat::MatrixMarket => matrix_market::write_view(path, matrix, options),
        FileFormat::Npz => npz::write_view(path, matrix, options),
        FileFormat::Binary => binary::write_view(path, matrix),
        FileFormat::Gcoo => gcoo::write(path, &AnyGcoo::of(matrix, options.grouping)?),
        FileFormat::EdgeList => edge_list::write_view(path, matrix, options),
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

impl MatrixFile {
    /// Returns the matrix with the element type and the blocks that the file declares, as
    /// [`read_any`] does.
    ///
    /// # Errors
    /// [`Error::BlockDoesNotDivide`] if the size of the matrix is not a multiple of the blocks.
    pub fn into_any(self) -> Result<AnyMatrix> {
        let wide = AnyMatrix::from(self.matrix);
        let scalars = if self.element == ElementType::F64 { wide } else { wide.cast(self.element) };
        match self.layout.and_then(|layout| layout.uniform()) {
            Some(shape) if shape != BlockShape::SCALAR => scalars.to_blocks(shape),
            _ => Ok(scalars),
        }
    }
}

impl BlockLayout {
    /// The layout of blocks with these ends (in scalars, ascending). The result is
    /// [`BlockLayout::Uniform`] if all blocks have one shape that is allowed.
    pub fn of_ends(row_ends: Vec<u64>, col_ends: Vec<u64>) -> Self {
        let side = |ends: &[u64]| {
            let side = *ends.first()?;
            (1u64..).zip(ends).all(|(count, &end)| count.checked_mul(side) == Some(end)).then_some(side as usize)
        };
        let shape = side(&row_ends).zip(side(&col_ends)).and_then(|(rows, cols)| BlockShape::new(rows, cols).ok());
        shape.map_or(Self::Mixed { row_ends, col_ends }, Self::Uniform)
    }

    /// The ends of the block rows and of the block columns of a matrix of `nrows` x `ncols`
    /// scalars.
    pub fn ends(&self, nrows: u64, ncols: u64) -> [Vec<u64>; 2] {
        let ends = |size: u64, side: usize| (1..=size / side as u64).map(|block| block * side as u64).collect();
        match self {
            Self::Uniform(shape) => [ends(nrows, shape.rows()), ends(ncols, shape.cols())],
            Self::Mixed { row_ends, col_ends } => [row_ends.clone(), col_ends.clone()],
        }
    }

    /// The shape of the blocks, if all blocks have the same shape.
    pub fn uniform(&self) -> Option<BlockShape> {
        match self {
            Self::Uniform(shape) => Some(*shape),
            Self::Mixed { .. } => None,
        }
    }
}

impl ValueType {
    /// The word for this type in a Matrix Market file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Integer => "integer",
            Self::Pattern => "pattern",
        }
    }
}

impl Symmetry {
    /// The word for this symmetry in a Matrix Market file.
    pub fn name(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Symmetric => "symmetric",
            Self::SkewSymmetric => "skew-symmetric",
        }
    }
}

/// Returns the value, but replaces every NaN by one fixed NaN, because the bits of a NaN depend on
/// the device that computed it.
fn one_nan(value: f64) -> f64 {
    if value.is_nan() { f64::from_bits(0x7ff8 << 48) } else { value }
}

/// The error `path: place: reason`.
fn malformed(path: &Path, place: impl Into<String>, reason: impl Into<String>) -> Error {
    Error::Malformed { path: path.to_owned(), place: place.into(), reason: reason.into() }
}

/// An empty vector with capacity for `count` elements, or [`Error::Memory`].
fn room<T>(count: usize, what: &str) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    grow(&mut vector, count, what)?;
    Ok(vector)
}

/// Reserves memory for `more` elements, or returns [`Error::Memory`]. Large requests are checked
/// against the host's free memory, because a system that grants more memory than it has kills the
/// process later.
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

/// Appends a value that was read from the file. The vector grows as needed.
pub(crate) fn push<T>(vector: &mut Vec<T>, value: T, what: &str) -> Result<()> {
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
    fn ends_of_blocks_are_those_that_make_the_layout() {
        let ends = [vec![2, 4], vec![3, 6, 9]];
        assert_eq!(BlockLayout::of_ends(ends[0].clone(), ends[1].clone()).ends(4, 9), ends);
        let mixed = [vec![2, 5], vec![3]];
        assert_eq!(BlockLayout::of_ends(mixed[0].clone(), mixed[1].clone()).ends(5, 3), mixed);
        // Blocks of 2 rows do not cover the last of 5 rows.
        assert_eq!(BlockLayout::Uniform(BlockShape::new(2, 1).unwrap()).ends(5, 1), [vec![2, 4], vec![1]]);
    }

    #[test]
    fn layouts_are_uniform_where_they_can_be() {
        let uniform = |rows, cols| BlockLayout::Uniform(BlockShape::new(rows, cols).unwrap());
        assert_eq!(BlockLayout::of_ends(vec![2, 4], vec![3, 6, 9]), uniform(2, 3));
        assert_eq!(BlockLayout::of_ends(vec![1], vec![32]), uniform(1, 32));
        for (row_ends, col_ends) in [
            (vec![2, 5], vec![3]),
            (vec![33], vec![1]),
            (vec![], vec![1]),
            (vec![0, 0], vec![1]),
            (vec![1 << 63, u64::MAX], vec![1]),
        ] {
            let mixed = BlockLayout::Mixed { row_ends: row_ends.clone(), col_ends: col_ends.clone() };
            assert_eq!(BlockLayout::of_ends(row_ends, col_ends), mixed);
        }
    }
}
