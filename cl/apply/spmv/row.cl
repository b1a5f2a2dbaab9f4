// row: adds a row by one work-item. This file comes after once.cl and values.cl, and before the
// kernels that add rows in this way.
// Host: src/apply/spmv/rows.rs
//
// The places of a row are first + lane, first + apart + lane, and so on up to end + lane. In a
// slice the places of one column are neighbours. A row that is not padded is a slice of one row. A
// row ends at its first padding. Padding is never multiplied, since x may contain infinities.
//
// The terms are added in ascending order. After every PIECE entries a new sum begins, and the sums
// are added left to right.
//
// An item loads AHEAD entries before it adds their terms. If an item loaded one entry at a time,
// each load of a row would wait for the load before it on a GPU. PLACE is an integer type that
// holds every place, also the places that an item loads ahead. If CUT is 0, no row has more than
// PIECE entries. If STREAMED, neighbouring items read neighbouring places, so cache lines of places
// are not read again. If NEAR, columns are stored in 16 bits, as distances from `first_col`.
#if !defined(PIECE) || !defined(AHEAD) || !defined(PLACE) || !defined(CUT) || !defined(STREAMED) || !defined(NEAR)
#error "PIECE, AHEAD, PLACE, CUT, STREAMED, NEAR: see src/apply/spmv/rows.rs"
#endif
#define PADDING 0xffffffffu

#if NEAR
#define COLUMN ushort
#define AS_COLUMN(stored) (first_col + (stored))
#define STREAM_COLUMN(i) NEAR_ONCE(col, i)
#else
#define COLUMN uint
#define AS_COLUMN(stored) (stored)
#define STREAM_COLUMN(i) COLUMN_ONCE(col, i)
#endif
// NONE is the column that marks padding.
#define NONE ((COLUMN)PADDING)

#if STREAMED
#define LOAD_COLUMN(i) STREAM_COLUMN(i)
#define LOAD_ELEMENT(i) VALUE_ONCE(values, i)
#define LOAD_FACTOR(i) LOAD_AGAIN(x, i)
#else
#define LOAD_COLUMN(i) col[i]
#define LOAD_ELEMENT(i) LOAD_VALUE(values, i)
#define LOAD_FACTOR(i) LOAD(x, i)
#endif

#if AHEAD > 1
// Returns the sum of a row, or EMPTY if it has no entry.
ARITHMETIC sum_entries(PLACE first, PLACE end, uint apart, uint lane, uint number, uint first_col, TERMS_OF(COLUMN))
{
    ARITHMETIC sum = IDENTITY, part = IDENTITY;
    bool is_empty = true;
#if CUT
    uint in_piece = 0;
#endif
    for (; first < end; first += AHEAD * (PLACE)apart) {
        uint column[AHEAD];
        ARITHMETIC value[AHEAD * DEPTH], factor[AHEAD * DEPTH];
        WRITTEN_OUT
        for (uint i = 0; i < AHEAD; ++i) {
            const PLACE place = first + i * (PLACE)apart;
            column[i] = PADDING;
            if (place < end) {
                const COLUMN stored = LOAD_COLUMN(place + lane);
                column[i] = stored == NONE ? PADDING : AS_COLUMN(stored);
            }
        }
        WRITTEN_OUT
        for (uint i = 0; i < AHEAD; ++i) {
            const PLACE place = first + i * (PLACE)apart;
#if THROUGH
            const bool has_value = column[i] != PADDING;
#else
            const bool has_value = place < end; // the values of padding are 0
#endif
            WRITTEN_OUT
            for (uint k = 0; k < DEPTH; ++k)
                value[i * DEPTH + k] = 0;
            if (has_value) {
                const ulong begin = BEGIN_SLICED(place, apart, lane, number);
                const uint step = STEP_SLICED(place, apart, lane);
                WRITTEN_OUT
                for (uint k = 0; k < DEPTH; ++k)
                    value[i * DEPTH + k] = LOAD_ELEMENT(begin + (ulong)k * step);
            }
        }
        WRITTEN_OUT
        for (uint i = 0; i < AHEAD; ++i) {
            const ulong begin = (ulong)(column[i] == PADDING ? 0 : column[i]) * DEPTH;
            WRITTEN_OUT
            for (uint k = 0; k < DEPTH; ++k)
                factor[i * DEPTH + k] = LOAD_FACTOR(begin + k);
        }
        WRITTEN_OUT
        for (uint i = 0; i < AHEAD; ++i) {
#if CUT
            if (in_piece == PIECE) {
                sum = ADD(sum, part);
                part = IDENTITY;
                in_piece = 0;
            }
            ++in_piece;
#endif
            WRITTEN_OUT
            for (uint k = 0; k < DEPTH; ++k) {
                const ARITHMETIC more = ADD(part, MULTIPLY(value[i * DEPTH + k], factor[i * DEPTH + k]));
                part = column[i] != PADDING ? more : part;
            }
        }
        is_empty = is_empty && column[0] == PADDING;
        if (column[AHEAD - 1] == PADDING)
            break;
    }
    return is_empty ? EMPTY : ADD(sum, part);
}
#else
// Returns the sum of a row, or EMPTY if it has no entry.
ARITHMETIC sum_entries(PLACE first, PLACE end, uint apart, uint lane, uint number, uint first_col, TERMS_OF(COLUMN))
{
    ARITHMETIC sum = first < end && col[first + lane] != NONE ? IDENTITY : EMPTY;
    while (first < end && col[first + lane] != NONE) {
        const PLACE piece_end = end - first > PIECE * (PLACE)apart ? first + PIECE * (PLACE)apart : end;
        ARITHMETIC part = IDENTITY;
        IN_ORDER
        for (; first < piece_end && col[first + lane] != NONE; first += apart)
            part = add_terms(part, values, BEGIN_SLICED(first, apart, lane, number), STEP_SLICED(first, apart, lane), x,
                             AS_COLUMN(col[first + lane]));
        sum = ADD(sum, part);
    }
    return sum;
}
#endif
