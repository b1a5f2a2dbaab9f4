// offsets: computes where columns of C begin, after the entries of each window of a column were
// scanned.
// Host: src/product/columns/adaptive/mod.rs
//
//   cols + 1 work-items
//
//   in   chunk_ptr[cols * windows + 1]
//   out  c_col_ptr[cols + 1]
KERNEL column_offsets(global const uint* chunk_ptr, global uint* c_col_ptr, uint cols, uint windows)
{
    const uint col = get_global_id(0);
    if (col <= cols)
        c_col_ptr[col] = chunk_ptr[col * windows];
}
