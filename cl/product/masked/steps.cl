// mask_steps: counts the steps of the columns of a masked product, see cl/product/masked/hits.cl.
// One work-item takes a part, which is an equal share of the columns.
// Host: src/product/masked/columns.rs
//
//   in   a_col_ptr[a_cols + 1]  b_col_ptr[cols + 1]  b_row_idx[b_nnz]  mask_col_ptr[cols + 1]
//   out  steps[cols]             number of steps of the part before each column
//   out  record[parts * RECORD]  for each part: its steps; most entries of a column of B

KERNEL mask_steps(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                  global const uint* b_row_idx, global const uint* mask_col_ptr, global const uint* mask_row_idx,
                  global ulong* steps, global ulong* record, uint cols, uint parts)
{
    const uint part = get_group_id(0), end = first_of(part + 1, parts, cols);
    ulong all = 0;
    uint longest = 0;
    for (uint col = first_of(part, parts, cols); col < end; ++col) {
        steps[col] = all;
        const uint places = mask_col_ptr[col + 1] - mask_col_ptr[col], first = b_col_ptr[col], last = b_col_ptr[col + 1];
        if (places == 0)
            continue;
        longest = max(longest, last - first);
        all += (ulong)places * PLACE_STEPS + (ulong)(last - first) * ENTRY_STEPS;
        const uint lookup = lookup_steps(places);
        for (uint entry = first; entry < last; ++entry) {
            const uint k = b_row_idx[entry], length = a_col_ptr[k + 1] - a_col_ptr[k];
            all += min(length, lookup * (32 - clz(length)));
        }
    }
    record[part * RECORD] = all;
    record[part * RECORD + 1] = longest;
}
