// scalars: computes the sums of sums.cl on GPUs, for blocks of one element.
// Host: src/product/esc/blocks/scalars.rs
//
//   cut_stretches   one work-item per stretch
//   sum_scalars     one work-group per piece of a run longer than LONG_RUN, then one per stretch
//
//   in and out of sum_scalars: as in sums.cl, and
//   stretch[stretches]   out of cut_stretches: consecutive runs that a work-group sums: the first
//                        run, its first product, the end of the products, and the number of runs
//   product[]            local: the products of a stretch or piece, PADDED
//
// The items of a work-group load the operand pairs of its products from consecutive places,
// whatever runs the pairs belong to, and write the products to local memory. Then each item adds up
// the products of some runs, each run in its order. A piece is one run.
//
// The position of a run is its number plus its first product. A stretch has the runs whose
// positions lie between two multiples of STRETCH, so that all work-groups have about as many
// products and runs to process, whatever the lengths of the runs. Only the last run of a stretch
// can be as long as a stretch. A last run longer than LONG_RUN is cut into pieces, and does not
// belong to the stretch.
#if !defined(AHEAD) || !defined(STRETCH) || !defined(WIDE)
#error "AHEAD, STRETCH, WIDE: see src/product/esc/blocks/scalars.rs"
#endif
#if STRETCH > LONG_RUN
#error "a run in the middle of a stretch may be long"
#endif

// After every 128 bytes one value is unused, so that runs of equal lengths begin in different
// banks.
#define PADDED(i) ((i) + (i) / (8 * WIDE))

// Returns the first run whose number plus its first product is at least `weight`.
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

// Multiplies AHEAD pairs, which are GROUP_SIZE apart. All pairs are loaded before any pair is
// multiplied.
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

// Returns the sum of the products begin to end, which are in local memory.
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
        // The bounds of the item's first run are loaded together with the first pairs.
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
    GROUP_BARRIER; // this is outside of the branch, because PoCL 3.1 with optimisation drops a barrier inside it
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
