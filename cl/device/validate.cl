// validate: the first column whose offsets or rows are not those of a pattern.              host: src/device/validate.rs
//
//   one work-item per column
//
//   in      col_ptr[ncols + 1]  row_idx[nnz]
//   in out  first_bad[1]            least number of a bad column; ncols or more before
//
// Offsets are compared with nnz before they index row_idx: nothing is read outside the arrays, whatever they hold.
KERNEL validate(global const uint* col_ptr, global const uint* row_idx, global uint* first_bad, uint nrows, uint ncols, uint nnz)
{
    const uint col = get_global_id(0);
    if (col >= ncols)
        return;
    const uint begin = col_ptr[col], end = col_ptr[col + 1];
    bool good = begin <= end && end <= nnz && (col > 0 || begin == 0) && (col + 1 < ncols || end == nnz);
    for (uint entry = begin; good && entry < end; ++entry)
        good = row_idx[entry] < nrows && (entry == begin || row_idx[entry - 1] < row_idx[entry]);
    if (!good)
        atomic_min(&first_bad[0], col);
}
