// count: the rows of columns of C, by a hash table of them.
// Host: src/product/hash/mod.rs; the tables: cl/product/hash/table.cl
//
//   Work-groups in a stride over the columns of a task.
//
//   count_local    the table is in local memory, which has `words` words; a column has at most
//                  `words` rows
//   count_global   the table is in global memory. Each group has one for columns of at most
//                  `entries` rows, and two lists of as many rows behind it; words of local memory
//                  sort them, a part at a time
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]
//   in   list[first + columns]   the columns, counted from first_col, if `listed`
//   in   products[cols]  first_row[cols]  last_row[cols]   of each column, which bound its rows
//   i/o  lengths[cols * windows]  entries of C in each column, as those of its first window
//   i/o  place[cols * windows]   where the rows of each column are in `rows`; NOWHERE if they had
//                                no room
//   i/o  top[0]                  the end of the rows written
//   out  rows[room]              the rows of C, ascending in each column
//   i/o  tables[groups * table_words]
//
// The purpose, ALL or MISSING, is for columns: see cl/product/tasks/found.cl.
#define TEAMS (GROUP_SIZE / TEAM_SIZE)
// Rows that an item loads together.
#define AHEAD 4

DEFINE_INSERT(insert_global, global)

// The sum of the values of the items before in the group, and of all: made of that in the item's
// team, and of its team. Every item of the group calls it.
uint group_sum_before(uint before, uint of_team, uint* all, local uint* team_sums)
{
    uint sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE); // the reads of the call before
    if (LANE == 0)
        team_sums[get_local_id(0) / TEAM_SIZE] = of_team;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint other = 0; other < TEAMS; ++other) {
        before += other < get_local_id(0) / TEAM_SIZE ? team_sums[other] : 0;
        sum += team_sums[other];
    }
    *all = sum;
    return before;
}

// Sorts key[0..count) in local memory. A bitonic sort in which every comparison puts the smaller
// key first: two sorted halves are merged by comparing the ends of both, then their neighbours, and
// so on (Batcher 1968). Keys behind the last would stay where they are, so there need not be any.
void sort_local(local uint* key, uint count)
{
    for (uint half_size = 1; half_size < count; half_size *= 2) {
        for (uint distance = half_size; distance > 0; distance /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE); // the keys of the round before
            for (uint pair = get_local_id(0);; pair += GROUP_SIZE) {
                const uint in_part = pair & (distance - 1), low = 2 * (pair - in_part) + in_part;
                const uint high = distance == half_size ? 2 * (pair - in_part) + 2 * distance - 1 - in_part : low + distance;
                if (low >= count)
                    break;
                if (high < count && key[low] > key[high]) {
                    const uint larger = key[low];
                    key[low] = key[high];
                    key[high] = larger;
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

#define COLUMN_MEMORY                                                                                                 \
    TEAM_MEMORY;                                                                                                      \
    local uint before_of[GROUP_SIZE], from_of[GROUP_SIZE], team_sums[TEAMS], shared_at;                               \
    const uint item = get_local_id(0)

// Runs INSERT(row) for the row of every product of a column: the products of GROUP_SIZE entries of
// B are divided among the items, whatever entries they belong to.
#define FOR_ROWS(INSERT)                                                                                              \
    for (uint base = b_col_ptr[first_col + col]; base < b_col_ptr[first_col + col + 1]; base += GROUP_SIZE) {         \
        uint from = 0, count = 0, of_team, all;                                                                       \
        if (base + item < b_col_ptr[first_col + col + 1]) {                                                           \
            const uint k = b_row_idx[base + item];                                                                    \
            from = a_col_ptr[k];                                                                                      \
            count = a_col_ptr[k + 1] - from;                                                                          \
        }                                                                                                             \
        const uint in_team = team_sum_before(count, &of_team, TEAM);                                                  \
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
            UNROLLED for (uint q = 0; q < AHEAD; ++q)                                                                 \
            {                                                                                                         \
                if (row[q] != NO_ROW)                                                                                 \
                    INSERT(row[q]);                                                                                   \
            }                                                                                                         \
        }                                                                                                             \
        barrier(CLK_LOCAL_MEM_FENCE); /* the reads, before the next entries */                                        \
    }

// Moves the rows of a table to to[count..], which may be the table itself: rows never move up.
#define MOVE_ROWS(table, capacity, to, count)                                                                         \
    for (uint base = 0; base < capacity; base += GROUP_SIZE) {                                                        \
        const uint row = base + item < capacity ? table[base + item] : NO_ROW, taken = team_votes(row != NO_ROW, TEAM); \
        uint all;                                                                                                     \
        const uint in_team = popcount(taken & ((1u << LANE) - 1));                                                    \
        const uint before = group_sum_before(in_team, popcount(taken), &all, team_sums);                              \
        if (row != NO_ROW)                                                                                            \
            to[count + before] = row;                                                                                 \
        count += all;                                                                                                 \
    }

// Gives the rows of a column the place `at`, and notes their number. Each item finds out whether
// they have room: if item 0 does, PoCL 3.1 loses the condition, and all items take a place.
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

KERNEL count_local(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                   global const uint* b_row_idx, global const uint* list, global const uint* first_row,
                   global const uint* last_row, global const uint* products, global uint* lengths, global uint* place,
                   global uint* top, global uint* rows, local uint* table, uint words, uint room, uint first,
                   uint columns, uint listed, uint first_col, uint windows, uint purpose)
{
    COLUMN_MEMORY;
    for (uint i = get_group_id(0); i < columns; i += get_num_groups(0)) {
        const uint col = listed ? list[first + i] : i;
        if (purpose == MISSING && place[col * windows] != NOWHERE)
            continue;
        // Half full at most, if there is room.
        const uint capacity = min(words, 2 * min(products[col], last_row[col] - first_row[col] + 1));
        for (uint at = item; at < capacity; at += GROUP_SIZE)
            table[at] = NO_ROW;
        barrier(CLK_LOCAL_MEM_FENCE);
#define INSERT_LOCAL(row) insert_local(table, capacity, row)
        FOR_ROWS(INSERT_LOCAL)
        uint count = 0;
        MOVE_ROWS(table, capacity, table, count)
        sort_local(table, count);
        TAKE_PLACE(to, count)
        if (to != NOWHERE)
            for (uint at = item; at < count; at += GROUP_SIZE)
                rows[to + at] = table[at];
        barrier(CLK_LOCAL_MEM_FENCE); // the reads, before the next column
    }
}

#define GROUP_MEMORY_BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

KERNEL count_global(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                    global const uint* b_row_idx, global const uint* list, global const uint* first_row,
                    global const uint* last_row, global const uint* products, global uint* lengths, global uint* place,
                    global uint* top, global uint* rows, global uint* tables, local uint* part, ulong table_words,
                    uint entries, uint words, uint room, uint first, uint columns, uint listed, uint first_col,
                    uint windows, uint purpose)
{
    COLUMN_MEMORY;
    global uint* table = tables + get_group_id(0) * table_words;
    global uint* lists = table + table_words - 2 * (ulong)entries;
    for (uint i = get_group_id(0); i < columns; i += get_num_groups(0)) {
        const uint col = listed ? list[first + i] : i;
        if (purpose == MISSING && place[col * windows] != NOWHERE)
            continue;
        const uint bound = min(products[col], last_row[col] - first_row[col] + 1), capacity = HASH_SLOTS(bound);
        for (uint at = item; at < capacity; at += GROUP_SIZE)
            table[at] = NO_ROW;
        GROUP_MEMORY_BARRIER;
#define INSERT_GLOBAL(row) insert_global(table, capacity, row)
        FOR_ROWS(INSERT_GLOBAL)
        GROUP_MEMORY_BARRIER; // the table
        global uint* from = lists;
        global uint* to = lists + entries;
        uint count = 0;
        MOVE_ROWS(table, capacity, from, count)
        GROUP_MEMORY_BARRIER;
        for (uint base = 0; base < count; base += words) {
            const uint here = min(words, count - base);
            for (uint at = item; at < here; at += GROUP_SIZE)
                part[at] = from[base + at];
            sort_local(part, here);
            for (uint at = item; at < here; at += GROUP_SIZE)
                from[base + at] = part[at];
            barrier(CLK_LOCAL_MEM_FENCE); // the reads, before the next part
        }
        GROUP_MEMORY_BARRIER;
        // Sorted parts are merged in pairs. A row goes behind those before it in its own part, and
        // those below it in the other.
        for (uint width = words; width < count; width *= 2) {
            for (uint at = item; at < count; at += GROUP_SIZE) {
                const uint number = at / width, row = from[at];
                const uint other = min((number ^ 1) * width, count), end = min(other + width, count);
                to[number / 2 * 2 * width + at % width + lower_bound(from, other, end, row) - other] = row;
            }
            GROUP_MEMORY_BARRIER;
            global uint* merged = to;
            to = from;
            from = merged;
        }
        TAKE_PLACE(taken, count)
        if (taken != NOWHERE)
            for (uint at = item; at < count; at += GROUP_SIZE)
                rows[taken + at] = from[at];
        GROUP_MEMORY_BARRIER; // the reads, before the next column
    }
}
