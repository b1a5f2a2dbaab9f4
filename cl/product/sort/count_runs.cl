// count_runs: counts the runs and the products of columns.
// Host: src/product/sort/runs.rs; the sort: cl/product/sort/products.cl
//
//   Teams take columns in a stride, COLUMNS columns at once.
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[columns + 1]  b_row_idx[b_nnz]
//   out  counts[columns + 1]    for each column its number of runs plus 2^32 times its number of
//                               products; 0 at the end
KERNEL count_runs(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                  global const uint* b_row_idx, global ulong* counts, uint columns)
{
    SORT_MEMORY;
    ROWS_MEMORY(GROUP_COLUMNS);
    for (ulong base = get_group_id(0) * GROUP_COLUMNS; base < columns; base += get_num_groups(0) * GROUP_COLUMNS) {
        const uint column = (uint)base + get_local_id(0) / LANES;
        const bool serves = column < columns;
        const uint begin = serves ? b_col_ptr[column] : 0, end = serves ? b_col_ptr[column + 1] : 0;
        const uint products = note_entries(a_col_ptr, a_row_idx, b_row_idx, begin, end, starts, words, TEAM);
        uint entry_of[HELD];
        uint key[HELD];
        find_entries(entry_of, starts);
        NOTE_ROWS(key, entry_of, products);
        TEAM_BARRIER; // words[] is read before the sort overwrites it
        const uint heads = popcount(SORT_RUNS(key, products, all_words)), before = team_part_sum_before(heads, LANES, TEAM);
        if (serves && COLUMN_LANE == LANES - 1) {
            counts[column] = (ulong)products << 32 | (before + heads);
            if (column == columns - 1)
                counts[columns] = 0;
        }
        TEAM_BARRIER; // local memory is read before the next column overwrites it
    }
}
