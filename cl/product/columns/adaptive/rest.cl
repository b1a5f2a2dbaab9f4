// rest: takes the columns that another method computes out of B, and puts their results into C.
// Host: src/product/columns/adaptive/rest.rs
//
//   rest_lengths   listed + 1 work-items, one per listed column: its number of entries of B
//   rest_entries   one work-item per entry of the listed columns: its row and value
//   put_lengths    one work-item per column computed: its number of entries of C
//   put_columns    one work-item per entry computed: its row and value
//
//   in   list[first + listed]         columns of B, counted from first_col
//   in   b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]  b_values[b_nnz]
//   out  list_ptr[listed + 1]         lengths; after an exclusive scan, the column pointers
//   out  list_row[entries]  list_values[entries]
//   in   part_ptr[columns + 1]  part_row[part_nnz]  part_values[part_nnz] the computed columns of C
//   out  lengths[cols * windows]      all entries of a column belong to its first window
//   in   chunk_ptr[cols * windows + 1]   the lengths, scanned
//   out  c_row_idx[c_nnz]  c_values[c_nnz]
KERNEL rest_lengths(global const uint* list, global const uint* b_col_ptr, global uint* list_ptr, uint first, uint listed,
                    uint first_col)
{
    const uint i = get_global_id(0);
    if (i <= listed) {
        const uint col = i < listed ? first_col + list[first + i] : 0;
        list_ptr[i] = i < listed ? b_col_ptr[col + 1] - b_col_ptr[col] : 0;
    }
}

KERNEL rest_entries(global const uint* list, global const uint* list_ptr, global const uint* b_col_ptr,
                    global const uint* b_row_idx, global const ELEMENT* b_values, global uint* list_row,
                    global ELEMENT* list_values, uint first, uint listed, uint first_col, uint entries)
{
    const uint i = get_global_id(0);
    if (i < entries) {
        const uint at = column_of(list_ptr, listed, i);
        const uint from = b_col_ptr[first_col + list[first + at]] + i - list_ptr[at];
        list_row[i] = b_row_idx[from];
        STORE(LOAD(b_values, from), list_values, i);
    }
}

KERNEL put_lengths(global const uint* list, global const uint* part_ptr, global uint* lengths, uint first, uint columns,
                   uint windows)
{
    const uint i = get_global_id(0);
    if (i < columns)
        lengths[list[first + i] * windows] = part_ptr[i + 1] - part_ptr[i];
}

KERNEL put_columns(global const uint* list, global const uint* part_ptr, global const uint* part_row,
                   global const ELEMENT* part_values, global const uint* chunk_ptr, global uint* c_row_idx,
                   global ELEMENT* c_values, uint first, uint columns, uint windows, uint part_nnz)
{
    const uint i = get_global_id(0);
    if (i < part_nnz) {
        const uint at = column_of(part_ptr, columns, i), to = chunk_ptr[list[first + at] * windows] + i - part_ptr[at];
        c_row_idx[to] = part_row[i];
        STORE(LOAD(part_values, i), c_values, to);
    }
}
