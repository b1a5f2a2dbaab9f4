//! Numbers of products A·x in which a work-item adds one row after another.
use crate::tuning::numbers;

numbers! {
    /// Numbers of products A·x in which a work-item adds one row after another.
    pub(crate) struct RowNumbers |n| {
        /// Most entries plus rows in a stretch, which a work-item adds one after another in A·x of
        /// compressed rows; 0 if each item has one row.
        row_stretch: All(0, 1 << 24),
        /// Number of entries of a row that a work-item loads before it adds their terms in A·x.
        row_ahead: All(1, 16),
    }
}

const GPU: RowNumbers = RowNumbers {
    row_stretch: 0,
    // The loads of an entry take half a microsecond or more. On an H200 four matrices of 5 to 60
    // entries a row were measured with 3 to 10 entries at once, in `f64` and `f32`. Five entries at
    // once were the fastest, or within 2 % of the fastest.
    row_ahead: 5,
};

const CPU: RowNumbers = RowNumbers {
    // Starting a work-group takes a small part of its time, and all work-groups end at about the
    // same time. The entries of a stretch have 0.4 MB in doubles.
    row_stretch: 1 << 15,
    // A core reorders loads itself.
    row_ahead: 1,
};

/// Fewest elements plus rows in a stretch. A stretch of 1024 elements plus rows takes about a
/// microsecond. Only CPUs have stretches.
pub(super) const ROW_SHORTEST: usize = 1 << 10;
