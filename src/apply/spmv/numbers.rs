//! Numbers of rows that items add one after another.
use crate::tuning::numbers;

numbers! {
    /// Numbers of rows that items add one after another.
    pub(crate) struct RowNumbers |n| {
        /// Most entries and rows, together, that a work-item adds one after another in A·x of
        /// compressed rows (a stretch); 0 if each item has one row.
        row_stretch: All(0, 1 << 24),
        /// Entries of a row that a work-item loads before it adds their terms in A·x.
        row_ahead: All(1, 16),
    }
}

const GPU: RowNumbers = RowNumbers {
    row_stretch: 0,
    // The loads of an entry take half a microsecond or more. On an H200 five at once were the
    // fastest, or within 2 % of the fastest of 3 to 10, on four matrices of 5 to 60 entries a row,
    // in `f64` and `f32`.
    row_ahead: 5,
};

const CPU: RowNumbers = RowNumbers {
    // Starting a group is a small part of its work, and groups end together. The entries are 0.4 MB
    // of doubles.
    row_stretch: 1 << 15,
    // A core reorders loads itself.
    row_ahead: 1,
};

/// Fewest elements and rows of a stretch: about a microsecond's work. Only CPUs have stretches.
pub(super) const ROW_SHORTEST: usize = 1 << 10;
