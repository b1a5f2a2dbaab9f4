// compression: where each run ends, the pieces of long ones, where each column of C begins.                         host: src/esc/compression.rs
//
//   run_ends     one work-group per TILE products, TILE / GROUP_SIZE consecutive ones per work-item
//   long_pieces  one work-item per run
//   column_ends  one work-item per column of C, and one more
//
//   in   row[products]  segment_ptr[cols + 1]  tile_segment[tiles + 1]        as in tail_counts.cl
//   in   tail_ptr[tiles + 1]          run ends before each tile
//   out  run_end[nnz]                 last product of each run
//   out  piece[pieces]                of runs longer than LONG_RUN, in any order: run, first product, end, and its part where the run is longer
//                                     than RUN_PIECE and cut; the parts of a run follow one another
//   out  counts[2]                    pieces and parts; zero before
//   out  c_col_ptr[cols + 1]
#if !defined(TILE) || !defined(LONG_RUN) || !defined(RUN_PIECE)
#error "TILE, LONG_RUN, RUN_PIECE: see src/esc/tuning.rs"
#endif

#define PLUS(x, y) ((x) + (y))
GROUP_SCAN(sum_before, uint, PLUS)

KERNEL run_ends(global const uint* row, global const uint* segment_ptr, global const uint* tile_segment,
                global const uint* tail_ptr, global uint* run_end, uint products)
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
        if (ends_run(row, segment_ptr, last_segment, p, &segment, &segment_end))
            run_end[run++] = p;
}

KERNEL long_pieces(global const uint* run_end, global uint4* piece, global uint* counts, uint nnz)
{
    const uint run = get_global_id(0);
    if (run >= nnz)
        return;
    const uint begin = run > 0 ? run_end[run - 1] + 1 : 0, end = run_end[run] + 1;
    if (end - begin <= LONG_RUN)
        return;
    const uint cuts = (end - begin + RUN_PIECE - 1) / RUN_PIECE;
    const uint number = atomic_add(&counts[0], cuts);
    const uint part = cuts > 1 ? atomic_add(&counts[1], cuts) : 0;
    for (uint i = 0; i < cuts; ++i)
        piece[number + i] = (uint4)(run, begin + i * RUN_PIECE, min(begin + (i + 1) * RUN_PIECE, end), cuts > 1 ? part + i : 0xffffffffu);
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
