// row: the sum of a row by one work-item. It comes after values.cl, before the kernels that have
// such rows.
// Host: src/apply/spmv/rows.rs
//
// The places of a row are `apart` places from each other, from first + lane to end + lane. Places
// of one column of a slice are neighbours; a row that is not padded is a slice of one row. A row
// ends at its first padding. Padding is never multiplied, since x may hold infinities.
//
// The terms are added in ascending place. After every PIECE entries a new sum begins, and the sums
// are added left to right.
//
// An item loads AHEAD entries before it adds their terms, and the columns of the next AHEAD: on a
// GPU the loads of a row would wait for each other otherwise. Behind the end of a row its last
// place is loaded again, so that no load waits for a test. AHEAD divides PIECE.
#if !defined(PIECE) || !defined(AHEAD)
#error "PIECE, AHEAD: see src/apply/spmv/rows.rs"
#endif
#define PADDING 0xffffffffu

#if AHEAD > 1
// The columns of AHEAD places of a row.
void load_columns(uint* column, global const uint* restrict col, ulong first, ulong end, uint apart, uint lane)
{
    WRITTEN_OUT
    for (uint i = 0; i < AHEAD; ++i) {
        const ulong place = first + (ulong)i * apart;
        const uint found = col[min(place, end - apart) + lane];
        column[i] = place < end ? found : PADDING;
    }
}

// The sum of a row, EMPTY if it has no entry.
ARITHMETIC sum_entries(ulong first, ulong end, uint apart, uint lane, uint number, global const uint* restrict col,
                       global const uint* restrict source, global const VALUE* restrict values, global const ELEMENT* restrict x,
                       uint stride)
{
    if (first >= end)
        return EMPTY;
    uint column[AHEAD];
    load_columns(column, col, first, end, apart, lane);
    if (column[0] == PADDING)
        return EMPTY;
    ARITHMETIC sum = IDENTITY, part = IDENTITY;
    uint entries = 0;
    do {
        ARITHMETIC value[AHEAD * DEPTH], factor[AHEAD * DEPTH];
        uint next[AHEAD];
        WRITTEN_OUT
        for (uint i = 0; i < AHEAD; ++i) {
            const bool is_entry = column[i] != PADDING;
            const ulong place = is_entry ? first + (ulong)i * apart : first;
            const ulong begin = BEGIN_SLICED(place, apart, lane, number), factors = (ulong)column[is_entry ? i : 0] * DEPTH;
            const uint step = STEP_SLICED(place, apart, lane);
            WRITTEN_OUT
            for (uint k = 0; k < DEPTH; ++k) {
                value[i * DEPTH + k] = LOAD_VALUE(values, begin + (ulong)k * step);
                factor[i * DEPTH + k] = LOAD(x, factors + k);
            }
        }
        first += (ulong)AHEAD * apart;
        load_columns(next, col, first, end, apart, lane);
        WRITTEN_OUT
        for (uint i = 0; i < AHEAD; ++i) {
            WRITTEN_OUT
            for (uint k = 0; k < DEPTH; ++k) {
                const ARITHMETIC more = ADD(part, MULTIPLY(value[i * DEPTH + k], factor[i * DEPTH + k]));
                part = column[i] != PADDING ? more : part;
            }
        }
        entries += AHEAD;
        if (entries % PIECE == 0) {
            sum = ADD(sum, part);
            part = IDENTITY;
        }
        WRITTEN_OUT
        for (uint i = 0; i < AHEAD; ++i)
            column[i] = next[i];
    } while (column[0] != PADDING);
    return ADD(sum, part);
}
#else
// The sum of a row, EMPTY if it has no entry.
ARITHMETIC sum_entries(ulong first, ulong end, uint apart, uint lane, uint number, global const uint* restrict col,
                       global const uint* restrict source, global const VALUE* restrict values, global const ELEMENT* restrict x,
                       uint stride)
{
    ARITHMETIC sum = first < end && col[first + lane] != PADDING ? IDENTITY : EMPTY;
    while (first < end && col[first + lane] != PADDING) {
        const ulong piece_end = min(end, first + (ulong)PIECE * apart);
        ARITHMETIC part = IDENTITY;
        IN_ORDER
        for (; first < piece_end && col[first + lane] != PADDING; first += apart)
            part = add_terms(part, values, BEGIN_SLICED(first, apart, lane, number), STEP_SLICED(first, apart, lane), x,
                             col[first + lane]);
        sum = ADD(sum, part);
    }
    return sum;
}
#endif
