//! Numbers of dropping entries.
use crate::tuning::numbers;

numbers! {
    /// Numbers of dropping entries.
    pub(crate) struct DropNumbers |n| {
        /// Consecutive values that one work-item adds up in a scan of the entries to drop. The
        /// work-groups of the scan have up to 1024 items, so a tile has 2 to 2^18 values.
        drop_scan_items: All(2, 256),
    }
}

const GPU: DropNumbers = DropNumbers { drop_scan_items: 8 };

const CPU: DropNumbers = DropNumbers { drop_scan_items: 256 };
