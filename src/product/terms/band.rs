//! A band of columns of C.
use super::Sizes;
use std::ops::Range;

/// Columns of B whose product is computed at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Band {
    pub columns: Range<u32>,
    /// Number of the band's first product in the whole expansion.
    pub first_product: u64,
    pub sizes: Sizes,
    /// Device bytes that earlier bands still hold: their columns of C.
    pub kept_bytes: u64,
}

impl Band {
    /// The only band of a product.
    pub fn of_all(cols: usize, sizes: Sizes) -> Self {
        Self { columns: 0..cols as u32, first_product: 0, sizes, kept_bytes: 0 }
    }
}
