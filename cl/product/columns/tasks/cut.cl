// cut: cuts the rows of columns of C into pieces that fit local memory, and sorts the pieces by the
// number of bytes they take.
// Host: src/product/columns/tasks/cut.rs
//
//   First one work-item per window of rows of each column, then one per piece of the work-group.
//
//   count_tasks   counts the pieces of each class
//   list_tasks    lists the pieces
//
//   in   b_col_ptr[b_cols + 1]
//   in   class[cols]              only columns of the classes first_class..end_class have tasks. If
//                                 `shares_rows`, columns that follow have the place of their
//                                 leader, see cl/product/columns/adaptive/equal.cl
//   in   chunk_ptr[cols * windows + 1]   position in C of the entries of each window of a column
//   in   place[cols * windows]    position of their rows in rows[]
//   i/o  record[TASK_CLASSES + 3] tasks of each class; entries of C; windows whose rows have no
//                                  place, and their entries. Of windows that share a place, one is
//                                  counted. Zeros before
//   i/o  record[TASK_CLASSES + 3 ..]   number of tasks of each class that were listed; zeros before
//   out  task[tasks]              class by class, in any order within a class: the window; from bit
//                                 32 on the piece; from bit 60 on the number of columns minus 1
//
// The tasks of a class have the same kernel and the same size of local memory, one of SLICES. The
// kernel depends on four things. First, how slots are found: by hashes in columns of the classes
// HASHED..END_HASHED if that takes less memory than bits, and otherwise in a way that depends on
// whether the column of B is a hub, see cl/product/columns/hub/columns.cl. Second, whether a column
// that is no hub has more than CUT_FROM entries. Third, whether a task has several columns. Fourth,
// whether rows are looked up in two levels.
//
// Columns that share rows and whose slots are found by bits are summed together: at most
// EQUAL_COLUMNS of them, in pieces of EQUAL_PIECE rows. The tasks of all these columns belong to
// the first of them. Columns of more than CUT_FROM entries are summed alone, because each of their
// slots has two sums and a counter.
#if !defined(KINDS) || !defined(KIND_CUT) || !defined(KIND_EQUAL) || !defined(KIND_HASH) || !defined(KIND_HUB) || !defined(SLICES) || !defined(SLICE_COUNT) || !defined(LAST_SLICE) || !defined(PIECE) || !defined(HASHED) || !defined(END_HASHED) || !defined(CUT_FROM) || !defined(SUM_BYTES) || !defined(STEP_BYTES) || !defined(HUB_BYTES) || !defined(EQUAL_COLUMNS) || !defined(EQUAL_PIECE)
#error "see src/product/columns/tasks/cut.rs"
#endif
#define NOWHERE 0xffffffff
#define TASK_CLASSES (KINDS * SLICE_COUNT)
// The ways in which slots are found.
#define BY_BITS 0
#define BY_HASH 1
#define OF_HUB 2
// Bytes of the values of B that a team stores with its steps.
#define STEP_VALUES (32 * SUM_BYTES)

uint sum_of(uint before, uint own)
{
    return before + own;
}
GROUP_SCAN(pieces_before, uint, sum_of)

// Returns the smallest slice of at least `bytes` bytes. The last slice is enough for every piece.
uint slice_of(uint bytes)
{
    const uint sizes[SLICE_COUNT] = {SLICES};
    uint slice = 0;
    for (uint i = 0; i < SLICE_COUNT - 1; ++i)
        slice += bytes > sizes[i];
    return slice;
}

// Returns the class of the piece of `count` rows from rows[0] on, which `columns` columns share.
uint class_of_piece(global const uint* rows, uint count, bool cut, uint slots, uint columns)
{
    const uint of_slot = cut ? 2 * SUM_BYTES + 2 : columns * SUM_BYTES;
    const bool hub = slots == OF_HUB;
    const uint low = rows[0], high = rows[count - 1], words = high / 32 - low / 32 + 1;
    const uint base = (hub ? HUB_BYTES : STEP_BYTES + (columns - 1) * STEP_VALUES) + count * of_slot + 8;
    const uint one = base + 8 * words, two = base + 8 * (high / 1024 - low / 1024 + 1) + 8 * min(count, words);
    // Looking a row up in two levels takes twice as long as in one. Two levels save time only if
    // more work-groups are then resident.
    const bool levels = words > 64 && (one > two + two / 4 || one > LAST_SLICE);
    const uint by_hash = STEP_BYTES + HASH_SLOTS(count) * (of_slot + 4) + 8;
    if (slots == BY_HASH && (levels ? two : one) > by_hash)
        return (KIND_HASH + cut) * SLICE_COUNT + slice_of(by_hash);
    return ((hub ? KIND_HUB : columns > 1 ? KIND_EQUAL : cut ? KIND_CUT : 0) + levels) * SLICE_COUNT + slice_of(levels ? two : one);
}

// Returns four numbers for a window of a column: the place of its rows, or NOWHERE if there are
// none; how many rows it has; how many rows a piece has; and how their slots are found, with the
// number of columns of a task from bit 8 on.
uint4 stretch_of(global const uint* b_col_ptr, global const uint* class, global const uint* chunk_ptr,
                 global const uint* place, uint chunk, uint first_col, uint cols, uint windows, uint first_class, uint end_class, uint shares_rows)
{
    const uint col = chunk / windows;
    const uint word = col < cols ? class[col] : 0, of = CLASS_OF(word);
    if (col >= cols || of < first_class || of >= end_class)
        return (uint4)(NOWHERE, 0, PIECE, BY_BITS | 1 << 8);
    const uint entries = chunk_ptr[chunk + 1] - chunk_ptr[chunk];
    const uint of_b = b_col_ptr[first_col + col + 1] - b_col_ptr[first_col + col];
    const uint slots = of >= HASHED && of < END_HASHED ? BY_HASH : word & HUB ? OF_HUB : BY_BITS;
    uint of_piece = slots == OF_HUB || of_b > CUT_FROM ? PIECE / 2 : PIECE, columns = 1;
    if (shares_rows && slots == BY_BITS && of_b <= CUT_FROM) {
        if (columns_from_leader(class, col) % EQUAL_COLUMNS > 0)
            return (uint4)(NOWHERE, 0, PIECE, BY_BITS | 1 << 8); // another column has its tasks
        columns = columns_together(class, col, cols, EQUAL_COLUMNS);
        of_piece = columns > 1 ? EQUAL_PIECE : PIECE;
    }
    const uint at = entries > 0 ? place[chunk] : NOWHERE;
    // If several columns share rows without a place, the rows are counted only once.
    return (uint4)(at, at == NOWHERE && shares_rows && (word & FOLLOWS) ? 0 : entries, of_piece, slots | columns << 8);
}

// Declares arrays with the windows of a work-group, and numbers their pieces one after another.
#define GROUP_MEMORY                                                                                                  \
    local uint shared[GROUP_SIZE], before_of[GROUP_SIZE], from_of[GROUP_SIZE], entries_of[GROUP_SIZE], rows_of[GROUP_SIZE], how_of[GROUP_SIZE]; \
    const uint item = get_local_id(0), own_chunk = get_global_id(0);                                                  \
    const uint4 own = stretch_of(b_col_ptr, class, chunk_ptr, place, own_chunk, first_col, cols, windows, first_class, end_class, shares_rows); \
    uint pieces;                                                                                                      \
    before_of[item] = pieces_before(own.x == NOWHERE ? 0 : (own.y + own.z - 1) / own.z, shared, &pieces); \
    from_of[item] = own.x;                                                                                            \
    entries_of[item] = own.y;                                                                                         \
    rows_of[item] = own.z;                                                                                            \
    how_of[item] = own.w;                                                                                             \
    barrier(CLK_LOCAL_MEM_FENCE)

// Runs EACH(class, chunk, piece, columns) for every piece of the work-group.
#define FOR_PIECES(EACH)                                                                                              \
    for (uint number = item; number < pieces; number += GROUP_SIZE) {                                                 \
        uint at = 0;                                                                                                  \
        for (uint half_size = GROUP_SIZE / 2; half_size > 0; half_size /= 2)                                          \
            at += before_of[at + half_size] <= number ? half_size : 0;                                                \
        const uint done = (number - before_of[at]) * rows_of[at];                                                     \
        const uint slots = how_of[at] & 0xff, columns = how_of[at] >> 8;                                              \
        const bool cut = columns == 1 && rows_of[at] != PIECE;                                                        \
        const uint of = class_of_piece(rows + from_of[at] + done, min(rows_of[at], entries_of[at] - done), cut, slots, columns); \
        EACH(of, own_chunk - item + at, number - before_of[at], columns);                                             \
    }

#define COUNT(of, chunk, piece, columns) atomic_inc(counts + of)
#define LIST(of, chunk, piece, columns) task[atomic_inc(next + of)] = (chunk) | (ulong)(piece) << 32 | (ulong)((columns) - 1) << 60

KERNEL count_tasks(global const uint* b_col_ptr, global const uint* class, global const uint* chunk_ptr, global const uint* place,
                   global const uint* rows, global uint* record, uint first_col, uint cols, uint windows, uint first_class,
                   uint end_class, uint shares_rows)
{
    local uint counts[TASK_CLASSES + 2];
    for (uint i = get_local_id(0); i < TASK_CLASSES + 2; i += GROUP_SIZE)
        counts[i] = 0;
    GROUP_MEMORY; // counts[] is zero before GROUP_MEMORY's barrier
    FOR_PIECES(COUNT)
    if (own.y > 0 && own.x == NOWHERE) {
        atomic_inc(counts + TASK_CLASSES);
        atomic_add(counts + TASK_CLASSES + 1, own.y);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < TASK_CLASSES + 2; i += GROUP_SIZE)
        if (counts[i] > 0)
            atomic_add(record + (i < TASK_CLASSES ? i : i + 1), counts[i]);
    if (own_chunk == 0)
        record[TASK_CLASSES] = chunk_ptr[cols * windows];
}

KERNEL list_tasks(global const uint* b_col_ptr, global const uint* class, global const uint* chunk_ptr, global const uint* place,
                  global const uint* rows, global uint* record, global ulong* task, uint first_col, uint cols, uint windows,
                  uint first_class, uint end_class, uint shares_rows)
{
    // The number of tasks of each class that the work-group has, and where they are written.
    local uint counts[TASK_CLASSES], next[TASK_CLASSES];
    for (uint i = get_local_id(0); i < TASK_CLASSES; i += GROUP_SIZE)
        counts[i] = 0;
    GROUP_MEMORY; // counts[] is zero before GROUP_MEMORY's barrier
    FOR_PIECES(COUNT)
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < TASK_CLASSES; i += GROUP_SIZE)
        if (counts[i] > 0) {
            next[i] = atomic_add(record + TASK_CLASSES + 3 + i, counts[i]);
            for (uint before = 0; before < i; ++before)
                next[i] += record[before];
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_PIECES(LIST)
}
