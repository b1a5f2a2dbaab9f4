// gather: replaces where each run ends by the row it ends in.                                 host: src/esc/gather.rs
//
//   one work-item per entry of C
//
//   in      row[products]           sorted within each segment
//   in out  c_row_idx[nnz]          last product of each run; then the row index
KERNEL gather(global const uint* row, global uint* c_row_idx, uint nnz)
{
    const uint run = get_global_id(0);
    if (run < nnz)
        c_row_idx[run] = row[c_row_idx[run]];
}
