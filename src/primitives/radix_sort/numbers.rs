//! Numbers of radix sorts.
use crate::tuning::numbers;

numbers! {
    /// Numbers of radix sorts, and of other sorts of entries by row.
    pub(crate) struct RadixNumbers |n| {
        /// Work-items of a work-group of a radix sort, and of a sort by counters of rows: a
        /// multiple of 32. A value below 32 selects the kernels for CPUs.
        radix_group: Groups(1, 1024),
        /// Elements of each work-item of a radix sort: at least 2, since PoCL 3.1 loses the
        /// barriers of loops that cannot run twice. On a CPU an item has at least `radix_items`
        /// elements.
        radix_items: All(2, if n.radix_group < 32 { 1 << 24 } else { 32 }; radix_group),
        /// Most bits of a digit of a radix sort.
        radix_bits: All(1, 11),
    }
}

const GPU: RadixNumbers = RadixNumbers {
    radix_group: 256,
    // A tile has 4096 elements. If digits are evenly distributed, each digit has a run of at least
    // 16 elements.
    radix_items: 16,
    radix_bits: 8,
};

// A million rows have two digits of 10 bits. 8 M entries take 96 to 101 ms with two digits, and 115
// to 139 ms with three.
const CPU: RadixNumbers = RadixNumbers { radix_group: 1, radix_items: 1 << 14, radix_bits: 11 };

/// Most work-items of a radix sort for each compute unit of a CPU. 8 M entries take 98 ms with two
/// for each core, and 150 ms with one.
pub(super) const SHARES: usize = 4;
