// runs: adds runs of products of blocks, each run by one work-item. This file comes after words.cl,
// before sums.cl of this folder and cl/product/cpu/ranges/blocks.cl.
// Host: src/product/esc/blocks/mod.rs
//
//   sum_products   computes one element of a block, for sides given as arguments
//   sum_run        computes a whole block in registers, for the compiled sides ROWS, INNER, COLS
//
// An element of C is the sum over the products of its run, in the order of the run. Within a
// product of blocks the inner index ascends. Each product of scalars is rounded before it is added.

// Returns one element of the sum of the products begin to end.
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
#if !defined(PAIRS_AHEAD)
#error "PAIRS_AHEAD: see src/product/esc/blocks/mod.rs"
#endif
#define AREA (ROWS * COLS)

// A column of ROWS elements is cut into vectors of 16, 8, 4 and 3, 2 or 1 elements.
// DO(number of elements, first row) is expanded for each vector.
#define VECTOR_1 ARITHMETIC
#define VECTOR_2 JOIN(ARITHMETIC, 2)
#define VECTOR_3 JOIN(ARITHMETIC, 3)
#define VECTOR_4 JOIN(ARITHMETIC, 4)
#define VECTOR_8 JOIN(ARITHMETIC, 8)
#define VECTOR_16 JOIN(ARITHMETIC, 16)
#define VLOAD_1(from) (*(from))
#define VLOAD_2(from) vload2(0, from)
#define VLOAD_3(from) vload3(0, from)
#define VLOAD_4(from) vload4(0, from)
#define VLOAD_8(from) vload8(0, from)
#define VLOAD_16(from) vload16(0, from)
#define VSTORE_1(vector, to) (*(to) = (vector))
#define VSTORE_2(vector, to) vstore2(vector, 0, to)
#define VSTORE_3(vector, to) vstore3(vector, 0, to)
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
#if ROWS % 4 == 3
#define OF_REST(DO) DO(3, (ROWS & 28))
#elif ROWS % 4 == 2
#define OF_REST(DO) DO(2, (ROWS & 28))
#elif ROWS % 4 == 1
#define OF_REST(DO) DO(1, (ROWS & 28))
#else
#define OF_REST(DO)
#endif
#define OF_COLUMN(DO) OF_16(DO) OF_8(DO) OF_4(DO) OF_REST(DO)

#define DECLARE(N, at) VECTOR_##N sum_##N[COLS];
#define BEGIN(N, at) sum_##N[c] = START(begin, end);
#define TAKE(N, at) const VECTOR_##N left_##N = VLOAD_##N(left + at);
#define TERM(N, at) sum_##N[c] = ADD(sum_##N[c], MULTIPLY(left_##N, (VECTOR_##N)(factor)));
#define PUT(N, at) VSTORE_##N(sum_##N[c], sums + c * ROWS + at);

// Adds the products begin to end, column by column. The sums are in registers only if the loops
// over columns are unrolled, and compilers unroll them only if asked. Blocks of A are not stored in
// the order of use, so each block is prefetched PAIRS_AHEAD products before it is read, up to
// product `last`.
void sum_run(global const uint2* restrict pair, global const ELEMENT* restrict a_values, global const ELEMENT* restrict b_values,
             uint begin, uint end, uint last, uint a_stride, uint b_stride, ARITHMETIC* sums)
{
    OF_COLUMN(DECLARE)
    WRITTEN_OUT
    for (uint c = 0; c < COLS; ++c) {
        OF_COLUMN(BEGIN)
    }
    IN_ORDER
    for (uint p = begin; p < end; ++p) {
        global const ELEMENT* a = a_values + (ulong)pair[p].x * a_stride;
        global const ELEMENT* b = b_values + (ulong)pair[p].y * b_stride;
#if PAIRS_AHEAD > 0
        global const ELEMENT* next = a_values + (ulong)pair[min(p + PAIRS_AHEAD, last)].x * a_stride;
        WRITTEN_OUT
        for (uint i = 0; i < ROWS * INNER; i += 64 / sizeof(ELEMENT))
            ASK(next + i);
#endif
        IN_ORDER
        for (uint k = 0; k < INNER; ++k) {
#if A_TRANSPOSED || ELEMENT_IS_HALF || ELEMENT_IS_BYTE
            ARITHMETIC left[ROWS];
            WRITTEN_OUT
            for (uint r = 0; r < ROWS; ++r)
                left[r] = LOAD(a, A_AT(r, k, ROWS, INNER));
#else
            global const ARITHMETIC* left = a + k * ROWS;
#endif
            OF_COLUMN(TAKE)
            WRITTEN_OUT
            for (uint c = 0; c < COLS; ++c) {
                const ARITHMETIC factor = LOAD(b, B_AT(k, c, INNER, COLS));
                OF_COLUMN(TERM)
            }
        }
    }
    WRITTEN_OUT
    for (uint c = 0; c < COLS; ++c) {
        OF_COLUMN(PUT)
    }
}
#endif
