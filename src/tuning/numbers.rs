//! The numbers with which kernels are compiled or launched. `tables` contains their values for each
//! kind of device.
mod check;
mod derived;

use serde::{Serialize, Serializer};

/// Declares the numbers, with functions that find them by name.
macro_rules! numbers {
    ($(#[$of_all:meta])* pub struct Numbers { $($(#[$of_one:meta])* pub $name:ident: usize,)* }) => {
        $(#[$of_all])*
        pub struct Numbers { $($(#[$of_one])* pub $name: usize,)* }

        impl Numbers {
            /// The names of all numbers, in their order.
            pub(super) const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// The number called `name`.
            pub(super) fn named(&mut self, name: &str) -> Option<&mut usize> {
                let numbers = [$(&mut self.$name),*];
                Self::NAMES.iter().zip(numbers).find_map(|(&one, number)| (one == name).then_some(number))
            }
        }

        impl Serialize for Numbers {
            fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.collect_map(Self::NAMES.iter().zip([$(self.$name),*]))
            }
        }
    };
}

numbers! {
    /// The numbers of one kind of device. Sizes of work-groups are powers of two.
    ///
    /// Lengths that are part of the order of a sum, such as the 1024 terms of a piece, are not
    /// here: they are equal on every device. They are defined where the sum is described.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Numbers {
        /// Work-items of a work-group if each item processes one entry, column, run or block
        /// column.
        pub group_size: usize,
        /// Work-items of a work-group if each item processes one entry, line or row of a block, and
        /// no size is better than others. Kernels that make and check patterns, and small kernels,
        /// use it.
        pub elementwise_group: usize,
        /// Work-items of a work-group if each item processes one element of all blocks of a matrix.
        /// Kernels that move, copy, weigh and add blocks use it.
        pub value_group: usize,
        /// Elements that a work-item of a CPU moves one after another, in whole blocks.
        pub serial_elements: usize,
        /// Work-items of a work-group that processes elements of vectors, or adds up lines. On a
        /// CPU the group of a line is one item.
        pub vector_group: usize,
        /// Work-items of a group that adds up lines. On a CPU it is one.
        pub line_group: usize,
        /// Most elements and lines in a tile of lines that a work-group adds up, and most elements
        /// of a line in a tile: at most a piece of 1024 entries. Longer lines have groups of their
        /// own.
        pub line_elements: usize,
        /// Products that a work-group holds in local memory while it adds up lines. If two tiles
        /// have more products, it holds those.
        pub line_held: usize,
        /// Terms of a line that a work-item reads from local memory before it adds them.
        pub line_together: usize,
        /// Entries of the longest line of scalars that an item adds by itself, if a device has room
        /// for all tiles at once. Groups add longer ones by guesses (`cl/vector/guesses.cl`). With
        /// 0 no line is added by guesses, not even long lines of blocks.
        pub guessed_line: usize,
        /// Elements of lines that a work-item loads before it multiplies them.
        pub line_ahead: usize,
        /// Replaces `line_group` for matrices of scalars with some lines longer than a tile.
        pub skewed_line_group: usize,
        /// Replaces `line_ahead` for matrices of scalars with some lines longer than a tile.
        pub skewed_line_ahead: usize,
        /// Work-items of a group in format `csr-shared`, whose items share long rows of scalars.
        pub shared_line_group: usize,
        /// Most elements and rows in a tile of `csr-shared`, at most 1024.
        pub shared_line_elements: usize,
        /// Elements that an item of `csr-shared` loads before it multiplies them.
        pub shared_line_ahead: usize,
        /// Most elements and lines in a tile of packed blocks that work-items load by themselves.
        pub direct_line_elements: usize,
        /// Terms of a sum that an item loads before it adds them, if it loads packed blocks by
        /// itself. Blocks with more terms are loaded to local memory.
        pub direct_line_terms: usize,
        /// If a tile's longest line has at least this many entries, tiles differ in weight, and
        /// those with long lines come first. Shorter lines are added while the terms of other tiles
        /// are loaded.
        pub line_light: usize,
        /// Most entries and rows, together, that a work-item adds one after another in A·x of
        /// compressed rows (a stretch); 0 if each item has one row.
        pub row_stretch: usize,
        /// Fewest stretches, and fewest tiles of lines in products with dense matrices, for each
        /// compute unit if an item takes one. With many, the last to end is a small part of the
        /// whole.
        pub least_shares: usize,
        /// Fewest elements and rows of a stretch.
        pub row_shortest: usize,
        /// Entries of a row that a work-item loads before it adds their terms in A·x.
        pub row_ahead: usize,
        /// Work-items of a work-group that multiplies a sparse and a dense matrix.
        pub dense_group: usize,
        /// Most work-items of such a group that share the columns of a line (lanes).
        pub dense_lanes: usize,
        /// If an average line has at least this many entries, lines have many rows of the dense
        /// matrix in common. The first-level cache holds these rows if fewer columns are multiplied
        /// at once.
        pub dense_common: usize,
        /// Number of lanes for lines of at least `dense_common` entries.
        pub dense_common_lanes: usize,
        /// Bytes of neighbouring columns (a vector) that a work-item of a product with a dense
        /// matrix loads at once, at most 16 elements.
        pub dense_vector_bytes: usize,
        /// Most vectors that a work-item holds.
        pub dense_vectors: usize,
        /// Rows of the dense matrix that an item loads before it adds their terms.
        pub dense_ahead: usize,
        /// Rows of the dense matrix that an item loads before it adds their terms in a piece of a
        /// long line.
        pub dense_long_ahead: usize,
        /// Most entries of a line that is not long, if an average line has few. Long lines are cut
        /// in pieces of 1024 entries, which are computed first. A line of more than 1024 is always
        /// long.
        pub dense_long: usize,
        /// A line with at most this many times the entries of an average line is not long.
        pub dense_long_average: usize,
        /// Most lines of a block that an item adds at once.
        pub dense_held_lines: usize,
        /// On a CPU, entries and lines that a work-item takes one after another; on other devices,
        /// lines that a work-group takes one after another.
        pub dense_tile: usize,
        /// Entries and lines of blocks that the items of a line take one after another.
        pub dense_block_tile: usize,
        /// Lines of a group of grouped coordinates (GCOO): p of Shi, Wang and Chu (2020).
        pub dense_group_lines: usize,
        /// Entries that a work-item places in GCOO groups one after another.
        pub dense_placed: usize,
        /// Elements of each line in a GCOO group that a work-item visits when groups are made of a
        /// dense matrix. Longer lines are shared by the items of a work-group if the lines are
        /// stored one after another.
        pub dense_chunk: usize,
        /// Rows of the dense matrix that an item loads before it adds their terms to the sums of a
        /// GCOO group.
        pub dense_group_ahead: usize,
        /// Most entries of a GCOO group that are staged in local memory at once, if they fit: b of
        /// the paper. On a GPU it also bounds the staged entries of a single line.
        pub dense_staged: usize,
        /// Rows in a tile of a dense matrix that a work-group copies from columns to rows.
        pub dense_copied_rows: usize,
        /// Columns in such a tile.
        pub dense_copied_cols: usize,
        /// Neighbouring rows whose sums a work-item of a CPU keeps, and then writes by columns.
        pub dense_kept_rows: usize,
        /// Bytes of local memory for the sums of a work-group that writes by columns, on devices
        /// other than CPUs.
        pub dense_sum_bytes: usize,
        /// Bytes of the dense matrix that a device's cache keeps while other data pass through it.
        pub dense_cache_bytes: usize,
        /// A dense matrix of at least this many bytes is written past the caches of a CPU, in whole
        /// cache lines.
        pub dense_past_bytes: usize,
        /// Groups are used if there are at least this many entries for each 100 rows of the dense
        /// matrix that groups load.
        pub dense_reuse_percent: usize,
        /// Elements that a work-group scales by a vector.
        pub scaled_elements: usize,
        /// Columns or entries that a work-item checks in arrays adopted from an application.
        pub checked_items: usize,
        /// Elements that a work-item adds to the cells of a picture.
        pub binned_items: usize,
        /// Work-groups that reduce the counts of a picture or pattern to one record.
        pub record_groups: usize,
        /// Work-items of a work-group of a scan.
        pub scan_group_size: usize,
        /// Consecutive values that one work-item of a scan adds up.
        pub scan_items: usize,
        /// Most tiles of a scan for which each tile adds up the sums of the tiles before it.
        pub scan_direct_tiles: usize,
        /// Consecutive values that one work-item adds up in a scan of the entries to drop. The
        /// groups of this scan have `group_size` items.
        pub drop_scan_items: usize,
        /// Replaces `scan_direct_tiles` in a scan of the entries to drop.
        pub drop_scan_direct_tiles: usize,
        /// Work-items of a work-group of a sort; 1 selects the kernels for CPUs.
        pub sort_group_size: usize,
        /// Elements that one work-item of a parallel sort holds. The number is odd, so that
        /// neighbours use different banks of local memory, and small enough for registers.
        pub sort_items: usize,
        /// Work-items of a work-group of a radix sort: a multiple of 32. Less than 32 selects the
        /// kernels for CPUs.
        pub radix_group: usize,
        /// Elements of each work-item of a radix sort: at least 2, since PoCL 3.1 loses barriers of
        /// loops that cannot run twice. On a CPU it is the least number of an item's elements.
        pub radix_items: usize,
        /// Most bits of a digit of a radix sort.
        pub radix_bits: usize,
        /// Most work-items of a radix sort for each compute unit of a CPU.
        pub radix_shares: usize,
        /// Work-items of a work-group that counts the entries of rows. If it is less than 32,
        /// entries are sorted by row instead.
        pub arrival_group: usize,
        /// Entries that each work-item counts or places in a sort by counters.
        pub arrival_items: usize,
        /// Most entries of an average row in a sort by counters. With longer rows, items would wait
        /// for each other's counters.
        pub arrival_average: usize,
        /// Work-items for each compute unit of a CPU that count the rows of their shares of the
        /// entries.
        pub tally_shares: usize,
        /// Most counters of rows for each entry, added up over these work-items.
        pub tally_counters: usize,
        /// Number of rows whose counters a work-item adds up.
        pub tally_stretch: usize,
        /// Elements of each work-item for the chunks of an expansion, if local memory is large
        /// enough.
        pub expansion_items: usize,
        /// Bytes of local memory that are large enough for `expansion_items`. On devices with less,
        /// each item has `sort_items`.
        pub expansion_local_bytes: usize,
        /// Most products of a column that an expansion in local memory sorts whole.
        pub expansion_short_max: usize,
        /// Work-items of a work-group that sorts a chunk of a longer column in registers, if teams
        /// are warps: a power of two from 64 to 256.
        pub chunk_group_size: usize,
        /// Products of each work-item of `chunk_group_size`: an odd number up to 7 times a power of
        /// two, up to 12. A work-group that has to merge has as many products, a multiple of its
        /// items.
        pub chunk_items: usize,
        /// Most entries of a column of B whose chunks are cut by rows. Each chunk searches all of
        /// these entries.
        pub chunk_entries: usize,
        /// Products that a merge pass moves in the time of such a search.
        pub chunk_look_products: usize,
        /// Most elements of a segment that a CPU sorts as a whole. The chunks of longer segments
        /// have twice as many.
        pub serial_short_max: usize,
        /// Most elements of a segment that a CPU sorts by insertion.
        pub serial_insertion_max: usize,
        /// Cost of an element in a merge pass, in nanoseconds. From this number and the next two a
        /// CPU chooses between merging runs and distributing elements by digits.
        pub serial_merge_cost: usize,
        /// Cost of an element that is distributed, in nanoseconds.
        pub serial_deal_cost: usize,
        /// Cost of four values of a digit, in nanoseconds.
        pub serial_digit_cost: usize,
        /// Work-items of a work-group that sorts short segments of an expansion in local memory.
        pub window_group_size: usize,
        /// Products of each work-item of `window_group_size`: an odd number that fits registers.
        pub window_items: usize,
        /// Work-items of a work-group that processes a tile of the expansion.
        pub tile_group_size: usize,
        /// Products of each work-item of `tile_group_size`.
        pub tile_items: usize,
        /// Largest side of blocks for which kernels are compiled; larger blocks share a program.
        pub block_compiled_side: usize,
        /// Most elements of a block of A that a work-item of a GPU holds in registers; larger
        /// blocks are staged in local memory.
        pub block_held_area: usize,
        /// Bytes of blocks that a work-group stages at once.
        pub block_staged_bytes: usize,
        /// Work-items that stage blocks together.
        pub block_staged_group: usize,
        /// On a GPU a run of small blocks with at least this many products has a work-group of its
        /// own.
        pub block_long_run: usize,
        /// Runs of blocks that a work-item of a CPU sums one after another.
        pub block_serial_runs: usize,
        /// A CPU prefetches a block of A this many products ahead.
        pub block_pairs_ahead: usize,
        /// Work-items of a work-group that sums scalars from stored operand pairs on a GPU.
        pub scalar_group: usize,
        /// Operand pairs that each such work-item loads at once.
        pub scalar_ahead: usize,
        /// Products and entries of C, together, of such a work-group: at most a piece of 1024.
        pub scalar_stretch: usize,
        /// Work-items of a work-group in the Schur complement that processes lines, or scalars of
        /// points: at least 32, the longest side of a block. One item of a CPU processes as many
        /// lines or scalars.
        pub schur_group: usize,
        /// Most terms of a short line of the Schur complement, which one item adds: at most a piece
        /// of 1024. Longer lines have a work-group of their own.
        pub schur_short_line: usize,
        /// Bytes of local memory for the products of a long line's work-group.
        pub schur_line_bytes: usize,
        /// Side of the largest blocks that one work-item factors, in registers.
        pub schur_factor_side: usize,
        /// Bytes of local memory for the blocks that a work-group factors in registers, counted as
        /// doubles.
        pub schur_factor_bytes: usize,
        /// 1 if teams of 32 work-items exchange words by warp instructions, on NVIDIA devices;
        /// otherwise 0. With 0 they exchange words through local memory.
        pub warp_instructions: usize,
        /// The host may multiply in place of a CPU device if it is predicted to be faster, and B
        /// has at most this many entries and columns (for `f16` A's are added). With 0 it never
        /// does.
        pub host_entries: usize,
        /// Most products that the host computes in place of a CPU device. The products of a column
        /// count up to the range of its rows, since it has no more entries. Of products that merge,
        /// the host computes at most four times as many.
        pub host_products: usize,
        /// Picoseconds that the host takes for an entry of C in addition to its products. A column
        /// counts at most as many entries as products, and as rows from the first to the last.
        pub host_entry_ps: usize,
        /// Additional picoseconds that the host takes for a product of scalars if the rows of its
        /// column are more than 4096 apart and its sum is in no cache. The sums of 131,072 rows of
        /// C are in a cache.
        pub host_far_ps: usize,
        /// Picoseconds that the sums of all rows take for each row beyond these 131,072, because
        /// they are written for the first time.
        pub host_row_ps: usize,
        /// Picoseconds that a multiplication in a product of blocks takes the host.
        pub host_multiplication_ps: usize,
        /// Ranges of columns for each compute unit, in a product that is computed in ranges; 0 if
        /// no product is.
        pub range_shares: usize,
        /// A product of scalars in ranges takes one pass if C has at least this many entries for
        /// each 100 products, and there is memory for all products. With 0 it always takes one
        /// pass, and nothing is sampled.
        pub range_one_pass_percent: usize,
        /// With at least this many products, the entries of C are estimated from samples.
        pub range_sampled_products: usize,
        /// In ranges a CPU prefetches a column of A this many entries of B ahead.
        pub range_ahead: usize,
        /// Picoseconds of a multiplication of elements and its addition, in products of blocks.
        pub range_multiplication_ps: usize,
        /// In the time of one bisection step, a masked product in ranges visits this many rows of a
        /// column of A.
        pub mask_lookup_steps: usize,
        /// In the time in which an entry is looked up for a place of the mask, it visits this many
        /// rows.
        pub mask_probe_steps: usize,
        /// In the time in which an entry of A is transposed, it visits this many rows.
        pub mask_transpose_steps: usize,
        /// If there are fewer products than this for each product on the mask, a masked product in
        /// ranges adds all of them.
        pub mask_hit_products: usize,
        /// A plan of scalars stores no operand pairs if there are at least this many products for
        /// each 100 entries of C; it then stores what adaptive sums need.
        pub plan_sums_percent: usize,
        /// The least number of products for which it does so.
        pub plan_sums_products: usize,
        /// Most words of 32 rows in the row range of a narrow column of an adaptive product.
        pub adaptive_narrow_words: usize,
        /// Most words in the row range of a medium column. Four teams have a bitmap each. Devices
        /// with less than 48 KiB of local memory get as many as fit.
        pub adaptive_medium_words: usize,
        /// Words in a window of rows of wider columns. A group has one bitmap, in 48 KiB with its
        /// lists. Devices with less local memory get as many as fit.
        pub adaptive_wide_words: usize,
        /// If an average wide column has at most this many products, each team counts a column
        /// alone, two teams in a group, if their bitmaps fit 48 KiB. With less local memory fewer
        /// words fit.
        pub adaptive_paired_products: usize,
        /// A column that is not narrow or medium and has at least this many products gets a group
        /// of 16 teams.
        pub adaptive_big_products: usize,
        /// Words of the local hash table of a team that finds rows by hashes.
        pub adaptive_small_hash_words: usize,
        /// Words of the local hash table of a group of four teams.
        pub adaptive_medium_hash_words: usize,
        /// Words of the local hash table of a group of sixteen teams, in 48 KiB with its lists.
        /// Devices with less local memory get as many as fit.
        pub adaptive_hash_words: usize,
        /// Most products of a column whose rows are found by hashes. One work-group takes all of
        /// them.
        pub adaptive_hash_products: usize,
        /// Most bytes of all tables in global memory, for columns with more rows.
        pub adaptive_hash_bytes: usize,
        /// Products of a column are sorted if they are few and its row range has at least this many
        /// words of 32 rows.
        pub adaptive_far_words: usize,
        /// Most products that count as few here, up to 3584.
        pub adaptive_far_products: usize,
        /// Entries of C that a team adds up at once: a power of two, at least 128. A team may take
        /// half of them, and PoCL 3.1 loses barriers of loops that cannot run twice.
        pub adaptive_piece: usize,
        /// Memory for the rows of C, in percent of their estimated number. Rows that do not fit are
        /// found twice.
        pub adaptive_room_percent: usize,
        /// With at least this many products, the number of rows is estimated from samples.
        pub adaptive_sampled_products: usize,
        /// A column of B is a hub if its entries have, on average, less than this many hundredths
        /// of a product with a piece of [`Numbers::adaptive_piece`] rows of C.
        pub adaptive_hub_percent: usize,
        /// Neighbouring columns of B with equal rows share the rows of C if, except for the first
        /// of each group, they are at least this percentage of the columns that are not sorted.
        /// Above 100 no columns share.
        pub adaptive_equal_percent: usize,
        /// Columns share rows only if the columns that are not sorted have at least this many
        /// products. A task then has several columns, so there are fewer tasks, and those of a
        /// small product do not fill the device.
        pub adaptive_equal_products: usize,
        /// Most columns that share rows and whose products are added up together.
        pub adaptive_equal_columns: usize,
        /// Entries of each of these columns that a team adds up at once: at least 64, since PoCL
        /// 3.1 loses barriers of loops that cannot run twice, and at most as many as fit local
        /// memory.
        pub adaptive_equal_piece: usize,
        /// Most products of a column that is sorted in registers in a product that has unsorted
        /// columns: 0, or 32 to 3584.
        pub adaptive_sorted_products: usize,
        /// An adaptive product sorts no columns if an average column has more products than this,
        /// and there are fewer columns than the next number.
        pub adaptive_long_column: usize,
        /// See [`Numbers::adaptive_long_column`].
        pub adaptive_few_columns: usize,
        /// Bytes of local memory of a compute unit, which its resident work-groups share.
        pub adaptive_resident_bytes: usize,
        /// Queues on which kernels of different classes may overlap.
        pub adaptive_lanes: usize,
        /// The least number of products for which kernels overlap.
        pub adaptive_lane_products: usize,
        /// Work-groups for each compute unit, if groups take column after column.
        pub adaptive_groups: usize,
        /// The least microseconds that the analysis of an adaptive product's columns takes.
        pub adaptive_analysis_us: usize,
        /// Picoseconds that the analysis takes for each column.
        pub adaptive_column_ps: usize,
        /// Microseconds that a bin of such a product takes besides its kernels. In a small product
        /// they are not hidden behind other kernels.
        pub adaptive_bin_us: usize,
        /// Picoseconds for each entry of B in columns whose rows are found. They count once for
        /// each piece of these rows.
        pub adaptive_visit_ps: usize,
        /// Additional nanoseconds for each entry of the longest of these columns, because its
        /// entries are visited one after another.
        pub adaptive_longest_ns: usize,
        /// Work-items of a work-group that visits the edges of a graph's vertices, for shortest
        /// paths by the schedule near-far.
        pub frontier_group: usize,
        /// Parts of vertices' edges that such a group takes at once, and the number of lowered
        /// vertices for which it has room: a multiple of 8.
        pub frontier_tile: usize,
        /// Most parts that a group takes in a round that has no more for each group.
        pub frontier_share: usize,
        /// Number of times that a group continues with the vertices that it has lowered. With 0 it
        /// leaves them to the next round.
        pub frontier_hops: usize,
        /// Work-groups for each compute unit that visit edges.
        pub frontier_groups: usize,
        /// If a round has fewer edges than this for each compute unit, the limit between near and
        /// far is raised in longer steps.
        pub frontier_edges: usize,
    }
}
