// scoo_atomic: y = alpha * A * x + beta * y, one work-group per slice of rows, see slice_lanes.cl,
// as published (Evtushenko 2019). Each item takes entries of the slice and adds them to lanes of
// their rows, in the order in which items arrive. This file comes after arrival.cl.
// Host: src/apply/spmv/scoo.rs
//
//   in      row_ptr[rows + 1]  row[nnz]  col[nnz]  source[nnz]   see listed.cl, values.cl
//   in      values[nnz * stride]  x[columns]
//   in out  y[rows]

ADDS_ON_ARRIVAL(add_to_lane, local, 0) // a race: see arrival.cl

KERNEL scatter_lanes(global const uint* restrict row_ptr, global const uint* restrict row, TERMS_OF(uint),
                     global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta, uint rows)
{
    local ARITHMETIC lane[SLICE * LANES];
    const uint first = get_group_id(0) * SLICE;
    for (uint i = get_local_id(0); i < SLICE * LANES; i += GROUP_SIZE)
        lane[i] = IDENTITY;
    GROUP_BARRIER;
    const uint begin = row_ptr[first], end = row_ptr[min(first + SLICE, rows)];
    for (ulong place = (ulong)begin + get_local_id(0); place < end; place += GROUP_SIZE)
        add_to_lane(&lane[(row[place] - first) * LANES + place % LANES], TERM(place));
    GROUP_BARRIER;
    place_lanes(lane, row_ptr, y, first, rows, alpha, beta);
}
