//! A band of columns of C.
use super::Sizes;
use std::ops::Range;

/// Columns of B whose product is computed at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Band {
    pub columns: Range<u32>,
    /// Number of products before the band in the whole expansion.
    pub first_product: u64,
    pub sizes: Sizes,
    /// Bytes of device memory that C's columns of earlier bands still hold.
    pub kept_bytes: u64,
}

impl Band {
    /// The band of a product that is not cut: all columns.
    pub fn of_all(cols: usize, sizes: Sizes) -> Self {
        Self { columns: 0..cols as u32, first_product: 0, sizes, kept_bytes: 0 }
    }
}
