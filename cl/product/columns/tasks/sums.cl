// sums: computes the rows and values of columns of C, product after product.
// Host: src/product/columns/tasks/sums.rs
//
//   The kernel sums for the methods `dense` and `hash`. On CPUs it sums for `hash` alone, because
//   the kernels of cl/product/cpu/ranges are method `dense` there.
//
//   Teams take one task after another. A task is a piece of the rows of a column of C, or of at
//   most COLUMNS neighbouring columns that have the same rows; see cl/product/columns/tasks/cut.cl.
//   If a column of C is one piece, every product of the column belongs to it. If a column of C is
//   several pieces, a piece takes the products from its first row to its last row, both included.
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  a_values[a_nnz]
//   in   b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]  b_values[b_nnz]
//   in   task[first + tasks]  chunk_ptr[cols * windows + 1]  place[cols * windows]  rows[]
//   i/o  cursor[cursor_at]        number of tasks that were taken; zero before
//   out  c_row_idx[c_nnz]  c_values[c_nnz]      C, see cl/product/terms/target.cl
//
// Slots of rows are described in cl/product/columns/tasks/slots.cl. If HASHED, slots are the places
// of a hash table of the rows, see cl/product/columns/hash/table.cl. The memory of a table does not
// depend on the range of rows.
//
// The products of one entry of B have different rows, so the items of a team add them to their
// slots without atomics. The items take one stretch of a column of A (a step) after another, one
// entry of B after another. So each slot gets its products in the order of the entries of B. With
// CUT a slot starts a new sum after RUN_PIECE products. The sums of a slot are added in their
// order.
//
// The products of several columns of a task have the same rows and values of A. Rows and values are
// loaded once, and the slots of the rows are found once. Each column has its own value of B. The
// sums of a column are stored after the sums of the column before it.
#if !defined(CUT) || !defined(COLUMNS) || !defined(HASHED) || !defined(PIECE) || !defined(RUN_PIECE)
#error "see src/product/columns/tasks/sums.rs"
#endif
// Number of steps whose rows and values are loaded together.
#define AHEAD 4

#if COLUMNS > 1
#define COLUMNS_OF(task) ((uint)((task) >> 60) + 1)
#else
#define COLUMNS_OF(task) 1
#endif
#define PIECE_OF(task) ((uint)((task) >> 32) & 0xfffffff)

// The head of an unrolled loop over the columns `w` of a task. The statement after it is the loop's
// body.
#define FOR_COLUMNS UNROLLED for (uint w = 0; w < COLUMNS; ++w) if (w < columns)

// Loads the value of an entry of B for each column.
#define LOAD_B(to, entry) FOR_COLUMNS to[w] = B_VALUE((entry) + w * of_b)

// Loads the rows and values of AHEAD steps from `step` on. A row is NO_SLOT if there is none.
#define LOAD_STEPS(step, row, value)                                                                                  \
    UNROLLED for (uint q = 0; q < AHEAD; ++q)                                                                \
    {                                                                                                                 \
        row[q] = NO_SLOT;                                                                                             \
        value[q] = 0;                                                                                                 \
        if ((step) + q < here) {                                                                                      \
            const uint2 of = steps[(step) + q];                                                                       \
            if (lane < of.y) {                                                                                        \
                row[q] = a_row_idx[of.x + lane];                                                                      \
                value[q] = A_VALUE(of.x + lane);                                                                       \
            }                                                                                                         \
        }                                                                                                             \
    }

#if CUT
#define ADD_TO(slot, product)                                                                                         \
    do {                                                                                                              \
        if (terms[slot] == RUN_PIECE) {                                                                               \
            total[slot] = ADD(total[slot], sum[slot]);                                                                \
            sum[slot] = IDENTITY;                                                                                     \
            terms[slot] = 0;                                                                                          \
        }                                                                                                             \
        sum[slot] = ADD(sum[slot], product);                                                                          \
        ++terms[slot];                                                                                                \
    } while (0)
#else
#define ADD_TO(slot, product) (sum[slot] = ADD(sum[slot], product))
#endif

#if HASHED
#define SLOTS(count) HASH_SLOTS(count)
#define SLOT_OF(row) place_of_row(table, SLOTS(count), row)
#define SLOT_OF_NUMBER(i) SLOT_OF(piece[i])
#else
#define SLOTS(count) (count)
#define SLOT_OF(row) slot_of(row, top, word, first_row)
#define SLOT_OF_NUMBER(i) (i)
#endif

// Adds AHEAD steps, one after another.
#define ADD_STEPS(step, row, value)                                                                                   \
    do {                                                                                                              \
        uint slot[AHEAD];                                                                                             \
        UNROLLED for (uint q = 0; q < AHEAD; ++q)                                                            \
        {                                                                                                             \
            slot[q] = NO_SLOT;                                                                                        \
            if (row[q] != NO_SLOT && (whole || (row[q] >= first_row && row[q] <= last_row)))                          \
                slot[q] = SLOT_OF(row[q]);                                                                            \
        }                                                                                                             \
        UNROLLED for (uint q = 0; q < AHEAD; ++q)                                                            \
        {                                                                                                             \
            if (slot[q] != NO_SLOT) {                                                                                 \
                FOR_COLUMNS ADD_TO(w * slots + slot[q], MULTIPLY(value[q], step_value[w * TEAM_SIZE + (step) + q]));   \
            }                                                                                                         \
            TEAM_BARRIER; /* sum[] is written before the next step reads it */                                        \
        }                                                                                                             \
    } while (0)

KERNEL sum_slots(TASK_ARGUMENTS)
{
    TEAM_MEMORY;
    const uint lane = LANE;
    local ulong* own = memory + get_local_id(0) / TEAM_SIZE * slice;
    local uint2* steps = (local uint2*)own;
    local ARITHMETIC* step_value = (local ARITHMETIC*)(steps + TEAM_SIZE);
    for (uint number = FIRST_TASK; number < tasks; number = NEXT_TASK) {
        const ulong of_task = task[first + number];
        const uint chunk = (uint)of_task, col = chunk / windows, entries = chunk_ptr[chunk + 1] - chunk_ptr[chunk];
        const uint columns = COLUMNS_OF(of_task), done = PIECE_OF(of_task) * PIECE, count = min((uint)PIECE, entries - done);
        const uint begin = b_col_ptr[first_col + col], end = b_col_ptr[first_col + col + 1];
        // Number of entries of each column of B, and of each column of C.
        const uint of_b = end - begin, of_c = chunk_ptr[(col + 1) * windows] - chunk_ptr[col * windows];
        const bool whole = count == of_c;
        global const uint* piece = rows + place[chunk] + done;
        const uint to = chunk_ptr[chunk] + done, first_row = piece[0], last_row = piece[count - 1];

        local ARITHMETIC* sum = step_value + columns * TEAM_SIZE;
        const uint slots = SLOTS(count);
#if CUT
        local ARITHMETIC* total = sum + slots;
        local ushort* terms = (local ushort*)(total + slots);
        local ulong* tables = own + ((local uchar*)(terms + slots) - (local uchar*)own + 7) / 8;
#else
        local ulong* tables = own + ((local uchar*)(sum + columns * slots) - (local uchar*)own + 7) / 8;
#endif
#if HASHED
        local uint* table = (local uint*)tables;
        for (uint i = lane; i < slots; i += TEAM_SIZE)
            table[i] = NO_ROW;
        TEAM_BARRIER;
        for (uint i = lane; i < count; i += TEAM_SIZE) {
            insert_local(table, slots, piece[i]);
            PUT_ROW(piece[i], to + i);
        }
#else
        local uint2* top = (local uint2*)tables;
        local uint2* word = words_behind(top, first_row, last_row);
        note_rows(piece, count, top, word, c_row_idx, to, TEAM);
#endif
        for (uint i = lane; i < columns * slots; i += TEAM_SIZE) {
            sum[i] = IDENTITY;
#if CUT
            total[i] = IDENTITY;
            terms[i] = 0;
#endif
        }

        // The columns of A of the next 32 entries are looked up in advance.
        uint next_from = 0, next_count = 0;
        ARITHMETIC next_value[COLUMNS], b_value[COLUMNS];
        FOR_COLUMNS next_value[w] = 0;
        if (begin + lane < end) {
            const uint k = b_row_idx[begin + lane];
            next_from = a_col_ptr[k];
            next_count = a_col_ptr[k + 1] - next_from;
            LOAD_B(next_value, begin + lane);
        }
        for (uint entry = begin; entry < end; entry += TEAM_SIZE) {
            uint from = next_from, length = next_count;
            FOR_COLUMNS b_value[w] = next_value[w];
            next_count = 0;
            if (entry + TEAM_SIZE + lane < end) {
                const uint k = b_row_idx[entry + TEAM_SIZE + lane];
                next_from = a_col_ptr[k];
                next_count = a_col_ptr[k + 1] - next_from;
                LOAD_B(next_value, entry + TEAM_SIZE + lane);
            }
            if (!whole && length > TEAM_SIZE) {
                const uint stop = from + length;
                from = interpolated_lower_bound(a_row_idx, from, stop, first_row);
                length = interpolated_lower_bound(a_row_idx, from, stop, last_row + 1) - from;
            }
            uint all;
            const uint own_steps = (length + TEAM_SIZE - 1) / TEAM_SIZE, before = team_sum_before(own_steps, &all, TEAM);
            for (uint base = 0; base < all; base += TEAM_SIZE) {
                TEAM_BARRIER; // steps[] and step_value[] are read before they are overwritten
                for (uint step = max(before, base); step < min(before + own_steps, base + TEAM_SIZE); ++step) {
                    const uint stretch = (step - before) * TEAM_SIZE;
                    steps[step - base] = (uint2)(from + stretch, min((uint)TEAM_SIZE, length - stretch));
                    FOR_COLUMNS step_value[w * TEAM_SIZE + step - base] = b_value[w];
                }
                TEAM_BARRIER;
                const uint here = min((uint)TEAM_SIZE, all - base);
                uint row[AHEAD], other_row[AHEAD];
                ARITHMETIC value[AHEAD], other_value[AHEAD];
                LOAD_STEPS(0, row, value)
                for (uint step = 0; step < here; step += 2 * AHEAD) {
                    LOAD_STEPS(step + AHEAD, other_row, other_value)
                    ADD_STEPS(step, row, value);
                    LOAD_STEPS(step + 2 * AHEAD, row, value)
                    if (step + AHEAD < here)
                        ADD_STEPS(step + AHEAD, other_row, other_value);
                }
            }
        }
        TEAM_BARRIER;
        for (uint i = lane; i < count; i += TEAM_SIZE) {
#if CUT
            PUT_SUM(ADD(total[SLOT_OF_NUMBER(i)], sum[SLOT_OF_NUMBER(i)]), to + i);
#else
            const uint slot = SLOT_OF_NUMBER(i);
            FOR_COLUMNS {
                PUT_SUM(sum[w * slots + slot], to + w * of_c + i);
                if (w > 0)
                    PUT_ROW(piece[i], to + w * of_c + i);
            }
#endif
        }
        TEAM_BARRIER; // local memory is read before the next task overwrites it
    }
}
