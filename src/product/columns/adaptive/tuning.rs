//! The tuning of adaptive products. The numbers are a pure function of the device, the element type
//! and the requested method.
use crate::{
    DeviceInfo,
    product::{
        bands::Limits,
        choose::{AdaptiveNumbers, GROUPS, PAIRED_PRODUCTS, Prices},
        columns::hash::GlobalTables,
        sort,
        terms::{Class, ClassSizes, Method, most_sorted_products},
        tuning::AdaptiveTuning,
    },
    tuning::MethodCosts,
};

/// Sizes of the local memory of a team that adds up a piece, in bytes. The last size of the list is
/// enough for every piece.
const SLICES: [usize; 9] = [2048, 2944, 4352, 5888, 7168, 8448, 11_776, 15_616, 25_600];

/// Most windows of rows for which bitmaps are used. The number is small because each window visits
/// all entries of B.
const MOST_WINDOWS: usize = 16;

/// Bytes that a work-group of `count_wide` needs in addition to its bitmap: see
/// `cl/product/columns/dense/count.cl`.
const WIDE_LISTS: usize = 6656;
/// Bytes that a work-group of `count_narrow` needs in addition to its bitmaps.
const NARROW_LISTS: usize = 4352;
/// Bytes that a work-group of `count_local` and `count_global` needs in addition to its table: see
/// `cl/product/columns/hash/count.cl`.
const HASH_LISTS: usize = 4608;
/// Most bitmaps of a work-group of `count_narrow`. A word of a bitmap has 4 bytes.
const NARROW_BITMAPS: usize = 4;
/// Bytes that a work-group of two teams needs in addition to its bitmaps.
const PAIR_LISTS: usize = 2304;

/// Most bytes of all tables in global memory, for columns with more rows than a table of local
/// memory holds. If columns have 280,000 rows, these bytes are enough for two work-groups on each
/// of 132 multiprocessors.
const HASH_BYTES: u64 = 1 << 30;

/// Memory is allocated for `ROOM_PERCENT` percent of the number of C's rows that is estimated. The
/// estimate comes from samples, so it may be too low. Rows that do not fit are found twice.
/// `rmat18_e8` takes 28.6 ms with 105 and with 125 percent, and `st27_100` 6.7 ms with 105 and 6.8
/// ms with 125.
const ROOM_PERCENT: u64 = 110;

/// With at least `SAMPLED_PRODUCTS` products, the number of rows is estimated from samples. The
/// rows of fewer products take at most about 16 MiB, which does not justify the launch of a sample.
const SAMPLED_PRODUCTS: u64 = 1 << 22;

/// In a group of neighbouring columns of B with equal rows, all columns except the first follow it.
/// The columns that follow share the rows of C of the first column if at least `EQUAL_PERCENT`
/// percent of the columns that are not sorted follow another column. The percentage is an estimate:
/// if fewer columns follow, sharing saves less time than its launch costs.
const EQUAL_PERCENT: u64 = 25;

/// Most columns that share rows and whose products are added up together. A node of a finite
/// element mostly has 3 or 6 unknowns.
const EQUAL_COLUMNS: usize = 3;

/// Number of entries of each column that a team adds up at once, if columns share rows: at least
/// 64, since PoCL 3.1 loses the barriers of loops that cannot run twice. Three sums of doubles for
/// each entry take 12 KiB. The number is an estimate.
const EQUAL_PIECE: usize = 512;

/// Bytes of local memory of a compute unit, which its resident work-groups share. A multiprocessor
/// of an H200 has `RESIDENT_BYTES` bytes.
const RESIDENT_BYTES: usize = 228 << 10;

/// The least number of products for which kernels overlap. Starting and joining several queues
/// takes as long as a few launches.
const LANE_PRODUCTS: u64 = 1 << 21;

impl AdaptiveTuning {
    /// Makes the numbers for a product. A row number of C has `row_bits` bits. If a method is
    /// requested, it gets every column that it can compute.
    pub fn new(info: &DeviceInfo, wanted: Method, costs: MethodCosts, row_bits: u32) -> Self {
        let (numbers, local) = (info.numbers::<AdaptiveNumbers>(), info.local_bytes as usize);
        let fitting = |lists: usize, bitmaps: usize| (local.saturating_sub(lists) / (4 * bitmaps)).max(1);
        let medium_words = numbers.adaptive_medium_words.min(fitting(NARROW_LISTS, NARROW_BITMAPS));
        let takes =
            |method: Method| wanted == method || (wanted == Method::Auto && costs.of(method.cost_name()).is_some());
        let most_sorted = sort::most_of(info);
        Self {
            direct: takes(Method::Direct),
            sorts: takes(Method::Sort),
            most_sorted,
            sorted_most: match wanted {
                Method::Sort => most_sorted,
                _ if takes(Method::Sort) => {
                    most_sorted_products(most_sorted.min(numbers.adaptive_sorted_products as u32))
                }
                _ => 0,
            },
            row_bits,
            dense: takes(Method::Dense) || wanted == Method::Hub,
            narrow_words: numbers.adaptive_narrow_words.min(medium_words),
            medium_words,
            wide_words: numbers.adaptive_wide_words.min(fitting(WIDE_LISTS, 1)),
            paired_products: PAIRED_PRODUCTS,
            paired_words: fitting(PAIR_LISTS, 2),
            big_products: numbers.adaptive_big_products as u32,
            hash: takes(Method::Hash),
            hash_words: [
                numbers.adaptive_small_hash_words,
                numbers.adaptive_medium_hash_words,
                numbers.adaptive_hash_words.min(fitting(HASH_LISTS, 1)),
            ],
            far_words: numbers.adaptive_far_words,
            far_products: match wanted {
                Method::Auto if takes(Method::Sort) => numbers.adaptive_far_products.min(most_sorted as usize),
                _ => 0,
            },
            hash_products: if wanted == Method::Hash { u32::MAX } else { numbers.adaptive_hash_products as u32 },
            hash_bytes: HASH_BYTES,
            piece: numbers.adaptive_piece,
            slices: SLICES,
            // On NVIDIA's devices a work-group that needs all of local memory does not start.
            local_bytes: local.min(64 << 10).saturating_sub(1 << 10),
            room_percent: ROOM_PERCENT,
            sampled_products: SAMPLED_PRODUCTS,
            hub_percent: match wanted {
                Method::Hub => u32::MAX,
                _ if takes(Method::Hub) => numbers.adaptive_hub_percent as u32,
                _ => 0,
            },
            equal_percent: EQUAL_PERCENT,
            equal_products: numbers.adaptive_equal_products as u64,
            equal_columns: EQUAL_COLUMNS,
            equal_piece: EQUAL_PIECE,
            prices: Prices::new(&numbers, info.numbers(), costs, most_sorted),
            esc: wanted == Method::Auto,
            long_column: numbers.adaptive_long_column as u64,
            few_columns: numbers.adaptive_few_columns as u64,
            lanes: numbers.adaptive_lanes,
            lane_products: LANE_PRODUCTS,
            resident_bytes: RESIDENT_BYTES,
            groups: GROUPS,
            read_columns: 1 << 18,
        }
    }

    /// Returns the number of words of 32 rows in the widest range in which bitmaps find rows, for a
    /// C of `nrows` rows and `ncols` columns.
    pub fn most_words(&self, nrows: usize, ncols: usize) -> usize {
        let fitting = (Limits::MAX_PRODUCTS - 1) / ncols.max(1) as u64;
        let windows = MOST_WINDOWS.min(fitting as usize);
        (windows * self.wide_words).max(self.medium_words).min(nrows.div_ceil(32))
    }

    /// Makes the tables in global memory for the hashed columns of a band. C has `nrows` rows.
    pub fn tables(&self, info: &DeviceInfo, sizes: &ClassSizes, nrows: usize) -> GlobalTables {
        let of = sizes.of(Class::HashedGlobal);
        GlobalTables::new(info, self, [of.longest.into(), of.products], nrows)
    }

    /// Returns the most products of a column that is sorted, among `columns` columns with about
    /// `products` products. If an average column is long and there are few columns, launches that
    /// sort the short columns take longer than counting these columns by bitmaps.
    pub fn sorted_most(&self, products: u64, columns: u64) -> u32 {
        let long = products / columns.max(1) > self.long_column && columns < self.few_columns;
        if long && self.dense { 0 } else { self.sorted_most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{device::test_device, element::ElementType, product::columns::tasks::step_bytes};

    /// Returns the most bytes that a piece of `rows` rows needs. The rule is that of
    /// `class_of_piece` in `cl/product/columns/tasks/cut.cl`: a piece has a bitmap of one level if
    /// that needs at most a quarter more bytes than two levels.
    fn most_bytes(element: ElementType, rows: usize, cut: bool, window_words: usize) -> usize {
        let sum = element.arithmetic().bytes();
        let base = step_bytes(element) + rows * if cut { 2 * sum + 2 } else { sum } + 8;
        let two = base + 8 * (window_words / 32 + 2) + 8 * rows;
        (two + two / 4).max(base + 8 * 64)
    }

    /// Returns the most bytes that a piece of `columns` columns needs if the columns share rows.
    /// The piece has a bitmap of two levels if one level does not fit any slice.
    fn equal_bytes(element: ElementType, rows: usize, columns: usize, window_words: usize) -> usize {
        let sum = element.arithmetic().bytes();
        let base = step_bytes(element) + 32 * sum * (columns - 1) + rows * columns * sum + 8;
        base + 8 * (window_words / 32 + 2) + 8 * rows.max(64)
    }

    /// Returns the most bytes that a piece needs if its slots are found by hashes.
    fn hashed_bytes(element: ElementType, rows: usize, cut: bool) -> usize {
        let sum = element.arithmetic().bytes();
        step_bytes(element) + (rows + rows / 2 + 1) * if cut { 2 * sum + 6 } else { sum + 4 } + 8
    }

    #[test]
    fn every_piece_has_a_slice_and_every_slice_fits_local_memory() {
        let mut info = test_device().info().clone();
        for local_bytes in [32 << 10, 48 << 10, 64 << 10, 228 << 10] {
            info.local_bytes = local_bytes;
            let tuning = AdaptiveTuning::new(&info, Method::Auto, info.costs(), 32);
            let last = SLICES[SLICES.len() - 1];
            for (rows, cut) in [(tuning.piece, false), (tuning.piece / 2, true)] {
                assert!(
                    hashed_bytes(ElementType::F64, rows, cut).max(hashed_bytes(ElementType::F32, rows, cut)) <= last
                );
                let most = [
                    most_bytes(ElementType::F64, rows, cut, tuning.wide_words),
                    most_bytes(ElementType::F32, rows, cut, tuning.wide_words),
                ];
                assert!(most.iter().all(|&bytes| bytes <= last), "{most:?} bytes for {rows} rows");
            }
            let equal =
                |columns: usize| equal_bytes(ElementType::F64, 2560 / (columns + 1), columns, tuning.wide_words);
            assert!((1..=8).all(|columns| equal(columns) <= last));
            assert!(SLICES.is_sorted() && SLICES.iter().all(|bytes| bytes % 8 == 0));
            assert!(last <= tuning.local_bytes && tuning.local_bytes < local_bytes as usize);
            assert!(4 * tuning.wide_words + WIDE_LISTS <= local_bytes as usize);
            assert!(4 * tuning.hash_words[2] + HASH_LISTS <= local_bytes as usize && tuning.hash_words.is_sorted());
            assert!(4 * NARROW_BITMAPS * tuning.medium_words + NARROW_LISTS <= local_bytes as usize);
            assert!(4 * 2 * tuning.paired_words + PAIR_LISTS <= local_bytes as usize);
        }
    }

    #[test]
    fn the_lists_of_the_kernels_have_room() {
        let in_group = |teams: usize| 32 * teams;
        // The wide lists have extents and steps of each item, two sums for each team, a place, and
        // the team's memory.
        assert!(in_group(16) * 12 + 16 * 8 + 4 + 128 <= WIDE_LISTS);
        // The hash lists have products and entries before each item, a sum for each team, a place,
        // and the team's memory.
        assert!(in_group(16) * 8 + 16 * 4 + 4 + 128 <= HASH_LISTS);
        // The narrow lists of a team have two words for each of 64 touched words, their number, and
        // 64 steps of each team.
        let of_team = 2 * 64 * 4 + 4 + 64 * 8;
        assert!(NARROW_BITMAPS * of_team + 128 <= NARROW_LISTS && 2 * of_team + 128 <= PAIR_LISTS);
    }
}
