//! Tuning numbers for products that the host computes in place of a CPU device.
use crate::tuning::numbers;

numbers! {
    /// Tuning numbers for products that the host computes in place of a CPU device.
    pub(crate) struct HostNumbers |n| {
        /// The host may multiply in place of a CPU device if it is predicted to be faster, and B
        /// has at most `host_entries` entries and columns together. For `f16` the entries and
        /// columns of A count too. If the number is 0, the host never multiplies.
        host_entries: All(0, 1 << 31),
        /// Most products that the host computes in place of a CPU device. A column counts at most
        /// as many products as there are rows in its range, since it has no more entries. If
        /// several products are added to one entry, the host computes at most four times
        /// `host_products`.
        host_products: All(1, 1 << 31),
    }
}

const GPU: HostNumbers = HostNumbers { host_entries: 0, host_products: 300_000 };

const CPU: HostNumbers = HostNumbers {
    // According to the costs of `host`, the host takes 2.6 ms for a B of 250,000 entries and
    // columns. If every product is an entry of C, the device is faster than the host already for a
    // smaller B.
    host_entries: 250_000,
    // With more than 300,000 products, C does not fit the caches.
    host_products: 300_000,
};

/// Picoseconds that the host takes for an entry of C in addition to its products. The number of
/// entries of a column is estimated as the smaller of its products and its range of rows. The
/// constant was fitted together with the costs of `host`.
pub(super) const ENTRY_PS: f64 = 1890.0;

/// Additional picoseconds that the host takes for a product of scalars if the rows of its column
/// are more than 4096 apart and its sum is in no cache. The sums of 131,072 rows of C fit a cache.
/// 225,000 products of 440 columns take the host 0.88 ms with 131,072 rows, 1.6 ms with a million,
/// and 2.2 to 3.3 ms with more.
pub(super) const FAR_PS: f64 = 8000.0;

/// Picoseconds that the sums of all rows take for each row beyond 131,072, because these sums are
/// written for the first time. 9600 products of two columns take 2.0 ms with 4 million rows, and
/// 0.12 ms with 131,072.
pub(super) const ROW_PS: f64 = 400.0;

/// Picoseconds that the host takes for a multiplication in a product of blocks. Compared with
/// products of scalars, 16,000 products of 3x3 take the host 0.16 ms more, products of 5x5 0.69 ms,
/// and products of 8x8 1.20 ms. The three differences are 0.36, 0.34 and 0.15 ns for each
/// multiplication.
pub(super) const MULTIPLICATION_PS: f64 = 250.0;
