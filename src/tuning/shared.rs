//! Numbers that several rooms read.
use super::numbers;

numbers! {
    /// Numbers that several rooms read.
    pub(crate) struct SharedNumbers |n| {
        /// Number of work-items in a work-group whose items each process one entry, column, run or
        /// block column.
        group_size: Groups(1, 1024),
        /// Ranges of columns for each compute unit, in an operation that is computed in ranges; 0
        /// if no operation is.
        range_shares: All(0, 1 << 10),
    }
}

const GPU: SharedNumbers = SharedNumbers {
    // Several work-groups of 256 items fill a multiprocessor without using up its registers.
    group_size: 256,
    // Ranges use work-groups of one item, which would waste a GPU.
    range_shares: 0,
};

const CPU: SharedNumbers = SharedNumbers {
    group_size: 64,
    // A work-group takes the next range when it is free, so that all work-groups end at about the
    // same time.
    range_shares: 16,
};

/// In the time of one bisection step, an operation in ranges visits this many rows of a column. A
/// masked product with columns of 200 entries and 8 places of the mask in each column took 164 ms
/// with 2 rows, and 80 ms with 4 and with 8. Only CPUs compute in ranges.
pub(crate) const LOOKUP_STEPS: usize = 4;

/// In ranges a CPU prefetches a column of A this many entries of B ahead. The kernel of `er100k`
/// takes 39 ms with 8 entries, 40 ms with 16, and 89 ms without prefetching.
pub(crate) const RANGE_AHEAD: usize = 8;
