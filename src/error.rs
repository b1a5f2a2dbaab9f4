//! The error type of the library. An error is a fault of the caller's data, of the device or of
//! this crate. Every error has the numbers that describe it.
mod mismatch;

pub use mismatch::{PatternDifference, PatternMismatch, PatternSize};
use std::{fmt, path::PathBuf};

/// `Result` with blockmul's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// An error. Every variant has the numbers that a reader needs to correct the cause.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the fields are named by the messages
#[non_exhaustive]
pub enum Error {
    /// `col_ptr` and `row_idx` do not form a compressed-column pattern.
    #[error("not a valid pattern: {0}")]
    Pattern(#[from] PatternError),
    /// An array does not have the length that the pattern requires.
    #[error("{array} has {found} elements, {expected} expected ({why})")]
    Length { array: &'static str, found: usize, expected: usize, why: String },
    /// A side of a block is outside 1..=32.
    #[error("blocks of {rows}x{cols} are not supported: each side must be 1 to 32")]
    BlockShape { rows: usize, cols: usize },
    /// A side of a matrix is not a multiple of its block's side.
    #[error("{dimension} {what} cannot be cut into blocks of {block} {what}{}", fits_hint(fits))]
    BlockDoesNotDivide { what: &'static str, dimension: usize, block: usize, fits: Vec<usize> },
    /// The inner sizes of a product differ.
    #[error("cannot multiply: A is {a}, B is {b}")]
    Dimensions { a: Dimensions, b: Dimensions },
    /// An argument is outside its range.
    #[error("{0}")]
    Argument(String),
    /// The operands are not on the same device.
    #[error("{}", different_devices(a, b))]
    DeviceMismatch { a: String, b: String },
    /// A matrix does not have the pattern for which the plan was made.
    #[error("{0}")]
    PlanPattern(Box<PatternMismatch>),
    /// A Cholesky factorization failed. `block` is the first block at which it fails, counted from
    /// 0.
    #[error("diagonal block {block} of {matrix} is not positive definite")]
    NotPositiveDefinite { matrix: &'static str, block: usize },
    /// The length of an edge is NaN; vertices are counted from 0.
    #[error("the length of the edge from vertex {from} to {to}, counted from 0, is NaN")]
    NoLength { from: usize, to: usize },
    /// Distances fall without end along a cycle. `vertex` is one of the cycle's vertices, counted
    /// from 0. If the length of the cycle is not negative, distances fall only because of rounding.
    #[error("a cycle of {} passes through vertex {vertex}, counted from 0", endless_fall(*length))]
    NegativeCycle { vertex: usize, length: f64 },
    /// The length of a mesh's edge is so large that its square exceeds the largest number. Vertices
    /// are counted from 0.
    #[error(
        "the edge between vertices {from} and {to}, counted from 0, is too long: the square of its length is above \
         the largest number"
    )]
    LongEdge { from: usize, to: usize },
    /// A file violates its format.
    #[error("{}:{line}: {reason}", path.display())]
    Parse { path: PathBuf, line: u64, reason: String },
    /// A file without lines violates its format; `place` is a member of an archive, or an element
    /// of a member.
    #[error("{}: {place}: {reason}", path.display())]
    Malformed { path: PathBuf, place: String, reason: String },
    /// The operating system refused a file.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// A number does not fit the integer width of the format or the device.
    #[error("{what} is {value}, but the largest that fits is {limit}")]
    TooLarge { what: &'static str, value: u64, limit: u64 },

    /// There is no OpenCL library, or none of its platforms has a device.
    #[error(
        "no OpenCL device: {reason}\n  install one: a GPU's driver, or PoCL for the CPU (Debian, Ubuntu: apt-get install \
         pocl-opencl-icd; Fedora: dnf install pocl; macOS: brew install pocl)"
    )]
    NoOpenCl { reason: String },
    /// No device has the index or name in `wanted`, which may come from an environment variable.
    #[error("no OpenCL device matches \"{wanted}\"{}; there are: {available}", from_variable(*variable))]
    NoSuchDevice { wanted: String, variable: Option<&'static str>, available: String },
    /// The device lacks a capability that the element type or a feature needs.
    #[error("{device} has no {feature}: {hint}")]
    Unsupported { device: String, feature: &'static str, hint: String },
    /// More memory is needed than is available on the device, within the given limit, or on the
    /// host.
    #[error("not enough memory for {what}: {needed} bytes needed, {available} available ({place})")]
    Memory { what: String, needed: u64, available: u64, place: String },

    /// An OpenCL call failed for a reason that is not the caller's.
    #[error("{call} failed: OpenCL error {code} ({name})")]
    OpenCl { call: &'static str, code: i32, name: &'static str },
    /// A command failed after the device had accepted it, so results computed since then may be
    /// wrong. After such a failure every call returns this error until
    /// [`Device::finish`](crate::Device::finish) has reported it.
    #[error("{call} was taken by the device and failed later: OpenCL error {code} ({name})")]
    CommandFailed { call: &'static str, code: i32, name: &'static str },
    /// The device's results are impossible for its operands: a command failed without an error, or
    /// memory was overwritten.
    #[error("the device's results contradict its operands: {0}")]
    Contradiction(String),
    /// The caller ended the operation by an [`Interrupt`](crate::extra::host::Interrupt).
    #[error("interrupted")]
    Interrupted,
    /// A kernel program did not compile.
    #[error("cannot build {program} ({options}):\n{log}")]
    Build { program: String, options: String, log: String },
    /// A kernel does not accept the arguments that the host passes.
    #[error("kernel {kernel}: {detail}")]
    Signature { kernel: &'static str, detail: String },
}

/// Who can fix a problem: the caller, the owner of the machine, or the authors. The exit status of
/// the command depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The caller's data or arguments (exit status 2).
    Input,
    /// There is no matching device, or the device lacks a capability (3).
    Device,
    /// Memory is short, on the device or the host (4).
    Memory,
    /// Any other error (5).
    Internal,
}

impl Error {
    /// Who can fix the problem.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoOpenCl { .. } | Self::NoSuchDevice { .. } | Self::Unsupported { .. } => ErrorKind::Device,
            Self::Memory { .. } => ErrorKind::Memory,
            Self::OpenCl { .. }
            | Self::CommandFailed { .. }
            | Self::Contradiction(_)
            | Self::Build { .. }
            | Self::Signature { .. } => ErrorKind::Internal,
            _ => ErrorKind::Input,
        }
    }
}

/// The reason why `col_ptr` and `row_idx` do not form a pattern. Columns and entries are counted
/// from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum PatternError {
    /// The matrix has more rows or columns than `u32` indices can number.
    #[error("{dimension} {what}, at most {limit} are supported")]
    TooManyLines { what: &'static str, dimension: usize, limit: u64 },
    /// `col_ptr` must have one more element than there are columns.
    #[error("col_ptr has {found} elements, {expected} expected (columns + 1)")]
    ColPtrLength { found: usize, expected: usize },
    /// `col_ptr[0]` must be 0.
    #[error("col_ptr[0] is {found}, not 0")]
    ColPtrStart { found: u64 },
    /// `col_ptr` must not decrease.
    #[error("column {column}: col_ptr falls from {start} to {end}")]
    ColPtrFalls { column: usize, start: u64, end: u64 },
    /// `col_ptr` must end at the number of entries.
    #[error("col_ptr ends at {found}, there are {nnz} row indices")]
    ColPtrEnd { found: u64, nnz: usize },
    /// A row index is outside the matrix.
    #[error("column {column}, entry {entry}: row {row} is outside 0..{nrows}")]
    RowOutOfRange { column: usize, entry: u64, row: u32, nrows: usize },
    /// A device found the arrays invalid, but a second check found them valid.
    #[error("the arrays changed while they were checked: another thread or command still writes them")]
    Changed,
    /// Rows must ascend strictly within a column.
    #[error("column {column}, entry {entry}: row {row} follows row {previous}; rows must ascend strictly")]
    RowOrder { column: usize, entry: u64, previous: u32, row: u32 },
}

/// The block grid and block shape of an operand, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimensions {
    /// Rows of the block grid.
    pub nrows: usize,
    /// Columns of the block grid.
    pub ncols: usize,
    /// Rows of a block.
    pub block_rows: usize,
    /// Columns of a block.
    pub block_cols: usize,
}

/// Shows `4x6 blocks of 2x3`, or `4x6` for scalars.
impl fmt::Display for Dimensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nrows, ncols, block_rows, block_cols } = self;
        match (block_rows, block_cols) {
            (1, 1) => write!(f, "{nrows}x{ncols}"),
            _ => write!(f, "{nrows}x{ncols} blocks of {block_rows}x{block_cols}"),
        }
    }
}

impl Dimensions {
    /// The dimensions of the transpose.
    pub(crate) fn transposed(self) -> Self {
        let Self { nrows, ncols, block_rows, block_cols } = self;
        Self { nrows: ncols, ncols: nrows, block_rows: block_cols, block_cols: block_rows }
    }
}

/// Describes two devices. Two handles of one device have the same name.
fn different_devices(a: &str, b: &str) -> String {
    match a == b {
        true => format!(
            "the operands live on two handles of {a}: a device opened twice is two contexts, and neither sees the other's memory"
        ),
        false => format!("the operands live on different devices: {a} and {b}"),
    }
}

/// Describes the length of a cycle along which distances fall without end.
fn endless_fall(length: f64) -> String {
    match length < 0.0 {
        true => format!("negative length, {length},"),
        false => format!("length {length}, where rounding lowers distances without end,"),
    }
}

fn from_variable(variable: Option<&str>) -> String {
    variable.map_or(String::new(), |name| format!(", the value of {name}"))
}

fn fits_hint(fits: &[usize]) -> String {
    match fits {
        [] => String::new(),
        sizes => format!(" (fits: {})", sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_handles_of_one_device_are_not_called_two_devices() {
        let text = |a: &str, b: &str| Error::DeviceMismatch { a: a.into(), b: b.into() }.to_string();
        assert_eq!(text("X", "Y"), "the operands live on different devices: X and Y");
        assert!(text("X", "X").starts_with("the operands live on two handles of X: "), "{}", text("X", "X"));
    }
}
