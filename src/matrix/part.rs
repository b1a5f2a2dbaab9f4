//! Parts of a matrix.

/// The part of a matrix whose entries are computed or stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Part {
    /// All entries.
    #[default]
    Full,
    /// Entries on and below the diagonal.
    Lower,
    /// Entries on and above the diagonal.
    Upper,
}
