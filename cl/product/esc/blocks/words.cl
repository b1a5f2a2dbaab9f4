// words: definitions that the kernels that add products of blocks share. This file comes after
// ptx.cl and before runs.cl, tiles.cl, staged.cl and scalars.cl of this folder.
#if !defined(RUN_PIECE) || !defined(A_TRANSPOSED) || !defined(B_TRANSPOSED) || !defined(EMPTY_RUNS)
#error "RUN_PIECE, A_TRANSPOSED, B_TRANSPOSED, EMPTY_RUNS: see src/product/esc/blocks/mod.rs"
#endif
#define WHOLE 0xffffffffu

// START is the start of the sum of the products begin to end.
#if EMPTY_RUNS
#define START(begin, end) ((begin) < (end) ? IDENTITY : EMPTY)
#else
#define START(begin, end) IDENTITY
#endif

// A_AT and B_AT are the place of an element in its block. Blocks of A are rows x inner, blocks of B
// inner x cols.
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

#define JOIN_(word, n) word##n
#define JOIN(word, n) JOIN_(word, n)

#ifdef __clang__
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define ROLLED
#endif

// Returns the first product of a run, which begins after the end of the run before it.
uint run_begin(global const uint* run_end, uint run)
{
    return run > 0 ? run_end[run - 1] + 1 : 0;
}

// The kernels of GPUs are compiled for the sides of their blocks. Vectors of WIDE elements have 16
// bytes.
#ifdef WIDE
#define LEFT (ROWS * INNER)
#define RIGHT (INNER * COLS)
#define AREA (ROWS * COLS)
#define ROUNDS(n) (((n) + GROUP_SIZE - 1) / GROUP_SIZE)
#define NONE 0xffffffffu
#define IDLE 0xfffffffeu

// OF does the same as JOIN, for arguments that contain JOIN: a macro is not expanded inside itself.
#define OF_(word, n) word##n
#define OF(word, n) OF_(word, n)
#define VECTOR_1 ARITHMETIC
#define VECTOR_2 JOIN(ARITHMETIC, 2)
#define VECTOR_4 JOIN(ARITHMETIC, 4)
#define GET_1(aligned, from) LOAD(from, 0)
#define PUT_1(aligned, value, to) STORE(value, to, 0)
#if ELEMENT_IS_HALF
#define GET_2(aligned, from) (aligned ? vloada_half2(0, from) : vload_half2(0, from))
#define GET_4(aligned, from) (aligned ? vloada_half4(0, from) : vload_half4(0, from))
#define PUT_2(aligned, value, to) (aligned ? vstorea_half2_rte(value, 0, to) : vstore_half2_rte(value, 0, to))
#define PUT_4(aligned, value, to) (aligned ? vstorea_half4_rte(value, 0, to) : vstore_half4_rte(value, 0, to))
#elif ELEMENT_IS_BYTE
#define GET_2(aligned, from) convert_uint2(vload2(0, from))
#define GET_4(aligned, from) convert_uint4(vload4(0, from))
#define PUT_2(aligned, value, to) vstore2(convert_uchar2(value), 0, to)
#define PUT_4(aligned, value, to) vstore4(convert_uchar4(value), 0, to)
#else
#define GET_2(aligned, from) (aligned ? *(global const VECTOR_2*)(from) : vload2(0, from))
#define GET_4(aligned, from) (aligned ? *(global const VECTOR_4*)(from) : vload4(0, from))
// Sums are not read soon, so they are written in a way that keeps the operands in the cache.
#if !WARPS
#define ASSIGN_2(value, to) (void)(*(global VECTOR_2*)(to) = value)
#define ASSIGN_4(value, to) (void)(*(global VECTOR_4*)(to) = value)
#elif WIDE == 2
#define ASSIGN_2(value, to) put_aside_16(as_uint4(value), to)
#define ASSIGN_4(value, to) (put_aside_16(as_uint4((value).lo), to), put_aside_16(as_uint4((value).hi), (to) + 2))
#else
#define ASSIGN_2(value, to) put_aside_8(as_uint2(value), to)
#define ASSIGN_4(value, to) put_aside_16(as_uint4(value), to)
#endif
#define PUT_2(aligned, value, to) (aligned ? ASSIGN_2(value, to) : vstore2(value, 0, to))
#define PUT_4(aligned, value, to) (aligned ? ASSIGN_4(value, to) : vstore4(value, 0, to))
#endif
// Loads the blocks of a pair, by FETCH of the kernel's file.
#define FETCH_BLOCKS                                                                                                  \
    if (aligned) {                                                                                                    \
        FETCH(held_a, a_values, a_stride, x, A_PARTS, A_WIDTH, true)                                                  \
        FETCH(held_b, b_values, b_stride, y, B_PARTS, B_WIDTH, true)                                                  \
    } else {                                                                                                          \
        FETCH(held_a, a_values, a_stride, x, A_PARTS, A_WIDTH, false)                                                 \
        FETCH(held_b, b_values, b_stride, y, B_PARTS, B_WIDTH, false)                                                 \
    }
#endif
