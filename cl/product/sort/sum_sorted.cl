// sum_sorted: computes columns of C. The sum of each run is added by ascending place, and so in the
// order of the entries of B. After RUN_PIECE products a run starts a new sum. The sums of a run are
// added in order at its end.
// Host: src/product/sort/mod.rs; the sort: cl/product/sort/products.cl
//
//   Teams take the columns of a task in a stride, COLUMNS columns at once.
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  a_values[a_nnz]
//   in   b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]  b_values[b_nnz]
//   in   list[first + columns]    the columns of the task, counted from first_col. If not `listed`,
//                                 they are the first `columns`, and list is not read
//   in   c_col_ptr[cols * windows + 1]    entries of C before each window of each column
//   in   keys[columns * PRODUCTS] if KEPT_KEYS: the sorted keys of each column, from count_sorted
//   out  c_row_idx[c_nnz]  c_values[c_nnz]    the task's columns of C, see
//                                      cl/product/terms/target.cl
#if !defined(RUN_PIECE)
#error "RUN_PIECE: see src/product/sort/columns.rs"
#endif
KERNEL sum_sorted(global const uint* a_col_ptr, global const uint* a_row_idx, global const ELEMENT* a_values,
                  global const uint* b_col_ptr, global const uint* b_row_idx, global const ELEMENT* b_values,
                  global const uint* list, global const uint* c_col_ptr, global const uint* keys, global uint* c_row_idx,
                  global ELEMENT* c_values, uint first, uint columns, uint listed, uint first_col, uint windows, TARGET_ARGUMENTS)
{
    // kept[] has values of entries of B, then the rows by place if FAR_ROWS, then the products by
    // place, then the sums by run. words[] has entries of A, then sorted keys, then the rows of
    // runs.
    SORT_MEMORY;
    local ARITHMETIC all_kept[GROUP_COLUMNS * SLICE];
    local ARITHMETIC* kept = all_kept + get_local_id(0) / LANES * SLICE;
#if FAR_ROWS
    local uint* rows = (local uint*)kept; // no ARITHMETIC has fewer bytes
#endif
    for (ulong base = get_group_id(0) * GROUP_COLUMNS; base < columns; base += get_num_groups(0) * GROUP_COLUMNS) {
        const uint number = (uint)base + get_local_id(0) / LANES;
        const bool serves = number < columns;
        const uint of_band = serves && listed ? list[first + number] : number, column = first_col + of_band;
        const uint begin = serves ? b_col_ptr[column] : 0, end = serves ? b_col_ptr[column + 1] : 0;
        const uint products =
            note_entries(a_col_ptr, a_row_idx, b_row_idx, begin, end, starts, words, b_values, b_stride, kept, TEAM);

        uint entry_of[HELD];
        uint key[HELD];
        ARITHMETIC value[HELD];
#if FAR_ROWS
        uint row[HELD]; // the rows of the lane's places, then the rows of its keys
#endif
#if KEPT_KEYS
        kept_keys(key, keys + (ulong)number * PRODUCTS, products);
#endif
        find_entries(entry_of, starts);
        UNROLLED
        for (uint i = 0; i < HELD; ++i) {
            const uint place = COLUMN_LANE + i * LANES;
            value[i] = EMPTY;
#if !KEPT_KEYS
            key[i] = NO_KEY;
#endif
            if (place < products) {
                const uint a_entry = words[entry_of[i]] + place;
#if FAR_ROWS
                row[i] = a_row_idx[a_entry];
#if !KEPT_KEYS
                key[i] = row[i];
#endif
#elif !KEPT_KEYS
                key[i] = KEY_OF(a_row_idx[a_entry], place);
#endif
                value[i] = MULTIPLY(A_VALUE(a_entry), kept[entry_of[i]]);
            }
        }
        TEAM_BARRIER; // words[] and kept[] are read before they are overwritten
#if FAR_ROWS
        UNROLLED
        for (uint i = 0; i < HELD; ++i) {
            const uint place = COLUMN_LANE + i * LANES;
            if (place < products)
                rows[place] = row[i];
        }
#else
        UNROLLED
        for (uint i = 0; i < HELD; ++i)
            kept[COLUMN_LANE + i * LANES] = value[i];
#endif
#if KEPT_KEYS
        const uint heads = find_heads(key, TEAM);
#else
        TEAM_BARRIER; // kept[] is written before it is read; words[] is read before it is overwritten
        const uint heads = SORT_RUNS(key, products, all_words);
#endif
#if FAR_ROWS
        TEAM_BARRIER; // rows[] is written before other lanes read it
        UNROLLED
        for (uint i = 0; i < HELD; ++i)
            row[i] = key[i] != NO_KEY ? rows[PLACE_OF(key[i])] : 0;
        TEAM_BARRIER; // rows[] is read before kept[], the same memory, is overwritten
        UNROLLED
        for (uint i = 0; i < HELD; ++i)
            kept[COLUMN_LANE + i * LANES] = value[i];
#endif
        const uint own = popcount(heads);
        uint run = team_part_sum_before(own, LANES, TEAM);
        const uint runs = column_last(run + own, TEAM);
        UNROLLED
        for (uint i = 0; i < HELD; ++i)
            words[PADDED(COLUMN_LANE * HELD + i)] = key[i];
        TEAM_BARRIER; // words[] and kept[] are written before other lanes read them

        // A lane adds the runs that begin among its keys. value[i] becomes the sum of key i's run
        // so far.
        ARITHMETIC sum = EMPTY;
        UNROLLED
        for (uint i = 0; i < HELD; ++i) {
            if (key[i] != NO_KEY) {
                const ARITHMETIC product = kept[PLACE_OF(key[i])];
                sum = heads >> i & 1 ? product : ADD(sum, product);
            }
            value[i] = sum;
        }
        // The last run may continue in the next lanes.
        if (heads != 0 && key[HELD - 1] != NO_KEY) {
#if PRODUCTS > RUN_PIECE
            uint terms = HELD - (31 - clz(heads)), pieces = 0;
            ARITHMETIC of_pieces = EMPTY;
#endif
            IN_ORDER
            for (uint i = (COLUMN_LANE + 1) * HELD; i < PRODUCTS; ++i) {
                const uint next = words[PADDED(i)];
                if (next == NO_KEY || NUMBER_OF(next) != NUMBER_OF(key[HELD - 1]))
                    break;
                const ARITHMETIC product = kept[PLACE_OF(next)];
#if PRODUCTS > RUN_PIECE
                if (terms == RUN_PIECE) {
                    of_pieces = pieces++ > 0 ? ADD(of_pieces, sum) : sum;
                    sum = product;
                    terms = 1;
                    continue;
                }
                ++terms;
#endif
                sum = ADD(sum, product);
            }
#if PRODUCTS > RUN_PIECE
            if (pieces > 0)
                sum = ADD(of_pieces, sum);
#endif
            value[HELD - 1] = sum;
        }
        TEAM_BARRIER; // words[] and kept[] are read before they are overwritten
        bool in_run = false;
        UNROLLED
        for (uint i = 0; i < HELD; ++i) {
            in_run |= heads >> i & 1;
            const bool ends = i == HELD - 1 || (heads >> (i + 1) & 1) || key[i + 1 < HELD ? i + 1 : i] == NO_KEY;
            if (in_run && ends && key[i] != NO_KEY) {
#if FAR_ROWS
                words[PADDED(run)] = row[i];
#else
                words[PADDED(run)] = NUMBER_OF(key[i]);
#endif
                kept[PADDED(run)] = value[i];
                ++run;
            }
        }
        TEAM_BARRIER; // words[] and kept[] are written before other lanes read them
        const uint at = runs > 0 ? c_col_ptr[of_band * windows] : 0;
        for (uint i = COLUMN_LANE; i < runs; i += LANES) {
            PUT_ROW(words[PADDED(i)], at + i);
            PUT_SUM(kept[PADDED(i)], at + i);
        }
        TEAM_BARRIER; // words[] and kept[] are read before the next column overwrites them
    }
}
