// drop_entries: removes the small entries (blocks) of a matrix. Entries that are not small keep
// their order.
// Host: src/primitives/drop_entries.rs
//
//   entry_sizes    LANES work-items per entry
//   column_norms   one work-item per entry, launched if the limit is relative; for 64-bit numbers
//                  twice, first for their upper words, then for their lower words
//   keep_entries   nnz + 1 work-items
//   move_entries   LANES work-items per entry
//   move_columns   ncols + 1 work-items
//
//   in      values[nnz * stride]  row_idx[nnz]  col_ptr[ncols + 1]
//   out     size[nnz]             largest magnitude of each entry's elements, NaN if one is NaN
//   in out  norm[2 * ncols]       largest size in each column, ignoring NaN: upper words (32-bit
//                                 numbers have only these), then lower words; zero before
//   out     place[nnz + 1]        1 for an entry that is kept; after an exclusive scan, the number
//                                 of kept entries before it
//   out     kept_values[kept * stride]  kept_row_idx[kept]  kept_col_ptr[ncols + 1]
//
// The kernels support plus-times only, because magnitudes are defined for real numbers.
#if !defined(LANES) || !defined(WIDE)
#error "LANES, WIDE: see src/primitives/drop_entries.rs"
#endif
// MOVE copies bits, because a conversion to float and back may change the bits of a NaN.
#define MOVE(from, to, i) (((global ELEMENT_BITS*)(to))[i] = ((global const ELEMENT_BITS*)(from))[i])
// LARGER is the larger of two numbers, or NaN if one is NaN.
#define LARGER(x, y) ((x) >= (y) || (x) != (x) ? (x) : (y))

KERNEL entry_sizes(global const ELEMENT* values, global ARITHMETIC* size, uint nnz, uint area, uint stride)
{
    local ARITHMETIC shared[GROUP_SIZE];
    const uint item = get_local_id(0), lane = item % LANES;
    const ulong entry = (ulong)get_group_id(0) * (GROUP_SIZE / LANES) + item / LANES;
    ARITHMETIC largest = 0;
    if (entry < nnz)
        for (uint i = lane; i < area; i += LANES) {
            const ARITHMETIC magnitude = fabs((ARITHMETIC)LOAD(values + entry * stride, i));
            largest = LARGER(largest, magnitude);
        }
    shared[item] = largest;
    for (uint distance = LANES / 2; distance > 0; distance /= 2) {
        GROUP_BARRIER;
        if (lane < distance)
            shared[item] = LARGER(shared[item], shared[item + distance]);
    }
    if (lane == 0 && entry < nnz)
        size[entry] = shared[item];
}

// The bits of nonnegative numbers, read as integers, have the same order as the numbers. So the
// maximum of a column's sizes is computed in integers.
KERNEL column_norms(global const ARITHMETIC* size, global const uint* col_ptr, global uint* norm, uint nnz, uint ncols, uint lower)
{
    const uint entry = get_global_id(0);
    if (entry >= nnz || size[entry] != size[entry])
        return;
    const uint col = column_of(col_ptr, ncols, entry);
#if WIDE
    const ulong bits = as_ulong(size[entry]);
    const uint upper = (uint)(bits >> 32);
    if (!lower)
        atomic_max(&norm[col], upper);
    else if (norm[col] == upper)
        atomic_max(&norm[ncols + col], (uint)bits);
#else
    atomic_max(&norm[col], as_uint(size[entry]));
#endif
}

KERNEL keep_entries(global const ARITHMETIC* size, global const uint* row_idx, global const uint* col_ptr, global const uint* norm,
                    global uint* place, uint nnz, uint ncols, uint first_col, uint relative, uint diagonal, ARITHMETIC tolerance)
{
    const uint entry = get_global_id(0);
    if (entry > nnz)
        return;
    if (entry == nnz) {
        place[entry] = 0; // the scan writes the number of kept entries here
        return;
    }
    const uint col = relative || diagonal ? column_of(col_ptr, ncols, entry) : 0;
    ARITHMETIC limit = tolerance;
    if (relative) {
#if WIDE
        const ARITHMETIC largest = as_double((ulong)norm[col] << 32 | norm[ncols + col]);
#else
        const ARITHMETIC largest = as_float(norm[col]);
#endif
        limit = isinf(largest) ? 0 : tolerance * largest;
    }
    const bool below = size[entry] < limit;
    place[entry] = !below || (diagonal && row_idx[entry] == first_col + col);
}

KERNEL move_entries(global const ELEMENT* values, global const uint* row_idx, global const uint* place, global ELEMENT* kept_values,
                    global uint* kept_row_idx, uint nnz, uint stride)
{
    const uint item = get_local_id(0), lane = item % LANES;
    const ulong entry = (ulong)get_group_id(0) * (GROUP_SIZE / LANES) + item / LANES;
    if (entry >= nnz || place[entry] == place[entry + 1])
        return;
    const uint to = place[entry];
    for (uint i = lane; i < stride; i += LANES)
        MOVE(values + entry * stride, kept_values + (ulong)to * stride, i);
    if (lane == 0)
        kept_row_idx[to] = row_idx[entry];
}

KERNEL move_columns(global const uint* col_ptr, global const uint* place, global uint* kept_col_ptr, uint ncols)
{
    const uint col = get_global_id(0);
    if (col <= ncols)
        kept_col_ptr[col] = place[col_ptr[col]];
}
