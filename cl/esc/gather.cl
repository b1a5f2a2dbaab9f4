// gather: where each run ends and in which row, where each column of C begins.               host: src/esc/gather.rs
//
//   gather       one work-group per TILE products of the sorted expansion
//   column_ends  one work-item per column of C, and one more
//
//   in   row[products]  tails[tiles * WORDS]  segment_ptr[cols + 1]           as in tail_counts.cl
//   in   tail_ptr[tiles + 1]          run ends before each tile
//   out  run_end[nnz]                 last product of each run
//   out  c_row_idx[nnz]               its row
//   out  c_col_ptr[cols + 1]
#if !defined(TILE) || !defined(WORD_BITS)
#error "TILE, WORD_BITS: see src/esc/tuning.rs"
#endif
#define WORDS (TILE / WORD_BITS)
#define OWN ((WORDS + GROUP_SIZE - 1) / GROUP_SIZE) // words of an item, neighbours

#define PLUS(x, y) ((x) + (y))
GROUP_SCAN(sum_before, uint, PLUS)

KERNEL gather(global const uint* row, global const uint* tails, global const uint* tail_ptr, global uint* run_end,
              global uint* c_row_idx, uint products)
{
    local uint flags[WORDS], runs_before[WORDS], shared[GROUP_SIZE];
    const uint item = get_local_id(0), tile = get_group_id(0);
    for (uint word = item; word < WORDS; word += GROUP_SIZE)
        flags[word] = tails[tile * WORDS + word];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0, all;
    for (uint word = item * OWN; word < min((item + 1) * OWN, (uint)WORDS); ++word)
        own += popcount(flags[word]);
    uint run = tail_ptr[tile] + sum_before(own, shared, &all);
    for (uint word = item * OWN; word < min((item + 1) * OWN, (uint)WORDS); ++word) {
        runs_before[word] = run;
        run += popcount(flags[word]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // Neighbouring items write neighbouring runs.
    for (uint i = item; i < TILE; i += GROUP_SIZE) {
        const uint bits = flags[i / WORD_BITS], bit = 1u << (i % WORD_BITS), p = tile * TILE + i;
        if (bits & bit) {
            const uint to = runs_before[i / WORD_BITS] + popcount(bits & (bit - 1));
            run_end[to] = p;
            c_row_idx[to] = row[p];
        }
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
    c_col_ptr[col] = lower_bound(run_end, tail_ptr[start / TILE], tail_ptr[min(start / TILE + 1, tiles)], start);
}
