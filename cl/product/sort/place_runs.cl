// place_runs: writes the products of columns, run after run, and the pattern of C.
// Host: src/product/sort/runs.rs; the sort: cl/product/sort/products.cl; PAYLOAD, MAKE:
// cl/product/terms/payload.cl
//
//   Teams take columns in a stride, COLUMNS columns at once.
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[columns + 1]  b_row_idx[b_nnz]
//   in   a_operand[a_nnz]  b_operand[b_nnz]    see cl/product/terms/payload.cl
//   in   before[columns + 1]    number of runs before each column plus 2^32 times the number of
//                               products
//   out  c_col_ptr[columns + 1]  c_row_idx[c_nnz]
//   out  run_end[c_nnz]         the last product of each run
//   out  payload[products]      column by column, by row, and for each row in the order of the
//                               entries of B
KERNEL place_runs(global const uint* a_col_ptr, global const uint* a_row_idx, global const OPERAND* a_operand,
                  global const uint* b_col_ptr, global const uint* b_row_idx, global const OPERAND* b_operand,
                  global const ulong* before, global uint* c_col_ptr, global uint* c_row_idx, global uint* run_end,
                  global PAYLOAD* payload, uint columns)
{
    // kept[] has entries of B, then the first position of each run. words[] has entries of A, then
    // sorted keys.
    SORT_MEMORY;
    ROWS_MEMORY(GROUP_COLUMNS);
    local uint all_kept[GROUP_COLUMNS * SLICE];
    local uint* kept = all_kept + get_local_id(0) / LANES * SLICE;
    local PAYLOAD all_made[GROUP_COLUMNS * PRODUCTS];
    local PAYLOAD* made = all_made + get_local_id(0) / LANES * PRODUCTS;
    for (ulong base = get_group_id(0) * GROUP_COLUMNS; base < columns; base += get_num_groups(0) * GROUP_COLUMNS) {
        const uint column = (uint)base + get_local_id(0) / LANES;
        const bool serves = column < columns;
        const uint begin = serves ? b_col_ptr[column] : 0, end = serves ? b_col_ptr[column + 1] : 0;
        const ulong before_column = serves ? before[column] : 0;
        const uint products = note_entries(a_col_ptr, a_row_idx, b_row_idx, begin, end, starts, words, kept, TEAM);
        uint entry_of[HELD];
        uint key[HELD];
        find_entries(entry_of, starts);
        NOTE_ROWS(key, entry_of, products);
        UNROLLED
        for (uint i = 0; i < HELD; ++i) {
            const uint place = COLUMN_LANE + i * LANES;
            if (place < products) {
                const uint a_entry = words[entry_of[i]] + place, b_entry = kept[entry_of[i]];
                made[place] = MAKE(a_entry, b_entry);
            }
        }
        TEAM_BARRIER; // words[] and kept[] are read before they are overwritten
        const uint heads = SORT_RUNS(key, products, all_words), own = popcount(heads);
        uint run = team_part_sum_before(own, LANES, TEAM);
        const uint runs = column_last(run + own, TEAM);
        TEAM_BARRIER; // words[] is read before it is overwritten
        UNROLLED
        for (uint i = 0; i < HELD; ++i) {
            const uint position = COLUMN_LANE * HELD + i;
            words[PADDED(position)] = key[i];
            if (heads >> i & 1)
                kept[run++] = position;
        }
        TEAM_BARRIER; // words[] and kept[] are written before other lanes read them
        const uint first_run = (uint)before_column, first = (uint)(before_column >> 32);
        for (uint i = COLUMN_LANE; i < products; i += LANES)
            payload[first + i] = made[PLACE_OF(words[PADDED(i)])];
        for (uint i = COLUMN_LANE; i < runs; i += LANES) {
            c_row_idx[first_run + i] = ROW_OF(words[PADDED(kept[i])]);
            run_end[first_run + i] = first + (i + 1 < runs ? kept[i + 1] : products) - 1;
        }
        if (serves && COLUMN_LANE == 0) {
            c_col_ptr[column] = first_run;
            if (column == columns - 1)
                c_col_ptr[columns] = (uint)before[columns];
        }
        TEAM_BARRIER; // words[], kept[] and made[] are read before the next column overwrites them
    }
}
