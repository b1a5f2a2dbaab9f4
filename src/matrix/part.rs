//! The parts of a matrix that can be asked for.

/// The entries of a matrix that are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Part {
    /// All of them.
    #[default]
    Full,
    /// Entries on and below the diagonal.
    Lower,
    /// Entries on and above the diagonal.
    Upper,
}
