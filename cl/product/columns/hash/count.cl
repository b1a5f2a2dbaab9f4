// count: finds the rows of columns of C, by a hash table of them.
// Host: src/product/columns/hash/mod.rs; the tables: cl/product/columns/hash/table.cl; the order of
// their rows: cl/product/columns/hash/order.cl
//
//   Work-groups take the columns of a task in a stride.
//
//   count_local    the table is in local memory, which has `words` words; a column has at most
//                  `words` rows
//   count_global   the table is in global memory. Each work-group has a table of 2 * entries words,
//                  for columns of at most `entries` rows. If rows are sorted, its halves are lists.
//                  If WARPS, the first free work-group takes the next column
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]
//   in   list[first + columns]   the columns, counted from first_col, if `listed`
//   in   products[cols]  first_row[cols]  last_row[cols]   of each column, to bound the number of
//                  its rows
//   i/o  lengths[cols * windows]  entries of C in each column, counted as those of its first window
//   i/o  place[cols * windows]   the position in `rows` of the rows of each column; NOWHERE if they
//                                did not fit
//   i/o  top[0]                  the end of the rows written
//   out  rows[room]              the rows of C, ascending in each column
//   i/o  tables[groups * table_words]
//   i/o  cursor[0]               number of columns that were taken; zero before
//
// `purpose` is ALL or MISSING and applies to columns, see cl/product/columns/tasks/found.cl.

// Inserts AHEAD rows into a table, except those that are NO_ROW. Returns how many rows were not in
// the table yet. A place that is taken does not change, so the items of a warp may read it without
// an atomic. All rows are looked up together, so that loads overlap.
#define DEFINE_INSERT_ROWS(insert_rows, SPACE)                                                                        \
    uint insert_rows(volatile SPACE uint* table, uint capacity, uint* row)                                            \
    {                                                                                                                 \
        uint at[AHEAD], found[AHEAD], inserted = 0;                                                                   \
        UNROLLED for (uint q = 0; q < AHEAD; ++q)                                                                     \
            at[q] = hash_place(row[q], capacity);                                                                     \
        for (bool left = true; left;) {                                                                               \
            UNROLLED for (uint q = 0; q < AHEAD; ++q)                                                                 \
                found[q] = WARPS && row[q] != NO_ROW ? table[at[q]] : NO_ROW;                                         \
            UNROLLED for (uint q = 0; q < AHEAD; ++q)                                                                 \
            {                                                                                                         \
                if (row[q] != NO_ROW && found[q] == NO_ROW)                                                           \
                    found[q] = atomic_cmpxchg(table + at[q], NO_ROW, row[q]);                                         \
            }                                                                                                         \
            left = false;                                                                                             \
            UNROLLED for (uint q = 0; q < AHEAD; ++q)                                                                 \
            {                                                                                                         \
                if (row[q] != NO_ROW) {                                                                               \
                    inserted += found[q] == NO_ROW;                                                                   \
                    at[q] = at[q] + 1 < capacity ? at[q] + 1 : 0;                                                     \
                    row[q] = found[q] == NO_ROW || found[q] == row[q] ? NO_ROW : row[q];                              \
                    left = left || row[q] != NO_ROW;                                                                  \
                }                                                                                                     \
            }                                                                                                         \
        }                                                                                                             \
        return inserted;                                                                                              \
    }
DEFINE_INSERT_ROWS(insert_rows_local, local)
DEFINE_INSERT_ROWS(insert_rows_global, global)

#define COLUMN_MEMORY                                                                                                 \
    TEAM_MEMORY;                                                                                                      \
    local uint before_of[GROUP_SIZE], from_of[GROUP_SIZE], team_sums[TEAMS], shared_at;                               \
    const uint item = get_local_id(0)

// Inserts the rows of all products of a column into a table, which then has `found` rows. The
// products of GROUP_SIZE entries of B at a time are divided evenly among the items.
#define INSERT_COLUMN(insert_rows, table, capacity, found)                                                            \
    uint inserted = 0, found;                                                                                         \
    for (uint base = b_col_ptr[first_col + col]; base < b_col_ptr[first_col + col + 1]; base += GROUP_SIZE) {         \
        uint from = 0, length = 0, of_team, all;                                                                      \
        if (base + item < b_col_ptr[first_col + col + 1]) {                                                           \
            const uint k = b_row_idx[base + item];                                                                    \
            from = a_col_ptr[k];                                                                                      \
            length = a_col_ptr[k + 1] - from;                                                                         \
        }                                                                                                             \
        const uint in_team = team_sum_before(length, &of_team, TEAM);                                                 \
        const uint before = group_sum_before(in_team, of_team, &all, team_sums);                                      \
        before_of[item] = before;                                                                                     \
        from_of[item] = from - before;                                                                                \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                 \
        for (uint number = item; number < all; number += AHEAD * GROUP_SIZE) {                                        \
            uint row[AHEAD];                                                                                          \
            UNROLLED for (uint q = 0; q < AHEAD; ++q)                                                                 \
            {                                                                                                         \
                const uint product = number + q * GROUP_SIZE;                                                         \
                uint entry = 0;                                                                                       \
                row[q] = NO_ROW;                                                                                      \
                if (product < all) {                                                                                  \
                    for (uint half_size = GROUP_SIZE / 2; half_size > 0; half_size /= 2)                              \
                        entry += before_of[entry + half_size] <= product ? half_size : 0;                             \
                    row[q] = a_row_idx[from_of[entry] + product];                                                     \
                }                                                                                                     \
            }                                                                                                         \
            inserted += insert_rows(table, capacity, row);                                                            \
        }                                                                                                             \
        barrier(CLK_LOCAL_MEM_FENCE); /* before_of[] and from_of[] are read before they are overwritten */            \
    }                                                                                                                 \
    inserted = team_sum(inserted, TEAM);                                                                              \
    group_sum_before(0, inserted, &found, team_sums)

// Gives the rows of a column the place `at`, and stores their number. Each item computes whether
// the rows fit: if only item 0 did so, PoCL 3.1 would lose the condition, and all items would take
// a place.
#define TAKE_PLACE(at, count)                                                                                         \
    if (item == 0)                                                                                                    \
        shared_at = atomic_add(top, count);                                                                           \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                     \
    const uint at = place_within(shared_at, count, room);                                                             \
    if (item == 0) {                                                                                                  \
        place[col * windows] = at;                                                                                    \
        if (purpose == ALL)                                                                                           \
            lengths[col * windows] = count;                                                                           \
    }

KERNEL count_local(IN_ROWS, local uint* table, IN_COLUMNS)
{
    COLUMN_MEMORY;
    for (uint i = get_group_id(0); i < columns; i += get_num_groups(0)) {
        const uint col = listed ? list[first + i] : i;
        if (purpose == MISSING && place[col * windows] != NOWHERE)
            continue;
        // If there is enough memory, the table is at most half full.
        const uint capacity = min(words, 2 * min(products[col], last_row[col] - first_row[col] + 1));
        for (uint at = item; at < capacity; at += GROUP_SIZE)
            table[at] = NO_ROW;
        barrier(CLK_LOCAL_MEM_FENCE);
        INSERT_COLUMN(insert_rows_local, table, capacity, count);
        TAKE_PLACE(to, count)
        // No barrier is in a branch, because PoCL 5 does not compile barriers in both branches.
        const uint kept = to == NOWHERE ? 0 : count;
        MOVE_ROWS(table, (kept == 0 ? 0 : capacity), CLK_LOCAL_MEM_FENCE)
        barrier(CLK_LOCAL_MEM_FENCE);
        // The local memory that the rows do not use holds a bitmap.
        const uint range = last_row[col] - first_row[col] + 1, left = words - kept;
        const bool by_bits = kept > 0 && bits_pay(kept, kept, range, left);
        const uint sorted = by_bits ? 0 : kept;
        WRITE_BY_BITS(set_bits_of_local, table, kept, first_row[col], (by_bits ? range : 0), table + kept, left, to)
        sort_local(table, sorted);
        for (uint at = item; at < sorted; at += GROUP_SIZE)
            rows[to + at] = table[at];
        barrier(CLK_LOCAL_MEM_FENCE); // table[] is read before the next column overwrites it
    }
}

// Returns the number of the next column, which the first free work-group takes. Without WARPS a
// work-group takes columns in a stride.
#if WARPS
uint take_column(global uint* cursor, local uint* shared)
{
    barrier(CLK_LOCAL_MEM_FENCE); // *shared is read before it is overwritten
    if (get_local_id(0) == 0)
        *shared = atomic_inc(cursor);
    barrier(CLK_LOCAL_MEM_FENCE);
    return *shared;
}
#define FIRST_COLUMN take_column(cursor, &shared_at)
#define NEXT_COLUMN FIRST_COLUMN
#else
#define FIRST_COLUMN get_group_id(0)
#define NEXT_COLUMN (i + get_num_groups(0))
#endif

KERNEL count_global(IN_ROWS, global uint* tables, global uint* cursor, local uint* part,
                    ulong table_words, uint entries, IN_COLUMNS)
{
    COLUMN_MEMORY;
    global uint* table = tables + get_group_id(0) * table_words;
    for (uint i = FIRST_COLUMN; i < columns; i = NEXT_COLUMN) {
        const uint col = listed ? list[first + i] : i;
        if (purpose == MISSING && place[col * windows] != NOWHERE)
            continue;
        const uint range = last_row[col] - first_row[col] + 1, capacity = HASH_SLOTS(min(products[col], range));
        for (uint at = item; at < capacity; at += GROUP_SIZE)
            table[at] = NO_ROW;
        GROUP_MEMORY_BARRIER;
        INSERT_COLUMN(insert_rows_global, table, capacity, count);
        GROUP_MEMORY_BARRIER; // table[] is written before other items read it
        TAKE_PLACE(to, count)
        const uint kept = to == NOWHERE ? 0 : count;
        const bool by_bits = kept > 0 && bits_pay(capacity, kept, range, words);
        const uint to_sort = by_bits ? 0 : kept;
        WRITE_BY_BITS(set_bits_of_global, table, capacity, first_row[col], (by_bits ? range : 0), part, words, to)
        MOVE_ROWS(table, (to_sort == 0 ? 0 : capacity), CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
        GROUP_MEMORY_BARRIER;
        global const uint* sorted = sort_global(table, table + entries, to_sort, part, words);
        for (uint at = item; at < to_sort; at += GROUP_SIZE)
            rows[to + at] = sorted[at];
        GROUP_MEMORY_BARRIER; // sorted[] is read before the next column overwrites it
    }
}
