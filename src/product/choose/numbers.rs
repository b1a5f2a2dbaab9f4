//! Tuning numbers for products of scalars that are computed column by column: the limits of the
//! classes of columns, and times in addition to the costs of methods. By default only GPUs compute
//! products column by column. On a CPU, where products column by column can be requested, the
//! classes have the same limits as on a GPU.
use crate::tuning::numbers;

numbers! {
    /// Tuning numbers for products of scalars that are computed column by column.
    pub(crate) struct AdaptiveNumbers |n| {
        /// Most words of 32 rows in the row range of a narrow column of an adaptive product.
        adaptive_narrow_words: All(1, n.adaptive_medium_words; adaptive_medium_words),
        /// Most words in the row range of a medium column. A work-group has four teams, each with a
        /// bitmap. Devices with less than 48 KiB of local memory get as many words as fit.
        adaptive_medium_words: All(1, 2560),
        /// Number of words in a window of rows, for columns that are wider than medium. A
        /// work-group has one bitmap. The bitmap and the lists of the work-group fit 48 KiB. On
        /// devices with less than 48 KiB of local memory the number is as large as fits.
        adaptive_wide_words: All(1, 10_600),
        /// A column that is not narrow or medium and has at least `adaptive_big_products` products
        /// gets a work-group of 16 teams.
        adaptive_big_products: All(1, 1 << 30),
        /// Number of words of the local hash table of a team that finds rows by hashes.
        adaptive_small_hash_words: All(1, n.adaptive_medium_hash_words; adaptive_medium_hash_words),
        /// Number of words of the local hash table of a work-group of four teams.
        adaptive_medium_hash_words: All(1, n.adaptive_hash_words.min(6000); adaptive_hash_words),
        /// Number of words of the local hash table of a work-group of sixteen teams. With the lists
        /// of the work-group the table fits 48 KiB. On devices with less than 48 KiB of local
        /// memory the number is as large as fits.
        adaptive_hash_words: All(1, 10_600),
        /// Most products of a column whose rows are found by hashes. One work-group takes the whole
        /// column.
        adaptive_hash_products: All(1, 1 << 31),
        /// A column of at most `adaptive_far_products` products is sorted if its row range has more
        /// than `adaptive_far_words` words of 32 rows.
        adaptive_far_words: All(1, 1 << 27),
        /// Most products of a column to which `adaptive_far_words` applies, up to 3584.
        adaptive_far_products: All(1, 3584),
        /// Number of entries of C that a team adds up at once: a power of two. The number is at
        /// least 128, because a team may take half of these entries, and PoCL 3.1 loses the
        /// barriers of loops that cannot run twice.
        adaptive_piece: PowersOfTwo(128, 1024),
        /// A column of B with E entries and P products, in whose column of C the rows are cut into
        /// R pieces of `adaptive_piece` rows, is a hub if 100·P / (E·R) < `adaptive_hub_percent`.
        adaptive_hub_percent: All(0, 1 << 30),
        /// Columns of C with equal rows share these rows only if the columns that are not sorted
        /// have at least `adaptive_equal_products` products. If rows are shared, a task has several
        /// columns, so there are fewer tasks. The tasks of a small product would not fill the
        /// device.
        adaptive_equal_products: All(1, 1 << 30),
        /// Most products of a column that is sorted in registers, in a product that also has
        /// unsorted columns: 0, or 32 to 3584.
        adaptive_sorted_products: All(1, 3584),
        /// An adaptive product sorts no columns if an average column has more products than
        /// `adaptive_long_column`, and there are fewer than `adaptive_few_columns` columns.
        adaptive_long_column: All(1, 1 << 30),
        /// See `adaptive_long_column`.
        adaptive_few_columns: All(1, 1 << 30),
        /// Number of queues on which kernels of different classes may overlap.
        adaptive_lanes: All(1, 15),
        /// Microseconds that the analysis of an adaptive product's columns takes at least.
        adaptive_analysis_us: All(1, 1 << 30),
        /// Picoseconds of the analysis for each column.
        adaptive_column_ps: All(1, 1 << 30),
        /// Microseconds that a bin of an adaptive product takes in addition to its kernels. In a
        /// small product the additional time of a bin does not overlap with other kernels.
        adaptive_bin_us: All(1, 1 << 30),
        /// Picoseconds for visiting an entry of B once, in columns whose rows of C are found before
        /// the sums. Each piece of the found rows visits every entry of its column of B.
        adaptive_visit_ps: All(1, 1 << 30),
        /// Additional nanoseconds for each entry of the longest column whose rows are found,
        /// because its entries are visited one after another.
        adaptive_longest_ns: All(1, 1 << 30),
    }
}

const GPU: AdaptiveNumbers = AdaptiveNumbers {
    // Each team has a bitmap of 1 KiB, so that many work-groups are resident.
    adaptive_narrow_words: 256,
    // Each of four teams has a bitmap of 6 KiB. With 4 KiB of lists the work-group fits 32 KiB.
    adaptive_medium_words: 1536,
    // The bitmap takes 41.4 KiB and the lists of 16 teams 6.1 KiB. Every NVIDIA GPU has 48 KiB.
    adaptive_wide_words: 10_600,
    // If a long column had only four teams, a few long columns would end last. If a column of few
    // products had 16 teams, the teams would wait for each other. 2.5 M products in columns of 8192
    // take 0.29 ms with four teams, and 0.22 ms with 16. `bcsstk16`, whose columns have about 4096
    // products, takes 0.38 to 0.48 ms with the limit of 8192, and 0.44 to 0.55 ms with a limit of
    // 4096.
    adaptive_big_products: 8192,
    // With 4 KiB for a team, as many teams are resident as a multiprocessor can have work-groups.
    adaptive_small_hash_words: 1024,
    // With 16 KiB for four teams, 14 work-groups are resident.
    adaptive_medium_hash_words: 4096,
    // A hash table of 10,600 words takes 41.4 KiB. With the lists of 16 teams it fits every NVIDIA
    // GPU.
    adaptive_hash_words: 10_600,
    // The limit of 2^22 products is an estimate. A work-group of 512 items that wait for memory
    // takes about a nanosecond for each product, 4 ms in all. ESC computes a column of more
    // products faster than hashes do, because ESC divides the products among all work-groups.
    adaptive_hash_products: 1 << 22,
    // A range of more than 10,600 words does not fit one window of a bitmap.
    adaptive_far_words: 10_600,
    // 2.5 M products in columns of 512 take 0.10 ms if they are sorted, and 0.45 ms by hashes. On
    // an H100 20 M products in columns of 3584 take 0.62 ms if they are sorted, and 1.8 ms by
    // hashes.
    adaptive_far_products: 3584,
    // `fem200k_60` takes 7.1 ms with pieces of 512 rows, 8.8 ms with 256 and 7.5 ms with 1024.
    // `rmat18_e8` takes 29.5 ms with 512 and 33.5 ms with 1024.
    adaptive_piece: 512,
    // On an H100 `cnr-2000` by columns takes 5.6 ms with 100 percent, 8.3 ms without hubs, 8.1 ms
    // with 75 percent and 5.5 ms with 200. A graph of 122 M products takes 4.0 ms with 100 percent,
    // 3.9 ms without hubs, 4.4 ms with 75 percent and 4.3 ms with 200. `email-Enron` takes 1.7 to
    // 1.9 ms with each of the four.
    adaptive_hub_percent: 100,
    // 694 M products of finite elements take 4.9 ms if columns share rows, and 6.4 ms if they do
    // not. The 18.7 M products of `bcsstk16` take 0.67 ms if columns share rows, and 0.43 ms if
    // they do not. The limit between these two sizes is an estimate.
    adaptive_equal_products: 1 << 27,
    // Columns of more than 256 products take 5 to 21 ns for each product if they are sorted, and 6
    // to 23 ns by bitmaps. The fewer entries C has, the less time sorting and bitmaps take.
    adaptive_sorted_products: 256,
    // `Dubcova1` takes 0.25 ms without sorted columns, and 0.36 ms with them.
    adaptive_long_column: 128,
    adaptive_few_columns: 1 << 16,
    // Kernels of different classes overlap. `cnr-2000` takes 5.9 ms on eight queues, and 7.0 ms on
    // four.
    adaptive_lanes: 8,
    // Fitted to whole products on an H200 and an H100: docs/decisions/0011-costs-of-methods.md.
    adaptive_analysis_us: 100,
    adaptive_column_ps: 90,
    adaptive_bin_us: 15,
    adaptive_visit_ps: 85,
    adaptive_longest_ns: 250,
};

const CPU: AdaptiveNumbers = AdaptiveNumbers {
    // One queue takes all tasks in turn, so a small number of tasks costs nothing.
    adaptive_equal_products: 1,
    // A kernel uses all cores. PoCL 3.1 fails if two queues begin the same kernel at once
    // (assertion of `pocl_release_dlhandle_cache`).
    adaptive_lanes: 1,
    ..GPU
};

/// If an average wide column has at most `PAIRED_PRODUCTS` products, each team counts a column
/// alone, and a work-group has two teams, if their bitmaps fit 48 KiB. If local memory has less
/// than 48 KiB, fewer words of bitmaps fit. Stencils of 27 points, with 729 products a column and
/// ranges of 1960 words, take 14.1 ms on an H200 by such work-groups of two teams, and 22.9 ms by
/// work-groups of four. Columns of more products have not been measured.
pub(in crate::product) const PAIRED_PRODUCTS: u64 = 2048;

/// Number of work-groups for each compute unit, if work-groups take one column after another. There
/// are more work-groups than are resident, since columns differ in length. But there are few enough
/// that each clears its bitmap only once for many columns.
pub(in crate::product) const GROUPS: usize = 32;
