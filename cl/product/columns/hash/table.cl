// table: a set of rows, by hashes of them. It comes before the kernels that use one, and behind
// cl/team.cl.
// Hosts: src/product/columns/hash/mod.rs, src/product/columns/tasks/sums.rs
//
// A row is at the first free place from that of its hash on, in a circle. The places are those
// below a capacity, which need not be a power of two and is at least the number of rows. Whichever
// item is first puts a row there: where a row is differs from run to run, but not which are there.
#define NO_ROW 0xffffffff

// Where the search for a row begins.
uint hash_place(uint row, uint capacity)
{
    return mul_hi(row * 2654435761u, capacity);
}

// Puts a row into a table, unless it is there. A place that is taken stays as it is, so that the
// items of a warp may look at it without an atomic.
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

// The place of a row that is in the table.
uint place_of_row(local const uint* table, uint capacity, uint row)
{
    uint at = hash_place(row, capacity);
    while (table[at] != row)
        at = at + 1 < capacity ? at + 1 : 0;
    return at;
}
