// csr: y = alpha * A * x + beta * y, one work-item per row of compressed rows.
// Host: src/apply/spmv/csr.rs
//
//   in      row_ptr[rows + 1]  col[nnz]  source[nnz]   see values.cl
//   in      values[nnz * stride]  x[columns]
//   in out  y[rows]
//
// The terms of a row are added in ascending place. After every PIECE terms a new sum begins, and
// the sums are added left to right. A sum starts from IDENTITY, which changes no bit of the first.
#if !defined(PIECE)
#error "PIECE: see src/apply/spmv/csr.rs"
#endif

KERNEL sum_rows(global const uint* restrict row_ptr, global const uint* restrict col, global const uint* restrict source,
                global const ELEMENT* restrict values, global const ELEMENT* restrict x, global ELEMENT* restrict y, uint rows,
                uint stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint row = get_global_id(0);
    if (row >= rows)
        return;
    uint place = row_ptr[row];
    const uint end = row_ptr[row + 1];
    ARITHMETIC sum = place < end ? IDENTITY : EMPTY;
    while (place < end) {
        const uint piece_end = end - place > PIECE ? place + PIECE : end;
        ARITHMETIC part = IDENTITY;
        IN_ORDER
        for (; place < piece_end; ++place)
            part = ADD(part, TERM(place));
        sum = ADD(sum, part);
    }
    place_sum(sum, y, row, alpha, beta);
}
