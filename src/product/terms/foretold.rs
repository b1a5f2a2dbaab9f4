//! The forecast of a product, for estimates.
use super::Counts;

/// The bands and bins of a product, and the device memory that it takes.
#[derive(Debug, Clone)]
pub(crate) struct Foretold {
    /// The bands and bins; `None` if ESC computes all columns.
    pub counts: Option<Counts>,
    /// Most bytes in use at once, besides the operands and the memory of ESC alone.
    pub peak_bytes: u64,
}

/// Largest number of products for which the entries of C are counted one by one. This takes a tenth
/// of a second on two cores. The entries of larger products are bounded.
pub(crate) const COUNTED: u64 = 1 << 26;
