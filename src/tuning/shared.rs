//! Numbers that several modules of the library read.
use super::numbers;

numbers! {
    /// Numbers that several modules of the library read.
    pub(crate) struct SharedNumbers |n| {
        /// Number of work-items in a work-group whose items each process one entry, column, run or
        /// block column.
        group_size: Groups(1, 1024),
        /// Number of ranges of columns for each compute unit, in an operation that is computed in
        /// ranges; 0 if no operation is computed in ranges.
        range_shares: All(0, 1 << 10),
    }
}

const GPU: SharedNumbers = SharedNumbers {
    // Several work-groups of 256 items fill a multiprocessor without using up its registers.
    group_size: 256,
    // Operations in ranges use work-groups of one item, which would waste a GPU.
    range_shares: 0,
};

const CPU: SharedNumbers = SharedNumbers {
    group_size: 64,
    // A work-group takes the next range when it is free. With 16 ranges for each compute unit, all
    // work-groups end at about the same time.
    range_shares: 16,
};

/// An operation in ranges visits about this many rows of a column in the time of one bisection
/// step. With 2 rows, a masked product with columns of 200 entries and 8 places of the mask in each
/// column took 164 ms; with 4 and with 8 rows it took 80 ms. Only CPUs compute in ranges.
pub(crate) const LOOKUP_STEPS: usize = 4;

/// In ranges a CPU prefetches a column of A this many entries of B ahead. The kernel that squares
/// the matrix `er100k` takes 39 ms if columns are prefetched 8 entries ahead, 40 ms with 16
/// entries, and 89 ms without prefetching.
pub(crate) const RANGE_AHEAD: usize = 8;
