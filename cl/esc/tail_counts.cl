// tail_counts: how many runs end in each tile of the sorted expansion.                     host: src/esc/tail_counts.rs
//
//   one work-group per TILE products, TILE / GROUP_SIZE consecutive ones per work-item
//
//   in   row[products]                sorted within each segment
//   in   segment_ptr[segments + 1]    where each segment begins
//   in   tile_segment[tiles + 1]      segment of each tile's first product, at the end of the last product
//   out  counts[tiles + 1]            run ends in each tile, at the end 0; to be scanned
//   out  record[3]                    longest run; pieces of the runs longer than LONG_RUN, and how many of them are parts of a run longer
//                                     than RUN_PIECE; zero before
#if !defined(TILE) || !defined(LONG_RUN) || !defined(RUN_PIECE)
#error "TILE, LONG_RUN, RUN_PIECE: see src/esc/tuning.rs"
#endif

#define LARGER(x, y) max(x, y)
GROUP_SCAN(largest_before, uint, LARGER)

KERNEL tail_counts(global const uint* row, global const uint* segment_ptr, global const uint* tile_segment,
                   global uint* counts, global uint* record, uint products)
{
    local uint shared[GROUP_SIZE];
    local uint tails_of_tile, longest_of_tile, pieces_of_tile, parts_of_tile;
    if (get_local_id(0) == 0)
        tails_of_tile = longest_of_tile = pieces_of_tile = parts_of_tile = 0;

    const uint tile = get_group_id(0);
    const uint begin = min(tile * TILE + (uint)get_local_id(0) * (TILE / GROUP_SIZE), products);
    const uint end = min(begin + TILE / GROUP_SIZE, products);

    // First pass: where the item's last run end is, as its position plus one; 0 for none.
    uint segment = tile_segment[tile], segment_end = 0;
    uint tails = 0, last_end = 0;
    for (uint p = begin; p < end; ++p) {
        if (ends_run(row, segment_ptr, tile_segment[tile + 1], p, &segment, &segment_end)) {
            ++tails;
            last_end = p + 1;
        }
    }
    uint unused;
    uint run_begin = largest_before(last_end, shared, &unused);

    // Second pass: the lengths. A run that began before the tile is searched for, since it may have begun anywhere before.
    uint longest = 0, pieces = 0, parts = 0;
    if (tails > 0) {
        segment = tile_segment[tile];
        segment_end = 0;
        for (uint p = begin; p < last_end; ++p) {
            if (ends_run(row, segment_ptr, tile_segment[tile + 1], p, &segment, &segment_end)) {
                if (run_begin == 0) {
                    uint low = segment_ptr[segment], high = p;
                    while (low < high) {
                        const uint middle = low + (high - low) / 2;
                        if (row[middle] < row[p])
                            low = middle + 1;
                        else
                            high = middle;
                    }
                    run_begin = low;
                }
                const uint length = p + 1 - run_begin;
                const uint cuts = (length + RUN_PIECE - 1) / RUN_PIECE;
                longest = max(longest, length);
                pieces += length > LONG_RUN ? cuts : 0;
                parts += cuts > 1 ? cuts : 0;
                run_begin = p + 1;
            }
        }
        atomic_add(&tails_of_tile, tails);
        atomic_max(&longest_of_tile, longest);
        atomic_add(&pieces_of_tile, pieces);
        atomic_add(&parts_of_tile, parts);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        counts[tile] = tails_of_tile;
        if (tile == get_num_groups(0) - 1)
            counts[tile + 1] = 0;
        // Sums and maxima of integers: the order of the groups does not show.
        if (longest_of_tile > 0)
            atomic_max(&record[0], longest_of_tile);
        if (pieces_of_tile > 0)
            atomic_add(&record[1], pieces_of_tile);
        if (parts_of_tile > 0)
            atomic_add(&record[2], parts_of_tile);
    }
}
