// ell: y = alpha * A * x + beta * y, one work-item per scalar row of slices, see slices.cl.
// Host: src/apply/spmv/ell.rs
//
//   in      slice_ptr[slices + 1]  col[places]  source[places]   see values.cl
//   in      first_col[..]   for each NEAR_ROWS rows, if NEAR; see row.cl
//   in      values[..]  x[columns * DEPTH]
//   in out  y[rows * SUMS]
//
// Neighbouring items read neighbouring places. This file comes after row.cl, which describes the
// order of addition.
KERNEL sum_slices(global const ulong* restrict slice_ptr, TERMS_OF(COLUMN), global const uint* restrict first_col,
                  global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta, uint rows, uint height)
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
    const PLACE begin = slice_ptr[slice], end = slice_ptr[slice + 1];
    const ARITHMETIC sum = sum_entries(begin, end, height, line % height, item % SUMS, first, TERMS);
    place_sum(sum, y, item, alpha, beta);
}
