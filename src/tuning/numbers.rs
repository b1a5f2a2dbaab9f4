//! The numbers with which kernels are compiled or launched. `tables` has those of each kind of
//! device.
mod check;
mod derived;

use serde::{Serialize, Serializer};

/// Declares the numbers, and finds them by their names.
macro_rules! numbers {
    ($(#[$of_all:meta])* pub struct Numbers { $($(#[$of_one:meta])* pub $name:ident: usize,)* }) => {
        $(#[$of_all])*
        pub struct Numbers { $($(#[$of_one])* pub $name: usize,)* }

        impl Numbers {
            /// The names of all numbers, in their order.
            pub(super) const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// The number of a name.
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
    /// Lengths that are part of the order of a sum, such as the 1024 terms of a piece, are no
    /// numbers of a device: every device has the same. They stand where the sum is described.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Numbers {
        /// Work-items of a work-group if each item processes one entry, column, run or block
        /// column.
        pub group_size: usize,
        /// Work-items of a work-group if each item processes one entry, line or row of a block, and
        /// no size is better than others: where patterns are made and checked, and in small
        /// kernels.
        pub elementwise_group: usize,
        /// Work-items of a work-group if each item processes one element of all blocks of a matrix:
        /// where blocks are moved, copied, weighed and added.
        pub value_group: usize,
        /// Elements that a work-item of a CPU moves one after another, in whole blocks.
        pub serial_elements: usize,
        /// Work-items of a work-group that processes elements of vectors, or adds up lines. On a
        /// CPU a line's group is one item.
        pub vector_group: usize,
        /// Work-items of a group that adds up lines. On a CPU it is one item.
        pub line_group: usize,
        /// Elements and lines that a work-group adds up in a tile of lines, and elements of the
        /// longest line in one: at most a piece of 1024 entries. Longer lines have groups of their
        /// own.
        pub line_elements: usize,
        /// Products that a work-group holds in local memory while it adds up lines; those of two
        /// tiles if they are more.
        pub line_held: usize,
        /// Terms of a line that a work-item reads from local memory before it adds them.
        pub line_together: usize,
        /// Entries of the longest line of scalars that an item adds if a device has room for all
        /// tiles at once. Groups add longer ones by guesses (`cl/vector/guesses.cl`); if it is 0,
        /// none, nor long lines of blocks.
        pub guessed_line: usize,
        /// Elements of lines that a work-item loads before it multiplies them.
        pub line_ahead: usize,
        /// `line_group` for lines of scalars of which some are longer than a tile.
        pub skewed_line_group: usize,
        /// `line_ahead` for the same.
        pub skewed_line_ahead: usize,
        /// Work-items of a group that adds up rows of scalars, of which items share the long ones.
        pub shared_line_group: usize,
        /// Elements and rows of a tile of such rows, at most 1024.
        pub shared_line_elements: usize,
        /// Elements of such rows that an item loads before it multiplies them.
        pub shared_line_ahead: usize,
        /// Elements and lines of a tile of packed blocks that work-items load by themselves.
        pub direct_line_elements: usize,
        /// Terms of a sum that such an item loads before it adds them. Blocks with more are loaded
        /// to local memory.
        pub direct_line_terms: usize,
        /// Entries of a line from which tiles of lines differ in weight: those with long lines come
        /// first. Shorter ones are added while the terms of other tiles are loaded.
        pub line_light: usize,
        /// Most entries and rows, together, that a work-item adds one after another in A·x of
        /// compressed rows. 0 if each item has one row.
        pub row_stretch: usize,
        /// Fewest of these stretches, and of the tiles of lines of sparse times dense, for each
        /// compute unit if an item takes one: the last to end is a small part of the whole.
        pub least_shares: usize,
        /// Fewest elements and rows of a stretch.
        pub row_shortest: usize,
        /// Entries of a row that a work-item loads before it adds their terms in A·x.
        pub row_ahead: usize,
        /// Work-items of a work-group that multiplies sparse and dense matrices.
        pub dense_group: usize,
        /// Most of these work-items that share the columns of a line.
        pub dense_lanes: usize,
        /// Entries of an average line from which lines have many rows of the dense matrix in
        /// common, which the nearest cache keeps if fewer columns are multiplied at once.
        pub dense_common: usize,
        /// The lanes of such lines.
        pub dense_common_lanes: usize,
        /// Bytes of neighbouring columns that such an item loads at once, at most 16 elements.
        pub dense_vector_bytes: usize,
        /// Most of these vectors that an item holds.
        pub dense_vectors: usize,
        /// Rows of the dense matrix that an item loads before it adds their terms.
        pub dense_ahead: usize,
        /// The same for pieces of long lines.
        pub dense_long_ahead: usize,
        /// Most entries of a line that is not long, if an average line has few. Long lines are cut
        /// in pieces of 1024 entries, which come first. A line of more is always long.
        pub dense_long: usize,
        /// A line is not long if it has no more than so many times the entries of an average line.
        pub dense_long_average: usize,
        /// Most lines of a block that an item adds at once.
        pub dense_held_lines: usize,
        /// Entries and lines that a CPU's work-item takes one after another; lines that a
        /// work-group of other devices does.
        pub dense_tile: usize,
        /// Entries and lines of blocks that the items of a line take one after another.
        pub dense_block_tile: usize,
        /// Lines of a group of grouped coordinates (GCOO): p of Shi, Wang and Chu (2020).
        pub dense_group_lines: usize,
        /// Entries that a work-item places in such groups one after another.
        pub dense_placed: usize,
        /// Elements of each line of such a group that a work-item looks at where groups are made of
        /// a dense matrix. Work-groups share the lines that have more, if they lie side by side.
        pub dense_chunk: usize,
        /// Rows of the dense matrix that an item loads before it adds their terms to such a
        /// group's.
        pub dense_group_ahead: usize,
        /// Most entries of such a group that are staged in local memory at once, as many of them as
        /// fit: their b. On a GPU those of a line by itself too.
        pub dense_staged: usize,
        /// Rows of a tile of a dense matrix by columns that a work-group copies by rows.
        pub dense_copied_rows: usize,
        /// Columns of such a tile.
        pub dense_copied_cols: usize,
        /// Neighbouring rows whose sums a work-item of a CPU keeps, and then writes by columns.
        pub dense_kept_rows: usize,
        /// Bytes of local memory for the sums of a work-group that other devices write by columns.
        pub dense_sum_bytes: usize,
        /// Bytes of the dense matrix that a device's cache keeps while others pass through it.
        pub dense_cache_bytes: usize,
        /// Bytes of a dense matrix from which a CPU writes it past its caches, whole lines at a
        /// time.
        pub dense_past_bytes: usize,
        /// Entries for each 100 rows of the dense matrix that groups load, from which groups are
        /// used.
        pub dense_reuse_percent: usize,
        /// Elements that a work-group scales by a vector.
        pub scaled_elements: usize,
        /// Columns or entries that a work-item checks in arrays from outside.
        pub checked_items: usize,
        /// Elements that a work-item puts into the cells of a picture.
        pub binned_items: usize,
        /// Work-groups that reduce a record.
        pub record_groups: usize,
        /// Work-items of a work-group of a scan.
        pub scan_group_size: usize,
        /// Consecutive values that one work-item of a scan adds up.
        pub scan_items: usize,
        /// Most tiles of a scan for which each tile adds up the sums of the tiles before it.
        pub scan_direct_tiles: usize,
        /// Consecutive values that one work-item adds up in a scan of the entries to drop. Its
        /// groups have `group_size` items.
        pub drop_scan_items: usize,
        /// `scan_direct_tiles` of that scan.
        pub drop_scan_direct_tiles: usize,
        /// Work-items of a work-group of a sort; 1 selects the kernels for CPUs.
        pub sort_group_size: usize,
        /// Elements that one work-item of a parallel sort holds: odd, so that neighbours use
        /// different banks of local memory, and few enough for registers.
        pub sort_items: usize,
        /// Work-items of a work-group of a radix sort: teams of 32. Less selects the kernels for
        /// CPUs.
        pub radix_group: usize,
        /// Elements of each of these work-items: at least 2, since PoCL 3.1 loses barriers of loops
        /// that cannot run twice. A CPU's work-item takes at least so many.
        pub radix_items: usize,
        /// Most bits of a digit of a radix sort.
        pub radix_bits: usize,
        /// Most work-items of a radix sort for each compute unit of a CPU.
        pub radix_shares: usize,
        /// Work-items of a work-group that counts the entries of rows. Less than 32: entries are
        /// sorted by row instead.
        pub arrival_group: usize,
        /// Entries that each of these work-items counts or places.
        pub arrival_items: usize,
        /// Most entries of an average row: of longer ones they would wait for each other's
        /// counters.
        pub arrival_average: usize,
        /// Work-items for each compute unit of a CPU that count the rows of their shares of the
        /// entries.
        pub tally_shares: usize,
        /// Most counters of rows, of all these work-items, for each entry.
        pub tally_counters: usize,
        /// Rows whose counters a work-item adds up.
        pub tally_stretch: usize,
        /// Elements per work-item for the chunks of an expansion, if local memory has room for
        /// them.
        pub expansion_items: usize,
        /// Bytes of local memory from which it has. On devices with less, each item has
        /// `sort_items`.
        pub expansion_local_bytes: usize,
        /// Most products of a column that an expansion in local memory sorts whole.
        pub expansion_short_max: usize,
        /// Work-items of a work-group that sorts a chunk of a longer column in registers, if teams
        /// are warps: a power of two from 64 to 256.
        pub chunk_group_size: usize,
        /// Products of each of these work-items: an odd number up to 7 times a power of two, up to
        /// 12. A work-group that has to merge has as many, a multiple of its items.
        pub chunk_items: usize,
        /// Most entries of a column of B whose chunks are cut by rows: each chunk looks at all of
        /// them.
        pub chunk_entries: usize,
        /// Products that a merge pass moves in the time of such a look.
        pub chunk_look_products: usize,
        /// Most elements of a segment that a CPU sorts whole. The chunks of longer segments have
        /// twice as many.
        pub serial_short_max: usize,
        /// Most elements of a segment that a CPU sorts by insertion.
        pub serial_insertion_max: usize,
        /// Cost of an element in a merge pass, in nanoseconds. By this cost and the next two a CPU
        /// chooses between merging runs and distributing elements by digits.
        pub serial_merge_cost: usize,
        /// Cost of an element that is distributed, in nanoseconds.
        pub serial_deal_cost: usize,
        /// Cost of four values of a digit, in nanoseconds.
        pub serial_digit_cost: usize,
        /// Work-items of a work-group that sorts short segments of an expansion in local memory.
        pub window_group_size: usize,
        /// Products of each of these work-items: odd, and few enough for registers.
        pub window_items: usize,
        /// Work-items of a work-group that processes a tile of the expansion.
        pub tile_group_size: usize,
        /// Products of each of these work-items.
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
        /// Products from which a run of small blocks gets its own work-group on a GPU.
        pub block_long_run: usize,
        /// Runs of blocks that a work-item of a CPU sums one after another.
        pub block_serial_runs: usize,
        /// Products before which a CPU asks for a block of A.
        pub block_pairs_ahead: usize,
        /// Work-items of a work-group that sums kept operand pairs of scalars on a GPU.
        pub scalar_group: usize,
        /// Operand pairs that each of these work-items loads at once.
        pub scalar_ahead: usize,
        /// Products and entries of C, together, of such a work-group: at most a piece of 1024.
        pub scalar_stretch: usize,
        /// Work-items of a work-group in the Schur complement that processes lines, or scalars of
        /// points: at least 32, the longest side of a block. One item of a CPU processes as many.
        pub schur_group: usize,
        /// Most terms of a short line of the Schur complement, which an item adds alone: at most a
        /// piece of 1024. Longer ones have work-groups to themselves.
        pub schur_short_line: usize,
        /// Bytes of local memory for the products of such a work-group.
        pub schur_line_bytes: usize,
        /// Side of the largest blocks that one work-item factors, in registers.
        pub schur_factor_side: usize,
        /// Bytes of local memory for the blocks that a work-group factors so, as if they were
        /// doubles.
        pub schur_factor_bytes: usize,
        /// Whether teams of 32 work-items exchange words by instructions of their own, if the
        /// device is one of NVIDIA's: 1, otherwise 0. With 0 they exchange words through local
        /// memory.
        pub warp_instructions: usize,
        /// Entries and columns of B, of `f16` those of A besides, up to which the host may multiply
        /// in place of a CPU device, if it is predicted to take less. With 0 it never does.
        pub host_entries: usize,
        /// Most products that the host computes so, of which those of a column count up to the
        /// range of its rows, for they are no more entries of C. It computes at most four times as
        /// many that merge.
        pub host_products: usize,
        /// Picoseconds that an entry of C takes the host besides its products. A column has at most
        /// as many as products, and as rows from the first to the last.
        pub host_entry_ps: usize,
        /// Picoseconds that a product of scalars takes the host more if the rows of its column are
        /// more than 4096 apart, and its sum is in no cache: those of 131,072 rows of C are.
        pub host_far_ps: usize,
        /// Picoseconds that such sums of all rows take for each row beyond these 131,072: they are
        /// written for the first time.
        pub host_row_ps: usize,
        /// Picoseconds that a multiplication in a product of blocks takes the host.
        pub host_multiplication_ps: usize,
        /// Ranges of columns for each compute unit, of a product that is computed in ranges: 0 if
        /// none is.
        pub range_shares: usize,
        /// Entries of C for each 100 products from which such a product of scalars takes one pass,
        /// if there is memory for all products. With 0 it always does, and nothing is sampled.
        pub range_one_pass_percent: usize,
        /// Products from which its entries are estimated by samples.
        pub range_sampled_products: usize,
        /// Entries of B before which it asks for a column of A on a CPU.
        pub range_ahead: usize,
        /// Picoseconds of a multiplication of elements and its addition, in products of blocks.
        pub range_multiplication_ps: usize,
        /// Rows of a column of A that a masked product in ranges looks at in the time of a step of
        /// a bisection.
        pub mask_lookup_steps: usize,
        /// The same in the time of an entry that is looked up from a place of the mask.
        pub mask_probe_steps: usize,
        /// The same in the time in which an entry of A is transposed.
        pub mask_transpose_steps: usize,
        /// Products for each that falls on the mask, below which a masked product in ranges adds
        /// all.
        pub mask_hit_products: usize,
        /// Products for each 100 entries of C from which a plan of scalars keeps no operand pairs,
        /// but what adaptive sums take.
        pub plan_sums_percent: usize,
        /// Products from which it does so.
        pub plan_sums_products: usize,
        /// Most words of 32 rows in the range of a narrow column of an adaptive product.
        pub adaptive_narrow_words: usize,
        /// Most words of a medium one: four teams have a bitmap each. Devices with less than 48 KiB
        /// of local memory get what fits.
        pub adaptive_medium_words: usize,
        /// Words in a window of rows of wider columns. A group has one bitmap, in 48 KiB with its
        /// lists; devices with less local memory get what fits.
        pub adaptive_wide_words: usize,
        /// Products of an average column of a wide range, at most, for which each team counts a
        /// column alone, two in a group, if their bitmaps fit 48 KiB; less local memory fits fewer
        /// words.
        pub adaptive_paired_products: usize,
        /// Products from which a column that is not narrow or medium gets a group of 16 teams.
        pub adaptive_big_products: usize,
        /// Words of the local table of a team that finds rows by hashes.
        pub adaptive_small_hash_words: usize,
        /// The same of a group of four teams.
        pub adaptive_medium_hash_words: usize,
        /// The same of one of sixteen: in 48 KiB with its lists. Devices with less local memory get
        /// what fits.
        pub adaptive_hash_words: usize,
        /// Most products of a column whose rows are found by hashes: one work-group takes all of
        /// them.
        pub adaptive_hash_products: usize,
        /// Most bytes of all tables in global memory, for columns with more rows.
        pub adaptive_hash_bytes: usize,
        /// Words of 32 rows in the range of a column from which few products are sorted.
        pub adaptive_far_words: usize,
        /// Most of these products, up to 3584.
        pub adaptive_far_products: usize,
        /// Entries of C that a team adds up at once: a power of two from 128 on. A team may take
        /// half of them, and PoCL 3.1 loses barriers of loops that cannot run twice.
        pub adaptive_piece: usize,
        /// Memory for the rows of C, in percent of their estimated number. Rows that do not fit are
        /// found twice.
        pub adaptive_room_percent: usize,
        /// Products from which that number is estimated from samples.
        pub adaptive_sampled_products: usize,
        /// A column of B is a hub if an entry of it has less than so many hundredths of a product
        /// with a piece of [`Numbers::adaptive_piece`] rows of C, on average.
        pub adaptive_hub_percent: usize,
        /// Neighbouring columns of B with equal rows, but the first of each, in percent of the
        /// columns that are not sorted, from which they share the rows of C. None do if it is more
        /// than 100.
        pub adaptive_equal_percent: usize,
        /// Products of columns that are not sorted from which they do: tasks of several columns are
        /// fewer, and those of a small product do not fill the device.
        pub adaptive_equal_products: usize,
        /// Most of such columns whose products are added up together.
        pub adaptive_equal_columns: usize,
        /// Entries of each of them that a team adds up at once: 64 or more, since PoCL 3.1 loses
        /// barriers of loops that cannot run twice, and no more than fit local memory.
        pub adaptive_equal_piece: usize,
        /// Most products of a column that is sorted in registers beside columns that are not: 0, or
        /// 32 to 3584.
        pub adaptive_sorted_products: usize,
        /// Products of an average column, and columns, for which an adaptive product sorts no
        /// columns: if most are longer than this, and all are fewer than the next number.
        pub adaptive_long_column: usize,
        /// See [`Numbers::adaptive_long_column`].
        pub adaptive_few_columns: usize,
        /// Bytes of local memory of a compute unit, which its resident work-groups share.
        pub adaptive_resident_bytes: usize,
        /// Queues on which kernels of different classes may overlap.
        pub adaptive_lanes: usize,
        /// Products from which they do.
        pub adaptive_lane_products: usize,
        /// Work-groups for each compute unit, if groups take column after column.
        pub adaptive_groups: usize,
        /// Microseconds that the analysis of an adaptive product's columns takes at least.
        pub adaptive_analysis_us: usize,
        /// Picoseconds that it takes for each column.
        pub adaptive_column_ps: usize,
        /// Microseconds that a bin of such a product takes besides its kernels: in a small product
        /// they are not hidden behind other kernels.
        pub adaptive_bin_us: usize,
        /// Picoseconds for each entry of B in columns whose rows are found, once for each piece of
        /// these rows.
        pub adaptive_visit_ps: usize,
        /// Nanoseconds besides for each entry of the longest of these columns: its entries are
        /// taken in turn.
        pub adaptive_longest_ns: usize,
        /// Work-items of a work-group that visits the edges of a graph's vertices, for shortest
        /// paths in the order of near and far.
        pub frontier_group: usize,
        /// Parts of vertices' edges that such a group takes at once, and room for vertices that it
        /// has lowered: a multiple of 8.
        pub frontier_tile: usize,
        /// Most parts that it takes in a round that has no more for each group.
        pub frontier_share: usize,
        /// Times that it then goes on with the vertices that it has lowered. At 0 it leaves them to
        /// the next round.
        pub frontier_hops: usize,
        /// Such groups for each compute unit.
        pub frontier_groups: usize,
        /// Edges of a round for each compute unit, below which the steps of the limit between near
        /// and far become longer.
        pub frontier_edges: usize,
    }
}
