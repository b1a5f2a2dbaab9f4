// listed: lists the row of every entry, and writes the rows without entries, for formats whose
// work-items take entries, not rows.
// Host: src/apply/spmv/listed.rs
//
//   list_rows   one work-item per entry, once for all executions
//   empty_rows  one work-item per row: y = alpha * EMPTY + beta * y for rows without entries
//
//   in      row_ptr[rows + 1]
//   out     row[nnz]
//   in out  y[rows]

KERNEL list_rows(global const uint* restrict row_ptr, global uint* restrict row, uint rows, uint nnz)
{
    const uint entry = get_global_id(0);
    if (entry < nnz)
        row[entry] = column_of(row_ptr, rows, entry);
}

KERNEL empty_rows(global const uint* restrict row_ptr, global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta, uint rows)
{
    const uint row = get_global_id(0);
    if (row < rows && row_ptr[row] == row_ptr[row + 1])
        place_sum(EMPTY, y, row, alpha, beta);
}
