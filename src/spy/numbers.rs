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

// The more elements a work-item takes, the fewer searches for a column it makes for each element. A
// work-item with many elements also makes fewer atomic operations if neighbouring elements are in
// the same cell.
const CPU: BinNumbers = BinNumbers { binned_items: 256 };
