// found: places for the rows of columns of C. It comes before the kernels that find rows.
// Host: src/product/tasks/mod.rs
//
// The purpose is ALL columns of a task; MISSING, those whose rows found no place, but whose lengths
// are known; or SAMPLE, of which nothing is written.
#define NOWHERE 0xffffffff
#define ALL 0
#define MISSING 1
#define SAMPLE 2

// The place for `count` rows; NOWHERE if they do not fit.
uint take_place(global uint* top, uint count, uint room)
{
    const uint at = atomic_add(top, count);
    return at <= room && count <= room - at ? at : NOWHERE;
}
