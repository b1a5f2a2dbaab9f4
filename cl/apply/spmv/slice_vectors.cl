// slice_vectors: y = alpha * A * x + beta * y of slices of LANES rows of scalars, whose values are
// packed, see slices.cl and values.cl. Plus-times alone.
// Host: src/apply/spmv/slice_vectors.rs
//
//   in      slice_ptr[slices + 1]  col[places]
//   in      first_col[slices]   of each slice, if NEAR, see row.cl
//   in      values[places]  x[columns]
//   in out  y[rows]
//
// One work-item, alone in its group, has `each` slices, and adds the rows of a slice at once: the
// lanes of a vector. No row has more than PIECE entries, so a sum is never cut. Columns without
// padding are added as vectors; behind them the rows are added one by one. It comes after row.cl.
#if !defined(LANES)
#error "LANES: see src/apply/spmv/slice_vectors.rs"
#endif
#define PASTED(a, b) a##b
#define JOINED(a, b) PASTED(a, b)
#define SUMS_OF_ROWS JOINED(ARITHMETIC, LANES)
#define COLUMNS_OF_ROWS JOINED(COLUMN, LANES)
#define LOADED JOINED(vload, LANES)
#define STORED JOINED(vstore, LANES)
#define CONVERTED(vector) JOINED(convert_, SUMS_OF_ROWS)(vector)

KERNEL sum_slice_vectors(global const ulong* restrict slice_ptr, global const COLUMN* restrict col, global const uint* restrict first_col,
                         global const VALUE* restrict values, global const ELEMENT* restrict x, global ELEMENT* restrict y,
                         uint rows, uint slices, uint each, ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint first_slice = get_group_id(0) * each, last_slice = slices - first_slice > each ? first_slice + each : slices;
    ulong begin = slice_ptr[first_slice];
    for (uint slice = first_slice; slice < last_slice; ++slice) {
        const ulong end = slice_ptr[slice + 1];
        const uint row = slice * LANES, left = rows - row;
#if NEAR
        global const ELEMENT* const from = x + first_col[slice];
#else
        global const ELEMENT* const from = x;
#endif
        SUMS_OF_ROWS sum = IDENTITY;
        ulong place = begin;
        AS_WRITTEN
        for (; place < end; place += LANES) {
            const COLUMNS_OF_ROWS at = LOADED(0, col + place);
            if (any(at == NONE))
                break;
            const SUMS_OF_ROWS factor = (SUMS_OF_ROWS)(from[at.s0], from[at.s1], from[at.s2], from[at.s3], from[at.s4], from[at.s5],
                                                       from[at.s6], from[at.s7]);
            sum = ADD(sum, MULTIPLY(CONVERTED(LOADED(0, values + place)), factor));
        }
        if (place == end && begin < end && left >= LANES && beta == 0) {
            STORED(JOINED(convert_, JOINED(ELEMENT, LANES))(alpha * sum), 0, y + row);
        } else {
            ARITHMETIC of_row[LANES];
            STORED(sum, 0, of_row);
            for (uint lane = 0; lane < LANES && lane < left; ++lane) {
                ARITHMETIC total = of_row[lane];
                bool is_empty = place == begin;
                AS_WRITTEN
                for (ulong next = place; next < end && col[next + lane] != NONE; next += LANES) {
                    total = ADD(total, MULTIPLY(LOAD_VALUE(values, next + lane), LOAD(from, col[next + lane])));
                    is_empty = false;
                }
                place_sum(is_empty ? EMPTY : total, y, row + lane, alpha, beta);
            }
        }
        begin = end;
    }
}
