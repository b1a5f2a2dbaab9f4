// slice_vectors: y = alpha * A * x + beta * y for slices of LANES rows of scalars, whose values are
// packed, see slices.cl and values.cl. The kernel supports plus-times only.
// Host: src/apply/spmv/slice_vectors.rs
//
//   in      slice_ptr[slices + 1]  col[places]
//   in      first_col[slices]   for each slice, if NEAR; see row.cl
//   in      origin[slices]  steps[places / LANES]   if ON_DIAGONALS, see diagonals.cl
//   in      values[places]  x[columns]
//   in out  y[rows]
//
// Each work-group is one work-item. A work-item takes `each` slices, and adds the rows of a slice
// at once, as the lanes of a vector. No row has more than PIECE entries, so no sum is cut. The
// leading columns of a slice, which have no padding, are added as vectors; then the rows are added
// one by one. The factors of a diagonal are neighbours in x. Places of a diagonal without an entry
// are multiplied, but not added. Values are prefetched ASKED places ahead. SIGNED is the integer
// type of the size of ARITHMETIC. This file comes after row.cl.
#if !defined(LANES) || !defined(REACH) || !defined(ASKED) || !defined(SIGNED) || !defined(ON_DIAGONALS)
#error "LANES, REACH, ASKED, SIGNED, ON_DIAGONALS: see src/apply/spmv/slice_vectors.rs"
#endif
#define PASTED(a, b) a##b
#define JOINED(a, b) PASTED(a, b)
#define SUMS_OF_ROWS JOINED(ARITHMETIC, LANES)
#define COLUMNS_OF_ROWS JOINED(COLUMN, LANES)
#define LOADED JOINED(vload, LANES)
#define STORED JOINED(vstore, LANES)
#define CONVERTED(vector) JOINED(convert_, SUMS_OF_ROWS)(vector)

#if ON_DIAGONALS
#define ROWS JOINED(SIGNED, LANES)
#define BIT(lane) ((REACH + 1) << lane)
// HAS tests for each row whether `word` has its bit. HAS_ALL tests whether `word` has the bits of
// all rows.
#define HAS(word)                                                                                                    \
    (((ROWS)((SIGNED)(word)) & (ROWS)(BIT(0), BIT(1), BIT(2), BIT(3), BIT(4), BIT(5), BIT(6), BIT(7))) != (ROWS)0)
#define HAS_ALL(word) ((word) >= ~(uint)REACH)

// Returns the sums of a slice on diagonals. The places of the slice are those from `place` to
// `end`.
SUMS_OF_ROWS sum_diagonals(ulong place, ulong end, uint origin, global const uint* restrict steps,
                           global const VALUE* restrict values, global const ELEMENT* restrict x)
{
    // Without these types PoCL's compiler would multiply the loaded elements pair by pair.
    typedef JOINED(VALUE, LANES) __attribute__((aligned(sizeof(VALUE)))) VALUES;
    typedef SUMS_OF_ROWS __attribute__((aligned(sizeof(ARITHMETIC)))) FACTORS;
    SUMS_OF_ROWS sum = IDENTITY;
    uint rows = 0;
    AS_WRITTEN
    for (; place < end; place += LANES) {
        const uint word = steps[place / LANES];
        ASK(values + place + ASKED);
        const SUMS_OF_ROWS value = CONVERTED(*(global const VALUES*)(values + place));
        const SUMS_OF_ROWS factor = *(global const FACTORS*)(x + (origin + (word & REACH)));
        const SUMS_OF_ROWS more = ADD(sum, MULTIPLY(value, factor));
        rows |= word;
        sum = HAS_ALL(word) ? more : HAS(word) ? more : sum;
    }
    return HAS_ALL(rows) ? sum : HAS(rows) ? sum : (SUMS_OF_ROWS)EMPTY;
}

// Writes the sums of the slices from `slice` on, up to `last` or to the first slice that is not on
// diagonals. Returns the number of the slice after them, and sets `begin` to its first place.
uint write_diagonals(uint slice, uint last, ulong* begin, global const ulong* restrict slice_ptr, global const uint* restrict origin,
                     global const uint* restrict steps, global const VALUE* restrict values, global const ELEMENT* restrict x,
                     global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta)
{
    ulong place = *begin;
    AS_WRITTEN
    for (; slice < last && origin[slice] != PADDING; ++slice) {
        const ulong end = slice_ptr[slice + 1];
        SUMS_OF_ROWS sum = alpha * sum_diagonals(place, end, origin[slice], steps, values, x);
        if (beta != 0)
            sum = ADD(sum, beta * LOADED(slice, y));
        STORED(sum, slice, y);
        place = end;
    }
    *begin = place;
    return slice;
}
#endif

KERNEL sum_slice_vectors(global const ulong* restrict slice_ptr, global const COLUMN* restrict col,
                         global const uint* restrict first_col, global const uint* restrict origin,
                         global const uint* restrict steps, global const VALUE* restrict values, global const ELEMENT* restrict x,
                         global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta, uint rows, uint slices, uint each)
{
    const uint first_slice = get_group_id(0) * each, last_slice = slices - first_slice > each ? first_slice + each : slices;
    ulong begin = slice_ptr[first_slice];
    AS_WRITTEN
    for (uint slice = first_slice; slice < last_slice; ++slice) {
#if ON_DIAGONALS
        slice = write_diagonals(slice, last_slice, &begin, slice_ptr, origin, steps, values, x, y, alpha, beta);
        if (slice == last_slice)
            break;
#endif
        const ulong end = slice_ptr[slice + 1];
        const uint row = slice * LANES, left = rows - row;
#if NEAR
        global const ELEMENT* const from = x + first_col[slice];
#else
        global const ELEMENT* const from = x;
#endif
        SUMS_OF_ROWS sum = IDENTITY;
        ulong place = begin;
        AS_WRITTEN
        for (; place < end; place += LANES) {
            const COLUMNS_OF_ROWS at = LOADED(0, col + place);
            if (any(at == NONE))
                break;
            const SUMS_OF_ROWS factor = (SUMS_OF_ROWS)(from[at.s0], from[at.s1], from[at.s2], from[at.s3], from[at.s4], from[at.s5],
                                                       from[at.s6], from[at.s7]);
            sum = ADD(sum, MULTIPLY(CONVERTED(LOADED(0, values + place)), factor));
        }
        if (place == end && begin < end && left >= LANES && beta == 0) {
            STORED(JOINED(convert_, JOINED(ELEMENT, LANES))(alpha * sum), 0, y + row);
        } else {
            ARITHMETIC of_row[LANES];
            STORED(sum, 0, of_row);
            for (uint lane = 0; lane < LANES && lane < left; ++lane) {
                ARITHMETIC total = of_row[lane];
                bool is_empty = place == begin;
                AS_WRITTEN
                for (ulong next = place; next < end && col[next + lane] != NONE; next += LANES) {
                    total = ADD(total, MULTIPLY(LOAD_VALUE(values, next + lane), LOAD(from, col[next + lane])));
                    is_empty = false;
                }
                place_sum(is_empty ? EMPTY : total, y, row + lane, alpha, beta);
            }
        }
        begin = end;
    }
}
