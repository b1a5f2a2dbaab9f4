// block_sums: compression of blocks: multiplies the operand pairs of each run and puts their sum in C.
//                                                                                            host: src/esc/block_sums.rs
//   sum_blocks       one work-item per column of a block of C: ROWS accumulators in registers
//   sum_any_blocks   one work-item per element of a block of C, the sizes being arguments
//   sum_long_blocks  one work-group per element of a block of C whose run is longer than RUN_PIECE
//
//   in      run_end[nnz]  pair[products]  a_values[a_nnz * a_stride]  b_values[b_nnz * b_stride]
//   in      long_runs[1 + splits]         sum_long_blocks only
//   in out  c_values[(first + nnz) * c_stride]      alpha * sum + beta * what was there, which is not read where beta is 0; blocks
//                                                    column-major, c_stride >= rows * cols elements apart
//
// An element of C is the sum over the products of its run in ascending k, within a product over the inner index, each multiplication
// rounded before it is added. -0.0 is the start that changes no bit of the first term.
#if !defined(RUN_PIECE) || !defined(A_TRANSPOSED) || !defined(B_TRANSPOSED)
#error "RUN_PIECE, A_TRANSPOSED, B_TRANSPOSED: see src/esc/block_sums.rs"
#endif
#define NOTHING ((ARITHMETIC)-0.0f)

// Where an element stands in its block: of A (row, inner) in blocks of rows x inner, of B (inner, col) in blocks of inner x cols.
#if A_TRANSPOSED
#define A_AT(row, k, rows, inner) ((row) * (inner) + (k))
#else
#define A_AT(row, k, rows, inner) ((k) * (rows) + (row))
#endif
#if B_TRANSPOSED
#define B_AT(k, col, inner, cols) ((k) * (cols) + (col))
#else
#define B_AT(k, col, inner, cols) ((col) * (inner) + (k))
#endif

uint run_begin(global const uint* run_end, uint run)
{
    return run > 0 ? run_end[run - 1] + 1 : 0;
}

void place(ARITHMETIC sum, global ELEMENT* c, uint element, ARITHMETIC alpha, ARITHMETIC beta)
{
    ARITHMETIC value = alpha * sum;
    if (beta != 0)
        value += beta * LOAD(c, element);
    STORE(value, c, element);
}

#ifdef ROWS
KERNEL sum_blocks(global const uint* run_end, global const uint2* pair, global const ELEMENT* a_values,
                  global const ELEMENT* b_values, global ELEMENT* c_values, uint nnz, uint first, uint a_stride, uint b_stride,
                  uint c_stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const ulong item = get_global_id(0);
    const uint run = (uint)(item / COLS), col = (uint)(item % COLS);
    if (run >= nnz)
        return;
    const uint begin = run_begin(run_end, run), last = run_end[run];
    if (last - begin >= RUN_PIECE)
        return; // left to sum_long_blocks

    ARITHMETIC sum[ROWS];
    for (uint r = 0; r < ROWS; ++r)
        sum[r] = NOTHING;
    IN_ORDER
    for (uint p = begin; p <= last; ++p) {
        global const ELEMENT* a = a_values + (ulong)pair[p].x * a_stride;
        global const ELEMENT* b = b_values + (ulong)pair[p].y * b_stride;
        IN_ORDER
        for (uint k = 0; k < INNER; ++k) {
            const ARITHMETIC factor = LOAD(b, B_AT(k, col, INNER, COLS));
            for (uint r = 0; r < ROWS; ++r)
                sum[r] += LOAD(a, A_AT(r, k, ROWS, INNER)) * factor;
        }
    }
    global ELEMENT* c = c_values + ((ulong)first + run) * c_stride;
    for (uint r = 0; r < ROWS; ++r)
        place(sum[r], c, col * ROWS + r, alpha, beta);
}
#else
ARITHMETIC sum_piece(global const uint2* pair, global const ELEMENT* a_values, global const ELEMENT* b_values, uint begin,
                     uint end, uint element, uint rows, uint inner, uint cols, uint a_stride, uint b_stride)
{
    const uint row = element % rows, col = element / rows;
    ARITHMETIC sum = NOTHING;
    IN_ORDER
    for (uint p = begin; p < end; ++p) {
        global const ELEMENT* a = a_values + (ulong)pair[p].x * a_stride;
        global const ELEMENT* b = b_values + (ulong)pair[p].y * b_stride;
        IN_ORDER
        for (uint k = 0; k < inner; ++k)
            sum += LOAD(a, A_AT(row, k, rows, inner)) * LOAD(b, B_AT(k, col, inner, cols));
    }
    return sum;
}

KERNEL sum_any_blocks(global const uint* run_end, global const uint2* pair, global const ELEMENT* a_values,
                      global const ELEMENT* b_values, global ELEMENT* c_values, uint nnz, uint first, uint a_stride,
                      uint b_stride, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta, uint rows, uint inner, uint cols)
{
    const ulong item = get_global_id(0);
    const uint run = (uint)(item / (rows * cols)), element = (uint)(item % (rows * cols));
    if (run >= nnz)
        return;
    const uint begin = run_begin(run_end, run), last = run_end[run];
    if (last - begin >= RUN_PIECE)
        return; // left to sum_long_blocks
    const ARITHMETIC sum =
        sum_piece(pair, a_values, b_values, begin, last + 1, element, rows, inner, cols, a_stride, b_stride);
    place(sum, c_values + ((ulong)first + run) * c_stride, element, alpha, beta);
}

KERNEL sum_long_blocks(global const uint* run_end, global const uint* long_runs, global const uint2* pair,
                       global const ELEMENT* a_values, global const ELEMENT* b_values, global ELEMENT* c_values, uint first,
                       uint a_stride, uint b_stride, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta, uint rows, uint inner,
                       uint cols)
{
    local ARITHMETIC pieces[GROUP_SIZE];
    const uint run = long_runs[1 + get_group_id(0) / (rows * cols)], element = get_group_id(0) % (rows * cols);
    const uint begin = run_begin(run_end, run), end = run_end[run] + 1;
    ARITHMETIC sum = NOTHING;
    for (ulong round = begin; round < end; round += (ulong)GROUP_SIZE * RUN_PIECE) {
        const ulong piece = round + (ulong)get_local_id(0) * RUN_PIECE;
        if (piece < end)
            pieces[get_local_id(0)] =
                sum_piece(pair, a_values, b_values, (uint)piece, (uint)min(piece + RUN_PIECE, (ulong)end), element, rows, inner,
                          cols, a_stride, b_stride);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) == 0) {
            IN_ORDER
            for (uint i = 0; i < GROUP_SIZE && round + (ulong)i * RUN_PIECE < end; ++i)
                sum += pieces[i];
        }
        barrier(CLK_LOCAL_MEM_FENCE); // item 0 has read, before the next round writes
    }
    if (get_local_id(0) == 0)
        place(sum, c_values + ((ulong)first + run) * c_stride, element, alpha, beta);
}
#endif
