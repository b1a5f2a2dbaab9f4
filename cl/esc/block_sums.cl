// block_sums: compression of blocks: multiplies the operand pairs of each run and puts their sum in C.
//                                                                                            host: src/esc/block_sums.rs
//   sum_columns     one work-item per column of a block of C: ROWS sums in registers, A's block loaded whole
//   sum_serial      one work-item per RUNS blocks of C, for CPUs
//   sum_pieces      one work-group per piece of a long run: its blocks come to local memory, many at once, and are added one after another
//   sum_any_blocks, sum_any_pieces    one work-item per element of a block of C or of a piece, the sizes being arguments
//   add_parts       one work-item per element of a piece; those of a run's first piece add up the parts of the run
//
//   in      run_end[nnz]  pair[products]  a_values[a_nnz * a_stride]  b_values[b_nnz * b_stride]
//   in      piece[pieces]           of the runs longer than LONG_RUN, which the others pass by: run, first product, end, and the number of
//                                   its part, or WHOLE where the piece is its run
//   in out  parts[parts * area]     sums of the pieces of runs longer than RUN_PIECE
//   in out  c_values[(first + nnz) * c_stride]      alpha * sum + beta * what was there, which is not read where beta is 0; blocks
//                                                    column-major, c_stride >= rows * cols elements apart
//
// An element of C is the sum over the products of its run in ascending k, within a product over the inner index, each multiplication
// rounded before it is added. -0.0 is the start that changes no bit of the first term. With EMPTY_RUNS a run may be empty (a place
// that no product falls on): it ends where the run before it does, its sum is 0.
#if !defined(LONG_RUN) || !defined(RUN_PIECE) || !defined(A_TRANSPOSED) || !defined(B_TRANSPOSED) || !defined(EMPTY_RUNS)
#error "LONG_RUN, RUN_PIECE, A_TRANSPOSED, B_TRANSPOSED, EMPTY_RUNS: see src/esc/block_sums.rs"
#endif
#define NOTHING ((ARITHMETIC)-0.0f)
#define WHOLE 0xffffffffu

// What the sum of a run starts with; whether product p is one of a run whose last is `last`; the first of a run.
#if EMPTY_RUNS
#define START(begin, last) ((begin) < (last) + 1 ? NOTHING : (ARITHMETIC)0)
#define WITHIN(p, last) ((p) < (last) + 1)
#define FIRST_PAIR(begin, last) ((begin) < (last) + 1 ? pair[begin] : 0)
#else
#define START(begin, last) NOTHING
#define WITHIN(p, last) ((p) <= (last))
#define FIRST_PAIR(begin, last) pair[begin]
#endif

// Where an element stands in its block: of A (row, k) in blocks of rows x inner, of B (k, col) in blocks of inner x cols.
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

// A sum, to its place in C.
void place(ARITHMETIC sum, global ELEMENT* c, uint element, ARITHMETIC alpha, ARITHMETIC beta)
{
    ARITHMETIC value = alpha * sum;
    if (beta != 0)
        value += beta * LOAD(c, element);
    STORE(value, c, element);
}

// One element of the sum of products begin to end.
ARITHMETIC sum_products(global const uint2* pair, global const ELEMENT* a_values, global const ELEMENT* b_values, uint begin,
                        uint end, uint element, uint rows, uint inner, uint cols, uint a_stride, uint b_stride)
{
    const uint row = element % rows, col = element / rows;
    ARITHMETIC sum = START(begin, end - 1);
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

uint run_begin(global const uint* run_end, uint run)
{
    return run > 0 ? run_end[run - 1] + 1 : 0;
}

#ifdef ROWS
#if !defined(DEPTH) || !defined(RUNS)
#error "DEPTH, RUNS: see src/esc/tuning.rs"
#endif
#define JOIN_(type, n) type##n
#define JOIN(type, n) JOIN_(type, n)

// LOAD_ALL(to, from, COUNT, aligned): two elements a load where their number and place are even, half as many instructions; halves
// are converted one by one.
#if ELEMENT_IS_HALF
#define LOAD_ALL(to, from, COUNT, aligned)                                                                            \
    for (uint i = 0; i < COUNT; ++i)                                                                                  \
        to[i] = LOAD(from, i);
#else
#define PAIR JOIN(ELEMENT, 2)
#define LOAD_ALL(to, from, COUNT, aligned)                                                                            \
    if (COUNT % 2 == 0 && aligned)                                                                                    \
        for (uint i = 0; i < COUNT; i += 2) {                                                                         \
            const PAIR two = *(global const PAIR*)((from) + i);                                                       \
            to[i] = two.x;                                                                                            \
            to[i + 1] = two.y;                                                                                        \
        }                                                                                                             \
    else                                                                                                              \
        for (uint i = 0; i < COUNT; ++i)                                                                              \
            to[i] = (from)[i];
#endif

KERNEL sum_columns(global const uint* restrict run_end, global const uint2* restrict pair, global const ELEMENT* restrict a_values,
                   global const ELEMENT* restrict b_values, global ELEMENT* restrict c_values, uint nnz, uint first,
                   uint a_stride, uint b_stride, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const ulong item = get_global_id(0);
    const uint run = (uint)(item / COLS), col = (uint)(item % COLS);
    if (run >= nnz)
        return;
    const uint begin = run_begin(run_end, run), last = run_end[run];
    if (last + 1 - begin > LONG_RUN)
        return;

    ARITHMETIC sum[ROWS];
    for (uint r = 0; r < ROWS; ++r)
        sum[r] = START(begin, last);
    uint2 operands = FIRST_PAIR(begin, last);
    IN_ORDER
    for (uint p = begin; WITHIN(p, last); ++p) {
        global const ELEMENT* a = a_values + (ulong)operands.x * a_stride;
        global const ELEMENT* b = b_values + (ulong)operands.y * b_stride;
        if (p < last)
            operands = pair[p + 1]; // on its way while this one is added
        ARITHMETIC left[ROWS * INNER], right[INNER];
        LOAD_ALL(left, a, ROWS * INNER, a_stride % 2 == 0)
#if B_TRANSPOSED
        for (uint k = 0; k < INNER; ++k)
            right[k] = LOAD(b, B_AT(k, col, INNER, COLS));
#else
        LOAD_ALL(right, b + col * INNER, INNER, b_stride % 2 == 0)
#endif
        IN_ORDER
        for (uint k = 0; k < INNER; ++k)
            for (uint r = 0; r < ROWS; ++r)
                sum[r] += left[A_AT(r, k, ROWS, INNER)] * right[k];
    }
    global ELEMENT* c = c_values + ((ulong)first + run) * c_stride + col * ROWS;
#if ROWS % 2 == 0 && !ELEMENT_IS_HALF
    if (c_stride % 2 == 0 && beta == 0) {
        for (uint r = 0; r < ROWS; r += 2)
            *(global PAIR*)(c + r) = (PAIR)(alpha * sum[r], alpha * sum[r + 1]);
        return;
    }
#endif
    for (uint r = 0; r < ROWS; ++r)
        place(sum[r], c, r, alpha, beta);
}

// A column of ROWS elements is vectors of 8, 4, 2 and 1, as many as ROWS has bits: DO(how many, from which row on) for each.
#define VECTOR_1 ARITHMETIC
#define VECTOR_2 JOIN(ARITHMETIC, 2)
#define VECTOR_4 JOIN(ARITHMETIC, 4)
#define VECTOR_8 JOIN(ARITHMETIC, 8)
#define VLOAD_1(from) (*(from))
#define VLOAD_2(from) vload2(0, from)
#define VLOAD_4(from) vload4(0, from)
#define VLOAD_8(from) vload8(0, from)
#define VSTORE_1(vector, to) (*(to) = (vector))
#define VSTORE_2(vector, to) vstore2(vector, 0, to)
#define VSTORE_4(vector, to) vstore4(vector, 0, to)
#define VSTORE_8(vector, to) vstore8(vector, 0, to)
#if ROWS & 8
#define OF_8(DO) DO(8, 0)
#else
#define OF_8(DO)
#endif
#if ROWS & 4
#define OF_4(DO) DO(4, (ROWS & 8))
#else
#define OF_4(DO)
#endif
#if ROWS & 2
#define OF_2(DO) DO(2, (ROWS & 12))
#else
#define OF_2(DO)
#endif
#if ROWS & 1
#define OF_1(DO) DO(1, (ROWS & 14))
#else
#define OF_1(DO)
#endif
#define OF_COLUMN(DO) OF_8(DO) OF_4(DO) OF_2(DO) OF_1(DO)

#define DECLARE(N, at) VECTOR_##N sum_##N[COLS];
#define BEGIN(N, at) sum_##N[c] = START(begin, end - 1);
#define TAKE(N, at) const VECTOR_##N left_##N = VLOAD_##N(left + at);
#define ADD(N, at) sum_##N[c] += left_##N * factor;
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
#if A_TRANSPOSED || ELEMENT_IS_HALF
                    ARITHMETIC left[ROWS];
                    for (uint r = 0; r < ROWS; ++r)
                        left[r] = LOAD(a, A_AT(r, k, ROWS, INNER));
#else
                    global const ARITHMETIC* left = a + k * ROWS;
#endif
                    OF_COLUMN(TAKE)
                    for (uint c = 0; c < COLS; ++c) {
                        const ARITHMETIC factor = LOAD(b, B_AT(k, c, INNER, COLS));
                        OF_COLUMN(ADD)
                    }
                }
            }
            global ELEMENT* block = c_values + ((ulong)first + run) * c_stride;
            for (uint c = 0; c < COLS; ++c) {
                ARITHMETIC sums[ROWS];
                OF_COLUMN(PUT)
                for (uint r = 0; r < ROWS; ++r)
                    place(sums[r], block, c * ROWS + r, alpha, beta);
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
        sum[own] = NOTHING;
    for (uint p = at.y; p < at.z; p += DEPTH) {
        const uint depth = min((uint)DEPTH, at.z - p);
        for (uint i = item; i < depth * LEFT; i += GROUP_SIZE)
            left[i] = LOAD(a_values + (ulong)pair[p + i / LEFT].x * a_stride, i % LEFT);
        for (uint i = item; i < depth * RIGHT; i += GROUP_SIZE)
            right[i] = LOAD(b_values + (ulong)pair[p + i / RIGHT].y * b_stride, i % RIGHT);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint own = 0, element = item; element < AREA; ++own, element += GROUP_SIZE) {
            const uint row = element % ROWS, col = element / ROWS;
            IN_ORDER
            for (uint i = 0; i < depth; ++i) {
                IN_ORDER
                for (uint k = 0; k < INNER; ++k)
                    sum[own] += left[i * LEFT + A_AT(row, k, ROWS, INNER)] * right[i * RIGHT + B_AT(k, col, INNER, COLS)];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE); // everything is read, before the next round writes
    }
    for (uint own = 0, element = item; element < AREA; ++own, element += GROUP_SIZE) {
        if (at.w == WHOLE)
            place(sum[own], c_values + ((ulong)first + at.x) * c_stride, element, alpha, beta);
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
    place(sum, c_values + ((ulong)first + run) * c_stride, element, alpha, beta);
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
        place(sum, c_values + ((ulong)first + at.x) * c_stride, element, alpha, beta);
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
    const uint begin = at.x > 0 ? run_end[at.x - 1] + 1 : 0;
    if (at.w == WHOLE || at.y != begin)
        return;
    const uint count = (run_end[at.x] - begin) / RUN_PIECE + 1;
    ARITHMETIC sum = NOTHING;
    IN_ORDER
    for (uint i = 0; i < count; ++i)
        sum += parts[((ulong)at.w + i) * area + element];
    place(sum, c_values + ((ulong)first + at.x) * c_stride, element, alpha, beta);
}
