// slots: finds the place in local memory of the sum of each row of a piece of C. This file comes
// before the kernels that add pieces, and after cl/team.cl.
// Hosts: src/product/columns/tasks/sums.rs, src/product/columns/hub/mod.rs
//
// A row's slot is its number among the piece's rows. The slot is found by bits. A word stands for
// 32 rows: it has a bit for each row of C, and the slot of its first row. With LEVELS words are
// found in the same way, so that only words with rows are in local memory. Nothing is cleared,
// because only rows of C are looked up.
//
//   top[]    if LEVELS, for each 1024 rows from the piece's first row on: a bit for each word that
//            has rows, and the place of the first of these words
//   word[]   these words; if not LEVELS, all words from the piece's first row on
#if !defined(LEVELS)
#error "LEVELS: see src/product/columns/tasks/sums.rs"
#endif
// The parameters of kernels that add pieces, as TaskArguments of src/product/columns/tasks/sums.rs
// passes them.
#define TASK_ARGUMENTS                                                                                                \
    global const uint *a_col_ptr, global const uint *a_row_idx, global const ELEMENT *a_values,                       \
        global const uint *b_col_ptr, global const uint *b_row_idx, global const ELEMENT *b_values,                   \
        global const ulong *task, global uint *cursor, global const uint *chunk_ptr, global const uint *place,        \
        global const uint *rows, global uint *c_row_idx, global ELEMENT *c_values, local ulong *memory, uint slice,   \
        uint cursor_at, ulong first, uint tasks, uint first_col, uint windows, TARGET_ARGUMENTS

#define NO_SLOT 0xffffffff
#define TEAMS (GROUP_SIZE / TEAM_SIZE)

// BELOW is the number of set bits of `bits` below bit `at`.
#define BELOW(bits, at) popcount((bits) & ((1u << (at)) - 1))

// Does the same as lower_bound, and is faster than it for numbers that are spread about evenly.
uint interpolated_lower_bound(global const uint* numbers, uint first, uint last, uint number)
{
    if (first >= last || number <= numbers[first])
        return first;
    uint high = last - 1, low_number = numbers[first], high_number = numbers[high];
    if (number > high_number)
        return last;
    // numbers[first] < number <= numbers[high]
    for (uint round = 0; high - first > 1; ++round) {
        uint middle = first + (high - first) / 2;
        if (round < 4) {
            const float part = (float)(number - low_number) / (float)(high_number - low_number);
            middle = clamp(first + (uint)(part * (float)(high - first)), first + 1, high - 1);
        }
        const uint found = numbers[middle];
        if (found < number) {
            first = middle;
            low_number = found;
        } else {
            high = middle;
            high_number = found;
        }
    }
    return high;
}

// FIRST_TASK and NEXT_TASK are the numbers of a team's tasks. With WARPS the first free team takes
// the next task. Without WARPS a team takes tasks in a stride.
#if WARPS
uint take_task(global uint* cursor, TEAM_OF)
{
    return team_from(LANE == 0 ? atomic_inc(cursor) : 0, 0, team);
}
#define FIRST_TASK take_task(cursor + cursor_at, TEAM)
#define NEXT_TASK FIRST_TASK
#else
#define FIRST_TASK get_group_id(0)
#define NEXT_TASK (number + get_num_groups(0))
#endif

// Returns the position of word[], which is stored after top[].
local uint2* words_behind(local uint2* top, uint first_row, uint last_row)
{
#if LEVELS
    return top + (last_row / 1024 - first_row / 1024 + 1);
#else
    return top;
#endif
}

// Stores the rows piece[0..count] as slots, and writes them to C. After barriers, teams that are no
// warps set bits without a condition; the bits of an item without a row are 0. The reason is PoCL
// 3.1, which uses the condition of the last item for all items.
void note_rows(global const uint* piece, uint count, local uint2* top, local uint2* word, global uint* c_row_idx, uint to,
               TEAM_OF)
{
    const uint lane = LANE, first_row = piece[0];
    uint words = 0; // so far
    for (uint i = lane; i - lane < count; i += TEAM_SIZE) {
        const uint row = i < count ? piece[i] : 0, previous = i > 0 && i < count ? piece[i - 1] : 0;
        const bool opens = i < count && (i == 0 || previous / 32 != row / 32);
        const uint bit = i < count ? 1u << row % 32 : 0;
        if (i < count)
            PUT_ROW(row, to + i);
#if LEVELS
        const uint openings = team_votes(opens, team);
        const uint at = words + popcount(openings & (lane == 31 ? 0xffffffff : (2u << lane) - 1)) - 1;
        words += popcount(openings);
        if (opens) {
            word[at] = (uint2)(0, i);
            if (i == 0 || previous / 1024 != row / 1024)
                top[row / 1024 - first_row / 1024] = (uint2)(0, at);
        }
        const uint of_top = opens ? row / 1024 - first_row / 1024 : 0, top_bit = opens ? 1u << row / 32 % 32 : 0;
        TEAM_BARRIER;
        if (!WARPS || opens)
            atomic_or((local uint*)(top + of_top), top_bit);
#else
        const uint at = i < count ? row / 32 - first_row / 32 : 0;
        if (opens)
            word[at] = (uint2)(0, i);
        TEAM_BARRIER;
#endif
        if (!WARPS || i < count)
            atomic_or((local uint*)(word + at), bit);
    }
}

// Returns the slot of a row of the piece.
uint slot_of(uint row, local const uint2* top, local const uint2* word, uint first_row)
{
#if LEVELS
    const uint2 of_top = top[row / 1024 - first_row / 1024];
    const uint2 of_word = word[of_top.y + BELOW(of_top.x, row / 32 % 32)];
#else
    const uint2 of_word = word[row / 32 - first_row / 32];
#endif
    return of_word.y + BELOW(of_word.x, row % 32);
}
