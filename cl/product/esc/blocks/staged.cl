// staged: computes the sums of sums.cl on GPUs, for blocks too large to be held in registers.
// Host: src/product/esc/blocks/mod.rs
//
//   sum_staged   one work-group per TEAMS pieces; every run is a piece. If runs may be empty, the
//                work-groups after those write the blocks of empty runs
//
// in and out: as in tiles.cl.
//
// A team of work-items computes a piece. Each item has a tile of TILE_ROWS x TILE_COLS elements of
// the block of C in registers. The operands of one product of each team are in local memory. While
// the operands are multiplied, the operands of the next product are loaded into registers, and so
// is the pair of the product after it. C goes through local memory too, so that neighbouring items
// write neighbouring elements.
//
// In local memory, consecutive columns of a block, or rows if it is transposed, are a pitch apart.
// The pitch of B makes items that read neighbouring columns use different banks. The pitch of A
// aligns the start of each tile for vector loads. The last tiles of a column may reach beyond the
// block. The elements beyond the block are dropped. If the tiles do not divide the columns of the
// block, the last column of tiles overlaps the one before it.
#if !defined(TILE_ROWS) || !defined(TILE_COLS) || !defined(TEAMS) || !defined(WIDE)
#error "TILE_ROWS, TILE_COLS, TEAMS, WIDE: see src/product/tuning/blocks.rs"
#endif
#define ROW_TILES ((ROWS + TILE_ROWS - 1) / TILE_ROWS)
#define COL_TILES ((COLS + TILE_COLS - 1) / TILE_COLS)
#define TEAM (ROW_TILES * COL_TILES)

// LEAD is the length of a column of A or B, or of a row if the block is transposed. PITCH is the
// distance in local memory from one column or row to the next. STEP is the distance from one block
// to the next.
#define A_LEAD (A_TRANSPOSED ? INNER : ROWS)
#define B_LEAD (B_TRANSPOSED ? COLS : INNER)
#define WHOLE_VECTORS(n) (((n) + WIDE - 1) / WIDE * WIDE)
#define ODD_VECTORS(n) ((n) % WIDE == 0 && (n) / WIDE % 2 == 0 ? (n) + WIDE : (n))
#define A_PITCH (ROW_TILES * TILE_ROWS <= WHOLE_VECTORS(A_LEAD) ? WHOLE_VECTORS(A_LEAD) : A_LEAD)
#define B_PITCH ODD_VECTORS(B_LEAD)
#define A_STEP WHOLE_VECTORS(LEFT / A_LEAD * A_PITCH)
#define B_STEP WHOLE_VECTORS(RIGHT / B_LEAD * B_PITCH)

// WIDTH is the number of elements of a vector. The columns of A and B and the blocks of C consist
// of vectors. A vector has 16 bytes if 16 bytes divide the length.
#if A_LEAD % 4 == 0 && WIDE == 4
#define A_WIDTH 4
#elif A_LEAD % 2 == 0
#define A_WIDTH 2
#else
#define A_WIDTH 1
#endif
#if B_LEAD % 4 == 0 && WIDE == 4
#define B_WIDTH 4
#elif B_LEAD % 2 == 0
#define B_WIDTH 2
#else
#define B_WIDTH 1
#endif
#if AREA % 4 == 0 && WIDE == 4
#define C_WIDTH 4
#elif AREA % 2 == 0
#define C_WIDTH 2
#else
#define C_WIDTH 1
#endif
#define A_VECTOR OF(VECTOR_, A_WIDTH)
#define B_VECTOR OF(VECTOR_, B_WIDTH)
#define A_PARTS (LEFT / A_WIDTH)
#define B_PARTS (RIGHT / B_WIDTH)
#define C_PARTS (AREA / C_WIDTH)
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

// FETCH loads vectors of the blocks with the numbers entry.WHICH into registers. KEEP stores the
// loaded vectors to local memory. All items load vectors of one block, then of the next, so that
// each vector needs few computations. If sides are odd, a vector is a single element.
#define FETCH(held, values, stride, WHICH, PARTS, WIDTH, aligned)                                                     \
    WRITTEN_OUT                                                                                                       \
    for (uint t = 0; t < TEAMS; ++t) {                                                                                \
        const uint entry = coming[t].WHICH;                                                                           \
        WRITTEN_OUT                                                                                                   \
        for (uint s = 0; s < ROUNDS(PARTS); ++s) {                                                                    \
            const uint i = item + s * GROUP_SIZE;                                                                     \
            if (entry != NONE && i < PARTS)                                                                           \
                held[t * ROUNDS(PARTS) + s] =                                                                         \
                    OF(GET_, WIDTH)(aligned, values + (ulong)entry * stride + i * WIDTH);                             \
        }                                                                                                             \
    }
#define KEEP(held, blocks, STEP, PARTS, WIDTH, LEAD, PITCH)                                                           \
    WRITTEN_OUT                                                                                                       \
    for (uint t = 0; t < TEAMS; ++t)                                                                                  \
        WRITTEN_OUT                                                                                                   \
        for (uint s = 0; s < ROUNDS(PARTS); ++s) {                                                                    \
            const uint i = item + s * GROUP_SIZE, at = i * WIDTH;                                                     \
            if (i < PARTS)                                                                                            \
                *(local OF(VECTOR_, WIDTH)*)((blocks) + t * STEP + at + at / LEAD * (PITCH - LEAD)) =                 \
                    held[t * ROUNDS(PARTS) + s];                                                                      \
        }
// FETCH_PAIR loads the pair of the product of a round. Item t loads the pair of team t.
#define FETCH_PAIR(round) (begin < end && (round) < end - begin ? pair[begin + (round)] : (uint2)(NONE))

KERNEL sum_staged(global const uint* restrict run_end, global const uint4* restrict piece, global const uint2* restrict pair,
                  global const ELEMENT* restrict a_values, global const ELEMENT* restrict b_values,
                  global ARITHMETIC* restrict parts, global ELEMENT* restrict c_values, uint nnz, uint pieces, uint first,
                  uint a_stride, uint b_stride, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint item = get_local_id(0);
#if EMPTY_RUNS
    const uint piece_groups = (pieces + TEAMS - 1) / TEAMS;
    if (get_group_id(0) >= piece_groups) {
        const uint run = (get_group_id(0) - piece_groups) * GROUP_SIZE + item;
        if (run < nnz && run_begin(run_end, run) == run_end[run] + 1)
            for (uint j = 0; j < AREA; ++j)
                place_sum(EMPTY, c_values + ((ulong)first + run) * c_stride, j, alpha, beta);
        return;
    }
#endif
    // Tiles that reach beyond the last column of A read up to TILE_ROWS elements more.
    local ARITHMETIC blocks[LARGER(TEAMS * (A_STEP + B_STEP) + TILE_ROWS, TEAMS * AREA)] __attribute__((aligned(16)));
    local uint2 coming[TEAMS], places[TEAMS];
    local uint longest;
    // If the first vector of a block is aligned, all of its vectors are.
    const bool aligned = (a_stride % WIDE == 0 || a_stride == LEFT) && (b_stride % WIDE == 0 || b_stride == RIGHT);
    const uint team = item / TEAM, lane = item % TEAM, piece0 = get_group_id(0) * TEAMS;
    const uint row = lane % ROW_TILES * TILE_ROWS, col = min(lane / ROW_TILES * TILE_COLS, (uint)(COLS - TILE_COLS));
    local ARITHMETIC* left = blocks + min(team, TEAMS - 1u) * A_STEP;
    local ARITHMETIC* right = blocks + TEAMS * A_STEP + min(team, TEAMS - 1u) * B_STEP;
    // `products` belongs to the item's own team; `of` is the piece of the team whose pairs the item
    // loads.
    const uint products = team < TEAMS && piece0 + team < pieces ? piece[piece0 + team].z - piece[piece0 + team].y : 0;
    const uint4 of = item < TEAMS && piece0 + item < pieces ? piece[piece0 + item] : (uint4)(0, 0, 0, IDLE);
    const uint begin = of.y, end = of.z;
    if (item == 0)
        longest = 0;
    GROUP_BARRIER;
    uint2 next = FETCH_PAIR(0);
    if (item < TEAMS) {
        coming[item] = next;
        places[item] = (uint2)(of.x, of.w);
        atomic_max(&longest, end - begin);
    }
    GROUP_BARRIER;
    const uint rounds = longest;
    ARITHMETIC sum[TILE_COLS * TILE_ROWS];
    WRITTEN_OUT
    for (uint j = 0; j < TILE_COLS * TILE_ROWS; ++j)
        sum[j] = IDENTITY;
    A_VECTOR held_a[TEAMS * ROUNDS(A_PARTS)];
    B_VECTOR held_b[TEAMS * ROUNDS(B_PARTS)];
    FETCH_BLOCKS
    next = FETCH_PAIR(1);
    ROLLED
    for (uint round = 0; round < rounds; ++round) {
        GROUP_BARRIER; // blocks[] and coming[] are read before they are overwritten
        KEEP(held_a, blocks, A_STEP, A_PARTS, A_WIDTH, A_LEAD, A_PITCH)
        KEEP(held_b, blocks + TEAMS * A_STEP, B_STEP, B_PARTS, B_WIDTH, B_LEAD, B_PITCH)
        if (item < TEAMS)
            coming[item] = next;
        GROUP_BARRIER;
        FETCH_BLOCKS
        next = FETCH_PAIR(round + 2);
        if (round < products) {
            WRITTEN_OUT
            for (uint k = 0; k < INNER; ++k) {
                ARITHMETIC x[TILE_ROWS];
                WRITTEN_OUT
                for (uint r = 0; r < TILE_ROWS; ++r)
                    x[r] = left[A_TRANSPOSED ? min(row + r, ROWS - 1u) * A_PITCH + k : k * A_PITCH + row + r];
                WRITTEN_OUT
                for (uint c = 0; c < TILE_COLS; ++c) {
                    const ARITHMETIC y = right[B_TRANSPOSED ? k * B_PITCH + col + c : (col + c) * B_PITCH + k];
                    WRITTEN_OUT
                    for (uint r = 0; r < TILE_ROWS; ++r)
                        sum[c * TILE_ROWS + r] = ADD(sum[c * TILE_ROWS + r], MULTIPLY(x[r], y));
                }
            }
        }
    }
    GROUP_BARRIER; // blocks[] is read before the sums overwrite it
    if (team < TEAMS) {
        WRITTEN_OUT
        for (uint j = 0; j < TILE_COLS * TILE_ROWS; ++j)
            if (row + j % TILE_ROWS < ROWS)
                blocks[team * AREA + (col + j / TILE_ROWS) * ROWS + row + j % TILE_ROWS] = sum[j];
    }
    GROUP_BARRIER;
    ROLLED
    for (uint t = 0; t < TEAMS; ++t) {
        const uint2 to = places[t];
        global ELEMENT* c = c_values + ((ulong)first + to.x) * c_stride;
        for (uint i = item; i < C_PARTS; i += GROUP_SIZE) {
            local const ARITHMETIC* from = blocks + t * AREA + i * C_WIDTH;
            if (to.y == WHOLE && beta == 0 && c_stride % C_WIDTH == 0) {
                OF(PUT_, C_WIDTH)(true, alpha * *(local const OF(VECTOR_, C_WIDTH)*)from, c + i * C_WIDTH);
            } else if (to.y == WHOLE) {
                WRITTEN_OUT
                for (uint j = 0; j < C_WIDTH; ++j)
                    place_sum(from[j], c, i * C_WIDTH + j, alpha, beta);
            } else if (to.y != IDLE) {
                WRITTEN_OUT
                for (uint j = 0; j < C_WIDTH; ++j)
                    parts[(ulong)to.y * AREA + i * C_WIDTH + j] = from[j];
            }
        }
    }
}
