// diagonal: copies the blocks on the diagonal of a square matrix, or its diagonal.
// Host: src/vector/diagonal.rs
//
//   find_diagonal     n + 1 work-items, one per block column
//   copy_blocks       one work-item per element of a block on the diagonal
//   copy_elements     one work-item per row
//
//   in   col_ptr[n + 1]  row_idx[nnz]
//   in   values[nnz * stride]                            blocks of SIDE x SIDE
//   out  entry_idx[n]                        the entry of each column on the diagonal, or NONE
//   out  d_col_ptr[n + 1]  d_row_idx[n]      the pattern of the identity
//   out  d_values[n * d_stride]  diagonal[n * SIDE]      0 if there is no entry
#define NONE 0xffffffffu

KERNEL find_diagonal(global const uint* col_ptr, global const uint* row_idx, global uint* entry_idx, global uint* d_col_ptr,
                     global uint* d_row_idx, uint n)
{
    const uint col = get_global_id(0);
    if (col > n)
        return;
    d_col_ptr[col] = col;
    if (col == n)
        return;
    d_row_idx[col] = col;
    const uint last = col_ptr[col + 1], first = lower_bound(row_idx, col_ptr[col], last, col);
    entry_idx[col] = first < last && row_idx[first] == col ? first : NONE;
}

#ifdef SIDE // for all kernels except find_diagonal
#define AREA (SIDE * SIDE)

KERNEL copy_blocks(global const uint* restrict entry_idx, global const ELEMENT* restrict values, global ELEMENT* restrict d_values, uint n,
                   uint stride, uint d_stride)
{
    const ulong item = get_global_id(0);
    const ulong col = item / AREA;
    const uint element = (uint)(item % AREA);
    if (col >= n)
        return;
    const uint from = entry_idx[col];
    const ARITHMETIC value = from == NONE ? 0 : LOAD(values, (ulong)from * stride + element);
    STORE(value, d_values, col * d_stride + element);
}

KERNEL copy_elements(global const uint* restrict entry_idx, global const ELEMENT* restrict values, global ELEMENT* restrict diagonal, uint n,
                     uint stride)
{
    const ulong row = get_global_id(0), col = row / SIDE;
    if (col >= n)
        return;
    const uint from = entry_idx[col];
    const ARITHMETIC value = from == NONE ? 0 : LOAD(values, (ulong)from * stride + row % SIDE * (SIDE + 1));
    STORE(value, diagonal, row);
}
#endif
