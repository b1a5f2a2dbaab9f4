// ell: y = alpha * A * x + beta * y, one work-item per row of slices, see slices.cl.
// Host: src/apply/spmv/ell.rs
//
//   in      slice_ptr[slices + 1]  col[places]  source[places]   see values.cl
//   in      values[..]  x[columns]
//   in out  y[rows]
//
// Neighbours read neighbouring places. The entries of a row are its first places, so it ends at the
// first padding; padding is never multiplied, since x may hold infinities. The terms are added in
// ascending place. After every PIECE terms a new sum begins, and the sums are added left to right.
#if !defined(PIECE)
#error "PIECE: see src/apply/spmv/ell.rs"
#endif
#define PADDING 0xffffffffu

KERNEL sum_slices(global const ulong* restrict slice_ptr, global const uint* restrict col, global const uint* restrict source,
                  global const ELEMENT* restrict values, global const ELEMENT* restrict x, global ELEMENT* restrict y, uint rows,
                  uint height, uint stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint row = get_global_id(0);
    if (row >= rows)
        return;
    const ulong end = slice_ptr[row / height + 1];
    ulong place = slice_ptr[row / height] + row % height;
    ARITHMETIC sum = place < end && col[place] != PADDING ? IDENTITY : EMPTY;
    while (place < end && col[place] != PADDING) {
        const ulong piece_end = min(end, place + (ulong)PIECE * height);
        ARITHMETIC part = IDENTITY;
        IN_ORDER
        for (; place < piece_end && col[place] != PADDING; place += height)
            part = ADD(part, TERM(place));
        sum = ADD(sum, part);
    }
    place_sum(sum, y, row, alpha, beta);
}
