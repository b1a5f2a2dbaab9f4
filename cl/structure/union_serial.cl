// union_serial: computes the union of two patterns, column after column, on CPUs. On a CPU, merging
// two columns takes less time than looking up each of their entries. One work-item takes a part. A
// part is some columns, with an equal share of the entries of both patterns.
// Host: src/structure/union.rs
//
//   union_both    counts the entries of each column that are in both
//   union_merge   makes C
//
//   in   a_col_ptr[ncols + 1]  a_row_idx[a_nnz]  b_col_ptr[ncols + 1]  b_row_idx[b_nnz]
//   i/o  both[ncols + 1]        number of entries of each column that are in both, 0 at the end;
//                                after a scan, number for all columns before
//   out  c_col_ptr[ncols + 1]  c_row_idx[nnz]
//   out  pair[nnz]              the entries of A and of B for each entry of C; NONE for a missing
//                               entry
#define NONE 0xffffffffu

// Returns the first column of a part. The columns before that column have the earlier parts' share
// of all entries.
uint first_of(global const uint* a_col_ptr, global const uint* b_col_ptr, uint ncols, uint part, uint parts)
{
    if (part == parts)
        return ncols;
    const ulong before = ((ulong)a_col_ptr[ncols] + b_col_ptr[ncols]) * part / parts;
    uint first = 0, last = ncols;
    while (first < last) {
        const uint middle = first + (last - first) / 2;
        if ((ulong)a_col_ptr[middle] + b_col_ptr[middle] < before)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

KERNEL union_both(global const uint* restrict a_col_ptr, global const uint* restrict a_row_idx,
                  global const uint* restrict b_col_ptr, global const uint* restrict b_row_idx, global uint* restrict both,
                  uint ncols, uint parts)
{
    const uint part = get_global_id(0), end = first_of(a_col_ptr, b_col_ptr, ncols, part + 1, parts);
    for (uint col = first_of(a_col_ptr, b_col_ptr, ncols, part, parts); col < end; ++col) {
        const uint a_end = a_col_ptr[col + 1], b_end = b_col_ptr[col + 1];
        uint count = 0;
        for (uint a = a_col_ptr[col], b = b_col_ptr[col]; a < a_end && b < b_end;) {
            const uint of_a = a_row_idx[a], of_b = b_row_idx[b];
            count += of_a == of_b;
            a += of_a <= of_b;
            b += of_b <= of_a;
        }
        both[col] = count;
    }
    if (part + 1 == parts)
        both[ncols] = 0;
}

KERNEL union_merge(global const uint* restrict a_col_ptr, global const uint* restrict a_row_idx,
                   global const uint* restrict b_col_ptr, global const uint* restrict b_row_idx,
                   global const uint* restrict both, global uint* restrict c_col_ptr, global uint* restrict c_row_idx,
                   global uint2* restrict pair, uint ncols, uint parts)
{
    const uint part = get_global_id(0), end = first_of(a_col_ptr, b_col_ptr, ncols, part + 1, parts);
    for (uint col = first_of(a_col_ptr, b_col_ptr, ncols, part, parts); col < end; ++col) {
        uint a = a_col_ptr[col], b = b_col_ptr[col], c = a + (b - both[col]);
        c_col_ptr[col] = c;
        const uint a_end = a_col_ptr[col + 1], b_end = b_col_ptr[col + 1];
        for (; a < a_end && b < b_end; ++c) {
            const uint of_a = a_row_idx[a], of_b = b_row_idx[b];
            const bool from_a = of_a <= of_b, from_b = of_b <= of_a;
            c_row_idx[c] = from_a ? of_a : of_b;
            pair[c] = (uint2)(from_a ? a : NONE, from_b ? b : NONE);
            a += from_a;
            b += from_b;
        }
        for (; a < a_end; ++a, ++c) {
            c_row_idx[c] = a_row_idx[a];
            pair[c] = (uint2)(a, NONE);
        }
        for (; b < b_end; ++b, ++c) {
            c_row_idx[c] = b_row_idx[b];
            pair[c] = (uint2)(NONE, b);
        }
    }
    if (part + 1 == parts)
        c_col_ptr[ncols] = a_col_ptr[ncols] + (b_col_ptr[ncols] - both[ncols]);
}
