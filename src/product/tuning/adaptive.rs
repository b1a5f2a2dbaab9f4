//! The numbers of products of scalars by columns, which all their methods read. The engine
//! `adaptive` makes them.
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
    /// Most products of a column that is sorted beside others that are not: 0, or one of
    /// [`SORTED_PRODUCTS`](crate::product::terms::SORTED_PRODUCTS).
    pub sorted_most: u32,
    /// Bits of the number of rows of C.
    pub row_bits: u32,
    /// Whether the others are counted by bitmaps.
    pub dense: bool,
    /// Words of 32 rows in the range of a narrow column.
    pub narrow_words: usize,
    /// The same of a medium one.
    pub medium_words: usize,
    /// Words in a window of rows of a wide or big one.
    pub wide_words: usize,
    /// Products of an average wide column, at most, for which teams count columns alone, two in a
    /// group.
    pub paired_products: u64,
    /// Words of a bitmap of each of these, at most.
    pub paired_words: usize,
    /// Products from which a column is big.
    pub big_products: u32,
    /// Whether the rows of columns that are left are found by hashes.
    pub hash: bool,
    /// Words of the tables of local memory for hashed columns.
    pub hash_words: [usize; 3],
    /// Words of 32 rows from which columns of at most [`AdaptiveTuning::far_products`] are sorted
    /// although bitmaps would find their rows.
    pub far_words: usize,
    /// See there: at most [`AdaptiveTuning::most_sorted`].
    pub far_products: usize,
    /// Most products of a hashed column: a work-group takes all of them.
    pub hash_products: u32,
    /// Most bytes of all tables in global memory, for columns that do not fit these, unless one
    /// takes more.
    pub hash_bytes: u64,
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
    /// A column of B is a hub if an entry of it has less than so many hundredths of a product with
    /// a piece of the column's rows, on average.
    pub hub_percent: u32,
    /// Columns that follow another one, in percent of the columns whose rows are found, from which
    /// they share its rows.
    pub equal_percent: u64,
    /// Products of these from which they do.
    pub equal_products: u64,
    /// Most columns that share rows whose products are added up together.
    pub equal_columns: usize,
    /// Rows of a piece of such columns.
    pub equal_piece: usize,
    /// What the methods cost.
    pub prices: Prices,
    /// Whether ESC may compute all columns, if that costs less.
    pub esc: bool,
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
    /// Most columns whose numbers are read to cut them into bands.
    pub read_columns: usize,
}

impl AdaptiveTuning {
    /// Most work-groups of a launch over columns.
    pub fn most_groups(&self, info: &DeviceInfo) -> usize {
        self.groups * info.compute_units as usize
    }

    /// Windows of a column whose rows are in a range of so many words of 32 rows.
    pub fn windows_of(&self, words: usize) -> usize {
        words.div_ceil(self.wide_words).max(1)
    }
}

/// The teams of a device on which `wanted` makes products of scalars adaptive.
pub(in crate::product) fn teams_for(info: &DeviceInfo, wanted: Method) -> Option<Teams> {
    Teams::of(info).filter(|teams| match wanted {
        Method::Auto => teams.are_warps(),
        method => method.is_of_scalars(),
    })
}
