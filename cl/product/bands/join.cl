// join: copies the column pointers of a band to those of C.
// Host: src/product/bands/join.rs
//
//   cols + 1 work-items.
//
//   in   band_col_ptr[cols + 1]
//   out  c_col_ptr[first_col + cols + 1]    from first_col on: the band's, increased by the number
//                                           of entries of the bands before it
KERNEL join(global const uint* band_col_ptr, global uint* c_col_ptr, uint first_col, uint cols, uint entries_before)
{
    const uint col = get_global_id(0);
    if (col <= cols)
        c_col_ptr[first_col + col] = entries_before + band_col_ptr[col];
}
