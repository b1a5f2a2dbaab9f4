// ell: y = alpha * A * x + beta * y, one work-item per scalar row of slices, see slices.cl.
// Host: src/apply/spmv/ell.rs
//
//   in      slice_ptr[slices + 1]  col[places]  source[places]   see values.cl
//   in      values[..]  x[columns * DEPTH]
//   in out  y[rows * SUMS]
//
// Neighbours read neighbouring places. The entries of a row are its first places, so it ends at the
// first padding; padding is never multiplied, since x may hold infinities. The terms are added in
// ascending place. After every PIECE entries a new sum begins, and the sums are added left to
// right.
#if !defined(PIECE)
#error "PIECE: see src/apply/spmv/ell.rs"
#endif
#define PADDING 0xffffffffu

KERNEL sum_slices(global const ulong* restrict slice_ptr, global const uint* restrict col, global const uint* restrict source,
                  global const VALUE* restrict values, global const ELEMENT* restrict x, global ELEMENT* restrict y, uint rows,
                  uint height, uint stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const ulong item = get_global_id(0);
    if (item >= (ulong)rows * SUMS)
        return;
    const uint line = item / SUMS, number = item % SUMS, row = line % height;
    const ulong end = slice_ptr[line / height + 1];
    ulong first = slice_ptr[line / height];
    ARITHMETIC sum = first < end && col[first + row] != PADDING ? IDENTITY : EMPTY;
    while (first < end && col[first + row] != PADDING) {
        const ulong piece_end = min(end, first + (ulong)PIECE * height);
        ARITHMETIC part = IDENTITY;
        IN_ORDER
        for (; first < piece_end && col[first + row] != PADDING; first += height)
            part = add_terms(part, values, BEGIN_SLICED(first, height, row, number), STEP_SLICED(first, height, row), x,
                             col[first + row]);
        sum = ADD(sum, part);
    }
    place_sum(sum, y, item, alpha, beta);
}
