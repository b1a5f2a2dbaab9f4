// scaling: multiplies the rows or the columns of a matrix by the elements of a vector, in place.
// Host: src/vector/scaling.rs
//
//   scale_rows, scale_columns    one work-group per ENTRIES entries
//
//   in      col_ptr[ncols + 1]  row_idx[nnz]
//   in      factor[nrows * ROWS] or [ncols * COLS]
//   in out  values[nnz * stride]        blocks of ROWS x COLS, column-major
//
// The kernels support plus-times only, because the factors are real numbers that have inverses.
#if !defined(ROWS) || !defined(COLS) || !defined(ENTRIES)
#error "ROWS, COLS, ENTRIES: see src/vector/scaling.rs"
#endif
#define AREA (ROWS * COLS)

void multiply_by(ARITHMETIC factor, global ELEMENT* values, ulong at)
{
    STORE(LOAD(values, at) * factor, values, at);
}

KERNEL scale_rows(global const uint* restrict row_idx, global const ELEMENT* restrict factor, global ELEMENT* restrict values,
                  uint nnz, uint stride)
{
    const uint begin = get_group_id(0) * ENTRIES, count = min((uint)ENTRIES, nnz - begin);
    for (uint i = get_local_id(0); i < count * AREA; i += GROUP_SIZE) {
        const uint entry = begin + i / AREA, element = i % AREA;
        const ulong row = (ulong)row_idx[entry] * ROWS + element % ROWS;
        multiply_by(LOAD(factor, row), values, (ulong)entry * stride + element);
    }
}

KERNEL scale_columns(global const uint* restrict col_ptr, global const ELEMENT* restrict factor, global ELEMENT* restrict values,
                     uint nnz, uint ncols, uint stride)
{
    local uint column[2]; // column of the work-group's first entry, and of its last
    const uint begin = get_group_id(0) * ENTRIES, count = min((uint)ENTRIES, nnz - begin);
    for (uint i = get_local_id(0); i < 2; i += GROUP_SIZE)
        column[i] = column_of(col_ptr, ncols, i == 0 ? begin : begin + count - 1);
    GROUP_BARRIER;
    for (uint i = get_local_id(0); i < count * AREA; i += GROUP_SIZE) {
        const uint entry = begin + i / AREA, element = i % AREA;
        const ulong col = (ulong)column_between(col_ptr, column[0], column[1], entry) * COLS + element / ROWS;
        multiply_by(LOAD(factor, col), values, (ulong)entry * stride + element);
    }
}
