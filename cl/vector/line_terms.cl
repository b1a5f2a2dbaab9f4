// line_terms: loads the terms of a line's sums to local memory, and adds them. This file comes
// before line_pieces.cl, and before line_sums.cl, which explains the defines.
// Host: src/vector/line_sums.rs
#if !defined(ROWS) || !defined(COLS) || !defined(TILE) || !defined(PIECE) || !defined(HELD) || !defined(AHEAD) || !defined(LEAST) || !defined(TOGETHER) ||      \
    !defined(ACROSS) || !defined(NORMS) || !defined(WHOLE_BLOCKS) || !defined(SPLIT) || !defined(DIRECT) || !defined(LONGEST) ||            \
    !defined(STREAMED) || !defined(STRIDE) || !defined(ROUND_ENTRIES)
#error "ROWS, COLS, TILE, PIECE, HELD, AHEAD, LEAST, TOGETHER, ACROSS, NORMS, WHOLE_BLOCKS, SPLIT, DIRECT, LONGEST, STREAMED, STRIDE, ROUND_ENTRIES: see src/vector/line_sums.rs"
#endif
#define AREA (ROWS * COLS)

// SUMS is the number of sums of a line. TERM_AT is the place, in a block, of term number k of a
// sum.
#if WHOLE_BLOCKS
#define SUMS 1
#define TERM_AT(sum, k) (k)
#elif ACROSS
#define SUMS ROWS
#define TERM_AT(sum, k) ((k) * ROWS + (sum))
#else
#define SUMS COLS
#define TERM_AT(sum, k) ((sum) * ROWS + (k))
#endif
#define TERMS (AREA / SUMS)
// ELEMENT_BEHIND is element j of those that an item loads from element i on, among `items` items,
// or the last element.
#define ELEMENT_BEHIND(i, j) min((i) + (j) * items, elements - 1)
// PLACE_IN_BLOCK is the place in its block of loaded element i. Either the elements of all sums are
// loaded, or those of sum `number`.
#define ALL_SUMS 0xffffffffu
#define PLACE_IN_BLOCK(i) (number == ALL_SUMS ? (i) % AREA : TERM_AT(number, (i) % TERMS))

// BLOCK_OF is the block of an entry, and ELEMENT_OF the place of one of its elements. FACTOR_AT
// finds the place in x of the element's factor. If ACROSS is 2, blocks are square, and blocks whose
// highest bit is clear are read as their transposes.
#if ACROSS == 2
#define MIRRORED 0x80000000u
#define BLOCK_OF(entry) (source[entry] & ~MIRRORED)
#define ELEMENT_OF(entry, element) (source[entry] & MIRRORED ? (element) : (element) % ROWS * ROWS + (element) / ROWS)
#elif ACROSS
#define BLOCK_OF(entry) source[entry]
#define ELEMENT_OF(entry, element) (element)
#else
#define BLOCK_OF(entry) (entry)
#define ELEMENT_OF(entry, element) (element)
#endif
#if ACROSS
#define FACTOR_AT(place, element) ((ulong)(place) * COLS + (element) / ROWS)
#else
#define FACTOR_AT(place, element) ((ulong)(place) * ROWS + (element) % ROWS)
#endif

#if STREAMED
#define LOAD_PLACE(other, i) COLUMN_ONCE(other, i)
#define LOAD_ELEMENT(values, i) VALUE_ONCE(values, i)
#define LOAD_FACTOR(x, i) LOAD_AGAIN(x, i)
#else
#define LOAD_PLACE(other, i) (other)[i]
#define LOAD_ELEMENT(values, i) LOAD_VALUE(values, i)
#define LOAD_FACTOR(x, i) LOAD(x, i)
#endif

// Loads the products of all elements of the entries from begin to begin + count, block after block,
// or only those for the sum `number`. `items` items take part. An item loads the operands of AHEAD
// elements before it multiplies, or of LEAST elements if no item has more. Beyond the last element
// it loads the last element again. If STREAMED, values do not stay in the first-level cache, which
// is left to x.
void load_terms(local ARITHMETIC* term, uint begin, uint count, uint number, uint item, uint items, global const uint* other,
                global const uint* source, global const VALUE* values, global const ELEMENT* x, uint stride)
{
    const uint area = number == ALL_SUMS ? AREA : TERMS, elements = count * area;
#if AHEAD == 1
    for (uint i = item; i < elements; i += items) {
        const uint entry = begin + i / area, element = PLACE_IN_BLOCK(i);
        const ARITHMETIC value = LOAD_VALUE(values, (ulong)BLOCK_OF(entry) * STRIDE + ELEMENT_OF(entry, element));
#if NORMS
        term[i] = value * value;
#else
        term[i] = MULTIPLY(value, LOAD(x, FACTOR_AT(other[entry], element)));
#endif
    }
#else
    for (uint i = item; i < elements; i += items * AHEAD) {
        ARITHMETIC value[AHEAD];
        const bool all = LEAST == AHEAD || i - item + LEAST * items < elements;
#if !NORMS
        ARITHMETIC factor[AHEAD];
        uint place[AHEAD];
        WRITTEN_OUT
        for (uint j = 0; j < AHEAD; ++j) {
            if (j < LEAST || all)
                place[j] = LOAD_PLACE(other, begin + ELEMENT_BEHIND(i, j) / area);
        }
#endif
        WRITTEN_OUT
        for (uint j = 0; j < AHEAD; ++j) {
            if (j >= LEAST && !all)
                continue;
            const uint at = ELEMENT_BEHIND(i, j), entry = begin + at / area, element = PLACE_IN_BLOCK(at);
            value[j] = LOAD_ELEMENT(values, (ulong)BLOCK_OF(entry) * STRIDE + ELEMENT_OF(entry, element));
#if !NORMS
            factor[j] = LOAD_FACTOR(x, FACTOR_AT(place[j], element));
#endif
        }
        WRITTEN_OUT
        for (uint j = 0; j < AHEAD; ++j) {
            if (i + j * items < elements)
#if NORMS
                term[i + j * items] = value[j] * value[j];
#else
                term[i + j * items] = MULTIPLY(value[j], factor[j]);
#endif
        }
    }
#endif
}

// Adds the terms of `count` blocks to one sum. Neighbouring terms are read as in terms.cl.
// If terms are not neighbours, the terms of TOGETHER blocks are read before they are added.
ARITHMETIC add_terms(ARITHMETIC sum, local const ARITHMETIC* term, uint count, uint number)
{
#if SUMS == 1
    return add_apart(sum, term, count * TERMS, 1);
#else
    uint first = 0;
#if TOGETHER > 1
    AS_WRITTEN
    for (; first + TOGETHER <= count; first += TOGETHER) {
        ARITHMETIC held[TOGETHER * TERMS];
        WRITTEN_OUT
        for (uint i = 0; i < TOGETHER * TERMS; ++i)
            held[i] = term[(first + i / TERMS) * AREA + TERM_AT(number, i % TERMS)];
        WRITTEN_OUT
        for (uint i = 0; i < TOGETHER * TERMS; ++i)
            sum = ADD(sum, held[i]);
    }
#endif
    IN_ORDER
    for (; first < count; ++first) {
        IN_ORDER
        for (uint k = 0; k < TERMS; ++k)
            sum = ADD(sum, term[first * AREA + TERM_AT(number, k)]);
    }
    return sum;
#endif
}

#if DIRECT
// Adds the terms of the entries from `entry` to `end` to a sum. An item loads the terms of DIRECT
// entries, two elements in each load, before it adds them. Beyond the last entry it loads the last
// entry again.
ARITHMETIC add_entries(ARITHMETIC sum, uint entry, uint end, uint number, global const uint* other, global const VALUE* values,
                       global const ELEMENT* x, uint stride)
{
    AS_WRITTEN
    for (; entry < end; entry += DIRECT) {
        uint place[DIRECT];
        ARITHMETIC value[DIRECT * TERMS], factor[DIRECT * TERMS];
        WRITTEN_OUT
        for (uint j = 0; j < DIRECT; ++j)
            place[j] = other[min(entry + j, end - 1)];
        WRITTEN_OUT
        for (uint j = 0; j < DIRECT; ++j) {
            const ulong begin = (ulong)min(entry + j, end - 1) * STRIDE + TERM_AT(number, 0), across = (ulong)place[j] * TERMS;
            WRITTEN_OUT
            for (uint k = 0; k < TERMS; k += 2) {
                const VALUE_PAIR pair = PAIR_ONCE(values, begin + k);
                const ELEMENT_PAIR factors = *(global const ELEMENT_PAIR*)(x + across + k);
                value[j * TERMS + k] = pair.x;
                value[j * TERMS + k + 1] = pair.y;
                factor[j * TERMS + k] = factors.x;
                factor[j * TERMS + k + 1] = factors.y;
            }
        }
        WRITTEN_OUT
        for (uint i = 0; i < DIRECT * TERMS; ++i) {
            const ARITHMETIC more = ADD(sum, MULTIPLY(value[i], factor[i]));
            sum = entry + i / TERMS < end ? more : sum;
        }
    }
    return sum;
}
#endif
