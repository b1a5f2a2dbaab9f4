// scalars: the sums of sums.cl on GPUs, for blocks of one element.
// Host: src/product/esc/blocks/scalars.rs
//
//   cut_stretches   one work-item per stretch
//   sum_scalars     one work-group per piece of a run longer than LONG_RUN, then one per stretch
//
//   in and out of sum_scalars: as in sums.cl, and
//   stretch[stretches]   out of cut_stretches: consecutive runs that a group sums: the first run,
//                        its first product, the end of the products, and the number of runs
//   product[]            local: the products of a stretch or piece, PADDED
//
// The items of a group load the operand pairs of its products side by side, whatever runs they
// belong to, and put the products into local memory. Then each item adds runs, in ascending k. A
// piece is one run.
//
// A stretch has the runs whose number and first product together lie between two multiples of
// STRETCH, so that groups have about as many products and runs to process, however long or empty
// runs are. Only its last run can be as long as a stretch. If that is longer than LONG_RUN, it is
// in pieces, and not a run of the stretch.
#if !defined(AHEAD) || !defined(STRETCH) || !defined(WIDE)
#error "AHEAD, STRETCH, WIDE: see src/product/esc/blocks/scalars.rs"
#endif
#if STRETCH > LONG_RUN
#error "a run in the middle of a stretch may be long"
#endif

// A value behind every 128 bytes lets runs of equal lengths begin in different banks.
#define PADDED(i) ((i) + (i) / (8 * WIDE))

// The first run whose number and first product together are at least `weight`.
uint run_at(global const uint* run_end, uint nnz, ulong weight)
{
    uint low = 0, high = nnz;
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if ((ulong)run_begin(run_end, middle) + middle < weight)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

KERNEL cut_stretches(global const uint* run_end, global uint4* stretch, uint nnz, uint stretches)
{
    const uint number = get_global_id(0);
    if (number >= stretches)
        return;
    const uint from = run_at(run_end, nnz, (ulong)number * STRETCH);
    uint to = run_at(run_end, nnz, ((ulong)number + 1) * STRETCH);
    if (to > from && run_end[to - 1] + 1 - run_begin(run_end, to - 1) > LONG_RUN)
        --to;
    stretch[number] = (uint4)(from, run_begin(run_end, from), run_begin(run_end, to), to - from);
}

// Multiplies AHEAD pairs, GROUP_SIZE apart, that are loaded at once.
#define MULTIPLY_PAIRS(value, from)                                                                                   \
    ARITHMETIC value[AHEAD];                                                                                          \
    {                                                                                                                 \
        uint2 operands[AHEAD];                                                                                        \
        WRITTEN_OUT                                                                                                   \
        for (uint q = 0; q < AHEAD; ++q) {                                                                            \
            operands[q] = (uint2)(NONE);                                                                              \
            if ((from) + q * GROUP_SIZE < products)                                                                   \
                operands[q] = pair[begin + (from) + q * GROUP_SIZE];                                                  \
        }                                                                                                             \
        ARITHMETIC other[AHEAD];                                                                                      \
        WRITTEN_OUT                                                                                                   \
        for (uint q = 0; q < AHEAD; ++q) {                                                                            \
            value[q] = other[q] = 0;                                                                                  \
            if (operands[q].x != NONE) {                                                                              \
                value[q] = LOAD(a_values, (ulong)operands[q].x * a_stride);                                           \
                other[q] = LOAD(b_values, (ulong)operands[q].y * b_stride);                                           \
            }                                                                                                         \
        }                                                                                                             \
        WRITTEN_OUT                                                                                                   \
        for (uint q = 0; q < AHEAD; ++q)                                                                              \
            value[q] = MULTIPLY(value[q], other[q]);                                                                  \
    }

// The sum of the products begin to end of those in local memory.
ARITHMETIC sum_of_run(local const ARITHMETIC* product, uint begin, uint end)
{
    ARITHMETIC sum = START(begin, end);
    IN_ORDER
    for (uint p = begin; p < end; ++p)
        sum = ADD(sum, product[PADDED(p)]);
    return sum;
}

KERNEL sum_scalars(global const uint* restrict run_end, global const uint4* restrict stretch, global const uint4* restrict piece,
                   global const uint2* restrict pair, global const ELEMENT* restrict a_values,
                   global const ELEMENT* restrict b_values, global ARITHMETIC* restrict parts,
                   global ELEMENT* restrict c_values, local ARITHMETIC* product, uint pieces, uint first, uint a_stride,
                   uint b_stride, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint item = get_local_id(0), group = get_group_id(0);
    const bool is_piece = group < pieces;
    const uint4 own = is_piece ? piece[group] : stretch[group - pieces];
    const uint begin = own.y, products = own.z - own.y, runs = is_piece ? 1 : own.w;
    global ELEMENT* c = c_values + ((ulong)first + own.x) * c_stride;
    const bool single = !EMPTY_RUNS && !is_piece && runs == products;
    uint from = 0, to = products;
    if (single) {
        // Each run is one product.
        for (uint i = item; i < products; i += GROUP_SIZE * AHEAD) {
            MULTIPLY_PAIRS(value, i)
            WRITTEN_OUT
            for (uint q = 0; q < AHEAD; ++q)
                if (i + q * GROUP_SIZE < products)
                    place_sum(ADD(IDENTITY, value[q]), c, (ulong)(i + q * GROUP_SIZE) * c_stride, alpha, beta);
        }
    } else {
        // The ends of the item's first run are loaded beside the first pairs.
        if (!is_piece && item < runs) {
            from = run_begin(run_end, own.x + item) - begin;
            to = run_end[own.x + item] + 1 - begin;
        }
        for (uint i = item; i < products; i += GROUP_SIZE * AHEAD) {
            MULTIPLY_PAIRS(value, i)
            WRITTEN_OUT
            for (uint q = 0; q < AHEAD; ++q)
                if (i + q * GROUP_SIZE < products)
                    product[PADDED(i + q * GROUP_SIZE)] = value[q];
        }
    }
    GROUP_BARRIER; // PoCL 3.1, if it optimises, loses it in a branch
    for (uint run = item; run < (single ? 0 : runs); run += GROUP_SIZE) {
        const uint run_from = from, run_to = to;
        if (run + GROUP_SIZE < runs) {
            from = run_begin(run_end, own.x + run + GROUP_SIZE) - begin;
            to = run_end[own.x + run + GROUP_SIZE] + 1 - begin;
        }
        const ARITHMETIC sum = sum_of_run(product, run_from, run_to);
        if (is_piece && own.w != WHOLE)
            parts[own.w] = sum;
        else
            place_sum(sum, c, (ulong)run * c_stride, alpha, beta);
    }
}
