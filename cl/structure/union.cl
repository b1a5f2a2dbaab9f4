// union: computes the union of two patterns.
// Host: src/structure/union.rs
//
//   union_b          b_nnz + 1 work-items, one per entry of B: finds its place among the entries of
//                    A, and whether A has this entry, too
//   union_of_a       one work-item per entry of A: computes its entry of C
//   union_of_b       one work-item per entry of B that A does not have: computes its entry of C
//   union_col_ptr    ncols + 1 work-items
//
//   in   a_col_ptr[ncols + 1]  a_row_idx[a_nnz]  b_col_ptr[ncols + 1]  b_row_idx[b_nnz]
//   out  before[b_nnz]                  number of entries of A before each entry of B, in the order
//                                       of columns, then rows
//   out  both[b_nnz + 1]                1 if A has the entry, too; 0 at the end. After a scan, the
//                                        number of earlier entries that are in both
//   out  c_col_ptr[ncols + 1]  c_row_idx[nnz]
//   out  pair[nnz]                      the entries of A and of B for each entry of C; NONE for a
//                                       missing entry
//
// The entries before an entry of C are the earlier entries of A, and the earlier entries of B that
// are not in both. So each work-item can compute the place of its entry alone.
#define NONE 0xffffffffu

KERNEL union_b(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
               global const uint* b_row_idx, global uint* before, global uint* both, uint ncols, uint b_nnz)
{
    const uint b = get_global_id(0);
    if (b == b_nnz)
        both[b] = 0;
    if (b >= b_nnz)
        return;
    const uint col = column_of(b_col_ptr, ncols, b), end = a_col_ptr[col + 1];
    const uint at = lower_bound(a_row_idx, a_col_ptr[col], end, b_row_idx[b]);
    before[b] = at;
    both[b] = at < end && a_row_idx[at] == b_row_idx[b];
}

KERNEL union_of_a(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                  global const uint* b_row_idx, global const uint* both, global uint* c_row_idx, global uint2* pair, uint ncols,
                  uint a_nnz)
{
    const uint a = get_global_id(0);
    if (a >= a_nnz)
        return;
    const uint col = column_of(a_col_ptr, ncols, a), end = b_col_ptr[col + 1], row = a_row_idx[a];
    const uint at = lower_bound(b_row_idx, b_col_ptr[col], end, row);
    const uint c = a + (at - both[at]);
    c_row_idx[c] = row;
    pair[c] = (uint2)(a, at < end && b_row_idx[at] == row ? at : NONE);
}

KERNEL union_of_b(global const uint* before, global const uint* both, global const uint* b_row_idx, global uint* c_row_idx,
                  global uint2* pair, uint b_nnz)
{
    const uint b = get_global_id(0);
    if (b >= b_nnz || both[b + 1] > both[b])
        return;
    const uint c = before[b] + (b - both[b]);
    c_row_idx[c] = b_row_idx[b];
    pair[c] = (uint2)(NONE, b);
}

KERNEL union_col_ptr(global const uint* a_col_ptr, global const uint* b_col_ptr, global const uint* both, global uint* c_col_ptr,
                     uint ncols)
{
    const uint col = get_global_id(0);
    if (col <= ncols)
        c_col_ptr[col] = a_col_ptr[col] + (b_col_ptr[col] - both[b_col_ptr[col]]);
}
