// transpose: the pattern of a transpose, and the entry that each of its entries comes from.
// Host: src/primitives/transpose.rs
//
//   transpose_start    one work-item per entry
//   transpose_rows     one work-item per entry of the transpose
//   transpose_columns  one work-item per column of the transpose, and one more
//
//   in   col_ptr[ncols + 1]  row_idx[nnz]
//   out  key[nnz]  entry_idx[nnz]     row and number of each entry; then sorted by row, stably, so
//                                     that columns ascend
//   out  t_row_idx[nnz]               column that each sorted entry comes from
//   out  t_col_ptr[nrows + 1]         number of sorted entries in the rows before
KERNEL transpose_start(global const uint* row_idx, global uint* key, global uint* entry_idx, uint nnz)
{
    const uint i = get_global_id(0);
    if (i < nnz) {
        key[i] = row_idx[i];
        entry_idx[i] = i;
    }
}

KERNEL transpose_rows(global const uint* col_ptr, global const uint* entry_idx, global uint* t_row_idx, uint ncols, uint nnz)
{
    const uint i = get_global_id(0);
    if (i < nnz)
        t_row_idx[i] = column_of(col_ptr, ncols, entry_idx[i]);
}

KERNEL transpose_columns(global const uint* key, global uint* t_col_ptr, uint nrows, uint nnz)
{
    const uint row = get_global_id(0);
    if (row <= nrows)
        t_col_ptr[row] = lower_bound(key, 0, nnz, row);
}
