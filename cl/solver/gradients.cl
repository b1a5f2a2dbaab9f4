// gradients: a step of conjugate gradients after the product ap = A * p, for the columns of several
// systems at once.
// Host: src/solver/gradients/steps.rs
//
// A step has these phases. PHASES has the bits of those that a launch takes:
//
//   CURVATURES    for each piece of PIECE rows the sums of p * ap
//   RESIDUALS     alpha, r -= alpha * ap, for each piece the sums of r * r, and of r * z if SIDE is
//                 1
//   PRECONDITION  z in place of ap, and for each piece the sums of r * z; if SIDE is above 1
//   DIRECTIONS    x += alpha * p, beta, p = z + beta * p, and the state after the step
//
// A launch has one work-group for each share of `each` pieces and chunk of WIDTH columns. It takes
// several phases only if there is one share. z is M * r, where M has blocks of SIDE rows on its
// diagonal, or r if SIDE is 0. If SIDE is 1, z is computed where it is used, and not stored. A
// phase adds up the pieces' sums of the phase before by itself. So a step takes few launches, and
// its numbers stay on the device.
//
//   in      before[4 * cols]  after: see STATE
//   in      enough[cols]                     r * r at which a column is solved
//   in      m[rows * SIDE]                   the columns of M's blocks
//   in out  curvature[count * cols]          sums of pieces, or of several pieces
//   in out  product[count * KINDS * cols]    the same of r * r, then of r * z
//   in out  turn[2 * cols]                   alpha, then the curvature
//   in out  p[rows * cols]  ap[rows * cols]  r[rows * cols]  x[rows * cols]  by rows
//   out     after[4 * cols]
//
// The terms of a piece are folded in halves, see dot.cl. So a column has the bits of the dot
// products of vectors, whatever the other columns are.
#if !defined(PIECE) || !defined(WIDTH) || !defined(SIDE) || !defined(PHASES)
#error "PIECE, WIDTH, SIDE, PHASES: see src/solver/gradients/steps.rs"
#endif
#define HALF (PIECE / 2)
// Sums for each piece and column: r * r, and r * z if z is not r.
#define KINDS (SIDE > 0 ? 2 : 1)

// Bits of PHASES.
#define CURVATURES 1
#define RESIDUALS 2
#define PRECONDITION 4
#define DIRECTIONS 8

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
#define STARTS 3 // it has no direction yet: x, p and ap are 0

// A single column has WIDTH 1. Compilers know then that its rows are neighbours.
#if WIDTH == 1
#define COLS 1
#else
#define COLS cols
#endif
#define CHUNKS ((COLS + WIDTH - 1) / WIDTH)
#define SHARE ((uint)get_group_id(0) / CHUNKS)
#define FIRST_COLUMN ((uint)get_group_id(0) % CHUNKS * WIDTH)

// Visits the columns j < width of rows begin <= i < end of a piece, in any order. An item visits
// (i, j) if it visits (i + HALF, j).
#if GROUP_SIZE == 1 && WIDTH == 1
#define EACH(i, j, begin, end) VECTORIZED for (uint i = (begin), j = 0; i < (end); ++i)
#elif GROUP_SIZE == 1
#define EACH(i, j, begin, end)             \
    for (uint i = (begin); i < (end); ++i) \
        VECTORIZED for (uint j = 0; j < width; ++j)
#else
#define EACH(i, j, begin, end)                                                                      \
    for (uint at_ = (begin) * WIDTH + get_local_id(0), i = at_ / WIDTH, j = at_ % WIDTH; i < (end); \
         at_ += GROUP_SIZE, i = at_ / WIDTH, j = at_ % WIDTH)                                       \
        if (j < width)
#endif

// Separates the phases of a launch.
#if GROUP_SIZE == 1
#define PHASE_BARRIER
#else
#define PHASE_BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
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
void add_up(global const ARITHMETIC* sums, uint count, uint apart, uint width, local ARITHMETIC* sum)
{
    const uint height = count;
#define PIECE_SUM(i, j) sums[(ulong)(i)*apart + (j)]
    SUM_PIECE(PIECE_SUM);
}

#define AT(i, j) ((begin + (i)) * COLS + col + (j))
#define PIECES(piece) for (uint piece = SHARE * each; piece < min(SHARE * each + each, pieces); ++piece)
#define PUT_SUMS(to)                                               \
    for (uint j = get_local_id(0); j < width; j += GROUP_SIZE)     \
        (to)[j] = sum[j]

// Puts the sums of r * z of a piece, by the item that has written the same rows.
#if SIDE == 1
#define PRODUCT_TERM(i, j) (LOAD(r, AT(i, j)) * (m[begin + (i)] * LOAD(r, AT(i, j))))
#else
#define PRODUCT_TERM(i, j) (LOAD(r, AT(i, j)) * LOAD(ap, AT(i, j)))
#endif
#define PUT_PRODUCTS         \
    SUM_PIECE(PRODUCT_TERM); \
    PUT_SUMS(product + ((ulong)piece * KINDS + 1) * cols + col)

// r -= alpha * ap for one element, and the square of the new one.
ARITHMETIC lowered_square(ARITHMETIC alpha, global const ELEMENT* ap, global ELEMENT* r, ulong at)
{
    const ARITHMETIC value = LOAD(r, at), less = value - alpha * LOAD(ap, at);
    STORE(alpha != 0 ? less : value, r, at);
    return LOAD(r, at) * LOAD(r, at);
}

#if SIDE > 1
// Small blocks are unrolled, so that their sums stay in registers.
#if SIDE <= 8
#define OF_BLOCK _Pragma("unroll")
#else
#define OF_BLOCK
#endif

// z = M * r for the rows of a piece, which may begin and end inside of a block.
void precondition(global const ARITHMETIC* restrict m, global const ELEMENT* restrict r, global ELEMENT* restrict z, ulong begin, uint height,
                  uint cols, uint col, uint width)
{
#if GROUP_SIZE == 1 && WIDTH == 1
    const ulong end = begin + height;
    for (ulong first = begin / SIDE * SIDE; first < end; first += SIDE) {
        ARITHMETIC sum[SIDE];
        OF_BLOCK
        for (uint i = 0; i < SIDE; ++i)
            sum[i] = IDENTITY;
        OF_BLOCK
        for (uint k = 0; k < SIDE; ++k) {
            VECTORIZED
            for (uint i = 0; i < SIDE; ++i)
                sum[i] += m[(first + k) * SIDE + i] * LOAD(r, first + k);
        }
        for (ulong row = max(first, begin); row < min(first + SIDE, end); ++row)
            STORE(sum[row - first], z, row);
    }
#else
    EACH(i, j, 0, height)
    {
        const ulong row = begin + i, first = row / SIDE * SIDE;
        ARITHMETIC sum = IDENTITY;
        IN_ORDER
        for (uint k = 0; k < SIDE; ++k)
            sum += m[(first + k) * SIDE + (row - first)] * LOAD(r, (first + k) * COLS + col + j);
        STORE(sum, z, AT(i, j));
    }
#endif
}
#endif

#if GROUP_SIZE == 1 && WIDTH == 1
// A register, so that loops over rows become vectors.
#define OF_COLUMN(name) ARITHMETIC name[1]
#else
#define OF_COLUMN(name) local ARITHMETIC name[WIDTH]
#endif

KERNEL take_step(global const ARITHMETIC* restrict before, global const ARITHMETIC* restrict enough, global const ARITHMETIC* restrict m,
            global ARITHMETIC* restrict curvature, global ARITHMETIC* restrict product, global ARITHMETIC* restrict turn,
            global ELEMENT* restrict p, global ELEMENT* restrict ap, global ELEMENT* restrict r, global ELEMENT* restrict x,
            global ARITHMETIC* restrict after, uint count, uint rows, uint cols, uint pieces, uint each)
{
    local ARITHMETIC sum[HALF * WIDTH];
    OF_COLUMN(alpha);
    OF_COLUMN(beta);
    const uint col = FIRST_COLUMN, width = min((uint)WIDTH, COLS - col);
#if PHASES & CURVATURES
    PIECES(piece)
    {
        const ulong begin = (ulong)piece * PIECE;
        const uint height = (uint)min((ulong)PIECE, rows - begin);
#define CURVATURE_TERM(i, j) (LOAD(p, AT(i, j)) * LOAD(ap, AT(i, j)))
        SUM_PIECE(CURVATURE_TERM);
        PUT_SUMS(curvature + (ulong)piece * cols + col);
    }
    PHASE_BARRIER;
#endif
#if PHASES & RESIDUALS
    add_up(curvature + col, count, cols, width, sum);
    for (uint j = get_local_id(0); j < width; j += GROUP_SIZE) {
        const bool works = STATE(before, FATE, col + j) == WORKS;
        // A column without a positive curvature stays as it is, and DIRECTIONS ends it.
        alpha[j] = works && sum[j] > 0 && sum[j] < INFINITY ? STATE(before, PRODUCT, col + j) / sum[j] : 0;
        if (SHARE == 0) {
            turn[col + j] = alpha[j];
            turn[cols + col + j] = sum[j];
        }
    }
    PIECES(piece)
    {
        const ulong begin = (ulong)piece * PIECE;
        const uint height = (uint)min((ulong)PIECE, rows - begin);
#define SQUARE_TERM(i, j) lowered_square(alpha[j], ap, r, AT(i, j))
        SUM_PIECE(SQUARE_TERM); // its first barrier follows the writes of alpha
        PUT_SUMS(product + (ulong)piece * KINDS * cols + col);
#if SIDE == 1
        PUT_PRODUCTS;
#endif
    }
    PHASE_BARRIER;
#endif
#if PHASES & PRECONDITION
    PIECES(piece)
    {
        const ulong begin = (ulong)piece * PIECE;
        const uint height = (uint)min((ulong)PIECE, rows - begin);
        precondition(m, r, ap, begin, height, cols, col, width);
        PUT_PRODUCTS;
    }
    PHASE_BARRIER;
#endif
#if PHASES & DIRECTIONS
    add_up(product + col, count, KINDS * cols, width, sum);
    for (uint j = get_local_id(0); j < width; j += GROUP_SIZE)
        beta[j] = sum[j];
#if SIDE > 0
    add_up(product + cols + col, count, KINDS * cols, width, sum);
#endif
    for (uint j = get_local_id(0); j < width; j += GROUP_SIZE) {
        const ARITHMETIC square = beta[j], curved = turn[cols + col + j], fate = STATE(before, FATE, col + j);
        const bool works = fate == WORKS, moves = works && curved > 0 && curved < INFINITY, turns = moves || fate == STARTS;
        alpha[j] = moves ? turn[col + j] : 0;
        beta[j] = turns ? sum[j] / STATE(before, PRODUCT, col + j) : 0;
        if (SHARE == 0) {
            STATE(after, PRODUCT, col + j) = sum[j];
            STATE(after, SQUARE, col + j) = square;
            STATE(after, CURVATURE, col + j) = works ? curved : STATE(before, CURVATURE, col + j);
            STATE(after, FATE, col + j) = !turns ? (works ? FAILED : fate) : square <= enough[col + j] ? SOLVED : WORKS;
        }
    }
    PIECES(piece)
    {
        const ulong begin = (ulong)piece * PIECE;
        const uint height = (uint)min((ulong)PIECE, rows - begin);
        GROUP_BARRIER; // alpha, beta
        EACH(i, j, 0, height)
        {
#if SIDE == 0
            const ARITHMETIC z = LOAD(r, AT(i, j));
#elif SIDE == 1
            const ARITHMETIC z = m[begin + i] * LOAD(r, AT(i, j));
#else
            const ARITHMETIC z = LOAD(ap, AT(i, j));
#endif
            const ARITHMETIC value = LOAD(p, AT(i, j)), old = LOAD(x, AT(i, j)), more = alpha[j] * value + old;
            STORE(alpha[j] != 0 ? more : old, x, AT(i, j));
            STORE(z + beta[j] * value, p, AT(i, j));
        }
    }
#endif
}
