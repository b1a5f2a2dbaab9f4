//! The numbers of each kind of device, with the measurements behind them.
use super::Numbers;

/// GPUs like the NVIDIA H200.
pub(super) const GPU: Numbers = Numbers {
    // Several groups of 256 items fill a multiprocessor without using up its registers.
    group_size: 256,
    binned_items: 8,
    scan_group_size: 256,
    scan_items: 8,
    // 4096 tiles read 8 M partial sums. If these are cached, that takes as long as a launch.
    scan_direct_tiles: 4096,
    drop_scan_items: 8,
    sort_group_size: 256,
    sort_items: 7,
    radix_group: 256,
    // A tile has 4096 elements. If digits are evenly distributed, each has a run of at least 16.
    radix_items: 16,
    radix_bits: 8,
    arrival_group: 256,
    arrival_items: 8,
    arrival_average: 128,
    // Among 15 pairs of numbers, chunks of 2816 and short segments up to 576 were the fastest or
    // within 3 % of the fastest, on ten matrices.
    expansion_items: 11,
    expansion_short_max: 576,
    window_group_size: 128,
    window_items: 9,
    tile_group_size: 256,
    tile_items: 8,
    // Block sides in use: points 3, poses 3 and 6, cameras 9, observations 2, similarity transforms
    // 7, tetrahedra 4, hexahedra 8; finite elements up to 16.
    block_compiled_side: 16,
    block_held_area: 64,
    // While blocks are multiplied, the items of the group hold the next blocks, in 48 registers
    // each.
    block_staged_bytes: 6 << 10,
    // Only a few items wait for each other, and many groups are resident (13x13: 1.00 ms; with 64
    // items 1.23 ms).
    block_staged_group: 32,
    // One item adds a product of small blocks in about a microsecond, most of which it waits for
    // memory. A group hides that latency.
    block_long_run: 32,
    // A group hides latency for the lines of the Schur complement, too.
    schur_short_line: 32,
    warp_instructions: 1,
    host_entries: 0,
    // Ranges use groups of one item, which would waste a GPU.
    range_shares: 0,
    row_stretch: 0,
    // The loads of an entry take half a microsecond or more. On an H200 five at once were the
    // fastest, or within 2 % of the fastest of 3 to 10, on four matrices of 5 to 60 entries a row,
    // in `f64` and `f32`.
    row_ahead: 5,
    line_group: 128,
    // `rmat18_e8` takes 21.0 us, with the numbers above 21.9. The 27-point stencil, whose rows are
    // all short, takes 103 us with these, not 87.
    skewed_line_group: 256,
    skewed_line_ahead: 4,
    // `rmat18_e8` takes 19.2 to 19.7 us, with the numbers above 19.7 to 20.8.
    shared_line_group: 128,
    shared_line_elements: 512,
    shared_line_ahead: 4,
    // A tile has 90 blocks of 6x6, loaded two at once. `pose6_100k` takes 39.2 us, with 95 blocks
    // 40.0, with 100 40.5, with 100 and three at once 40.4. For 4x4, three at once took 3 % longer
    // than four.
    direct_line_elements: 3240,
    direct_line_terms: 16,
    line_elements: 1024,
    line_held: 2048,
    line_ahead: 8,
    // One item adds a row while its group waits: 1024 terms one by one, nine cycles for each `f64`.
    // If the next 8 are read in the meantime, `email-Enron` takes 10.1 us; with 16 at once and none
    // ahead 10.6. Blocks of 6x6 take equally long with one, 3 or 6 at once.
    line_together: 8,
    // `email-Enron` takes 8.6 us on an H100, if items add alone 10.5, with 128 to 384 8.7 to 9.7.
    // With 256, 1000 rows of 300 take 11 us, not 7.
    guessed_line: 512,
    // Four warps. With fewer, a multiprocessor reaches its limit of groups before that of warps.
    dense_group: 128,
    dense_lanes: 32,
    // With 128 columns the 27-point stencil of 100^3 takes 2.0 ms with this number, 3.2 with 32
    // lanes; finite elements 0.42, not 0.66. Matrices of 8 entries a row take equally long, and
    // `rmat17` takes 0.22, not 0.17.
    dense_common: 16,
    dense_common_lanes: 16,
    // The longest load that one instruction can do.
    dense_vector_bytes: 16,
    // Latency is hidden by the loads of an item and by the warps of a multiprocessor, which are
    // fewer if items need more registers. Shorter rows load fewer ahead: those of 5 entries take
    // 0.94 ms with 4 at once, 1.41 with 8.
    dense_ahead: 8,
    // A piece of 1024 takes 64 rounds. Pieces share a kernel with tiles, which become slower if it
    // needs more registers. With 32 columns `rmat18_e8` takes 84 us in floats and 124 in doubles,
    // with 32 ahead 93 and 172.
    dense_long_ahead: 16,
    // The slots of a warp run as long as the longest of their lines.
    dense_long: 64,
    dense_long_average: 4,
    dense_tile: 32,
    // A slot has one or two rows of blocks, so that matrices of few long rows fill the device.
    dense_block_tile: 8,
    dense_placed: 1,
    // A column of a tile is several cache lines, so that few pages are in use at once. A row is at
    // least one cache line.
    dense_copied_rows: 64,
    dense_group_ahead: 4,
    // Half of the L2 cache of an H200. OpenCL does not report its size; it reports that of all L1
    // caches.
    dense_cache_bytes: 25 << 20,
    // On every matrix single rows with staged entries were faster than groups, 1.3 to 2 times with
    // 32 columns: the finite elements `fem200k_60` take 0.23 and 0.45 ms, in floats 0.12 and 0.23.
    dense_reuse_percent: 1 << 20,
    // Kernels of different classes overlap: `cnr-2000` takes 5.9 ms, on four queues 7.0.
    adaptive_lanes: 8,
    // With shared rows 694 M products of finite elements take 4.9 ms, without 6.4; 18.7 M
    // (`bcsstk16`) take 0.67 and 0.43. The limit between them is an estimate.
    adaptive_equal_products: 1 << 27,
    frontier_group: 256,
    // Vertices of roads and meshes have 3 to 6 edges: an edge or two for each item.
    frontier_tile: 64,
    // The grid of a million vertices takes 7.8 ms on an H100, in shares of 32 parts 9.2.
    frontier_share: 16,
    // In shares of 32 it takes 9.2 ms with 6 hops, too, and 11.8 with 24.
    frontier_hops: 12,
    // Groups for all work-items that a multiprocessor runs at once.
    frontier_groups: 8,
    // With 16 this grid takes 10.4 ms; with 256 9.0, with 1.6 times the visits.
    frontier_edges: 64,
    ..CPU
};

/// Numbers for CPUs. A work-group is a loop, and memory is cached.
pub(super) const CPU: Numbers = Numbers {
    group_size: 64,
    // Two warps or one wavefront. In checks of patterns larger groups were equally fast or slower.
    elementwise_group: 64,
    value_group: 256,
    // This many elements hide the cost of starting a group.
    serial_elements: 1 << 12,
    // This fills a device that has groups of that size.
    vector_group: 128,
    // Starting a group is a small part of its work.
    line_elements: 1024,
    line_group: 128,
    line_held: 1024,
    line_ahead: 1,
    skewed_line_group: 128,
    skewed_line_ahead: 1,
    shared_line_group: 128,
    shared_line_elements: 1024,
    shared_line_ahead: 1,
    direct_line_elements: 1024,
    direct_line_terms: 1,
    line_together: 1,
    guessed_line: 0,
    line_light: 64,
    // Starting a group is a small part of its work, and groups end together. The entries are 0.4 MB
    // of doubles.
    row_stretch: 1 << 15,
    least_shares: 8,
    // About a microsecond's work.
    row_shortest: 1 << 10,
    // A core reorders loads itself.
    row_ahead: 1,
    // An item takes all columns, in vectors of 16 doubles: two AVX-512 registers each.
    dense_group: 1,
    dense_lanes: 1,
    dense_common: 1 << 20,
    dense_common_lanes: 1,
    dense_vector_bytes: 128,
    dense_vectors: 2,
    dense_ahead: 1,
    dense_long_ahead: 1,
    // No line delays others, unless it is longer than a piece.
    dense_long: 1024,
    dense_long_average: 1,
    dense_held_lines: 6,
    dense_tile: 1 << 15,
    dense_block_tile: 1 << 15,
    dense_group_lines: 4,
    // An item advances in the other lines of a group from one entry to the next. With one entry for
    // each item it takes 2.7 to 9 times as long, with 1024 1.1 to 1.8 times.
    dense_placed: 64,
    dense_chunk: 64,
    dense_group_ahead: 1,
    dense_staged: 32,
    // With columns of 64 elements, a million rows of 32 doubles take 15 ms, not 10.
    dense_copied_rows: 512,
    dense_copied_cols: 32,
    // Eight cache lines of each column: 16 KB of sums of 32 doubles.
    dense_kept_rows: 64,
    // The rest of 32 KiB, which every device has, is for the entries that slots stage.
    dense_sum_bytes: 20 << 10,
    // One item takes all columns, so the cache does not matter.
    dense_cache_bytes: 1,
    // If D is copied by rows and C by columns, matrices of 10 MB each take 7 % less time with this,
    // those of 40 MB 45 % less. Matrices of 2.5 MB stay in the caches.
    dense_past_bytes: 8 << 20,
    // Caches keep the rows of neighbouring lines, so groups are used only if requested.
    dense_reuse_percent: 1 << 20,
    // Looking up the columns of a group is a small part of its work.
    scaled_elements: 1024,
    // The numbers of atomic additions and, on a CPU, of barriers are divided by this.
    checked_items: 16,
    // More elements need fewer searches for a column, and fewer atomics if neighbours share a cell.
    binned_items: 256,
    // This is enough for any device, and few enough to add up on the host.
    record_groups: 256,
    // One item takes many values: kernels without barriers compile and run faster. Adding up tiles
    // of tiles gains nothing.
    scan_group_size: 1,
    scan_items: 4096,
    scan_direct_tiles: 64,
    drop_scan_items: 256,
    drop_scan_direct_tiles: 64,
    sort_group_size: 1,
    sort_items: 7,
    // A million rows have two digits of 10 bits. 8 M entries take 96 to 101 ms, with three digits
    // 115 to 139. With two work-items for each core they take 98, with one 150.
    radix_group: 1,
    radix_items: 1 << 14,
    radix_bits: 11,
    radix_shares: 4,
    arrival_group: 1,
    arrival_items: 8,
    arrival_average: 128,
    // Two for each core are equally fast, and need twice the counters.
    tally_shares: 1,
    tally_counters: 2,
    tally_stretch: 1 << 12,
    expansion_items: 7,
    // A chunk needs 16 bytes for each product, and some for the group.
    expansion_local_bytes: 48 << 10,
    expansion_short_max: 576,
    chunk_group_size: 256,
    chunk_items: 12,
    chunk_entries: 3328,
    // On an H100 a search takes 70 to 150 ps, and a pass 11 for each product. The ratio is 7 to 14
    // if chunks are full.
    chunk_look_products: 20,
    // Half a chunk of keys and payloads, twice for both directions, fits a second-level cache.
    serial_short_max: 1 << 14,
    serial_insertion_max: 24,
    serial_merge_cost: 8,
    serial_deal_cost: 3,
    // For 450,000 products in columns of four runs, with rows of 24 bits, the segmented sort takes
    // 1.8 ms by two merges, 3.3 by three digits.
    serial_digit_cost: 4,
    window_group_size: 128,
    window_items: 9,
    // The item moves a cursor forward through the tile, which is long enough to hide the start of a
    // group.
    tile_group_size: 1,
    tile_items: 4096,
    block_compiled_side: 16,
    block_held_area: 64,
    block_staged_bytes: 6 << 10,
    block_staged_group: 32,
    block_long_run: 1024,
    block_serial_runs: 64,
    // 640 thousand products of 6x6 take 23 ms, without prefetching 28. With 2 and 8 they take
    // equally long within their noise.
    block_pairs_ahead: 4,
    // With the stretch below, `rmat18_e8` takes 5.9 ms, in groups of 128 8.5.
    scalar_group: 256,
    // An item loads all its pairs of a stretch at once, in few registers: a multiprocessor runs
    // 2048 work-items.
    scalar_ahead: 4,
    // `cnr-2000` takes 0.48 ms, with half of it 0.67. If a run of 1024 begins at the end of a
    // stretch, doubles take 17 KiB. This is rare, so 8 groups are resident.
    scalar_stretch: 1024,
    schur_group: 64,
    // An item reads its terms from the cache.
    schur_short_line: 1024,
    schur_line_bytes: 16 << 10,
    // A block of side 6 has 21 numbers in its triangle.
    schur_factor_side: 6,
    // Groups of 64 blocks up to side 4, and of 32 up to side 6.
    schur_factor_bytes: 10 << 10,
    warp_instructions: 0,
    // By its costs the host takes 2.6 ms for this many. Products that do not merge go to the device
    // with fewer.
    host_entries: 250_000,
    // With more products C leaves the caches.
    host_products: 300_000,
    // Fitted together with the costs of `host`.
    host_entry_ps: 1890,
    // 225,000 products of 440 columns take the host 0.88 ms with 131,072 rows, 1.6 with a million,
    // 2.2 to 3.3 with more.
    host_far_ps: 8000,
    // 9600 products of two columns with 4 million rows take 2.0 ms, with 131,072 0.12.
    host_row_ps: 400,
    // Compared with products of scalars, 16,000 products of 3x3 take the host 0.16 ms more, those
    // of 5x5 0.69, of 8x8 1.20: 0.36 ns, 0.34 and 0.15 for each multiplication.
    host_multiplication_ps: 250,
    // A group takes the next range when it is ready, so that all end together.
    range_shares: 16,
    // One pass takes less time however many products merge, and touches memory for entries only.
    // The square of a band of 101, with 2 entries for each 100 products, takes 49 ms in one pass,
    // 112 in two.
    range_one_pass_percent: 0,
    // This needs 12 MiB for all products. A sample is not worth a launch below that.
    range_sampled_products: 1 << 20,
    // The kernel of `er100k` takes 39 ms, with 16 40, without prefetching 89.
    range_ahead: 8,
    // On two cores it was 42 in products of 8x8, and 83 of 3x3.
    range_multiplication_ps: 50,
    // With 8 places of the mask in a column, columns of 200 entries took 164 ms with 2, 80 with 4
    // and with 8.
    mask_lookup_steps: 4,
    // On a core a probe takes 23 ns and a row 0.5, a ratio of 46. Four times as many are used here,
    // since averages of lines say little about the lines that meet on a mask. So columns are left
    // to probes only if that gains much.
    mask_probe_steps: 200,
    // 367,662 entries take two cores 4.8 ms: 26 ns each.
    mask_transpose_steps: 50,
    // If one product of two falls on the mask, as in `bcsstk16`, all products take a core 8.9 ms,
    // and those on the mask alone 14.0. If one of 12 does, as in email-Enron, they take 30.6 and
    // 30.3.
    mask_hit_products: 8,
    // `st27_100` has 580 and takes equally long either way.
    plan_sums_percent: 500,
    // 1 GiB of pairs. With fewer products an execution takes longer without pairs: `bcsstk16`,
    // which has 1800, takes 0.15 ms, not 0.10.
    plan_sums_products: 1 << 27,
    // Each team has a bitmap of 1 KiB, so that many groups are resident.
    adaptive_narrow_words: 256,
    // Each of four teams has 6 KiB. With 4 KiB of lists a group fits 32 KiB.
    adaptive_medium_words: 1536,
    // The bitmap takes 41.4 KiB and the lists of 16 teams 6.1 KiB. Every NVIDIA GPU has 48 KiB.
    adaptive_wide_words: 10_600,
    // Stencils of 27 points, with 729 products a column and ranges of 1960 words, take an H200 14.1
    // ms with this, 22.9 by groups of four teams. Longer columns have not been measured.
    adaptive_paired_products: 2048,
    // With four teams a few long columns would end last. In shorter columns 16 teams would wait for
    // each other. 2.5 M products of columns of 8192 take 0.29 ms with four teams, 0.22 with 16. But
    // `bcsstk16`, with half as many a column, takes 0.38 to 0.48 and, from 4096 on, 0.44 to 0.55.
    adaptive_big_products: 8192,
    // 4 KiB for a team: as many teams are resident as a multiprocessor can have groups.
    adaptive_small_hash_words: 1024,
    // 16 KiB for four teams: 14 groups are resident.
    adaptive_medium_hash_words: 4096,
    // The table takes 41.4 KiB. With the lists of 16 teams it fits every NVIDIA GPU.
    adaptive_hash_words: 10_600,
    // An estimate: a group of 512 items that wait for memory takes about one product in a
    // nanosecond, 4 ms in all. With more products ESC is faster, because it divides them among all
    // groups.
    adaptive_hash_products: 1 << 22,
    // This is enough for two groups on each of 132 multiprocessors if columns have 280,000 rows.
    adaptive_hash_bytes: 1 << 30,
    // This is more than a window.
    adaptive_far_words: 10_600,
    // 2.5 M products of columns of 512 take 0.10 ms, by hashes 0.45. On an H100 20 M of 3584 take
    // 0.62 and 1.8.
    adaptive_far_products: 3584,
    // `fem200k_60` takes 7.1 ms, with 256 rows 8.8, with 1024 7.5; `rmat18_e8` 29.5, with 1024
    // 33.5.
    adaptive_piece: 512,
    // Samples differ from the whole. Rows that do not fit cost a second pass over their columns.
    // With 105 and with 125 `rmat18_e8` takes 28.6 ms, and `st27_100` 6.7 and 6.8.
    adaptive_room_percent: 110,
    // The rows of fewer products take at most about 16 MiB. A sample is not worth a launch below
    // that.
    adaptive_sampled_products: 1 << 22,
    // On an H100 `cnr-2000` by columns takes 5.6 ms, without hubs 8.3, with 75 here 8.1, with 200
    // 5.5. A graph of 122 M products takes 4.0, 3.9, 4.4 and 4.3. `email-Enron` takes 1.7 to 1.9.
    adaptive_hub_percent: 100,
    // An estimate: with fewer columns, sharing saves less than its launch costs.
    adaptive_equal_percent: 25,
    adaptive_equal_products: 1,
    // A node mostly has 3 unknowns, or 6.
    adaptive_equal_columns: 3,
    // 12 KiB for three sums of doubles: an estimate.
    adaptive_equal_piece: 512,
    // Longer columns take 5 to 21 ns for each product, by bitmaps 6 to 23: the fewer entries C has,
    // the less.
    adaptive_sorted_products: 256,
    // `Dubcova1` takes 0.25 ms without sorted columns, 0.36 with them.
    adaptive_long_column: 128,
    adaptive_few_columns: 1 << 16,
    // The local memory of an H200's multiprocessor.
    adaptive_resident_bytes: 228 << 10,
    // A kernel uses all cores. PoCL 3.1 fails if two queues begin the same kernel at once
    // (assertion of `pocl_release_dlhandle_cache`).
    adaptive_lanes: 1,
    // Fork and join take as long as a few launches.
    adaptive_lane_products: 1 << 21,
    // These are more than are resident, since columns differ in length, but few enough that each
    // clears its bitmap once for many columns.
    adaptive_groups: 32,
    // Fitted to whole products on an H200 and an H100: docs/decisions/0011-costs-of-methods.md.
    adaptive_analysis_us: 100,
    adaptive_column_ps: 90,
    adaptive_bin_us: 15,
    adaptive_visit_ps: 85,
    adaptive_longest_ns: 250,
    // One item needs no barriers.
    frontier_group: 1,
    frontier_tile: 16,
    // Hops and edges were not varied on CPUs, where `near-far` is the default.
    frontier_share: 16,
    frontier_hops: 0,
    frontier_groups: 4,
    frontier_edges: 2048,
};
