//! The numbers for products of scalars that are computed column by column. All methods of these
//! products read the numbers, which the engine `adaptive` makes.
use crate::{
    DeviceInfo,
    device::Teams,
    product::{choose::Prices, terms::Method},
};

/// The limits of the classes, the sizes of their kernels, and the costs of methods.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::product) struct AdaptiveTuning {
    /// Whether columns of B with one entry are direct.
    pub direct: bool,
    /// Whether columns are sorted in registers.
    pub sorts: bool,
    /// Most products of a column that the device sorts.
    pub most_sorted: u32,
    /// Most products of a column that is sorted if other columns are not: 0, or one of
    /// [`SORTED_PRODUCTS`](crate::product::terms::SORTED_PRODUCTS).
    pub sorted_most: u32,
    /// Bits of the number of rows of C.
    pub row_bits: u32,
    /// Whether columns that are not sorted are counted by bitmaps.
    pub dense: bool,
    /// Most words of 32 rows in the range of rows of a narrow column.
    pub narrow_words: usize,
    /// Most words of 32 rows in the range of rows of a medium column.
    pub medium_words: usize,
    /// Words in a window of rows of a wide or big column.
    pub wide_words: usize,
    /// Most products of an average wide column that is counted by one team, with two teams in a
    /// group.
    pub paired_products: u64,
    /// Most words of the bitmap of a wide column that a team counts alone.
    pub paired_words: usize,
    /// A column with more products than `big_products` is big.
    pub big_products: u32,
    /// Whether the rows of columns that no other method takes are found by hashes.
    pub hash: bool,
    /// Number of words of the tables in local memory for hashed columns, for each class.
    pub hash_words: [usize; 3],
    /// If the range of rows of a column has more than `far_words` words of 32 rows, and the column
    /// has at most [`AdaptiveTuning::far_products`] products, it is sorted although bitmaps would
    /// find its rows.
    pub far_words: usize,
    /// Most products of a column that is sorted because of [`AdaptiveTuning::far_words`]. The
    /// number is at most [`AdaptiveTuning::most_sorted`].
    pub far_products: usize,
    /// Most products of a hashed column. One work-group takes the whole column.
    pub hash_products: u32,
    /// Most bytes of all tables in global memory, which are for columns that do not fit local
    /// memory. If a single table takes more than `hash_bytes`, there is one table.
    pub hash_bytes: u64,
    /// Entries of C that a team adds up at once.
    pub piece: usize,
    /// Bytes of local memory of a team that adds up a piece. The last size of the list is enough
    /// for every piece.
    pub slices: [usize; 9],
    /// Bytes of local memory that a work-group may have.
    pub local_bytes: usize,
    /// Memory is allocated for `room_percent` percent of the estimated number of rows. Rows that do
    /// not fit are found twice.
    pub room_percent: u64,
    /// If there are at least `sampled_products` products, the number of rows is estimated. With
    /// fewer products, memory is allocated for the upper bound of the rows, which takes little
    /// memory.
    pub sampled_products: u64,
    /// A column of B with E entries and P products, in whose column of C the rows are cut into R
    /// pieces, is a hub if 100·P / (E·R) < `hub_percent`.
    pub hub_percent: u32,
    /// Columns share rows if at least `equal_percent` percent of the columns whose rows are found
    /// follow another column.
    pub equal_percent: u64,
    /// Columns share rows if the columns whose rows are found have at least `equal_products`
    /// products.
    pub equal_products: u64,
    /// Most columns whose products are added up together because they share rows.
    pub equal_columns: usize,
    /// Rows of a piece of columns that share rows.
    pub equal_piece: usize,
    /// Prices of the methods.
    pub prices: Prices,
    /// Whether ESC may compute all columns, if ESC costs less than bins.
    pub esc: bool,
    /// If an average column has more products than `long_column`, and there are fewer than
    /// [`AdaptiveTuning::few_columns`] columns, [`AdaptiveTuning::sorted_most`] is 0.
    pub long_column: u64,
    /// Number of columns below which [`AdaptiveTuning::long_column`] applies.
    pub few_columns: u64,
    /// Queues on which kernels of different classes may overlap.
    pub lanes: usize,
    /// If there are at least `lane_products` products, several queues are used. Starting and
    /// joining several queues takes as long as some launches.
    pub lane_products: u64,
    /// Bytes of local memory of a compute unit, for all its work-groups.
    pub resident_bytes: usize,
    /// Work-groups for each compute unit, if each group takes several columns at a fixed distance.
    pub groups: usize,
    /// If there are more columns than `read_columns`, the host does not read their sizes to cut
    /// them into bands.
    pub read_columns: usize,
}

impl AdaptiveTuning {
    /// Most work-groups of a launch over columns.
    pub fn most_groups(&self, info: &DeviceInfo) -> usize {
        self.groups * info.compute_units as usize
    }

    /// Windows of a column whose rows are in a range of `words` words of 32 rows.
    pub fn windows_of(&self, words: usize) -> usize {
        words.div_ceil(self.wide_words).max(1)
    }
}

/// The teams that compute products of scalars on a device, or `None` if method `wanted` does not
/// make products adaptive on this device.
pub(in crate::product) fn teams_for(info: &DeviceInfo, wanted: Method) -> Option<Teams> {
    Teams::of(info).filter(|teams| match wanted {
        Method::Auto => teams.are_warps(),
        method => method.is_of_scalars(),
    })
}
