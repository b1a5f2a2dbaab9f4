// found: allocates places for the rows of columns of C. This file comes before the kernels that
// find rows.
// Host: src/product/columns/tasks/mod.rs
//
// The purpose says which columns are counted: ALL columns of a task; MISSING, those whose lengths
// are known but whose rows did not fit; or SAMPLE, a sample whose rows are not written.
#define NOWHERE 0xffffffff
#define ALL 0
#define MISSING 1
#define SAMPLE 2

// The parameters of kernels that find rows, as InRows and InColumns of
// src/product/columns/tasks/mod.rs pass them.
#define IN_ROWS                                                                                                            \
    global const uint *a_col_ptr, global const uint *a_row_idx, global const uint *b_col_ptr,                         \
        global const uint *b_row_idx, global const uint *list, global const uint *first_row,                          \
        global const uint *last_row, global const uint *products, global uint *lengths, global uint *place,           \
        global uint *top, global uint *rows
#define IN_COLUMNS uint words, uint room, uint first, uint columns, uint listed, uint first_col, uint windows, uint purpose

// Returns the place of `count` rows that begin at `at`, or NOWHERE if they do not fit.
uint place_within(uint at, uint count, uint room)
{
    return at <= room && count <= room - at ? at : NOWHERE;
}

// Allocates a place for `count` rows.
uint take_place(global uint* top, uint count, uint room)
{
    return place_within(atomic_add(top, count), count, room);
}
