// scoo: y = alpha * A * x + beta * y, one work-group per slice of rows, see slice_lanes.cl. Each of
// the LANES lanes of a row adds every LANES-th term of the row.
// Host: src/apply/spmv/scoo.rs
//
//   in      row_ptr[rows + 1]  col[nnz]  source[nnz]   see values.cl
//   in      values[nnz * stride]  x[columns]
//   in out  y[rows]

KERNEL sum_lanes(global const uint* restrict row_ptr, TERMS_OF(uint), global ELEMENT* restrict y, ARITHMETIC alpha,
                 ARITHMETIC beta, uint rows)
{
    local ARITHMETIC lane[SLICE * LANES];
    const uint first = get_group_id(0) * SLICE;
    for (uint i = get_local_id(0); i < SLICE * LANES; i += GROUP_SIZE) {
        const uint row = first + i / LANES;
        const uint begin = row < rows ? row_ptr[row] : 0, end = row < rows ? row_ptr[row + 1] : 0;
        ARITHMETIC sum = IDENTITY;
        IN_ORDER
        for (ulong place = (ulong)begin + i % LANES; place < end; place += LANES)
            sum = ADD(sum, TERM(place));
        lane[i] = sum;
    }
    GROUP_BARRIER;
    place_lanes(lane, row_ptr, y, first, rows, alpha, beta);
}
