// triangles: the entries of a pattern below its diagonal, or above it.
// Host: src/graph/triangles.rs
//
//   count_side  one work-item per column, and one more
//   copy_side   LANES work-items per column
//
//   in      col_ptr[vertices + 1]  row_idx[edges]     rows ascend in each column
//   in out  side_ptr[vertices + 1]  entries of each column on the side; after an exclusive scan,
//                                   where they begin
//   out     side_row[...]
//
// `above` is 1 for the rows above the diagonal, 0 for those below. Both sides of a column are one
// piece of it.
#if !defined(LANES)
#error "LANES: see src/graph/triangles.rs"
#endif

// The first entry of a column that is on the side below, or the end of those above.
uint border(global const uint* col_ptr, global const uint* row_idx, uint col, uint above)
{
    return lower_bound(row_idx, col_ptr[col], col_ptr[col + 1], above ? col : col + 1);
}

KERNEL count_side(global const uint* restrict col_ptr, global const uint* restrict row_idx, global uint* restrict side_ptr,
                  uint vertices, uint above)
{
    const uint col = get_global_id(0);
    if (col > vertices)
        return;
    if (col == vertices) {
        side_ptr[col] = 0; // the scan puts their number here
        return;
    }
    const uint at = border(col_ptr, row_idx, col, above);
    side_ptr[col] = above ? at - col_ptr[col] : col_ptr[col + 1] - at;
}

KERNEL copy_side(global const uint* restrict col_ptr, global const uint* restrict row_idx, global const uint* restrict side_ptr,
                 global uint* restrict side_row, uint vertices, uint above)
{
    const uint col = get_global_id(0) / LANES, lane = get_global_id(0) % LANES;
    if (col >= vertices)
        return;
    const uint to = side_ptr[col], count = side_ptr[col + 1] - to;
    const uint from = above ? col_ptr[col] : col_ptr[col + 1] - count;
    for (uint i = lane; i < count; i += LANES)
        side_row[to + i] = row_idx[from + i];
}
