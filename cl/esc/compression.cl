// compression: where each run ends, where each column of C begins.                         host: src/esc/compression.rs
//
//   run_ends     one work-group per TILE products, TILE / GROUP_SIZE consecutive ones per work-item
//   column_ends  one work-item per column of C, and one more
//
//   in   row[products]  segment_ptr[cols + 1]  tile_segment[tiles + 1]        as in tail_counts.cl
//   in   tail_ptr[tiles + 1]          run ends before each tile
//   out  run_end[nnz]                 last product of each run
//   out  long_runs[1 + splits]        how many runs are longer than RUN_PIECE (zero before), then which, in any order
//   out  c_col_ptr[cols + 1]
#if !defined(TILE) || !defined(RUN_PIECE)
#error "TILE, RUN_PIECE: see src/esc/tuning.rs"
#endif

#define PLUS(x, y) ((x) + (y))
GROUP_SCAN(sum_before, uint, PLUS)

KERNEL run_ends(global const uint* row, global const uint* segment_ptr, global const uint* tile_segment,
                global const uint* tail_ptr, global uint* run_end, global uint* long_runs, uint products)
{
    local uint shared[GROUP_SIZE];
    const uint tile = get_group_id(0);
    const uint begin = min(tile * TILE + (uint)get_local_id(0) * (TILE / GROUP_SIZE), products);
    const uint end = min(begin + TILE / GROUP_SIZE, products);
    const uint last_segment = tile_segment[tile + 1];

    uint segment = tile_segment[tile], segment_end = 0, tails = 0;
    for (uint p = begin; p < end; ++p)
        tails += ends_run(row, segment_ptr, last_segment, p, &segment, &segment_end);

    uint unused;
    uint run = tail_ptr[tile] + sum_before(tails, shared, &unused);
    segment = tile_segment[tile];
    segment_end = 0;
    for (uint p = begin; p < end; ++p)
        if (ends_run(row, segment_ptr, last_segment, p, &segment, &segment_end)) {
            run_end[run] = p;
            if (p >= RUN_PIECE && p - RUN_PIECE >= segment_ptr[segment] && row[p - RUN_PIECE] == row[p])
                long_runs[1 + atomic_inc(&long_runs[0])] = run;
            ++run;
        }
}

// A column of C begins after the run ends before its segment: counted, not marked, so empty columns need no case of their own.
KERNEL column_ends(global const uint* segment_ptr, global const uint* tail_ptr, global const uint* run_end,
                   global uint* c_col_ptr, uint cols, uint products)
{
    const uint col = get_global_id(0);
    if (col > cols)
        return;
    const uint start = segment_ptr[col];
    const uint tiles = (products + TILE - 1) / TILE;
    uint first = tail_ptr[start / TILE], end = tail_ptr[min(start / TILE + 1, tiles)];
    while (first < end) {
        const uint middle = first + (end - first) / 2;
        if (run_end[middle] < start)
            first = middle + 1;
        else
            end = middle;
    }
    c_col_ptr[col] = first;
}
