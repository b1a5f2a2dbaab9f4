// found: places for the rows of columns of C. It comes before the kernels that find rows.
// Host: src/product/columns/tasks/mod.rs
//
// The purpose is ALL columns of a task; MISSING, those whose rows found no place, but whose lengths
// are known; or SAMPLE, of which nothing is written.
#define NOWHERE 0xffffffff
#define ALL 0
#define MISSING 1
#define SAMPLE 2

// The place at which `count` rows are; NOWHERE if they do not fit.
uint place_within(uint at, uint count, uint room)
{
    return at <= room && count <= room - at ? at : NOWHERE;
}

// The place for `count` rows.
uint take_place(global uint* top, uint count, uint room)
{
    return place_within(atomic_add(top, count), count, room);
}
