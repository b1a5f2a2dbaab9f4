// weigh: computes T = W·J, block by block on J's pattern. W is block-diagonal.
// Host: src/product/plan/weigh.rs
//
//   weigh          one work-item per element of T
//   entry_columns  one work-item per entry: finds its column. The kernel runs once, for row-major
//                  matrices, whose arrays have the rows of J as columns
//
//   in   block_row[nnz]                     block row of J of each entry
//   in   j_values[nnz * j_stride]
//   in   information[rows * information_stride]     blocks on the diagonal of W; not read if
//                                                   information_stride is 0, and W is the identity
//   in   weight[rows * ROWS / rows_per_weight]      one weight for `rows_per_weight` scalar rows of
//                                                   J; not read if rows_per_weight is 0
//   out  t_values[nnz * ROWS * COLS]
//
// An element of T is the sum over the inner index in ascending order, multiplied by the weight of
// its row. Each product is rounded before it is added. Blocks are row-major if ROW_MAJOR, otherwise
// column-major.
#if !defined(ROWS) || !defined(COLS) || !defined(ROW_MAJOR)
#error "ROWS, COLS, ROW_MAJOR: see src/product/plan/weigh.rs"
#endif

#if ROW_MAJOR
#define AT(row, col, rows, cols) ((row) * (cols) + (col))
#else
#define AT(row, col, rows, cols) ((col) * (rows) + (row))
#endif

KERNEL weigh(global const uint* block_row, global const ELEMENT* j_values, global const ELEMENT* information,
             global const ELEMENT* weight, global ELEMENT* t_values, uint nnz, uint j_stride, uint information_stride,
             uint rows_per_weight)
{
    const ulong item = get_global_id(0);
    const uint entry = (uint)(item / (ROWS * COLS)), element = (uint)(item % (ROWS * COLS));
    if (entry >= nnz)
        return;
#if ROW_MAJOR
    const uint row = element / COLS, col = element % COLS;
#else
    const uint row = element % ROWS, col = element / ROWS;
#endif
    const ulong of_row = block_row[entry];
    global const ELEMENT* j = j_values + (ulong)entry * j_stride;
    ARITHMETIC value;
    if (information_stride == 0)
        value = LOAD(j, element);
    else {
        global const ELEMENT* w = information + of_row * information_stride;
        value = IDENTITY;
        IN_ORDER
        for (uint k = 0; k < ROWS; ++k)
            value = ADD(value, MULTIPLY(LOAD(w, AT(row, k, ROWS, ROWS)), LOAD(j, AT(k, col, ROWS, COLS))));
    }
    if (rows_per_weight != 0)
        value = MULTIPLY(LOAD(weight, (of_row * ROWS + row) / rows_per_weight), value);
    STORE(value, t_values, item);
}

KERNEL entry_columns(global const uint* col_ptr, global uint* column, uint ncols, uint nnz)
{
    const uint entry = get_global_id(0);
    if (entry >= nnz)
        return;
    column[entry] = column_of(col_ptr, ncols, entry);
}
