// serial: searches all products of a column for each of its rows in turn. For tests of the seam
// between methods: nothing here is fast.
// Host: src/product/serial/mod.rs
//
//   serial_count   one work-item per column of C: the number of its runs, and the record
//   serial_place   one work-item per column of C: its rows, its products in the order of their
//                  runs, the ends of runs, the pieces of long runs
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  a_operand[a_nnz]
//   in   b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]  b_operand[b_nnz]  b_prods[b_nnz + 1]
//   in   segment_ptr[cols + 1]
//   out  c_col_ptr[cols + 1]          runs of each column; after an exclusive scan, of those before
//   out  record[6]                    runs, the longest, pieces, parts, and two words to count
//                                     pieces in; zeros before
//   out  c_row_idx[c_nnz]  payload[products]  run_end[c_nnz]  piece[pieces]

#if FROM_END
#define FIRST_OF(k, e) (a_col_ptr[(k) + 1] - (uint)(b_prods[(e) + 1] - b_prods[e]))
#else
#define FIRST_OF(k, e) (a_col_ptr[k])
#endif
#define COUNT_OF(e) ((uint)(b_prods[(e) + 1] - b_prods[e]))

// The least row, `from` or above, of the column's products, and the number of products that have
// it. If there is none, the row is above any other and the number is 0.
uint next_row(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
              global const uint* b_row_idx, global const ulong* b_prods, uint col, ulong from, uint* count)
{
    uint least = 0xffffffff;
    *count = 0;
    for (uint e = b_col_ptr[col]; e < b_col_ptr[col + 1]; ++e)
        for (uint i = 0; i < COUNT_OF(e); ++i) {
            const uint row = a_row_idx[FIRST_OF(b_row_idx[e], e) + i];
            if (row < from || row > least)
                continue;
            *count = row < least ? 1 : *count + 1;
            least = row;
        }
    return least;
}

KERNEL serial_count(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                    global const uint* b_row_idx, global const ulong* b_prods, global uint* c_col_ptr,
                    global uint* record, uint first_col, uint cols)
{
    const uint j = get_global_id(0);
    if (j > cols)
        return;
    uint runs = 0, count;
    if (j < cols)
        for (ulong from = 0;; ++runs) {
            from = (ulong)next_row(a_col_ptr, a_row_idx, b_col_ptr, b_row_idx, b_prods, first_col + j, from, &count) + 1;
            if (count == 0)
                break;
            atomic_max(&record[1], count);
            if (count > LONG_RUN)
                atomic_add(&record[2], (count + RUN_PIECE - 1) / RUN_PIECE);
            if (count > RUN_PIECE)
                atomic_add(&record[3], (count + RUN_PIECE - 1) / RUN_PIECE);
        }
    c_col_ptr[j] = runs;
    atomic_add(&record[0], runs);
}

KERNEL serial_place(global const uint* a_col_ptr, global const uint* a_row_idx, global const OPERAND* a_operand,
                    global const uint* b_col_ptr, global const uint* b_row_idx, global const OPERAND* b_operand,
                    global const ulong* b_prods, global const uint* segment_ptr, global const uint* c_col_ptr,
                    global uint* record, global uint* c_row_idx, global PAYLOAD* payload, global uint* run_end,
                    global uint4* piece, uint first_col, uint cols)
{
    const uint j = get_global_id(0);
    if (j >= cols)
        return;
    uint at = segment_ptr[j], count;
    ulong from = 0;
    for (uint run = c_col_ptr[j]; run < c_col_ptr[j + 1]; ++run) {
        const uint row = next_row(a_col_ptr, a_row_idx, b_col_ptr, b_row_idx, b_prods, first_col + j, from, &count);
        const uint begin = at;
        for (uint e = b_col_ptr[first_col + j]; e < b_col_ptr[first_col + j + 1]; ++e)
            for (uint i = 0; i < COUNT_OF(e); ++i) {
                const uint a_entry = FIRST_OF(b_row_idx[e], e) + i;
                if (a_row_idx[a_entry] == row)
                    payload[at++] = MAKE(a_entry, e);
            }
        c_row_idx[run] = row;
        run_end[run] = at - 1;
        from = (ulong)row + 1;
        if (count > LONG_RUN) {
            const uint pieces = (count + RUN_PIECE - 1) / RUN_PIECE;
            const uint first = atomic_add(&record[4], pieces);
            const uint part = count > RUN_PIECE ? atomic_add(&record[5], pieces) : 0;
            for (uint p = 0; p < pieces; ++p) {
                const uint start = begin + p * RUN_PIECE;
                piece[first + p] = (uint4)(run, start, min(start + RUN_PIECE, at), count > RUN_PIECE ? part + p : 0xffffffff);
            }
        }
    }
}
