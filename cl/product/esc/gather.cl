// gather: finds the end and row of each run, the column pointers of C, and the pieces of long runs.
// Host: src/product/esc/gather.rs
//
//   gather_runs  one work-group per TILE products of the sorted expansion
//   gather_ends  cols + 1 work-items; if some runs are long, at least one per run
//
//   in      row[products]  tail_flags[tiles * WORDS]  segment_ptr[cols + 1]   as in tail_counts.cl
//   in out  tail_ptr[tiles + 6]       the number of run ends before each tile, and in all; the
//                                     record of tail_counts; the number of pieces and of parts
//                                     made, zero before
//   out     run_end[nnz]              last product of each run
//   out     c_row_idx[nnz]            row of each run
//   out     c_col_ptr[cols + 1]
//   out     piece[pieces]             see cl/product/esc/pieces.cl
#if !defined(TILE) || !defined(WORD_BITS)
#error "TILE, WORD_BITS: see src/product/tuning.rs"
#endif
#define WORDS ((TILE + WORD_BITS - 1) / WORD_BITS)
#define OWN ((WORDS + GROUP_SIZE - 1) / GROUP_SIZE) // number of neighbouring words of an item

#define PLUS(x, y) ((x) + (y))
GROUP_SCAN(sum_before, uint, PLUS)

KERNEL gather_runs(global const uint* row, global const uint* tail_flags, global const uint* tail_ptr,
                   global uint* run_end, global uint* c_row_idx, uint products)
{
    local uint flags[WORDS], runs_before[WORDS], shared[GROUP_SIZE];
    const uint item = get_local_id(0), tile = get_group_id(0);
    for (uint word = item; word < WORDS; word += GROUP_SIZE)
        flags[word] = tail_flags[tile * WORDS + word];
    GROUP_BARRIER;
    uint own = 0, all;
    for (uint word = item * OWN; word < min((item + 1) * OWN, (uint)WORDS); ++word)
        own += popcount(flags[word]);
    uint run = tail_ptr[tile] + sum_before(own, shared, &all);
    for (uint word = item * OWN; word < min((item + 1) * OWN, (uint)WORDS); ++word) {
        runs_before[word] = run;
        run += popcount(flags[word]);
    }
    GROUP_BARRIER;
#if GROUP_SIZE == 1
    // One item loops over the runs, because a branch at each product would be unpredictable.
    for (uint word = 0; word < WORDS; ++word) {
        uint to = runs_before[word];
        for (uint bits = flags[word]; bits != 0; bits &= bits - 1) {
            const uint p = tile * TILE + word * WORD_BITS + (31 - clz(bits & -bits));
            run_end[to] = p;
            c_row_idx[to++] = row[p];
        }
    }
#else
    // Neighbouring items write neighbouring runs.
    for (uint i = item; i < TILE; i += GROUP_SIZE) {
        const uint bits = flags[i / WORD_BITS], bit = 1u << (i % WORD_BITS), p = tile * TILE + i;
        if (bits & bit) {
            const uint to = runs_before[i / WORD_BITS] + popcount(bits & (bit - 1));
            run_end[to] = p;
            c_row_idx[to] = row[p];
        }
    }
#endif
}

KERNEL gather_ends(global const uint* segment_ptr, global const uint* run_end, global uint* tail_ptr, global uint* c_col_ptr,
                   global uint4* piece, uint cols, uint products, uint long_runs)
{
    const uint item = get_global_id(0), tiles = (products + TILE - 1) / TILE;
    local uint of_group[2];
    cut_runs(run_end, piece, tail_ptr + tiles + 4, item, long_runs, of_group);
    // A column of C begins after the run ends before its segment. The run ends are counted, so that
    // empty columns need no special case.
    if (item <= cols) {
        const uint start = segment_ptr[item];
        c_col_ptr[item] = lower_bound(run_end, tail_ptr[start / TILE], tail_ptr[min(start / TILE + 1, tiles)], start);
    }
}
