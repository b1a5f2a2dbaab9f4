// table: a hash table of rows. This file comes before the kernels that use a table, and after
// cl/team.cl.
// Hosts: src/product/columns/hash/mod.rs, src/product/columns/tasks/sums.rs
//
// A row is stored at the first free place from the place of its hash on. After the last place the
// search continues at the first. The number of places, the capacity, is at least the number of rows
// and need not be a power of two. Items insert rows in any order, so the places differ from run to
// run, but the set of rows does not.
#define NO_ROW 0xffffffff

// Returns the place at which the search for a row begins.
uint hash_place(uint row, uint capacity)
{
    return mul_hi(row * 2654435761u, capacity);
}

// Inserts a row into a table, unless it is there. A place that is taken does not change, so the
// items of a warp may read it without an atomic.
#define DEFINE_INSERT(insert, SPACE)                                                                                  \
    void insert(volatile SPACE uint* table, uint capacity, uint row)                                                  \
    {                                                                                                                 \
        uint at = hash_place(row, capacity);                                                                          \
        for (;;) {                                                                                                    \
            uint found = WARPS ? table[at] : NO_ROW;                                                                  \
            if (found == NO_ROW)                                                                                      \
                found = atomic_cmpxchg(table + at, NO_ROW, row);                                                      \
            if (found == NO_ROW || found == row)                                                                      \
                return;                                                                                               \
            at = at + 1 < capacity ? at + 1 : 0;                                                                      \
        }                                                                                                             \
    }
DEFINE_INSERT(insert_local, local)

// Returns the place of a row, which must be in the table.
uint place_of_row(local const uint* table, uint capacity, uint row)
{
    uint at = hash_place(row, capacity);
    while (table[at] != row)
        at = at + 1 < capacity ? at + 1 : 0;
    return at;
}
