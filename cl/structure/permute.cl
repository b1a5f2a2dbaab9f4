// permute: computes the places of a matrix's entries after its rows and columns are permuted.
// Host: src/structure/permute.rs
//
//   permute_entries   one work-item per entry: computes its new place
//   permute_columns   one work-item per entry, in the order of rows: finds its column, the next
//                     sort key
//   permute_pattern   one work-item per entry of the result
//
//   in      col_ptr[ncols + 1]  row_idx[nnz]
//   in      row_to[nrows]  col_to[ncols]       new places of rows and columns
//   in out  wrong[1]                number of entries outside the stored triangle. TRIANGLE says
//                                   which is stored: 0 all, 1 the lower, 2 the upper triangle
//   out     row[nnz]  col[nnz]      new place of each entry, mirrored if it left the triangle
//   out     turned[nnz]             whether the entry was mirrored
//   in      by_row[nnz]             entries by row; then source[nnz]: by column, then row
//   out     col_by_row[nnz]         column of each entry of by_row
//   out     c_row_idx[nnz]  c_turned[nnz]     row of each entry of the result, and whether it is
//                                             mirrored
#ifndef TRIANGLE
#error "TRIANGLE: see src/structure/permute.rs"
#endif
#if TRIANGLE == 1
#define OUTSIDE(row, col) ((row) < (col))
#elif TRIANGLE == 2
#define OUTSIDE(row, col) ((row) > (col))
#else
#define OUTSIDE(row, col) false
#endif

KERNEL permute_entries(global const uint* col_ptr, global const uint* row_idx, global const uint* row_to, global const uint* col_to,
                       global uint* wrong, global uint* row, global uint* col, global uint* turned, uint ncols, uint nnz)
{
    const uint e = get_global_id(0);
    if (e >= nnz)
        return;
    const uint from_row = row_idx[e], from_col = column_of(col_ptr, ncols, e);
    if (OUTSIDE(from_row, from_col))
        atomic_inc(wrong);
    const uint i = row_to[from_row], j = col_to[from_col];
    const bool outside = OUTSIDE(i, j);
    row[e] = outside ? j : i;
    col[e] = outside ? i : j;
    turned[e] = outside;
}

KERNEL permute_columns(global const uint* by_row, global const uint* col, global uint* col_by_row, uint nnz)
{
    const uint k = get_global_id(0);
    if (k < nnz)
        col_by_row[k] = col[by_row[k]];
}

KERNEL permute_pattern(global const uint* source, global const uint* row, global const uint* turned, global uint* c_row_idx,
                       global uint* c_turned, uint nnz)
{
    const uint k = get_global_id(0);
    if (k >= nnz)
        return;
    c_row_idx[k] = row[source[k]];
    c_turned[k] = turned[source[k]];
}
