// slice_lanes: slices of SLICE rows, each row with LANES sums in local memory.
// Host: src/apply/spmv/scoo.rs
//
// The lanes of a row are added from left to right. A lane without terms has the sum IDENTITY. This
// file comes before scoo.cl and scoo_atomic.cl.
#if !defined(SLICE) || !defined(LANES)
#error "SLICE, LANES: see src/apply/spmv/scoo.rs"
#endif

// Adds the lanes of each row of a slice.
void place_lanes(local const ARITHMETIC* lane, global const uint* restrict row_ptr, global ELEMENT* restrict y, uint first, uint rows,
                 ARITHMETIC alpha, ARITHMETIC beta)
{
    for (uint i = get_local_id(0); i < SLICE && first + i < rows; i += GROUP_SIZE) {
        ARITHMETIC sum = lane[i * LANES];
        IN_ORDER
        for (uint l = 1; l < LANES; ++l)
            sum = ADD(sum, lane[i * LANES + l]);
        place_sum(row_ptr[first + i] < row_ptr[first + i + 1] ? sum : EMPTY, y, first + i, alpha, beta);
    }
}
