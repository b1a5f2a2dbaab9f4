//! The lines of a matrix that are grouped.
use crate::{BlockShape, Error, Result};

/// The kind of lines in a group, rows or columns, and the number of lines in a group, which is p in
/// the paper on GCOO (Shi 2020). In a matrix of blocks, lines are rows or columns of blocks.
///
/// The products A·D and D·Aᵀ with a dense matrix D need groups of rows of A. The products D·A and
/// Aᵀ·D need groups of columns of A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Grouping {
    Rows(usize),
    Columns(usize),
}

/// Groups of four rows, the built-in number for products with dense matrices.
impl Default for Grouping {
    fn default() -> Self {
        Self::Rows(4)
    }
}

impl Grouping {
    /// Number of lines in a group.
    pub fn lines(self) -> usize {
        let (Self::Rows(lines) | Self::Columns(lines)) = self;
        lines
    }

    /// Whether the lines are columns.
    pub fn of_columns(self) -> bool {
        matches!(self, Self::Columns(_))
    }

    /// Refuses groups of fewer than 1 or more than 32 lines.
    pub(crate) fn check(self) -> Result<()> {
        match (1..=32).contains(&self.lines()) {
            true => Ok(()),
            false => Err(Error::Argument(format!("groups of {self}: 1 to 32 are supported"))),
        }
    }

    /// The name of the lines in messages.
    pub(crate) fn name(self, shape: BlockShape) -> &'static str {
        match (self, shape == BlockShape::SCALAR) {
            (Self::Rows(_), true) => "rows",
            (Self::Rows(_), false) => "rows of blocks",
            (Self::Columns(_), true) => "columns",
            (Self::Columns(_), false) => "columns of blocks",
        }
    }
}

/// Shows `4 rows` or `4 columns`.
impl std::fmt::Display for Grouping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.lines(), self.name(BlockShape::SCALAR))
    }
}
