// values: reads the values of a place, for the kernels of all formats. This file comes before each
// kernel of a format.
// Host: src/apply/spmv/mod.rs
//
// A place has a block of values: SUMS rows of op(A), each with DEPTH terms. Scalars are blocks of
// 1x1. In the order of A's values, blocks are column-major. If ACROSS is 1, the rows of a block are
// rows of op(A); if it is 0, the columns are. If ACROSS is 2, the highest bit of source[place]
// decides.
//
// If THROUGH is 1, the values are A's own, in another order than the format's, and source[place] is
// the index of the place's block. If THROUGH is 0, the values are in the format's order, and source
// is not read. If PACKED, blocks are stored without gaps, otherwise they are `stride` elements
// apart. In packed blocks the first terms of all sums come first, so that neighbouring work-items
// read neighbouring elements.
#if !defined(THROUGH) || !defined(PACKED) || !defined(SUMS) || !defined(DEPTH) || !defined(ACROSS)
#error "THROUGH, PACKED, SUMS, DEPTH, ACROSS: see src/apply/spmv/mod.rs"
#endif
#define AREA (SUMS * DEPTH)

// TERMS_OF are the parameters from which terms are computed, in the order of InTerms in
// src/apply/spmv/terms.rs. TERMS passes these parameters to a function.
#define TERMS_OF(COLUMN)                                                                                              \
    global const COLUMN* restrict col, global const uint* restrict source, global const VALUE* restrict values,       \
        global const ELEMENT* restrict x, uint stride
#define TERMS col, source, values, x, stride

#define MIRRORED 0x80000000u

// BLOCK_OF is the index of a place's block.
#if THROUGH && ACROSS == 2
#define BLOCK_OF(place) (source[place] & ~MIRRORED)
#elif THROUGH
#define BLOCK_OF(place) source[place]
#else
#define BLOCK_OF(place) (place)
#endif

// BEGIN_IN is the place of a sum's first term in a block of A's values. STEP_IN is the distance
// between the sum's terms.
#if ACROSS == 2
#define BEGIN_IN(place, sum) (source[place] & MIRRORED ? (sum) : (sum) * DEPTH)
#define STEP_IN(place) (source[place] & MIRRORED ? SUMS : 1)
#elif ACROSS
#define BEGIN_IN(place, sum) (sum)
#define STEP_IN(place) SUMS
#else
#define BEGIN_IN(place, sum) ((sum) * DEPTH)
#define STEP_IN(place) 1
#endif

// BEGIN is the index of a sum's first term, and STEP the distance between its terms. The sliced
// forms are for row `row` of a slice of `height` rows, in which the places of one column begin at
// `first`.
#if PACKED
#define BEGIN(place, sum) ((ulong)(place) * AREA + (sum))
#define STEP(place) SUMS
#define BEGIN_SLICED(first, height, row, sum) ((ulong)(first) * AREA + (row) * SUMS + (sum))
#define STEP_SLICED(first, height, row) ((height) * SUMS)
#else
#define BEGIN(place, sum) ((ulong)BLOCK_OF(place) * stride + BEGIN_IN(place, sum))
#define STEP(place) STEP_IN(place)
#define BEGIN_SLICED(first, height, row, sum) BEGIN((first) + (row), sum)
#define STEP_SLICED(first, height, row) STEP((first) + (row))
#endif

// TERM is the term of a place, for scalars.
#define TERM(place) MULTIPLY(LOAD_VALUE(values, BEGIN(place, 0)), LOAD(x, col[place]))

// Adds a block's terms to one sum. The block is in column `col`. The terms of the block are
// elements of `values`, from `begin` on, `step` apart.
ARITHMETIC add_terms(ARITHMETIC sum, global const VALUE* restrict values, ulong begin, uint step,
                     global const ELEMENT* restrict x, uint col)
{
    IN_ORDER
    for (uint k = 0; k < DEPTH; ++k)
        sum = ADD(sum, MULTIPLY(LOAD_VALUE(values, begin + (ulong)k * step), LOAD(x, (ulong)col * DEPTH + k)));
    return sum;
}
