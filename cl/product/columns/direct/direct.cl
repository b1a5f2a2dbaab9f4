// direct: computes columns of C whose column of B has one entry. If a column of B has one entry,
// the column of C is a scaled column of A.
// Host: src/product/columns/direct/mod.rs
//
//   count_direct   columns + 1 work-items, one per column of the task
//   sum_direct     one work-group per TILE entries of the task's columns, column after column
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  a_values[a_nnz]
//   in   b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]  b_values[b_nnz]
//   in   products[cols]           products of each column, which are its entries of C
//   in   list[first + columns]    the columns of the task, counted from first_col. If not `listed`,
//                                 they are the first `columns`, and list is not read
//   out  lengths[cols * windows]  entries of the task's columns, counted as those of the first
//                                 window
//   i/o  own_ptr[columns + 1]     if `listed`, the same numbers, column of the task after column.
//                                 For sum_direct the numbers are scanned: the entries before each
//                                 of the task's columns, none of which is empty
//   in   chunk_ptr[cols * windows + 1]    entries of C before each window of each column
//   out  c_row_idx[c_nnz]  c_values[c_nnz]    the task's columns of C, see
//                                      cl/product/terms/target.cl
#if !defined(TILE)
#error "TILE: see src/product/columns/direct/mod.rs"
#endif

KERNEL count_direct(global const uint* products, global const uint* list, global uint* lengths, global uint* own_ptr,
                    uint first, uint columns, uint listed, uint windows)
{
    const uint i = get_global_id(0);
    uint count = 0;
    if (i < columns) {
        const uint col = listed ? list[first + i] : i;
        count = products[col];
        lengths[col * windows] = count;
    }
    if (listed && i <= columns)
        own_ptr[i] = count;
}

KERNEL sum_direct(global const uint* a_col_ptr, global const uint* a_row_idx, global const ELEMENT* a_values,
                  global const uint* b_col_ptr, global const uint* b_row_idx, global const ELEMENT* b_values,
                  global const uint* list, global const uint* own_ptr, global const uint* chunk_ptr,
                  global uint* c_row_idx, global ELEMENT* c_values, uint first, uint columns, uint listed, uint first_col,
                  uint windows, uint entries, TARGET_ARGUMENTS)
{
    const uint begin = get_group_id(0) * TILE, end = min(begin + TILE, entries);
    const uint low = column_of(own_ptr, columns, begin), high = column_between(own_ptr, low, columns - 1, end - 1);
    for (uint entry = begin + get_local_id(0); entry < end; entry += GROUP_SIZE) {
        const uint at = column_between(own_ptr, low, high, entry), in_column = entry - own_ptr[at];
        const uint col = listed ? list[first + at] : at, of_b = b_col_ptr[first_col + col];
        const uint from = a_col_ptr[b_row_idx[of_b]] + in_column, to = chunk_ptr[col * windows] + in_column;
        PUT_ROW(a_row_idx[from], to);
        // A run of one product is not added to the identity, because the sum would have the same
        // bits.
        PUT_SUM(MULTIPLY(A_VALUE(from), B_VALUE(of_b)), to);
    }
}
