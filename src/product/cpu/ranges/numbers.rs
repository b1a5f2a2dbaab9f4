//! Numbers of products in ranges of columns. Only CPUs compute in ranges.
use crate::tuning::numbers;

numbers! {
    /// Numbers of products in ranges of columns.
    pub(crate) struct RangeNumbers |n| {
        /// A product of scalars in ranges takes one pass if C has at least this many entries for
        /// each 100 products, and there is memory for all products. With 0 it always takes one
        /// pass, and nothing is sampled.
        range_one_pass_percent: All(0, 101),
        /// With at least this many products, the entries of C are estimated from samples.
        range_sampled_products: All(1, 1 << 30),
    }
}

const GPU: RangeNumbers = RangeNumbers { range_one_pass_percent: 0, range_sampled_products: 1 << 20 };

const CPU: RangeNumbers = RangeNumbers {
    // One pass takes less time however many products merge, and touches memory for entries only.
    // The square of a band of 101, with 2 entries for each 100 products, takes 49 ms in one pass,
    // 112 in two.
    range_one_pass_percent: 0,
    // This needs 12 MiB for all products. A sample is not worth a launch below that.
    range_sampled_products: 1 << 20,
};

/// Picoseconds of a multiplication of elements and its addition, in products of blocks. On two
/// cores it was 42 in products of 8x8, and 83 of 3x3.
pub(super) const MULTIPLICATION_PS: u64 = 50;
