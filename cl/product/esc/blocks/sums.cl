// sums: multiplies the operand pairs of each run of blocks and writes their sum to C (compression).
// Host: src/product/esc/blocks/mod.rs
//
//   sum_serial      one work-item per RUNS blocks of C, for CPUs
//   sum_pieces      one work-item per piece of a long run
//   sum_any_blocks, sum_any_pieces    one work-item per element of a block of C or of a piece, for
//                   sides given as arguments
//   add_parts       one work-item per element of a piece. The items of a run's first piece add the
//                   parts of the run
//
//   in      run_end[nnz]  pair[products]  a_values[a_nnz * a_stride]  b_values[b_nnz * b_stride]
//   in      piece[pieces]           pieces of the runs longer than LONG_RUN, which the kernels for
//                                   blocks skip: run, first product, end, and the number of the
//                                   part, or WHOLE if the piece is the whole run
//   in out  parts[parts * area]     sums of the pieces of runs longer than RUN_PIECE
//   in out  c_values[(first + nnz) * c_stride]      alpha * sum + beta * old value, which is not
//                                                   read if beta is 0; blocks column-major,
//                                                   c_stride >= rows * cols elements apart
//
// Shared definitions are in words.cl, the sums of runs in runs.cl, the kernels of GPUs in tiles.cl
// and staged.cl.
//
// With EMPTY_RUNS a run may be empty: its entry of C receives no product. An empty run ends where
// the run before it ends, and its sum is EMPTY.
#if !defined(LONG_RUN)
#error "LONG_RUN: see src/product/esc/blocks/mod.rs"
#endif

#ifdef ROWS
#if !defined(RUNS)
#error "RUNS: see src/product/tuning/blocks.rs"
#endif
KERNEL sum_serial(global const uint* restrict run_end, global const uint2* restrict pair, global const ELEMENT* restrict a_values,
                  global const ELEMENT* restrict b_values, global ELEMENT* restrict c_values, uint nnz, uint first,
                  uint a_stride, uint b_stride, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint from = min((uint)get_global_id(0) * RUNS, nnz), to = min(from + RUNS, nnz);
    uint begin = from > 0 && from < nnz ? run_end[from - 1] + 1 : 0;
    const uint last = from < to ? run_end[to - 1] : 0;
    for (uint run = from; run < to; ++run) {
        const uint end = run_end[run] + 1;
        if (end - begin <= LONG_RUN) {
            ARITHMETIC sums[AREA];
            sum_run(pair, a_values, b_values, begin, end, last, a_stride, b_stride, sums);
            global ELEMENT* block = c_values + ((ulong)first + run) * c_stride;
            for (uint element = 0; element < AREA; ++element)
                place_sum(sums[element], block, element, alpha, beta);
        }
        begin = end;
    }
}

KERNEL sum_pieces(global const uint4* restrict piece, global const uint2* restrict pair, global const ELEMENT* restrict a_values,
                  global const ELEMENT* restrict b_values, global ARITHMETIC* restrict parts, global ELEMENT* restrict c_values,
                  uint first, uint a_stride, uint b_stride, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint4 at = piece[get_global_id(0)];
    ARITHMETIC sums[AREA];
    sum_run(pair, a_values, b_values, at.y, at.z, at.z - 1, a_stride, b_stride, sums);
    for (uint element = 0; element < AREA; ++element) {
        if (at.w == WHOLE)
            place_sum(sums[element], c_values + ((ulong)first + at.x) * c_stride, element, alpha, beta);
        else
            parts[(ulong)at.w * AREA + element] = sums[element];
    }
}
#else
KERNEL sum_any_blocks(global const uint* run_end, global const uint2* pair, global const ELEMENT* a_values,
                      global const ELEMENT* b_values, global ELEMENT* c_values, uint nnz, uint first, uint a_stride,
                      uint b_stride, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta, uint rows, uint inner, uint cols)
{
    const ulong item = get_global_id(0);
    const uint run = (uint)(item / (rows * cols)), element = (uint)(item % (rows * cols));
    if (run >= nnz)
        return;
    const uint begin = run_begin(run_end, run), end = run_end[run] + 1;
    if (end - begin > LONG_RUN)
        return;
    const ARITHMETIC sum =
        sum_products(pair, a_values, b_values, begin, end, element, rows, inner, cols, a_stride, b_stride);
    place_sum(sum, c_values + ((ulong)first + run) * c_stride, element, alpha, beta);
}

KERNEL sum_any_pieces(global const uint4* piece, global const uint2* pair, global const ELEMENT* a_values,
                      global const ELEMENT* b_values, global ARITHMETIC* parts, global ELEMENT* c_values, uint pieces,
                      uint first, uint a_stride, uint b_stride, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta, uint rows,
                      uint inner, uint cols)
{
    const ulong item = get_global_id(0);
    const uint area = rows * cols, number = (uint)(item / area), element = (uint)(item % area);
    if (number >= pieces)
        return;
    const uint4 at = piece[number];
    const ARITHMETIC sum =
        sum_products(pair, a_values, b_values, at.y, at.z, element, rows, inner, cols, a_stride, b_stride);
    if (at.w == WHOLE)
        place_sum(sum, c_values + ((ulong)first + at.x) * c_stride, element, alpha, beta);
    else
        parts[(ulong)at.w * area + element] = sum;
}
#endif

KERNEL add_parts(global const uint4* piece, global const uint* run_end, global const ARITHMETIC* parts, global ELEMENT* c_values,
                 uint pieces, uint first, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta, uint area)
{
    const ulong item = get_global_id(0);
    const uint number = (uint)(item / area), element = (uint)(item % area);
    if (number >= pieces)
        return;
    const uint4 at = piece[number];
    const uint begin = run_begin(run_end, at.x);
    if (at.w == WHOLE || at.y != begin)
        return;
    const uint count = (run_end[at.x] - begin) / RUN_PIECE + 1;
    ARITHMETIC sum = IDENTITY;
    IN_ORDER
    for (uint i = 0; i < count; ++i)
        sum = ADD(sum, parts[((ulong)at.w + i) * area + element]);
    place_sum(sum, c_values + ((ulong)first + at.x) * c_stride, element, alpha, beta);
}
