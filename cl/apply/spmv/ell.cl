// ell: y = alpha * A * x + beta * y, one work-item per scalar row of slices, see slices.cl.
// Host: src/apply/spmv/ell.rs
//
//   in      slice_ptr[slices + 1]  col[places]  source[places]   see values.cl
//   in      first_col[..]   for each NEAR_ROWS rows, if NEAR; see row.cl
//   in      values[..]  x[columns * DEPTH]
//   in out  y[rows * SUMS]
//
// Neighbouring items read neighbouring places. It comes after row.cl, which describes the order of
// addition.
KERNEL sum_slices(global const ulong* restrict slice_ptr, global const COLUMN* restrict col, global const uint* restrict first_col,
                  global const uint* restrict source, global const VALUE* restrict values, global const ELEMENT* restrict x,
                  global ELEMENT* restrict y, uint rows, uint height, uint stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const ulong item = get_global_id(0);
    if (item >= (ulong)rows * SUMS)
        return;
    const uint line = item / SUMS, slice = line / height;
#if NEAR
    const uint first = first_col[line / NEAR_ROWS];
#else
    const uint first = 0;
#endif
    const ARITHMETIC sum = sum_entries((PLACE)slice_ptr[slice], (PLACE)slice_ptr[slice + 1], height, line % height, item % SUMS, col,
                                       first, source, values, x, stride);
    place_sum(sum, y, item, alpha, beta);
}
