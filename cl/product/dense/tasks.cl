// tasks: cuts the rows of columns of C into pieces that fit local memory, and sorts them by the
// bytes they take.
// Host: src/product/dense/tasks.rs
//
//   One work-item per window of rows of each column, then one per piece of the group's windows.
//
//   count_tasks   counts the pieces of each class
//   list_tasks    the same with LIST: lists them
//
//   in   b_col_ptr[b_cols + 1]
//   in   class[cols]              only columns of the classes first_class..end_class have tasks
//   in   chunk_ptr[cols * windows + 1]   where the entries of each window of a column are in C
//   in   place[cols * windows]    where their rows are in rows[]
//   i/o  record[TASK_CLASSES + 3] tasks of each class; entries of C; windows whose rows have no
//                                 place, and their entries; zeros before
//   i/o  record[TASK_CLASSES + 3 ..]   tasks of each class that were listed; zeros before
//   out  task[tasks]              window and piece (in the high word), class by class, in any order
//                                 within a class
//
// A class is a kernel and a size of local memory: whether its columns of B have more than CUT_FROM
// entries, whether rows are looked up in two levels, and the slice of local memory. The sizes of
// the slices are SLICES.
#if !defined(SLICES) || !defined(SLICE_COUNT) || !defined(PIECE) || !defined(CUT_FROM) || !defined(SUM_BYTES) || !defined(STEP_BYTES)
#error "see src/product/dense/tasks.rs"
#endif
#define NOWHERE 0xffffffff
#define TASK_CLASSES (4 * SLICE_COUNT)
constant uint slices[SLICE_COUNT] = {SLICES};

uint sum_of(uint before, uint own)
{
    return before + own;
}
GROUP_SCAN(pieces_before, uint, sum_of)

// The class of the piece of `count` rows from rows[0] on.
uint class_of_piece(global const uint* rows, uint count, bool cut)
{
    const uint low = rows[0], high = rows[count - 1], words = high / 32 - low / 32 + 1;
    const uint base = STEP_BYTES + count * (cut ? 2 * SUM_BYTES + 2 : SUM_BYTES) + 8;
    const uint one = base + 8 * words, two = base + 8 * (high / 1024 - low / 1024 + 1) + 8 * min(count, words);
    // Looking a row up in two levels takes twice as long: worth it only for more resident groups.
    const bool levels = words > 64 && (one > two + two / 4 || one > slices[SLICE_COUNT - 1]);
    const uint bytes = levels ? two : one;
    uint slice = 0;
    while (slice + 1 < SLICE_COUNT && bytes > slices[slice])
        ++slice;
    return (cut * 2 + levels) * SLICE_COUNT + slice;
}

// Rows of a column's window, or none: where they are, how many, and the rows of a piece.
struct stretch {
    uint from, entries, piece;
};

struct stretch stretch_of(global const uint* b_col_ptr, global const uint* class, global const uint* chunk_ptr,
                          global const uint* place, uint chunk, uint first_col, uint cols, uint windows, uint first_class,
                          uint end_class)
{
    const uint col = chunk / windows;
    struct stretch found = {NOWHERE, 0, PIECE};
    if (col < cols && class[col] >= first_class && class[col] < end_class) {
        found.entries = chunk_ptr[chunk + 1] - chunk_ptr[chunk];
        found.from = found.entries > 0 ? place[chunk] : NOWHERE;
        if (b_col_ptr[first_col + col + 1] - b_col_ptr[first_col + col] > CUT_FROM)
            found.piece = PIECE / 2;
    }
    return found;
}

// Calls EACH(class, chunk, piece) for the pieces of the group's windows.
#define FOR_PIECES(EACH)                                                                                              \
    local uint shared[GROUP_SIZE], before_of[GROUP_SIZE], from_of[GROUP_SIZE], entries_of[GROUP_SIZE], piece_of[GROUP_SIZE]; \
    const uint item = get_local_id(0), own_chunk = get_global_id(0);                                                  \
    const struct stretch own = stretch_of(b_col_ptr, class, chunk_ptr, place, own_chunk, first_col, cols, windows,    \
                                          first_class, end_class);                                                    \
    uint all;                                                                                                         \
    before_of[item] = pieces_before(own.from == NOWHERE ? 0 : (own.entries + own.piece - 1) / own.piece, shared, &all); \
    from_of[item] = own.from;                                                                                         \
    entries_of[item] = own.entries;                                                                                   \
    piece_of[item] = own.piece;                                                                                       \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                     \
    for (uint number = item; number < all; number += GROUP_SIZE) {                                                    \
        uint at = 0;                                                                                                  \
        for (uint half_size = GROUP_SIZE / 2; half_size > 0; half_size /= 2)                                          \
            at += before_of[at + half_size] <= number ? half_size : 0;                                                \
        const uint done = (number - before_of[at]) * piece_of[at];                                                    \
        const uint of = class_of_piece(rows + from_of[at] + done, min(piece_of[at], entries_of[at] - done), piece_of[at] != PIECE); \
        EACH(of, own_chunk - item + at, number - before_of[at]);                                                      \
    }

KERNEL count_tasks(global const uint* b_col_ptr, global const uint* class, global const uint* chunk_ptr, global const uint* place,
                   global const uint* rows, global uint* record, uint first_col, uint cols, uint windows, uint first_class,
                   uint end_class)
{
    local uint counts[TASK_CLASSES + 2];
    for (uint i = get_local_id(0); i < TASK_CLASSES + 2; i += GROUP_SIZE)
        counts[i] = 0;
#define COUNT(of, chunk, piece) atomic_inc(counts + of)
    FOR_PIECES(COUNT)
    if (own.entries > 0 && own.from == NOWHERE) {
        atomic_inc(counts + TASK_CLASSES);
        atomic_add(counts + TASK_CLASSES + 1, own.entries);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < TASK_CLASSES + 2; i += GROUP_SIZE)
        if (counts[i] > 0)
            atomic_add(record + (i < TASK_CLASSES ? i : i + 1), counts[i]);
    if (own_chunk == 0)
        record[TASK_CLASSES] = chunk_ptr[cols * windows];
}

KERNEL list_tasks(global const uint* b_col_ptr, global const uint* class, global const uint* chunk_ptr, global const uint* place,
                  global const uint* rows, global uint* record, global ulong* task, uint first_col,
                  uint cols, uint windows, uint first_class, uint end_class)
{
    // Where the tasks of each class begin.
    local uint firsts[TASK_CLASSES];
    global uint* cursor = record + TASK_CLASSES + 3;
    for (uint i = get_local_id(0); i < TASK_CLASSES; i += GROUP_SIZE) {
        firsts[i] = 0;
        for (uint before = 0; before < i; ++before)
            firsts[i] += record[before];
    }
#define LIST(of, chunk, piece) task[firsts[of] + atomic_inc(cursor + of)] = (chunk) | (ulong)(piece) << 32
    FOR_PIECES(LIST)
}
