//! What a product will do, as estimates say it.
use super::Counts;

/// The bands and bins of a product, and the device memory that it takes.
#[derive(Debug, Clone)]
pub(crate) struct Foretold {
    /// `None` if ESC computes all columns.
    pub counts: Option<Counts>,
    /// Most bytes at once besides the operands and what ESC takes alone.
    pub peak_bytes: u64,
}

/// Products up to which the entries of C are counted one by one: a tenth of a second on two cores.
/// Those of larger products are bounded.
pub(crate) const COUNTED: u64 = 1 << 26;
