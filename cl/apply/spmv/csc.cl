// csc: y = alpha * A * x + beta * y for compressed columns. Each work-group is one work-item, which
// adds a share of the rows.
// Host: src/apply/spmv/csc.rs
//
//   in      col_ptr[columns + 1]  row_idx[nnz]  source[nnz]   see values.cl
//   in      values[nnz * stride]  x[columns]
//           terms[rows]   number of terms of each row so far
//           part[rows]    the sum of the terms since the last cut
//           whole[rows]   the sum of the pieces before that cut; unused for rows of one piece
//   in out  y[rows]
//
// Every item goes through all columns from left to right, and in each column takes the entries of
// its own rows. So the terms of a row are added in ascending order, and no two items share a row.
// After every PIECE entries of a row a new sum begins, and the sums are added left to right.
#if !defined(PIECE)
#error "PIECE: see src/apply/spmv/csc.rs"
#endif

KERNEL sum_columns(global const uint* restrict col_ptr, global const uint* restrict row_idx, global const uint* restrict source,
                   global const VALUE* restrict values, global const ELEMENT* restrict x, global uint* restrict terms,
                   global ARITHMETIC* restrict part, global ARITHMETIC* restrict whole, global ELEMENT* restrict y,
                   ARITHMETIC alpha, ARITHMETIC beta, uint rows, uint columns, uint share, uint stride)
{
    const uint first = min((ulong)rows, get_group_id(0) * (ulong)share), end = min((ulong)rows, (ulong)first + share);
    for (uint row = first; row < end; ++row)
        terms[row] = 0;
    for (uint col = 0; col < columns; ++col) {
        const uint col_end = col_ptr[col + 1];
        uint place = col_ptr[col], beyond = col_end;
        if (place == col_end)
            continue;
        // Finds the first entry of the share.
        while (place < beyond) {
            const uint middle = place + (beyond - place) / 2;
            const bool is_before = row_idx[middle] < first;
            place = is_before ? middle + 1 : place;
            beyond = is_before ? beyond : middle;
        }
        const ARITHMETIC factor = LOAD(x, col);
        AS_WRITTEN
        for (; place < col_end && row_idx[place] < end; ++place) {
            const uint row = row_idx[place], before = terms[row];
            ARITHMETIC sum = part[row];
            if (before % PIECE == 0) {
                if (before > 0)
                    whole[row] = ADD(before == PIECE ? IDENTITY : whole[row], sum);
                sum = IDENTITY;
            }
            part[row] = ADD(sum, MULTIPLY(LOAD_VALUE(values, BEGIN(place, 0)), factor));
            terms[row] = before + 1;
        }
    }
    for (uint row = first; row < end; ++row) {
        const uint count = terms[row];
        const ARITHMETIC before = count > PIECE ? whole[row] : IDENTITY;
        place_sum(count > 0 ? ADD(before, part[row]) : EMPTY, y, row, alpha, beta);
    }
}
