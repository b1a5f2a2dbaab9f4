// validate: checks that offsets and rows are a valid pattern.
// Host: src/resident/validate.rs
//
//   One work-group per GROUP_SIZE * ITEMS columns or entries, whichever are more, and at least one.
//
//   in      col_ptr[ncols + 1]  row_idx[nnz]
//   in out  broken[2]               zeros before; zeros after if the pattern is valid
//
// A *fall* is an entry whose row is not above the row of the entry before it. A fall is allowed
// only at the start of a column. The falls of all entries are counted, the falls at the starts of
// columns are subtracted, and the difference (broken[1]) must be zero. Work is divided by entries,
// so no column is too long for an item. The difference is modulo 2^32, which it never reaches. The
// kernel reads nothing outside the arrays, whatever they contain. Offsets and rows that are invalid
// by themselves set broken[0].
#ifndef ITEMS
#error "ITEMS: see src/resident/validate.rs"
#endif

KERNEL validate(global const uint* col_ptr, global const uint* row_idx, global uint* broken, uint nrows, uint ncols, uint nnz)
{
    local uint group_falls;
    if (get_local_id(0) == 0)
        group_falls = 0;
    GROUP_BARRIER;

    const ulong first = (ulong)get_group_id(0) * GROUP_SIZE * ITEMS + get_local_id(0);
    const ulong end = first + GROUP_SIZE * ITEMS;
    bool good = first > 0 || (col_ptr[0] == 0 && col_ptr[ncols] == nnz);
    uint falls = 0;
    for (ulong col = first; col < min(end, (ulong)ncols); col += GROUP_SIZE) {
        const uint start = col_ptr[col], stop = col_ptr[col + 1];
        if (start > stop || stop > nnz)
            good = false;
        else if (0 < start && start < stop)
            falls -= row_idx[start - 1] >= row_idx[start];
    }
    for (ulong entry = first; entry < min(end, (ulong)nnz); entry += GROUP_SIZE) {
        good = good && row_idx[entry] < nrows;
        falls += entry > 0 && row_idx[entry - 1] >= row_idx[entry];
    }
    if (falls != 0)
        atomic_add(&group_falls, falls);
    if (!good)
        atomic_or(&broken[0], 1u);
    GROUP_BARRIER; // group_falls is complete before item 0 reads it
    if (get_local_id(0) == 0 && group_falls != 0)
        atomic_add(&broken[1], group_falls);
}
