// block_words: what the kernels that sum products of blocks share. Included before cl/esc/block_sums.cl and cl/esc/block_tiles.cl.
#if !defined(LONG_RUN) || !defined(RUN_PIECE) || !defined(A_TRANSPOSED) || !defined(B_TRANSPOSED) || !defined(EMPTY_RUNS)
#error "LONG_RUN, RUN_PIECE, A_TRANSPOSED, B_TRANSPOSED, EMPTY_RUNS: see src/esc/block_sums.rs"
#endif
#define NOTHING ((ARITHMETIC)-0.0f)
#define WHOLE 0xffffffffu

// What the sum of products begin to end starts with.
#if EMPTY_RUNS
#define START(begin, end) ((begin) < (end) ? NOTHING : (ARITHMETIC)0)
#else
#define START(begin, end) NOTHING
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

#define JOIN_(type, n) type##n
#define JOIN(type, n) JOIN_(type, n)

// A sum, to its place in C.
void place(ARITHMETIC sum, global ELEMENT* c, uint element, ARITHMETIC alpha, ARITHMETIC beta)
{
    ARITHMETIC value = alpha * sum;
    if (beta != 0)
        value += beta * LOAD(c, element);
    STORE(value, c, element);
}

// The first product of a run, which begins after the end of the run before it.
uint run_begin(global const uint* run_end, uint run)
{
    return run > 0 ? run_end[run - 1] + 1 : 0;
}
