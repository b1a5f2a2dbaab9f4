// add: C = alpha * A + beta * B.
// Host: src/structure/add.rs
//
//   One work-item per element of a block of C, or on a CPU per BLOCKS blocks. BLOCKS is 0 on other
//   devices.
//
//   in   pair[nnz]                      the entries of A and of B whose sum is each entry of C;
//                                       NONE for a missing entry
//   in   a_values[a_nnz * a_stride]  b_values[b_nnz * b_stride]
//   out  c_values[nnz * c_stride]       blocks of ROWS x COLS
//
// The kernel supports plus-times only, because alpha and beta are real numbers.
#if !defined(ROWS) || !defined(COLS) || !defined(BLOCKS)
#error "ROWS, COLS, BLOCKS: see src/structure/mod.rs"
#endif
#define AREA (ROWS * COLS)
#define NONE 0xffffffffu

// Returns one element of a sum. If only one matrix has the entry, the result is its product alone,
// so that a zero keeps its sign. A matrix whose factor is 0 is not read, because a NaN would
// spread.
ARITHMETIC term_sum(uint2 of, uint element, global const ELEMENT* a_values, global const ELEMENT* b_values, uint a_stride,
                    uint b_stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const bool from_a = of.x != NONE && alpha != 0, from_b = of.y != NONE && beta != 0;
    ARITHMETIC sum = 0;
    if (from_a)
        sum = alpha * LOAD(a_values + (ulong)of.x * a_stride, element);
    if (from_b) {
        const ARITHMETIC term = beta * LOAD(b_values + (ulong)of.y * b_stride, element);
        sum = from_a ? sum + term : term;
    }
    return sum;
}

KERNEL add_blocks(global const uint2* restrict pair, global const ELEMENT* restrict a_values,
                  global const ELEMENT* restrict b_values, global ELEMENT* restrict c_values, uint nnz, uint a_stride,
                  uint b_stride, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta)
{
#if BLOCKS
    const ulong first = get_global_id(0) * (ulong)BLOCKS;
    const uint end = (uint)min(first + BLOCKS, (ulong)nnz);
    for (uint k = (uint)min(first, (ulong)nnz); k < end; ++k)
        for (uint element = 0; element < AREA; ++element)
            STORE(term_sum(pair[k], element, a_values, b_values, a_stride, b_stride, alpha, beta),
                  c_values + (ulong)k * c_stride, element);
#else
    const ulong item = get_global_id(0);
    const uint k = (uint)(item / AREA), element = (uint)(item % AREA);
    if (item < (ulong)nnz * AREA)
        STORE(term_sum(pair[k], element, a_values, b_values, a_stride, b_stride, alpha, beta), c_values + (ulong)k * c_stride,
              element);
#endif
}
