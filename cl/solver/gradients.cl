// gradients: a step of conjugate gradients after the product ap = A * p, for the columns of several
// systems at once.
// Host: src/solver/gradients/steps.rs
//
//   curvatures      for each piece of PIECE rows the sums of p * ap
//   residuals       alpha, r -= alpha * ap, for each piece the sums of r * r, and of r * z if SIDE
//                   is 1
//   preconditioned  for each piece the sums of r * z, if SIDE is above 1
//   directions      x += alpha * p, beta, p = z + beta * p, and the state after the step
//
// Each takes one work-group for each share of `each` pieces and chunk of WIDTH columns. z is M * r,
// where M has blocks of SIDE rows on its diagonal, or r if SIDE is 0. It is computed where it is
// used, and not stored. A kernel adds up the pieces' sums of the one before by itself. So a step
// takes few launches, and its numbers stay on the device.
//
//   in      p[rows * cols]  ap[rows * cols]  by rows, as all vectors are
//   in      m[rows * SIDE]                   the rows of M's blocks
//   in      curvature[count * cols]          sums of pieces, or of several pieces
//   in      product[count * KINDS * cols]    the same of r * r, then of r * z
//   in      before[4 * cols]  after: see STATE
//   in      enough[cols]                     r * r at which a column is solved
//   out     sums[pieces * KINDS * cols]
//   out     turn[2 * cols]                   alpha, then the curvature
//   out     after[4 * cols]
//   in out  r[rows * cols]  x[rows * cols]
//
// The terms of a piece are folded in halves, see dot.cl. So a column has the bits of the dot
// products of vectors, whatever the other columns are.
#if !defined(PIECE) || !defined(WIDTH) || !defined(SIDE)
#error "PIECE, WIDTH, SIDE: see src/solver/gradients/steps.rs"
#endif
// The parameters of each kernel for its share, as InShares of the host passes them.
#define SHARES uint rows, uint cols, uint pieces, uint each
#define HALF (PIECE / 2)
// Sums for each piece and column: r * r, and r * z if z is not r.
#define KINDS (SIDE > 0 ? 2 : 1)

// STATE: r * z, r * r, the last curvature, and what becomes of the column.
#define STATE(array, what, col) array[(what) * cols + (col)]
#define PRODUCT 0
#define SQUARE 1
#define CURVATURE 2
#define FATE 3
// A fate.
#define WORKS 0
#define SOLVED 1
#define FAILED 2

// A single column has WIDTH 1. Compilers turn its loops into vectors, because they know that its
// rows are neighbours.
#if WIDTH == 1
#define COLS 1
#else
#define COLS cols
#endif
#define CHUNKS ((COLS + WIDTH - 1) / WIDTH)
#define SHARE ((uint)get_group_id(0) / CHUNKS)
#define FIRST_COLUMN ((uint)get_group_id(0) % CHUNKS * WIDTH)
#define COLUMNS_FROM(col) min((uint)WIDTH, COLS - (col))

// Visits the columns j < width of rows begin <= i < end of a piece. An item visits (i, j) if it
// visits (i + HALF, j).
#if GROUP_SIZE == 1
#define EACH(i, j, begin, end)             \
    for (uint i = (begin); i < (end); ++i) \
        for (uint j = 0; j < width; ++j)
#else
#define EACH(i, j, begin, end)                                                                      \
    for (uint at_ = (begin) * WIDTH + get_local_id(0), i = at_ / WIDTH, j = at_ % WIDTH; i < (end); \
         at_ += GROUP_SIZE, i = at_ / WIDTH, j = at_ % WIDTH)                                       \
        if (j < width)
#endif

// Folds HALF rows of sums into the first.
void fold(local ARITHMETIC* sum, uint width)
{
    for (uint height = HALF / 2; height > 0; height /= 2) {
        GROUP_BARRIER; // the writes of the round before
        EACH(i, j, 0, height)
            sum[i * WIDTH + j] += sum[(i + height) * WIDTH + j];
    }
    GROUP_BARRIER;
}

// Sums TERM(i, j) over the `height` rows of a piece, into the first row of `sum`.
#define SUM_PIECE(TERM)                                          \
    GROUP_BARRIER; /* reads of the sums before */                \
    EACH(i, j, 0, min(height, (uint)HALF))                       \
        sum[i * WIDTH + j] = TERM(i, j);                         \
    EACH(i, j, height, HALF)                                     \
        sum[i * WIDTH + j] = IDENTITY;                           \
    EACH(i, j, HALF, height)                                     \
        sum[(i - HALF) * WIDTH + j] += TERM(i, j);               \
    fold(sum, width)

// Adds up the sums of `count` pieces, at most PIECE, into the first row of `sum`. They are `apart`
// from piece to piece.
void add_up(global const ARITHMETIC* restrict sums, uint count, uint apart, uint width, local ARITHMETIC* sum)
{
    const uint height = count;
#define PIECE_SUM(i, j) sums[(ulong)(i)*apart + (j)]
    SUM_PIECE(PIECE_SUM);
}

#if SIDE > 0
// Element (row, col) of z.
ARITHMETIC preconditioned_at(global const ARITHMETIC* restrict m, global const ELEMENT* restrict r, ulong row, uint cols, uint col)
{
    const ulong first = row / SIDE * SIDE;
    ARITHMETIC sum = IDENTITY;
    IN_ORDER
    for (uint k = 0; k < SIDE; ++k)
        sum += m[row * SIDE + k] * LOAD(r, (first + k) * COLS + col);
    return sum;
}
#define Z(row, j) preconditioned_at(m, r, row, cols, col + (j))
#else
#define Z(row, j) LOAD(r, (row)*COLS + col + (j))
#endif

#define AT(i, j) ((begin + (i)) * COLS + col + (j))
#define PIECES(piece) for (uint piece = SHARE * each; piece < min(SHARE * each + each, pieces); ++piece)
// Declares the first row of a piece and the number of its rows.
#define ROWS_OF(piece)                         \
    const ulong begin = (ulong)(piece)*PIECE; \
    const uint height = (uint)min((ulong)PIECE, rows - begin)
#define PUT_SUMS(to)                                               \
    for (uint j = get_local_id(0); j < width; j += GROUP_SIZE)     \
        (to)[j] = sum[j]

KERNEL curvatures(global const ELEMENT* restrict p, global const ELEMENT* restrict ap, global ARITHMETIC* restrict sums, SHARES)
{
    local ARITHMETIC sum[HALF * WIDTH];
    const uint col = FIRST_COLUMN, width = COLUMNS_FROM(col);
    PIECES(piece)
    {
        ROWS_OF(piece);
#define CURVATURE_TERM(i, j) (LOAD(p, AT(i, j)) * LOAD(ap, AT(i, j)))
        SUM_PIECE(CURVATURE_TERM);
        PUT_SUMS(sums + (ulong)piece * cols + col);
    }
}

#if GROUP_SIZE == 1 && WIDTH == 1
// A register, so that loops over rows become vectors.
#define OF_COLUMN(name) ARITHMETIC name[1]
#else
#define OF_COLUMN(name) local ARITHMETIC name[WIDTH]
#endif

// Puts the sums of r * z of a piece, by the item that has written the same rows of r if SIDE is 1.
#define PRODUCT_TERM(i, j) (LOAD(r, AT(i, j)) * Z(begin + (i), j))
#define PUT_PRODUCTS         \
    SUM_PIECE(PRODUCT_TERM); \
    PUT_SUMS(sums + ((ulong)piece * KINDS + 1) * cols + col)

// r -= alpha * ap for one element, and the square of the new one.
ARITHMETIC lowered_square(ARITHMETIC alpha, global const ELEMENT* restrict ap, global ELEMENT* restrict r, ulong at)
{
    const ARITHMETIC value = LOAD(r, at), less = value - alpha * LOAD(ap, at);
    STORE(alpha != 0 ? less : value, r, at);
    return LOAD(r, at) * LOAD(r, at);
}

KERNEL residuals(global const ARITHMETIC* restrict before, global const ARITHMETIC* restrict curvature, global const ELEMENT* restrict ap,
                 global const ARITHMETIC* restrict m, global ELEMENT* restrict r, global ARITHMETIC* restrict sums,
                 global ARITHMETIC* restrict turn, uint count, SHARES)
{
    local ARITHMETIC sum[HALF * WIDTH];
    OF_COLUMN(alpha);
    const uint col = FIRST_COLUMN, width = COLUMNS_FROM(col);
    add_up(curvature + col, count, cols, width, sum);
    for (uint j = get_local_id(0); j < width; j += GROUP_SIZE) {
        const bool works = STATE(before, FATE, col + j) == WORKS;
        // A column without a positive curvature stays as it is, and `directions` ends it.
        alpha[j] = works && sum[j] > 0 && sum[j] < INFINITY ? STATE(before, PRODUCT, col + j) / sum[j] : 0;
        if (SHARE == 0) {
            turn[col + j] = alpha[j];
            turn[cols + col + j] = sum[j];
        }
    }
    PIECES(piece)
    {
        ROWS_OF(piece);
#define SQUARE_TERM(i, j) lowered_square(alpha[j], ap, r, AT(i, j))
        SUM_PIECE(SQUARE_TERM); // its first barrier follows the writes of alpha
        PUT_SUMS(sums + (ulong)piece * KINDS * cols + col);
#if SIDE == 1
        PUT_PRODUCTS;
#endif
    }
}

#if SIDE > 1
KERNEL preconditioned(global const ARITHMETIC* restrict m, global const ELEMENT* restrict r, global ARITHMETIC* restrict sums, SHARES)
{
    local ARITHMETIC sum[HALF * WIDTH];
    const uint col = FIRST_COLUMN, width = COLUMNS_FROM(col);
    PIECES(piece)
    {
        ROWS_OF(piece);
        PUT_PRODUCTS;
    }
}
#endif

KERNEL directions(global const ARITHMETIC* restrict before, global const ARITHMETIC* restrict turn, global const ARITHMETIC* restrict product,
                  global const ARITHMETIC* restrict enough, global const ARITHMETIC* restrict m, global const ELEMENT* restrict r,
                  global ELEMENT* restrict x, global ELEMENT* restrict p, global ARITHMETIC* restrict after, uint count, SHARES)
{
    local ARITHMETIC sum[HALF * WIDTH];
    OF_COLUMN(alpha);
    OF_COLUMN(beta);
    const uint col = FIRST_COLUMN, width = COLUMNS_FROM(col);
    add_up(product + col, count, KINDS * cols, width, sum);
    for (uint j = get_local_id(0); j < width; j += GROUP_SIZE)
        beta[j] = sum[j];
#if SIDE > 0
    add_up(product + cols + col, count, KINDS * cols, width, sum);
#endif
    for (uint j = get_local_id(0); j < width; j += GROUP_SIZE) {
        const ARITHMETIC square = beta[j], curved = turn[cols + col + j], fate = STATE(before, FATE, col + j);
        const bool works = fate == WORKS, moves = works && curved > 0 && curved < INFINITY;
        alpha[j] = moves ? turn[col + j] : 0;
        beta[j] = moves ? sum[j] / STATE(before, PRODUCT, col + j) : 0;
        if (SHARE == 0) {
            STATE(after, PRODUCT, col + j) = sum[j];
            STATE(after, SQUARE, col + j) = square;
            STATE(after, CURVATURE, col + j) = works ? curved : STATE(before, CURVATURE, col + j);
            STATE(after, FATE, col + j) = !works ? fate : !moves ? FAILED : square <= enough[col + j] ? SOLVED : WORKS;
        }
    }
    PIECES(piece)
    {
        ROWS_OF(piece);
        GROUP_BARRIER; // alpha, beta
        EACH(i, j, 0, height)
        {
            const ARITHMETIC value = LOAD(p, AT(i, j)), old = LOAD(x, AT(i, j)), more = alpha[j] * value + old;
            STORE(alpha[j] != 0 ? more : old, x, AT(i, j));
            STORE(Z(begin + i, j) + beta[j] * value, p, AT(i, j));
        }
    }
}
