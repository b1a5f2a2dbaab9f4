//! Numbers of segmented sorts.
use crate::tuning::numbers;

/// Most work-items of a work-group, whose chunks must fit local memory.
const MOST_GROUP_SIZE: usize = 256;

numbers! {
    /// Numbers of segmented sorts.
    pub(crate) struct SortNumbers |n| {
        /// Work-items of a work-group of a sort. A value below 8 selects the kernels for CPUs.
        sort_group_size: Groups(1, MOST_GROUP_SIZE),
    }
}

const GPU: SortNumbers = SortNumbers { sort_group_size: 256 };

const CPU: SortNumbers = SortNumbers { sort_group_size: 1 };

/// Number of elements that one work-item of a parallel sort holds. The number is odd, so that
/// neighbouring items use different banks of local memory, and small enough for registers. CPUs
/// sort serially.
pub(crate) const ITEMS: usize = 7;

/// Number of elements of each work-item for the chunks of an expansion, if local memory is large
/// enough; otherwise it is [`ITEMS`]. Among 15 pairs of numbers, chunks of 2816 and short segments
/// up to 576 were the fastest or within 3 % of the fastest on an H200, on ten matrices.
pub(super) const EXPANSION_ITEMS: usize = 11;

/// Most products of a column that an expansion in local memory sorts as a whole.
pub(crate) const EXPANSION_SHORT_MAX: usize = 576;

/// With `EXPANSION_LOCAL_BYTES` bytes of local memory, [`EXPANSION_ITEMS`] is used. A chunk needs
/// 16 bytes for each product, and some bytes for the work-group.
pub(crate) const EXPANSION_LOCAL_BYTES: u64 = 48 << 10;

/// Work-items of a work-group that sorts short segments of an expansion in local memory. Columns
/// of 576 products fill half of such a group.
pub(super) const WINDOW_GROUP_SIZE: usize = 128;

/// Number of products of each work-item of [`WINDOW_GROUP_SIZE`]: an odd number that fits
/// registers.
pub(crate) const WINDOW_ITEMS: usize = 9;

/// Most elements of a segment that a CPU sorts as a whole. Longer segments are cut into chunks of
/// twice as many elements. A second-level cache holds half a chunk of keys and payloads, twice for
/// input and output.
pub(super) const SERIAL_SHORT_MAX: usize = 1 << 14;

/// Most elements of a segment that a CPU sorts by insertion.
pub(super) const INSERTION_MAX: usize = 24;

/// Number of bits of a digit by which a CPU distributes elements.
pub(super) const DIGIT_BITS: usize = 8;

/// Nanoseconds for each element in a merge pass. From `MERGE_COST`, [`DEAL_COST`] and
/// [`DIGIT_COST`] a CPU chooses between merging runs and distributing elements by digits. For
/// 450,000 products in columns of four runs, with rows of 24 bits, the segmented sort takes 1.8 ms
/// by two merges, and 3.3 ms by three digits.
pub(super) const MERGE_COST: usize = 8;

/// Nanoseconds for each element that is distributed.
pub(super) const DEAL_COST: usize = 3;

/// Nanoseconds for each four values of a digit.
pub(super) const DIGIT_COST: usize = 4;

/// Most runs that a CPU merges. Merging more runs would cost more than distributing elements in 4
/// passes, which are always enough.
pub(super) const RUNS_MAX: usize = {
    let digits = (1 << DIGIT_BITS) / 4 * DIGIT_COST;
    let dealt = 4 * (DEAL_COST + digits.div_ceil(INSERTION_MAX));
    1 << dealt.div_ceil(MERGE_COST)
};

/// An item stores the start of each run.
const _: () = assert!(RUNS_MAX <= 1024);

/// Returns the bytes of local memory of a work-group that sorts products before they are written
/// (`cl/product/esc/sorted_expansion.cl`): for each product a row, two words of payload, a place
/// and a segment start; for each item a word and a segment.
const fn sorted_bytes(group_size: usize, items: usize) -> usize {
    16 * group_size * items + 6 * group_size + 64
}

/// The chunks of an expansion fit the local memory for which they are meant. The chunks of
/// [`ITEMS`] and the windows fit the 32 KiB of every device.
const _: () = {
    assert!(sorted_bytes(MOST_GROUP_SIZE, EXPANSION_ITEMS) <= EXPANSION_LOCAL_BYTES as usize);
    assert!(sorted_bytes(MOST_GROUP_SIZE, ITEMS) <= 32 << 10);
    assert!(sorted_bytes(WINDOW_GROUP_SIZE, WINDOW_ITEMS) <= 32 << 10);
    assert!(EXPANSION_SHORT_MAX <= WINDOW_GROUP_SIZE * WINDOW_ITEMS / 2);
};
