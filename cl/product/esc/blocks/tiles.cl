// tiles: computes the sums of sums.cl on GPUs, in one launch for all runs.
// Host: src/product/esc/blocks/mod.rs
//
//   sum_tiles   one work-group per PIECE_TEAMS pieces of long runs, then one per TEAMS * BATCH
//               consecutive runs. Pieces come first, so that the longest start early
//
// in and out: as in sums.cl; `pieces` is the number of pieces.
//
// Runs: a team of COLS / TILE_COLS work-items computes a run. An item has TILE_COLS columns of the
// block of C in registers, and loads the whole block of A. Neighbouring teams wait for the longest
// of their runs, so a work-group sorts its runs by length first. If each run is one product, the
// places are known and no bounds of runs are loaded, because memory limits the speed for such
// patterns.
//
// Pieces: a team has ROWS / PIECE_ROWS * COLS work-items. The blocks of PIECE_DEPTH products of
// each of the work-group's pieces are in local memory. While these blocks are multiplied, the
// blocks of the next round are loaded into registers, and so are the pairs of the round after it.
//
// Vectors have 16 bytes if the number of elements and their place allow it. Halves are loaded as
// vectors and converted.
#if !defined(TILE_COLS) || !defined(BATCH) || !defined(PIECE_ROWS) || !defined(PIECE_TEAMS) || !defined(PIECE_DEPTH) || !defined(WIDE)
#error "TILE_COLS, BATCH, PIECE_ROWS, PIECE_TEAMS, PIECE_DEPTH, WIDE: see src/product/tuning/blocks.rs"
#endif
#define TEAM (COLS / TILE_COLS)
#define TEAMS (GROUP_SIZE / TEAM)
#define PIECE_TEAM (ROWS / PIECE_ROWS * COLS)
#define SLOTS (PIECE_TEAMS * PIECE_DEPTH)

// WIDTH(n) is the number of elements of the widest vector that divides n elements. The vector has
// at most WIDE elements, which are 16 bytes.
#define BY_4(n) (WIDE == 4 && (n) % 4 == 0)
#define BY_2(n) ((n) % 2 == 0)
#define WIDTH(n) (BY_4(n) ? 4 : BY_2(n) ? 2 : 1)

// Loads N elements from `from` to `to`. `from` is a multiple of UNIT elements after the start of a
// block.
#define GET(aligned, to, from, N, UNIT)                                                                               \
    {                                                                                                                 \
        if (BY_4((N) | (UNIT))) {                                                                                     \
            WRITTEN_OUT                                                                                               \
            for (uint i_ = 0; i_ + 3 < (N); i_ += 4) {                                                                \
                const VECTOR_4 v = GET_4(aligned, (from) + i_);                                                       \
                (to)[i_] = v.x, (to)[i_ + 1] = v.y, (to)[i_ + 2] = v.z, (to)[i_ + 3] = v.w;                           \
            }                                                                                                         \
        } else if (BY_2((N) | (UNIT))) {                                                                              \
            WRITTEN_OUT                                                                                               \
            for (uint i_ = 0; i_ + 1 < (N); i_ += 2) {                                                                \
                const VECTOR_2 v = GET_2(aligned, (from) + i_);                                                       \
                (to)[i_] = v.x, (to)[i_ + 1] = v.y;                                                                   \
            }                                                                                                         \
        } else {                                                                                                      \
            WRITTEN_OUT                                                                                               \
            for (uint i_ = 0; i_ < (N); ++i_)                                                                         \
                (to)[i_] = LOAD(from, i_);                                                                            \
        }                                                                                                             \
    }
// Writes N sums to C.
#define PUT(aligned, sums, to, N)                                                                                     \
    {                                                                                                                 \
        if (beta == 0 && BY_4(N)) {                                                                                   \
            WRITTEN_OUT                                                                                               \
            for (uint i_ = 0; i_ + 3 < (N); i_ += 4)                                                                  \
                PUT_4(aligned, alpha * (VECTOR_4)(sums[i_], sums[i_ + 1], sums[i_ + 2], sums[i_ + 3]), (to) + i_);    \
        } else if (beta == 0 && BY_2(N)) {                                                                            \
            WRITTEN_OUT                                                                                               \
            for (uint i_ = 0; i_ + 1 < (N); i_ += 2)                                                                  \
                PUT_2(aligned, alpha * (VECTOR_2)(sums[i_], sums[i_ + 1]), (to) + i_);                                \
        } else {                                                                                                      \
            WRITTEN_OUT                                                                                               \
            for (uint i_ = 0; i_ < (N); ++i_)                                                                         \
                place_sum(sums[i_], to, i_, alpha, beta);                                                             \
        }                                                                                                             \
    }

// Loads the columns of B that item `lane` of a team needs. TAKEN_AT is the place of an element
// among the loaded columns.
#if B_TRANSPOSED
#define GET_COLUMNS(aligned, to, b, lane)                                                                             \
    WRITTEN_OUT                                                                                                       \
    for (uint k_ = 0; k_ < INNER; ++k_)                                                                               \
        GET(aligned, (to) + k_ * TILE_COLS, (b) + k_ * COLS + (lane) * TILE_COLS, TILE_COLS, COLS)
#define TAKEN_AT(k, c) ((k) * TILE_COLS + (c))
#else
#define GET_COLUMNS(aligned, to, b, lane)                                                                             \
    GET(aligned, to, (b) + (lane) * (TILE_COLS * INNER), TILE_COLS * INNER, TILE_COLS * INNER)
#define TAKEN_AT(k, c) ((c) * INNER + (k))
#endif

// Runs are sorted by class, the longest first. Each length up to 15 is a class. Longer runs have
// four classes for each power of two.
#define CLASSES 40u
uint class_of(uint length)
{
    const uint log = 31 - clz(length | 1);
    return CLASSES - 1 - (length < 16 ? length : min(16 + 4 * (log - 4) + (length >> (log - 2)) % 4, CLASSES - 1));
}

// In local memory, the blocks of pieces are stored as PARTS vectors each. The blocks in local
// memory are an odd number of vectors apart, so that teams use different banks.
#if LEFT % 4 == 0 && WIDE == 4
#define A_WIDTH 4
#elif LEFT % 2 == 0
#define A_WIDTH 2
#else
#define A_WIDTH 1
#endif
#if RIGHT % 4 == 0 && WIDE == 4
#define B_WIDTH 4
#elif RIGHT % 2 == 0
#define B_WIDTH 2
#else
#define B_WIDTH 1
#endif
#define A_VECTOR OF(VECTOR_, A_WIDTH)
#define B_VECTOR OF(VECTOR_, B_WIDTH)
#define A_PARTS (LEFT / A_WIDTH)
#define B_PARTS (RIGHT / B_WIDTH)
#define A_STEP (LEFT + (A_PARTS % 2 == 0 ? A_WIDTH : 0))
#define B_STEP (RIGHT + (B_PARTS % 2 == 0 ? B_WIDTH : 0))

// FETCH loads vectors of the blocks with the numbers entry.WHICH into registers. KEEP stores the
// loaded vectors to local memory.
#define FETCH(held, values, stride, WHICH, PARTS, WIDTH_, aligned)                                                    \
    WRITTEN_OUT                                                                                                       \
    for (uint s = 0; s < ROUNDS(SLOTS * PARTS); ++s) {                                                                \
        const uint i = item + s * GROUP_SIZE, slot = i / PARTS;                                                       \
        const uint entry = slot < SLOTS ? coming[slot].WHICH : NONE;                                                  \
        held[s] = 0;                                                                                                  \
        if (entry != NONE)                                                                                            \
            held[s] = OF(GET_, WIDTH_)(aligned, values + (ulong)entry * stride + i % PARTS * WIDTH_);                 \
    }
#define KEEP(held, blocks, STEP, PARTS, WIDTH_)                                                                       \
    WRITTEN_OUT                                                                                                       \
    for (uint s = 0; s < ROUNDS(SLOTS * PARTS); ++s) {                                                                \
        const uint i = item + s * GROUP_SIZE, slot = i / PARTS;                                                       \
        if (slot < SLOTS)                                                                                             \
            *(local OF(VECTOR_, WIDTH_)*)((blocks) + slot * STEP + i % PARTS * WIDTH_) = held[s];                     \
    }
#define FETCH_PAIRS(round)                                                                                            \
    WRITTEN_OUT                                                                                                       \
    for (uint s = 0; s < ROUNDS(SLOTS); ++s) {                                                                        \
        const uint slot = item + s * GROUP_SIZE, of = min(slot / PIECE_DEPTH, PIECE_TEAMS - 1u);                      \
        const uint p = begins[of] + (round) * PIECE_DEPTH + slot % PIECE_DEPTH;                                       \
        held_pair[s] = (uint2)(NONE);                                                                                 \
        if (slot < SLOTS && p < ends[of])                                                                             \
            held_pair[s] = pair[p];                                                                                   \
    }
#define KEEP_PAIRS                                                                                                    \
    WRITTEN_OUT                                                                                                       \
    for (uint s = 0; s < ROUNDS(SLOTS); ++s)                                                                          \
        if (item + s * GROUP_SIZE < SLOTS)                                                                            \
            coming[item + s * GROUP_SIZE] = held_pair[s];

KERNEL sum_tiles(global const uint* restrict run_end, global const uint4* restrict piece, global const uint2* restrict pair,
                 global const ELEMENT* restrict a_values, global const ELEMENT* restrict b_values,
                 global ARITHMETIC* restrict parts, global ELEMENT* restrict c_values, uint nnz, uint pieces, uint first,
                 uint a_stride, uint b_stride, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    local ARITHMETIC blocks[SLOTS * (A_STEP + B_STEP)] __attribute__((aligned(16)));
    local uint2 coming[SLOTS];
    local uint begins[PIECE_TEAMS], ends[PIECE_TEAMS], longest;
    local uint run_begins[TEAMS * BATCH], run_ends[TEAMS * BATCH], order[TEAMS * BATCH], of_class[CLASSES];
    const uint item = get_local_id(0), piece_groups = (pieces + PIECE_TEAMS - 1) / PIECE_TEAMS;
    // If the first vector of a block is aligned, all of its vectors are.
    const bool aligned = (a_stride % WIDE == 0 || a_stride == LEFT) && (b_stride % WIDE == 0 || b_stride == RIGHT);

    if (get_group_id(0) < piece_groups) {
        const uint team = item / PIECE_TEAM, lane = item % PIECE_TEAM, number = get_group_id(0) * PIECE_TEAMS + team;
        const uint4 at = team < PIECE_TEAMS && number < pieces ? piece[number] : (uint4)(0, 0, 0, IDLE);
        if (item == 0)
            longest = 0;
        GROUP_BARRIER;
        if (team < PIECE_TEAMS && lane == 0) {
            begins[team] = at.y;
            ends[team] = at.z;
            atomic_max(&longest, at.z - at.y);
        }
        GROUP_BARRIER;
        const uint rounds = (longest + PIECE_DEPTH - 1) / PIECE_DEPTH;
        const uint row = lane % (ROWS / PIECE_ROWS) * PIECE_ROWS, col = lane / (ROWS / PIECE_ROWS);
        local ARITHMETIC* left = blocks + min(team, PIECE_TEAMS - 1u) * PIECE_DEPTH * A_STEP;
        local ARITHMETIC* right = blocks + SLOTS * A_STEP + min(team, PIECE_TEAMS - 1u) * PIECE_DEPTH * B_STEP;
        ARITHMETIC sum[PIECE_ROWS];
        for (uint r = 0; r < PIECE_ROWS; ++r)
            sum[r] = IDENTITY;
        A_VECTOR held_a[ROUNDS(SLOTS * A_PARTS)];
        B_VECTOR held_b[ROUNDS(SLOTS * B_PARTS)];
        uint2 held_pair[ROUNDS(SLOTS)];
        FETCH_PAIRS(0)
        KEEP_PAIRS
        GROUP_BARRIER;
        FETCH_BLOCKS
        FETCH_PAIRS(1)
        ROLLED
        for (uint round = 0; round < rounds; ++round) {
            GROUP_BARRIER; // blocks[] and coming[] are read before they are overwritten
            KEEP(held_a, blocks, A_STEP, A_PARTS, A_WIDTH)
            KEEP(held_b, blocks + SLOTS * A_STEP, B_STEP, B_PARTS, B_WIDTH)
            KEEP_PAIRS
            GROUP_BARRIER;
            FETCH_BLOCKS
            FETCH_PAIRS(round + 2)
            const uint p = at.y + round * PIECE_DEPTH, depth = p < at.z ? min((uint)PIECE_DEPTH, at.z - p) : 0;
            ROLLED
            for (uint i = 0; i < depth; ++i) {
                WRITTEN_OUT
                for (uint k = 0; k < INNER; ++k) {
                    const ARITHMETIC factor = right[i * B_STEP + B_AT(k, col, INNER, COLS)];
                    WRITTEN_OUT
                    for (uint r = 0; r < PIECE_ROWS; ++r)
                        sum[r] = ADD(sum[r], MULTIPLY(left[i * A_STEP + A_AT(row + r, k, ROWS, INNER)], factor));
                }
            }
        }
        if (at.w == WHOLE) {
            for (uint r = 0; r < PIECE_ROWS; ++r)
                place_sum(sum[r], c_values + ((ulong)first + at.x) * c_stride, col * ROWS + row + r, alpha, beta);
        } else if (at.w != IDLE) { // this is the only condition: PoCL loses others around these stores
            for (uint r = 0; r < PIECE_ROWS; ++r)
                parts[(ulong)at.w * AREA + col * ROWS + row + r] = sum[r];
        }
        return;
    }

    const uint run0 = ((uint)get_group_id(0) - piece_groups) * (TEAMS * BATCH), runs = min((uint)(TEAMS * BATCH), nnz - run0);
    const uint begin0 = run_begin(run_end, run0);
    const bool of_one = !EMPTY_RUNS && run_end[run0 + runs - 1] + 1 - begin0 == runs;
    if (!of_one) {
        for (uint i = item; i < CLASSES; i += GROUP_SIZE)
            of_class[i] = 0;
        GROUP_BARRIER;
        uint class[ROUNDS(TEAMS * BATCH)], before[ROUNDS(TEAMS * BATCH)];
        WRITTEN_OUT
        for (uint s = 0; s < ROUNDS(TEAMS * BATCH); ++s) {
            const uint i = item + s * GROUP_SIZE;
            if (i < runs) {
                const uint begin = run_begin(run_end, run0 + i), end = run_end[run0 + i] + 1;
                const bool is_long = end - begin > LONG_RUN;
                run_begins[i] = begin;
                run_ends[i] = is_long ? NONE : end;
                class[s] = class_of(is_long ? 0 : end - begin);
                // Runs of a class come in any order, because their sums are independent.
                before[s] = atomic_inc(&of_class[class[s]]);
            }
        }
        GROUP_BARRIER;
        WRITTEN_OUT
        for (uint s = 0; s < ROUNDS(TEAMS * BATCH); ++s) {
            const uint i = item + s * GROUP_SIZE;
            if (i < runs) {
                for (uint longer = 0; longer < class[s]; ++longer)
                    before[s] += of_class[longer];
                order[before[s]] = i;
            }
        }
        GROUP_BARRIER;
    }

    const uint team = item / TEAM, lane = item % TEAM;
    const bool c_aligned = c_stride % WIDTH(TILE_COLS * ROWS) == 0;
    ROLLED
    for (uint i = team < TEAMS ? team : runs; i < runs; i += TEAMS) {
        const uint run = of_one ? i : order[i];
        const uint begin = of_one ? begin0 + i : run_begins[run], end = of_one ? begin0 + i + 1 : run_ends[run];
        if (end == NONE)
            continue;
        ARITHMETIC sum[TILE_COLS * ROWS];
        WRITTEN_OUT
        for (uint j = 0; j < TILE_COLS * ROWS; ++j)
            sum[j] = START(begin, end);
        uint2 operands = begin < end ? pair[begin] : (uint2)(0);
        ROLLED
        for (uint p = begin; p < end; ++p) {
            global const ELEMENT* a = a_values + (ulong)operands.x * a_stride;
            global const ELEMENT* b = b_values + (ulong)operands.y * b_stride;
            if (p + 1 < end)
                operands = pair[p + 1]; // it is loaded while this product is added
            ARITHMETIC x[LEFT], y[TILE_COLS * INNER];
            if (aligned) {
                GET(true, x, a, LEFT, LEFT)
                GET_COLUMNS(true, y, b, lane)
            } else {
                GET(false, x, a, LEFT, LEFT)
                GET_COLUMNS(false, y, b, lane)
            }
            WRITTEN_OUT
            for (uint k = 0; k < INNER; ++k)
                WRITTEN_OUT
                for (uint c = 0; c < TILE_COLS; ++c)
                    WRITTEN_OUT
                    for (uint r = 0; r < ROWS; ++r)
                        sum[c * ROWS + r] = ADD(sum[c * ROWS + r], MULTIPLY(x[A_AT(r, k, ROWS, INNER)], y[TAKEN_AT(k, c)]));
        }
        global ELEMENT* c = c_values + ((ulong)first + run0 + run) * c_stride + lane * (TILE_COLS * ROWS);
        if (c_aligned) {
            PUT(true, sum, c, TILE_COLS * ROWS)
        } else {
            PUT(false, sum, c, TILE_COLS * ROWS)
        }
    }
}
