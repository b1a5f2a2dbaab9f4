// csr: y = alpha * A * x + beta * y of compressed rows.
// Host: src/apply/spmv/csr.rs
//
//   sum_rows       one work-item per row
//   sum_stretches  one work-item, alone in its group, per stretch of rows
//
//   in      row_ptr[rows + 1]  col[nnz]  source[nnz]   see values.cl
//   in      stretch_row[stretches + 1]   first row of each stretch
//   in      values[nnz * stride]  x[columns]
//   in out  y[rows]
//
// The terms of a row are added in ascending place. After every PIECE terms a new sum begins, and
// the sums are added left to right. A sum starts from IDENTITY, which changes no bit of the first.
#if !defined(PIECE)
#error "PIECE: see src/apply/spmv/csr.rs"
#endif

// A row is short, and its end is hard to foresee: copies of the loop's body cost more than they
// save.
#ifdef __clang__
#define AS_WRITTEN _Pragma("clang loop vectorize(disable) interleave(disable) unroll(disable)")
#else
#define AS_WRITTEN
#endif

// The sum of the terms from `place` to `end`.
ARITHMETIC sum_row(uint place, uint end, global const uint* restrict col, global const uint* restrict source,
                   global const ELEMENT* restrict values, global const ELEMENT* restrict x, uint stride)
{
    ARITHMETIC sum = place < end ? IDENTITY : EMPTY;
    while (end - place > PIECE) {
        const uint piece_end = place + PIECE;
        ARITHMETIC part = IDENTITY;
        AS_WRITTEN
        for (; place < piece_end; ++place)
            part = ADD(part, TERM(place));
        sum = ADD(sum, part);
    }
    ARITHMETIC part = IDENTITY;
    AS_WRITTEN
    for (; place < end; ++place)
        part = ADD(part, TERM(place));
    return ADD(sum, part);
}

KERNEL sum_rows(global const uint* restrict row_ptr, global const uint* restrict col, global const uint* restrict source,
                global const ELEMENT* restrict values, global const ELEMENT* restrict x, global ELEMENT* restrict y, uint rows,
                uint stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint row = get_global_id(0);
    if (row < rows)
        place_sum(sum_row(row_ptr[row], row_ptr[row + 1], col, source, values, x, stride), y, row, alpha, beta);
}

KERNEL sum_stretches(global const uint* restrict row_ptr, global const uint* restrict stretch_row, global const uint* restrict col,
                     global const uint* restrict source, global const ELEMENT* restrict values, global const ELEMENT* restrict x,
                     global ELEMENT* restrict y, uint stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint stretch = get_group_id(0), first = stretch_row[stretch], last = stretch_row[stretch + 1];
    uint place = row_ptr[first];
    for (uint row = first; row < last; ++row) {
        const uint end = row_ptr[row + 1];
        place_sum(sum_row(place, end, col, source, values, x, stride), y, row, alpha, beta);
        place = end;
    }
}
