// count_sorted: counts the runs of columns, which are the entries of C.
// Host: src/product/sort/mod.rs; the sort: cl/product/sort/products.cl
//
//   Teams take the columns of a task in a stride, COLUMNS columns at once.
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]
//   in   list[first + columns]    the columns of the task, counted from first_col. If not `listed`,
//                                 they are the first `columns`, and list is not read
//   i/o  lengths[sum_at], [sum_at + 1]   if sum_at is not 0, the number of products is added to
//                                 these two words, the low one first
//   out  lengths[cols * windows]  runs of the task's columns, counted as those of the first window
//   out  keys[columns * PRODUCTS] if KEPT_KEYS: the sorted keys of each column, which sum_sorted
//                                  reads; undefined after the last product
KERNEL count_sorted(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                    global const uint* b_row_idx, global const uint* list, global uint* lengths, global uint* keys, uint first,
                    uint columns, uint listed, uint first_col, uint windows, uint sum_at)
{
    SORT_MEMORY;
    ROWS_MEMORY(GROUP_COLUMNS);
    uint sum = 0;
    for (ulong base = get_group_id(0) * GROUP_COLUMNS; base < columns; base += get_num_groups(0) * GROUP_COLUMNS) {
        const uint number = (uint)base + get_local_id(0) / LANES;
        const bool serves = number < columns;
        const uint of_band = serves && listed ? list[first + number] : number, column = first_col + of_band;
        const uint begin = serves ? b_col_ptr[column] : 0, end = serves ? b_col_ptr[column + 1] : 0;
        const uint products = note_entries(a_col_ptr, a_row_idx, b_row_idx, begin, end, starts, words, TEAM);
        uint entry_of[HELD];
        uint key[HELD];
        find_entries(entry_of, starts);
        NOTE_ROWS(key, entry_of, products);
        TEAM_BARRIER; // words[] is read before the sort overwrites it
        const uint heads = popcount(SORT_RUNS(key, products, all_words)), before = team_part_sum_before(heads, LANES, TEAM);
        if (serves && COLUMN_LANE == LANES - 1)
            lengths[of_band * windows] = before + heads;
#if KEPT_KEYS
        keep_keys(key, keys + (ulong)number * PRODUCTS, products);
#endif
        sum += COLUMN_LANE == 0 ? products : 0;
        TEAM_BARRIER; // local memory is read before the next column overwrites it
    }
    sum = team_sum(sum, TEAM);
    if (LANE == 0 && sum_at > 0 && atomic_add(lengths + sum_at, sum) > 0xffffffff - sum)
        atomic_inc(lengths + sum_at + 1);
}
