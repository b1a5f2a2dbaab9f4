// line_sums: sums over each line of a matrix: of its elements times a vector's, or of their
// squares.
// Host: src/vector/line_sums.rs
//
//   sum_lines  one work-group per piece of a line of more than LONGEST entries, and per tile of
//              shorter lines: neighbours load its products to local memory side by side, then one
//              item adds each sum; pieces take longest and come first, in rounds of HELD entries
//   add_parts  one work-group per line that is cut: adds the sums of its pieces
//
//   in      line_ptr[lines + 1]  tile_line[tiles + 1]  piece[pieces]  cut[cuts]  as in lines.cl
//   in      other[nnz]         the column of each entry of a row, or the row of each of a column
//   in      source[nnz]        number of each entry in the values, and if ACROSS is 2 whether the
//                              line is a row of its block; not read if lines are columns
//   in      values[a_nnz * stride]               blocks of ROWS x COLS, column-major
//   in      x[places across * sides]
//   in out  parts[parts * SUMS]
//   in out  y[lines * SUMS]    alpha * sum + beta * old value, which is not read if beta is 0; for
//                              NORMS the root of the sum
//
// A line is a block column, or a block row by way of the transposed pattern. Each scalar line in it
// has a sum. The terms of a sum are added in the order of the line's entries, within a block in
// ascending place across the line. Each product is rounded before it is added. After every PIECE
// entries from the line's start a new sum begins, and the sums are added left to right. The sum of
// an empty line is EMPTY.
//
// Norms serve plus-times alone: they take roots.
#if !defined(ROWS) || !defined(COLS) || !defined(TILE) || !defined(LONGEST) || !defined(HELD) || !defined(AHEAD) || !defined(TOGETHER) ||    \
    !defined(ACROSS) || !defined(NORMS) || !defined(WHOLE_BLOCKS)
#error "ROWS, COLS, TILE, LONGEST, HELD, AHEAD, TOGETHER, ACROSS, NORMS, WHOLE_BLOCKS: see src/vector/line_sums.rs"
#endif
#define WHOLE 0xffffffffu
#define AREA (ROWS * COLS)

// SUMS is the number of sums of a line, TERM_AT the place in a block of term k of a sum.
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
// Element j of those that an item loads from element i on, or the last.
#define ELEMENT_BEHIND(i, j) min((i) + (j) * GROUP_SIZE, elements - 1)

// Sums for each item of a group that has one line.
#define OWN ((SUMS + GROUP_SIZE - 1) / GROUP_SIZE)

// The block of an entry, an element of it, and the place in x of that element's factor. If ACROSS
// is 2, blocks are square, and those without the highest bit are read as if they were transposed.
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

#if NORMS && ELEMENT_IS_DOUBLE
#define FINISHED(sum) sqrt(sum)
#elif NORMS
// The root of a float, rounded to nearest on every device; OpenCL's may be off by 3 units in the
// last place. x is m * 2^e, with m of 47 or 48 bits and e even. The root of m has 24 bits before
// the point and is found in integers.
float root(float x)
{
    if (!(x > 0) || isinf(x))
        return x;
    const uint bits = as_uint(x), fraction = bits & 0x7fffff, exponent = bits >> 23;
    const uint up = exponent > 0 ? 0 : clz(fraction) - 8;
    ulong m = exponent > 0 ? fraction | 0x800000 : fraction << up;
    int e = (int)max(exponent, 1u) - 150 - (int)up - 23;
    m <<= 23 + (e & 1);
    e -= e & 1;
    ulong r = (ulong)sqrt((float)m);
    while (r * r > m)
        --r;
    while ((r + 1) * (r + 1) <= m)
        ++r;
    return ldexp((float)(r + (m - r * r > r)), e / 2);
}
#define FINISHED(sum) root(sum)
#endif

#if NORMS
#define PLACE(sum, y, at, alpha, beta) STORE(FINISHED(sum), y, at)
#else
#define PLACE(sum, y, at, alpha, beta) place_sum(sum, y, at, alpha, beta)
#endif

// Loads the products of all elements of entries begin to begin + count, block after block. An item
// loads what AHEAD elements need before it multiplies; behind the last the last is loaded again.
void load_terms(local ARITHMETIC* term, uint begin, uint count, global const uint* other, global const uint* source,
                global const VALUE* values, global const ELEMENT* x, uint stride)
{
    const uint elements = count * AREA;
#if AHEAD == 1
    for (uint i = get_local_id(0); i < elements; i += GROUP_SIZE) {
        const uint entry = begin + i / AREA, element = i % AREA;
        const ARITHMETIC value = LOAD_VALUE(values, (ulong)BLOCK_OF(entry) * stride + ELEMENT_OF(entry, element));
#if NORMS
        term[i] = value * value;
#else
        term[i] = MULTIPLY(value, LOAD(x, FACTOR_AT(other[entry], element)));
#endif
    }
#else
    for (uint i = get_local_id(0); i < elements; i += GROUP_SIZE * AHEAD) {
        ARITHMETIC value[AHEAD];
#if !NORMS
        ARITHMETIC factor[AHEAD];
        uint place[AHEAD];
        WRITTEN_OUT
        for (uint j = 0; j < AHEAD; ++j)
            place[j] = other[begin + ELEMENT_BEHIND(i, j) / AREA];
#endif
        WRITTEN_OUT
        for (uint j = 0; j < AHEAD; ++j) {
            const uint at = ELEMENT_BEHIND(i, j), entry = begin + at / AREA, element = at % AREA;
            value[j] = LOAD_VALUE(values, (ulong)BLOCK_OF(entry) * stride + ELEMENT_OF(entry, element));
#if !NORMS
            factor[j] = LOAD(x, FACTOR_AT(place[j], element));
#endif
        }
        WRITTEN_OUT
        for (uint j = 0; j < AHEAD; ++j) {
            if (i + j * GROUP_SIZE < elements)
#if NORMS
                term[i + j * GROUP_SIZE] = value[j] * value[j];
#else
                term[i + j * GROUP_SIZE] = MULTIPLY(value[j], factor[j]);
#endif
        }
    }
#endif
}

// Reads the terms that TOGETHER blocks from number `first` have for one sum; behind the last those
// of the last again.
void read_terms(ARITHMETIC* held, local const ARITHMETIC* term, uint first, uint count, uint number)
{
    WRITTEN_OUT
    for (uint i = 0; i < TOGETHER; ++i) {
        const uint block = min(first + i, count - 1) * AREA;
        WRITTEN_OUT
        for (uint k = 0; k < TERMS; ++k)
            held[i * TERMS + k] = term[block + TERM_AT(number, k)];
    }
}

// Adds the terms that `count` blocks have for one sum. With TOGETHER above 1 the terms of so many
// blocks are read before those of the blocks before them are added, which hides the latency of
// local memory.
ARITHMETIC add_terms(ARITHMETIC sum, local const ARITHMETIC* term, uint count, uint number)
{
#if TOGETHER == 1
    IN_ORDER
    for (uint i = 0; i < count; ++i) {
        IN_ORDER
        for (uint k = 0; k < TERMS; ++k)
            sum = ADD(sum, term[i * AREA + TERM_AT(number, k)]);
    }
#else
    ARITHMETIC held[TOGETHER * TERMS], next[TOGETHER * TERMS];
    if (count > 0)
        read_terms(next, term, 0, count, number);
    IN_ORDER
    for (uint first = 0; first < count; first += TOGETHER) {
        WRITTEN_OUT
        for (uint i = 0; i < TOGETHER * TERMS; ++i)
            held[i] = next[i];
        if (first + TOGETHER < count)
            read_terms(next, term, first + TOGETHER, count, number);
        WRITTEN_OUT
        for (uint i = 0; i < TOGETHER; ++i) {
            WRITTEN_OUT
            for (uint k = 0; k < TERMS; ++k) {
                const ARITHMETIC more = ADD(sum, held[i * TERMS + k]);
                sum = first + i < count ? more : sum;
            }
        }
    }
#endif
    return sum;
}

#if LONGEST < TILE
// Most lines of a tile that are in pieces, but the last.
#define LONGS (TILE / (LONGEST + 1) + 1)
// Loads the products of a tile's entries without those of lines in pieces, which have groups of
// their own. Entries are where they would be with all of them.
void load_tile(local ARITHMETIC* term, local uint* line_of_longs, local uint* longs, uint first, uint last,
               global const uint* restrict line_ptr, global const uint* other, global const uint* source,
               global const VALUE* values, global const ELEMENT* x, uint stride)
{
    for (uint line = first + get_local_id(0); line < last; line += GROUP_SIZE)
        if (line_ptr[line + 1] - line_ptr[line] > LONGEST)
            line_of_longs[atomic_inc(longs)] = line;
    GROUP_BARRIER;
    const uint begin = line_ptr[first], all = *longs;
    for (uint line = first; line < last;) {
        uint next = last;
        for (uint i = 0; i < all; ++i)
            next = line_of_longs[i] >= line ? min(next, line_of_longs[i]) : next;
        const uint from = line_ptr[line];
        load_terms(term + (from - begin) * AREA, from, line_ptr[next] - from, other, source, values, x, stride);
        line = next + 1;
    }
}
#endif

KERNEL sum_lines(global const uint* restrict line_ptr, global const uint* restrict tile_line, global const uint4* restrict piece,
                 global const uint* restrict other, global const uint* restrict source, global const VALUE* restrict values,
                 global const ELEMENT* restrict x, global ARITHMETIC* restrict parts, global ELEMENT* restrict y, uint pieces,
                 uint stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    local ARITHMETIC term[HELD * AREA];
#if LONGEST < TILE
    local uint line_of_longs[LONGS], longs[1];
    if (get_local_id(0) == 0)
        longs[0] = 0;
    GROUP_BARRIER;
#endif
    const uint group = get_group_id(0);
    uint first = 0, last = 0, begin = 0, end = 0, part = WHOLE;
    if (group < pieces) {
        const uint4 at = piece[group];
        first = at.x, begin = at.y, end = at.z, part = at.w;
    } else {
        first = tile_line[group - pieces], last = tile_line[group - pieces + 1];
        if (last > first && line_ptr[last] - line_ptr[last - 1] > LONGEST)
            --last; // it is in pieces
        begin = line_ptr[first], end = line_ptr[last];
    }
    ARITHMETIC sum[OWN];
    for (uint own = 0; own < OWN; ++own)
        sum[own] = begin < end ? IDENTITY : EMPTY;
    uint done = begin;
    do { // once for a tile
        const uint count = min((uint)HELD, end - done);
#if LONGEST < TILE
        if (group >= pieces)
            load_tile(term, line_of_longs, longs, first, last, line_ptr, other, source, values, x, stride);
        else
#endif
            load_terms(term, done, count, other, source, values, x, stride);
        GROUP_BARRIER;
        if (group < pieces) {
            for (uint own = 0, number = get_local_id(0); number < SUMS; ++own, number += GROUP_SIZE)
                sum[own] = add_terms(sum[own], term, count, number);
        } else {
            for (uint i = get_local_id(0); i < (last - first) * SUMS; i += GROUP_SIZE) {
                const uint line = first + i / SUMS, from = line_ptr[line], entries = line_ptr[line + 1] - from;
                if (entries > LONGEST)
                    continue; // it is in pieces
                const ARITHMETIC start = entries > 0 ? IDENTITY : EMPTY;
                const ARITHMETIC all = add_terms(start, term + (from - begin) * AREA, entries, i % SUMS);
                PLACE(all, y, (ulong)line * SUMS + i % SUMS, alpha, beta);
            }
        }
        GROUP_BARRIER; // every read, before the next round writes
        done += count;
    } while (done < end);
    if (group < pieces) {
        for (uint own = 0, number = get_local_id(0); number < SUMS; ++own, number += GROUP_SIZE) {
            if (part == WHOLE)
                PLACE(sum[own], y, (ulong)first * SUMS + number, alpha, beta);
            else
                parts[(ulong)part * SUMS + number] = sum[own];
        }
    }
}

KERNEL add_parts(global const uint4* restrict cut, global const ARITHMETIC* restrict parts, global ELEMENT* restrict y,
                 ARITHMETIC alpha, ARITHMETIC beta)
{
    local ARITHMETIC term[HELD * AREA];
    const uint depth = HELD * AREA / SUMS;
    const uint4 at = cut[get_group_id(0)];
    ARITHMETIC sum[OWN];
    for (uint own = 0; own < OWN; ++own)
        sum[own] = IDENTITY;
    for (uint part = at.y; part < at.z; part += depth) {
        const uint count = min(depth, at.z - part);
        for (uint i = get_local_id(0); i < count * SUMS; i += GROUP_SIZE)
            term[i] = parts[(ulong)part * SUMS + i];
        GROUP_BARRIER;
        for (uint own = 0, number = get_local_id(0); number < SUMS; ++own, number += GROUP_SIZE) {
            IN_ORDER
            for (uint i = 0; i < count; ++i)
                sum[own] = ADD(sum[own], term[i * SUMS + number]);
        }
        GROUP_BARRIER; // every read, before the next round writes
    }
    for (uint own = 0, number = get_local_id(0); number < SUMS; ++own, number += GROUP_SIZE)
        PLACE(sum[own], y, (ulong)at.x * SUMS + number, alpha, beta);
}
