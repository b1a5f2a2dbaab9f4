// sum_hub: computes the rows and values of columns of C whose columns of B have many entries.
// Host: src/product/columns/hub/mod.rs; slots: cl/product/columns/tasks/slots.cl; the sort:
// cl/product/sort/keys.cl
//
//   Teams take one task after another. A task is a piece of the rows of a column of C, see
//   cl/product/columns/tasks/cut.cl.
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  a_values[a_nnz]
//   in   b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]  b_values[b_nnz]
//   in   task[first + tasks]  chunk_ptr[cols * windows + 1]  place[cols * windows]  rows[]
//   i/o  cursor[cursor_at]        number of tasks that were taken; zero before
//   out  c_row_idx[c_nnz]  c_values[c_nnz]      C, see cl/product/terms/target.cl
//
// A team takes the entries of the column of B in windows, one after another. For each entry the
// team stores which part of A's column the entry is multiplied by, and how many products come
// before. The products of the window are then made PRODUCTS at a time, whatever entries they belong
// to, and sorted by slot and by place, the order in which they are made. Places are in the order of
// the entries of B. The lane that has the first product of a run adds the run from its first to its
// last product, and so in that order. A slot has at most one run among PRODUCTS products, so no two
// lanes add to it. After RUN_PIECE products a slot starts a new sum. The sums of a slot are added
// in their order.
#if !defined(PIECE) || !defined(RUN_PIECE)
#error "see src/product/columns/hub/mod.rs"
#endif
#define WINDOW (HELD * TEAM_SIZE)

#define ADD_TERM(key)                                                                                                 \
    do {                                                                                                              \
        if (own_terms == RUN_PIECE) {                                                                                 \
            total[slot] = ADD(total[slot], own_sum);                                                                  \
            own_sum = IDENTITY;                                                                                       \
            own_terms = 0;                                                                                            \
        }                                                                                                             \
        own_sum = ADD(own_sum, product[PLACE_OF(key)]);                                                               \
        ++own_terms;                                                                                                  \
    } while (0)

KERNEL sum_hub(TASK_ARGUMENTS)
{
    TEAM_MEMORY_OF(HELD);
    const uint lane = LANE;
    local ulong* own = memory + get_local_id(0) / TEAM_SIZE * slice;
    // For each entry of the window: its value, the number of products before it, and its first
    // entry of A minus that number.
    local ARITHMETIC* kept = (local ARITHMETIC*)own;
    local ARITHMETIC* product = kept + WINDOW;
    local uint* products_before = (local uint*)(product + PRODUCTS);
    local uint* from_of = products_before + WINDOW;
    local uint* keys = from_of + WINDOW;
    local ARITHMETIC* sum = (local ARITHMETIC*)(keys + PADDED(PRODUCTS));
    for (uint number = FIRST_TASK; number < tasks; number = NEXT_TASK) {
        const ulong of_task = task[first + number];
        const uint chunk = (uint)of_task, col = chunk / windows, entries = chunk_ptr[chunk + 1] - chunk_ptr[chunk];
        const uint done = (uint)(of_task >> 32) * PIECE, count = min((uint)PIECE, entries - done);
        const uint begin = b_col_ptr[first_col + col], end = b_col_ptr[first_col + col + 1];
        const bool whole = count == chunk_ptr[(col + 1) * windows] - chunk_ptr[col * windows];
        global const uint* piece = rows + place[chunk] + done;
        const uint to = chunk_ptr[chunk] + done, first_row = piece[0], last_row = piece[count - 1];

        local ARITHMETIC* total = sum + count;
        local ushort* terms = (local ushort*)(total + count);
        local uint2* top = (local uint2*)(own + ((local uchar*)(terms + count) - (local uchar*)own + 7) / 8);
        local uint2* word = words_behind(top, first_row, last_row);
        note_rows(piece, count, top, word, c_row_idx, to, TEAM);
        for (uint i = lane; i < count; i += TEAM_SIZE) {
            sum[i] = IDENTITY;
            total[i] = IDENTITY;
            terms[i] = 0;
        }

        for (uint window = begin; window < end; window += WINDOW) {
            uint from[HELD], length[HELD], products = 0;
            UNROLLED
            for (uint i = 0; i < HELD; ++i) {
                const uint entry = i * TEAM_SIZE + lane;
                from[i] = 0;
                length[i] = 0;
                if (entry < end - window) {
                    const uint k = b_row_idx[window + entry];
                    from[i] = a_col_ptr[k];
                    length[i] = a_col_ptr[k + 1] - from[i];
                    kept[entry] = B_VALUE(window + entry);
                }
            }
            if (!whole) {
                UNROLLED
                for (uint i = 0; i < HELD; ++i) {
                    const uint stop = from[i] + length[i];
                    from[i] = interpolated_lower_bound(a_row_idx, from[i], stop, first_row);
                    length[i] = interpolated_lower_bound(a_row_idx, from[i], stop, last_row + 1) - from[i];
                }
            }
            UNROLLED
            for (uint i = 0; i < HELD; ++i) {
                uint all;
                const uint before = products + team_sum_before(length[i], &all, TEAM);
                products_before[i * TEAM_SIZE + lane] = before;
                from_of[i * TEAM_SIZE + lane] = from[i] - before;
                products += all;
            }
            TEAM_BARRIER; // slots, kept[], products_before[] and from_of[] are written before they are read
            for (uint base = 0; base < products; base += PRODUCTS) {
                uint entry_of[HELD], row[HELD], key[HELD];
                ARITHMETIC value[HELD];
                UNROLLED
                for (uint i = 0; i < HELD; ++i) {
                    const uint at = base + i * TEAM_SIZE + lane;
                    entry_of[i] = 0;
                    row[i] = NO_SLOT;
                    value[i] = 0;
                    if (at < products) {
                        UNROLLED
                        for (uint half_size = WINDOW / 2; half_size > 0; half_size /= 2)
                            entry_of[i] += products_before[entry_of[i] + half_size] <= at ? half_size : 0;
                        row[i] = a_row_idx[from_of[entry_of[i]] + at];
                        value[i] = A_VALUE(from_of[entry_of[i]] + at);
                    }
                }
                UNROLLED
                for (uint i = 0; i < HELD; ++i) {
                    const uint at = i * TEAM_SIZE + lane;
                    key[i] = NO_KEY;
                    if (row[i] != NO_SLOT) {
                        product[at] = MULTIPLY(value[i], kept[entry_of[i]]);
                        key[i] = slot_of(row[i], top, word, first_row) * PRODUCTS + at;
                    }
                }
                sort_keys(key, TEAM);
                const uint heads = find_heads(key, TEAM);
                UNROLLED
                for (uint i = 0; i < HELD; ++i)
                    keys[PADDED(lane * HELD + i)] = key[i];
                TEAM_BARRIER;
                // The run that the lane is adding, if it has begun one.
                uint slot = NO_SLOT, own_terms = 0;
                ARITHMETIC own_sum = IDENTITY;
                UNROLLED
                for (uint i = 0; i < HELD; ++i) {
                    if (heads >> i & 1) {
                        if (slot != NO_SLOT) {
                            sum[slot] = own_sum;
                            terms[slot] = own_terms;
                        }
                        slot = NUMBER_OF(key[i]);
                        own_sum = sum[slot];
                        own_terms = terms[slot];
                    }
                    if (slot != NO_SLOT && key[i] != NO_KEY)
                        ADD_TERM(key[i]);
                }
                if (slot != NO_SLOT) {
                    // The last run may continue in the next lanes.
                    for (uint i = (lane + 1) * HELD; i < PRODUCTS && NUMBER_OF(keys[PADDED(i)]) == slot; ++i)
                        ADD_TERM(keys[PADDED(i)]);
                    sum[slot] = own_sum;
                    terms[slot] = own_terms;
                }
                TEAM_BARRIER; // sum[] is written before it is read; keys[] and product[] are read before they are overwritten
            }
        }
        for (uint i = lane; i < count; i += TEAM_SIZE)
            PUT_SUM(ADD(total[i], sum[i]), to + i);
        TEAM_BARRIER; // local memory is read before the next task overwrites it
    }
}
