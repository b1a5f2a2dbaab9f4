//! Tuning numbers for products in ranges of columns. Only CPUs compute in ranges.
use crate::tuning::numbers;

numbers! {
    /// Tuning numbers for products in ranges of columns.
    pub(crate) struct RangeNumbers |n| {
        /// A product of scalars in ranges is computed in one pass if C has at least
        /// `range_one_pass_percent` entries for each 100 products, and there is memory for all
        /// products. If the number is 0, every product is computed in one pass, and nothing is
        /// sampled.
        range_one_pass_percent: All(0, 101),
        /// With at least `range_sampled_products` products, the entries of C are estimated from
        /// samples.
        range_sampled_products: All(1, 1 << 30),
    }
}

const GPU: RangeNumbers = RangeNumbers { range_one_pass_percent: 0, range_sampled_products: 1 << 20 };

const CPU: RangeNumbers = RangeNumbers {
    // One pass always takes less time than two, however many products are added to one entry, and
    // it touches memory only for entries. The square of a band of 101, with 2 entries for each 100
    // products, takes 49 ms in one pass, and 112 ms in two.
    range_one_pass_percent: 0,
    // A million products need 12 MiB, which does not justify the launch of a sample.
    range_sampled_products: 1 << 20,
};

/// Picoseconds of a multiplication of elements and its addition, in products of blocks. On two
/// cores a multiplication took 42 ps in products of 8x8, and 83 ps in products of 3x3.
pub(super) const MULTIPLICATION_PS: u64 = 50;
