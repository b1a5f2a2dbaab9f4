// place_sorted: the products of columns in the order of their runs, as pairs of operands, and the
// ends and rows of the runs.
// Host: src/product/sort/pairs.rs; the sort: cl/product/sort/products.cl
//
//   Teams in a stride over the columns of a task, COLUMNS at once.
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  a_operand[a_nnz]
//   in   b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]  b_operand[b_nnz]
//   in   list[first + columns]    the columns of the task, counted from first_col; if not `listed`,
//                                 they are the first `columns` and this is not read
//   in   segment_ptr[cols + 1]    products before each column
//   in   c_col_ptr[cols * windows + 1]    entries of C before each window of each column
//   out  c_row_idx[c_nnz]  run_end[c_nnz]    row and last product of each of the task's runs
//   out  payload[products]        the task's products
//   out  record[1]                products of the longest run, if they are more than it has before
KERNEL place_sorted(global const uint* a_col_ptr, global const uint* a_row_idx, global const OPERAND* a_operand,
                    global const uint* b_col_ptr, global const uint* b_row_idx, global const OPERAND* b_operand,
                    global const uint* list, global const uint* segment_ptr, global const uint* c_col_ptr,
                    global uint* c_row_idx, global uint* run_end, global PAYLOAD* payload, global uint* record, uint first,
                    uint columns, uint listed, uint first_col, uint windows)
{
    // kept: entries of B, then the operands of B by place. others: the operands of A by place, then
    // ends of runs. words: entries of A, then sorted keys, then the rows of runs.
    SORT_MEMORY;
    local uint all_kept[GROUP_COLUMNS * SLICE], all_others[GROUP_COLUMNS * SLICE];
    local uint* kept = all_kept + get_local_id(0) / LANES * SLICE;
    local uint* others = all_others + get_local_id(0) / LANES * SLICE;
    uint longest = 0;
    for (ulong base = get_group_id(0) * GROUP_COLUMNS; base < columns; base += get_num_groups(0) * GROUP_COLUMNS) {
        const uint number = (uint)base + get_local_id(0) / LANES;
        const bool serves = number < columns;
        const uint of_band = serves && listed ? list[first + number] : number, column = first_col + of_band;
        const uint begin = serves ? b_col_ptr[column] : 0, end = serves ? b_col_ptr[column + 1] : 0;
        const uint products = note_entries(a_col_ptr, a_row_idx, b_row_idx, column, begin, end, starts, words, kept, TEAM);

        uint entry_of[HELD], key[HELD];
        PAYLOAD pair[HELD];
        find_entries(entry_of, starts);
        UNROLLED
        for (uint i = 0; i < HELD; ++i) {
            const uint place = COLUMN_LANE + i * LANES;
            key[i] = NO_KEY;
            pair[i] = (PAYLOAD)(0, 0);
            if (place < products) {
                const uint a_entry = words[entry_of[i]] + place, b_entry = kept[entry_of[i]];
                key[i] = a_row_idx[a_entry] * PRODUCTS + place;
                pair[i] = MAKE(a_entry, b_entry);
            }
        }
        TEAM_BARRIER; // the reads above
        UNROLLED
        for (uint i = 0; i < HELD; ++i) {
            others[COLUMN_LANE + i * LANES] = pair[i].x;
            kept[COLUMN_LANE + i * LANES] = pair[i].y;
        }
        sort_keys(key, TEAM);
        UNROLLED
        for (uint i = 0; i < HELD; ++i)
            words[PADDED(COLUMN_LANE * HELD + i)] = key[i];
        TEAM_BARRIER; // the writes above
        const uint to = products > 0 ? segment_ptr[of_band] : 0;
        UNROLLED
        for (uint i = 0; i < HELD; ++i) {
            const uint at = COLUMN_LANE + i * LANES;
            if (at < products) {
                const uint place = PLACE_OF(words[PADDED(at)]);
                payload[to + at] = (PAYLOAD)(others[place], kept[place]);
            }
        }

        // Which keys end a run, as bits: the key behind is another run's, or none.
        const uint heads = find_heads(key, TEAM);
        const uint begins = (heads & 1) || key[0] == NO_KEY, behind = team_from(begins, (LANE + 1) % TEAM_SIZE, TEAM);
        uint ends = 0;
        UNROLLED
        for (uint i = 0; i < HELD; ++i) {
            const bool is_last = i < HELD - 1 ? (heads >> (i + 1) & 1) || key[i + 1 < HELD ? i + 1 : i] == NO_KEY
                                              : behind || COLUMN_LANE == LANES - 1;
            ends |= (uint)(is_last && key[i] != NO_KEY) << i;
        }
        const uint own = popcount(ends);
        uint run = team_part_sum_before(own, LANES, TEAM);
        const uint runs = column_last(run + own, TEAM);
        TEAM_BARRIER; // the reads above
        UNROLLED
        for (uint i = 0; i < HELD; ++i)
            if (ends >> i & 1) {
                words[PADDED(run)] = ROW_OF(key[i]);
                others[PADDED(run)] = COLUMN_LANE * HELD + i;
                ++run;
            }
        TEAM_BARRIER; // the writes above
        const uint at = runs > 0 ? c_col_ptr[of_band * windows] : 0;
        for (uint i = COLUMN_LANE; i < runs; i += LANES) {
            const uint last = others[PADDED(i)];
            c_row_idx[at + i] = words[PADDED(i)];
            run_end[at + i] = to + last;
            longest = max(longest, i > 0 ? last - others[PADDED(i - 1)] : last + 1);
        }
        TEAM_BARRIER; // the reads above, before the next column
    }
    longest = team_max(longest, TEAM);
    if (LANE == 0 && longest > 0)
        atomic_max(&record[0], longest);
}
