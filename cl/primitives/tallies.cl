// tallies: sorts the entries of compressed columns by row, on CPUs. Each work-item has a share of
// the entries, and its own counter for each row.
// Host: src/primitives/tallies.rs
//
//   count_share   one work-item per share of `share` entries
//   sum_shares    one work-item per stretch of rows
//   begin_shares  one work-item per stretch of rows
//   place_share   one work-item per share of `share` entries
//
//   in      row_idx[n]  col_ptr[ncols + 1]
//   in out  counts[shares * rows]  zero before. Then for each share the number of its entries in
//                                  each row; then the number in the shares before it; then the
//                                  place of its next entry
//   out     row_ptr[rows + 1]      entries of each row, 0 after the last
//   in      row_ptr[rows + 1]      the entries of rows, scanned
//   out     column[n]  order[n]    the columns and the indices of the entries by rows, ascending in
//                                  each row
#if !defined(STRETCH)
#error "STRETCH: see src/primitives/tallies.rs"
#endif

KERNEL count_share(global const uint* restrict row_idx, global uint* restrict counts, uint n, uint share, uint rows)
{
    const uint begin = get_group_id(0) * share, end = begin < n ? begin + min(share, n - begin) : begin;
    global uint* own = counts + (ulong)get_group_id(0) * rows;
    for (uint entry = begin; entry < end; ++entry)
        ++own[row_idx[entry]];
}

KERNEL sum_shares(global uint* restrict counts, global uint* restrict row_ptr, uint rows, uint shares)
{
    const uint begin = get_group_id(0) * STRETCH, end = min(begin + STRETCH, rows);
    for (uint row = begin; row < end; ++row) {
        uint before = 0;
        for (uint share = 0; share < shares; ++share) {
            const ulong at = (ulong)share * rows + row;
            const uint count = counts[at];
            counts[at] = before;
            before += count;
        }
        row_ptr[row] = before;
    }
    // The stretch that reaches the last row also writes the place after it.
    if (begin <= rows && rows < begin + STRETCH)
        row_ptr[rows] = 0;
}

KERNEL begin_shares(global const uint* restrict row_ptr, global uint* restrict counts, uint rows, uint shares)
{
    const uint begin = get_group_id(0) * STRETCH, end = min(begin + STRETCH, rows);
    for (uint share = 0; share < shares; ++share) {
        for (uint row = begin; row < end; ++row)
            counts[(ulong)share * rows + row] += row_ptr[row];
    }
}

KERNEL place_share(global const uint* restrict row_idx, global const uint* restrict col_ptr, global uint* restrict counts,
                   global uint* restrict column, global uint* restrict order, uint n, uint share, uint rows, uint ncols)
{
    const uint begin = get_group_id(0) * share, end = begin < n ? begin + min(share, n - begin) : begin;
    global uint* own = counts + (ulong)get_group_id(0) * rows;
    uint col = begin < end ? column_of(col_ptr, ncols, begin) : 0;
    for (uint entry = begin; entry < end; ++col) {
        const uint of_column = min(col_ptr[col + 1], end);
        for (; entry < of_column; ++entry) {
            const uint place = own[row_idx[entry]]++;
            column[place] = col;
            order[place] = entry;
        }
    }
}
