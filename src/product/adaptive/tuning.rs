//! Numbers of adaptive products: a pure function of device, element type and the method wanted.
use crate::{DeviceInfo, Element, product::method::Method};

/// The limits of the classes, and the sizes of their kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) struct AdaptiveTuning {
    /// Most products of a column that is sorted in registers: 0, or 32 to 256.
    pub sorted_most: u32,
    /// Whether the others are counted by bitmaps.
    pub dense: bool,
    /// Words of 32 rows in the range of a narrow column.
    pub narrow_words: usize,
    /// The same of a medium one.
    pub medium_words: usize,
    /// Words in a window of rows of a wide or big one.
    pub wide_words: usize,
    /// Products from which a column is big.
    pub big_products: u32,
    /// Entries of C that a team adds up at once.
    pub piece: usize,
    /// Bytes of local memory of a team that adds up a piece. The last is enough for every piece.
    pub slices: [usize; 9],
    /// Bytes of local memory that a work-group may have.
    pub local_bytes: usize,
    /// Work-groups for each compute unit, if they process columns in a stride.
    pub groups: usize,
}

impl AdaptiveTuning {
    pub fn new<T: Element>(info: &DeviceInfo, wanted: Method, row_bits: u32) -> Self {
        let _ = (wanted, row_bits);
        Self {
            sorted_most: 0,
            dense: true,
            narrow_words: 256,
            medium_words: 1536,
            wide_words: 10_600,
            big_products: 8192,
            piece: 1024,
            slices: [2048, 2944, 4352, 5888, 7168, 8448, 11_776, 15_616, 25_600],
            local_bytes: 47 << 10,
            groups: 32,
        }
        .within(info)
    }

    fn within(self, info: &DeviceInfo) -> Self {
        let _ = info;
        self
    }
}
