// sums: compression of blocks: multiplies the operand pairs of each run and writes their sum to C.
// Host: src/product/blocks/mod.rs
//
//   sum_serial      one work-item per RUNS blocks of C, for CPUs
//   sum_pieces      one work-group per piece of a long run: many blocks at once are loaded to local
//                   memory, then added one after another
//   sum_any_blocks, sum_any_pieces    one work-item per element of a block of C or of a piece, for
//                   sides given as arguments
//   add_parts       one work-item per element of a piece; those of a run's first piece add up the
//                   parts of the run
//
//   in      run_end[nnz]  pair[products]  a_values[a_nnz * a_stride]  b_values[b_nnz * b_stride]
//   in      piece[pieces]           of the runs longer than LONG_RUN, which the kernels for blocks
//                                   skip: run, first product, end, and the number of its part, or
//                                   WHOLE if the piece is its run
//   in out  parts[parts * area]     sums of the pieces of runs longer than RUN_PIECE
//   in out  c_values[(first + nnz) * c_stride]      alpha * sum + beta * old value, which is not
//                                                   read if beta is 0; blocks column-major,
//                                                   c_stride >= rows * cols elements apart
//
// Shared words are in words.cl, the kernels of GPUs in tiles.cl and staged.cl.
//
// An element of C is the sum over the products of its run in ascending k, within a product over the
// inner index. Each product is rounded before it is added. With EMPTY_RUNS a run may be empty: its
// entry of C receives no product. Such a run ends where the run before it ends, and its sum is
// EMPTY.

// One element of the sum of products begin to end.
ARITHMETIC sum_products(global const uint2* pair, global const ELEMENT* a_values, global const ELEMENT* b_values, uint begin,
                        uint end, uint element, uint rows, uint inner, uint cols, uint a_stride, uint b_stride)
{
    const uint row = element % rows, col = element / rows;
    ARITHMETIC sum = START(begin, end);
    IN_ORDER
    for (uint p = begin; p < end; ++p) {
        global const ELEMENT* a = a_values + (ulong)pair[p].x * a_stride;
        global const ELEMENT* b = b_values + (ulong)pair[p].y * b_stride;
        IN_ORDER
        for (uint k = 0; k < inner; ++k)
            sum = ADD(sum, MULTIPLY(LOAD(a, A_AT(row, k, rows, inner)), LOAD(b, B_AT(k, col, inner, cols))));
    }
    return sum;
}

#ifdef ROWS
#if !defined(DEPTH) || !defined(RUNS)
#error "DEPTH, RUNS: see src/product/tuning.rs"
#endif
// A column of ROWS elements is cut into vectors of 16, 8, 4, 2 and 1 elements, one for each bit of
// ROWS. DO(number of elements, first row) is expanded for each.
#define VECTOR_1 ARITHMETIC
#define VECTOR_2 JOIN(ARITHMETIC, 2)
#define VECTOR_4 JOIN(ARITHMETIC, 4)
#define VECTOR_8 JOIN(ARITHMETIC, 8)
#define VECTOR_16 JOIN(ARITHMETIC, 16)
#define VLOAD_1(from) (*(from))
#define VLOAD_2(from) vload2(0, from)
#define VLOAD_4(from) vload4(0, from)
#define VLOAD_8(from) vload8(0, from)
#define VLOAD_16(from) vload16(0, from)
#define VSTORE_1(vector, to) (*(to) = (vector))
#define VSTORE_2(vector, to) vstore2(vector, 0, to)
#define VSTORE_4(vector, to) vstore4(vector, 0, to)
#define VSTORE_8(vector, to) vstore8(vector, 0, to)
#define VSTORE_16(vector, to) vstore16(vector, 0, to)
#if ROWS & 16
#define OF_16(DO) DO(16, 0)
#else
#define OF_16(DO)
#endif
#if ROWS & 8
#define OF_8(DO) DO(8, (ROWS & 16))
#else
#define OF_8(DO)
#endif
#if ROWS & 4
#define OF_4(DO) DO(4, (ROWS & 24))
#else
#define OF_4(DO)
#endif
#if ROWS & 2
#define OF_2(DO) DO(2, (ROWS & 28))
#else
#define OF_2(DO)
#endif
#if ROWS & 1
#define OF_1(DO) DO(1, (ROWS & 30))
#else
#define OF_1(DO)
#endif
#define OF_COLUMN(DO) OF_16(DO) OF_8(DO) OF_4(DO) OF_2(DO) OF_1(DO)

#define DECLARE(N, at) VECTOR_##N sum_##N[COLS];
#define BEGIN(N, at) sum_##N[c] = START(begin, end);
#define TAKE(N, at) const VECTOR_##N left_##N = VLOAD_##N(left + at);
#define TERM(N, at) sum_##N[c] = ADD(sum_##N[c], MULTIPLY(left_##N, (VECTOR_##N)(factor)));
#define PUT(N, at) VSTORE_##N(sum_##N[c], sums + at);

KERNEL sum_serial(global const uint* restrict run_end, global const uint2* restrict pair, global const ELEMENT* restrict a_values,
                  global const ELEMENT* restrict b_values, global ELEMENT* restrict c_values, uint nnz, uint first,
                  uint a_stride, uint b_stride, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint from = min((uint)get_global_id(0) * RUNS, nnz), to = min(from + RUNS, nnz);
    uint begin = from > 0 && from < nnz ? run_end[from - 1] + 1 : 0;
    for (uint run = from; run < to; ++run) {
        const uint end = run_end[run] + 1;
        if (end - begin <= LONG_RUN) {
            OF_COLUMN(DECLARE)
            for (uint c = 0; c < COLS; ++c) {
                OF_COLUMN(BEGIN)
            }
            IN_ORDER
            for (uint p = begin; p < end; ++p) {
                global const ELEMENT* a = a_values + (ulong)pair[p].x * a_stride;
                global const ELEMENT* b = b_values + (ulong)pair[p].y * b_stride;
                IN_ORDER
                for (uint k = 0; k < INNER; ++k) {
#if A_TRANSPOSED || ELEMENT_IS_HALF || ELEMENT_IS_BYTE
                    ARITHMETIC left[ROWS];
                    for (uint r = 0; r < ROWS; ++r)
                        left[r] = LOAD(a, A_AT(r, k, ROWS, INNER));
#else
                    global const ARITHMETIC* left = a + k * ROWS;
#endif
                    OF_COLUMN(TAKE)
                    for (uint c = 0; c < COLS; ++c) {
                        const ARITHMETIC factor = LOAD(b, B_AT(k, c, INNER, COLS));
                        OF_COLUMN(TERM)
                    }
                }
            }
            global ELEMENT* block = c_values + ((ulong)first + run) * c_stride;
            for (uint c = 0; c < COLS; ++c) {
                ARITHMETIC sums[ROWS];
                OF_COLUMN(PUT)
                for (uint r = 0; r < ROWS; ++r)
                    place_sum(sums[r], block, c * ROWS + r, alpha, beta);
            }
        }
        begin = end;
    }
}

#define LEFT (ROWS * INNER)
#define RIGHT (INNER * COLS)
#define AREA (ROWS * COLS)
#define OWN ((AREA + GROUP_SIZE - 1) / GROUP_SIZE) // elements of a block for each item of a group

KERNEL sum_pieces(global const uint4* restrict piece, global const uint2* restrict pair, global const ELEMENT* restrict a_values,
                  global const ELEMENT* restrict b_values, global ARITHMETIC* restrict parts, global ELEMENT* restrict c_values,
                  uint first, uint a_stride, uint b_stride, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    local ARITHMETIC left[DEPTH * LEFT], right[DEPTH * RIGHT];
    const uint4 at = piece[get_group_id(0)];
    const uint item = get_local_id(0);
    ARITHMETIC sum[OWN];
    for (uint own = 0; own < OWN; ++own)
        sum[own] = IDENTITY;
    for (uint p = at.y; p < at.z; p += DEPTH) {
        const uint depth = min((uint)DEPTH, at.z - p);
        for (uint i = item; i < depth * LEFT; i += GROUP_SIZE)
            left[i] = LOAD(a_values + (ulong)pair[p + i / LEFT].x * a_stride, i % LEFT);
        for (uint i = item; i < depth * RIGHT; i += GROUP_SIZE)
            right[i] = LOAD(b_values + (ulong)pair[p + i / RIGHT].y * b_stride, i % RIGHT);
        GROUP_BARRIER;
        for (uint own = 0, element = item; element < AREA; ++own, element += GROUP_SIZE) {
            const uint row = element % ROWS, col = element / ROWS;
            IN_ORDER
            for (uint i = 0; i < depth; ++i) {
                IN_ORDER
                for (uint k = 0; k < INNER; ++k)
                    sum[own] = ADD(sum[own], MULTIPLY(left[i * LEFT + A_AT(row, k, ROWS, INNER)],
                                                      right[i * RIGHT + B_AT(k, col, INNER, COLS)]));
            }
        }
        GROUP_BARRIER; // every read, before the next round writes
    }
    for (uint own = 0, element = item; element < AREA; ++own, element += GROUP_SIZE) {
        if (at.w == WHOLE)
            place_sum(sum[own], c_values + ((ulong)first + at.x) * c_stride, element, alpha, beta);
        else
            parts[(ulong)at.w * AREA + element] = sum[own];
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
