//! The differences between a matrix and the pattern for which a plan was made.
use std::fmt;

/// The error for a matrix that differs from the pattern for which a plan was made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PatternMismatch {
    /// The name of the matrix in the documentation of the plan.
    pub matrix: String,
    /// The first difference.
    pub difference: PatternDifference,
}

/// The first difference that was found between a matrix and the pattern of a plan. The checks are
/// made in the order of the variants.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternDifference {
    /// The matrix and the plan are on different devices, with these names.
    Device {
        /// Device of the matrix.
        found: String,
        /// Device of the plan.
        expected: String,
    },
    /// Grids, block shapes or numbers of entries differ.
    Size {
        /// Size of the matrix.
        found: PatternSize,
        /// Size of the plan's pattern.
        expected: PatternSize,
    },
    /// Only one of the two patterns has an entry (block) at this place. No earlier place has an
    /// entry in only one of the patterns; places are compared column by column (row by row for
    /// row-major matrices).
    Entry {
        /// Size of both patterns.
        size: PatternSize,
        /// Row of the entry, counted from 0.
        row: usize,
        /// Column of the entry, counted from 0.
        col: usize,
        /// Whether the matrix has the entry.
        found: bool,
    },
}

/// The size of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PatternSize {
    /// Rows, counted in entries (blocks).
    pub nrows: usize,
    /// Columns, counted in entries (blocks).
    pub ncols: usize,
    /// Rows of each block.
    pub block_rows: usize,
    /// Columns of each block.
    pub block_cols: usize,
    /// Number of entries (blocks).
    pub nnz: usize,
}

impl fmt::Display for PatternSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nrows, ncols, block_rows, block_cols, nnz } = self;
        match self.is_scalar() {
            true => write!(f, "{nrows}x{ncols} with {nnz} entries"),
            false => write!(f, "{nrows}x{ncols} blocks of {block_rows}x{block_cols} with {nnz} of them stored"),
        }
    }
}

impl PatternSize {
    fn is_scalar(&self) -> bool {
        (self.block_rows, self.block_cols) == (1, 1)
    }
}

impl fmt::Display for PatternMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { matrix, difference } = self;
        write!(f, "{matrix} does not have the pattern of the plan: ")?;
        match difference {
            PatternDifference::Device { found, expected } if found == expected => {
                write!(f, "it lives on another handle of {found} than the plan, opened apart")
            }
            PatternDifference::Device { found, expected } => write!(f, "it lives on {found}, the plan on {expected}"),
            PatternDifference::Size { found, expected } => write!(f, "it is {found}, the plan's is {expected}"),
            PatternDifference::Entry { size, row, col, found } => {
                let what = if size.is_scalar() { "an entry" } else { "a block" };
                let whose = if *found { "it" } else { "the plan's" };
                write!(f, "both are {size}; only {whose} has {what} at row {row}, column {col} (from 0)")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_differs() {
        let size = |nnz, (block_rows, block_cols)| PatternSize { nrows: 40, ncols: 30, block_rows, block_cols, nnz };
        let (scalars, blocks) = ((1, 1), (2, 3));
        let says = |difference| PatternMismatch { matrix: "A".into(), difference }.to_string();
        let sizes = |found, expected| PatternDifference::Size { found, expected };
        for (difference, want) in [
            (
                sizes(size(200, scalars), size(198, scalars)),
                "it is 40x30 with 200 entries, the plan's is 40x30 with 198 entries",
            ),
            (
                sizes(size(20, blocks), size(20, scalars)),
                "it is 40x30 blocks of 2x3 with 20 of them stored, the plan's is 40x30 with 20 entries",
            ),
            (PatternDifference::Device { found: "x".into(), expected: "y".into() }, "it lives on x, the plan on y"),
            (
                PatternDifference::Device { found: "x".into(), expected: "x".into() },
                "it lives on another handle of x than the plan, opened apart",
            ),
            (
                PatternDifference::Entry { size: size(9, scalars), row: 4, col: 7, found: true },
                "both are 40x30 with 9 entries; only it has an entry at row 4, column 7 (from 0)",
            ),
            (
                PatternDifference::Entry { size: size(9, blocks), row: 4, col: 7, found: false },
                "both are 40x30 blocks of 2x3 with 9 of them stored; only the plan's has a block at row 4, column 7 (from 0)",
            ),
        ] {
            assert_eq!(says(difference), format!("A does not have the pattern of the plan: {want}"));
        }
    }
}
