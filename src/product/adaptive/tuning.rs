//! Numbers of adaptive products: a pure function of device, element type and the method wanted.
use crate::{
    DeviceInfo,
    product::{method::Method, sort},
};

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
    /// Memory for rows, in percent of their estimated number. Rows that do not fit are found twice.
    pub room_percent: u64,
    /// Products from which that number is estimated: the bound of fewer takes little memory.
    pub sampled_products: u64,
    /// Products below which columns of a class join the next larger one.
    pub few_products: u64,
    /// Products of an average column, and columns, for which [`AdaptiveTuning::sorted_most`] is 0.
    pub long_column: u64,
    /// See there.
    pub few_columns: u64,
    /// Queues on which kernels of different classes may overlap.
    pub lanes: usize,
    /// Products from which they do: fork and join take as long as some launches.
    pub lane_products: u64,
    /// Bytes of local memory of a compute unit, for all its work-groups.
    pub resident_bytes: usize,
    /// Work-groups for each compute unit, if they process columns in a stride.
    pub groups: usize,
}

impl AdaptiveTuning {
    /// The numbers for a product whose C has rows of `row_bits` bits. A forced method gets every
    /// column it can compute.
    pub fn new(info: &DeviceInfo, wanted: Method, row_bits: u32) -> Self {
        Self {
            sorted_most: if wanted == Method::Dense { 0 } else { sort::most_products(row_bits) },
            dense: wanted != Method::Sort,
            narrow_words: 256,
            medium_words: 1536,
            wide_words: 10_600,
            big_products: 8192,
            piece: 1024,
            slices: [2048, 2944, 4352, 5888, 7168, 8448, 11_776, 15_616, 25_600],
            // A work-group that takes all of it does not start on NVIDIA's devices.
            local_bytes: (info.local_bytes as usize).min(64 << 10) - (1 << 10),
            room_percent: 125,
            sampled_products: 1 << 22,
            few_products: 50_000,
            long_column: 128,
            few_columns: 1 << 16,
            lanes: 4,
            lane_products: 1 << 21,
            resident_bytes: 228 << 10,
            groups: 32,
        }
    }

    /// Most products of a column that is sorted, among `columns` columns with about `products`
    /// products. If most columns are longer, and all are few, launches for the short ones take
    /// longer than bitmaps of them.
    pub fn sorted_most(&self, products: u64, columns: u64) -> u32 {
        let long = products / columns.max(1) > self.long_column && columns < self.few_columns;
        if long && self.dense { 0 } else { self.sorted_most }
    }
}
