//! Numbers of pictures.
use crate::tuning::numbers;

numbers! {
    /// Numbers of pictures.
    pub(crate) struct BinNumbers |n| {
        /// Number of elements that a work-item adds to the cells of a picture.
        binned_items: All(1, 1 << 16),
    }
}

const GPU: BinNumbers = BinNumbers { binned_items: 8 };

// With more elements an item needs fewer searches for a column, and fewer atomics if neighbouring
// elements share a cell.
const CPU: BinNumbers = BinNumbers { binned_items: 256 };
