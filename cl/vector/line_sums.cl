// line_sums: sums over each line of a matrix: of its elements times a vector's, or of their
// squares.
// Host: src/vector/line_sums.rs
//
//   sum_lines  one work-group per piece of a line of more than LONGEST entries, and per tile of
//              shorter lines: neighbours load its products to local memory side by side, then one
//              item adds each sum; pieces take longest and come first, in rounds of HELD entries.
//              If GUESSED, all items of its group add a piece, see guesses.cl. If SPLIT, each sum
//              of a piece has a group. While one item adds, others load the terms of the next
//              round; if GUESSED, all items load ROUND_ENTRIES entries of it each before they add.
//              Of the groups of a line that is cut the last to end adds the sums of all. If
//              DIRECT, an item loads what a sum of a tile needs by itself, DIRECT entries at once:
//              lines are columns, blocks have an even number of rows and are an even number of
//              elements apart. VALUE_PAIR and ELEMENT_PAIR are two elements of values and of x
//
//   in      line_ptr[lines + 1]  task[pieces + tiles]   as in lines.cl, pieces first
//   in      other[nnz]         the column of each entry of a row, or the row of each of a column
//   in      source[nnz]        number of each entry in the values, and if ACROSS is 2 whether the
//                              line is a row of its block; not read if lines are columns
//   in      values[a_nnz * STRIDE]               blocks of ROWS x COLS, column-major. STRIDE is
//                              `stride`, or its value, which saves a multiplication of 64 bits
//   in      x[places across * sides]
//   in out  arrived[parts]     0 for the first part of each line that is cut, before and after;
//                              then the sums of all parts, SUMS of WORDS words for each
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
#if !defined(ROWS) || !defined(COLS) || !defined(TILE) || !defined(PIECE) || !defined(HELD) || !defined(AHEAD) || !defined(TOGETHER) ||      \
    !defined(ACROSS) || !defined(NORMS) || !defined(WHOLE_BLOCKS) || !defined(SPLIT) || !defined(DIRECT) || !defined(LONGEST) ||            \
    !defined(STREAMED) || !defined(STRIDE) || !defined(ROUND_ENTRIES)
#error "ROWS, COLS, TILE, PIECE, HELD, AHEAD, TOGETHER, ACROSS, NORMS, WHOLE_BLOCKS, SPLIT, DIRECT, LONGEST, STREAMED, STRIDE, ROUND_ENTRIES: see src/vector/line_sums.rs"
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
// Element j of those that an item of `items` loads from element i on, or the last.
#define ELEMENT_BEHIND(i, j) min((i) + (j) * items, elements - 1)
// The place in its block of element i of those that are loaded, of all sums or of one.
#define ALL_SUMS 0xffffffffu
#define PLACE_IN_BLOCK(i) (number == ALL_SUMS ? (i) % AREA : TERM_AT(number, (i) % TERMS))

// Groups of a piece, and items of each that do not load while one of them adds.
#if SPLIT
#define SPLITS SUMS
#define ADDING (GROUP_SIZE < 64 ? GROUP_SIZE / 2 : 32)
#else
#define SPLITS 1
#endif

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

#if STREAMED
#define LOAD_PLACE(other, i) COLUMN_ONCE(other, i)
#define LOAD_ELEMENT(values, i) VALUE_ONCE(values, i)
#define LOAD_FACTOR(x, i) LOAD_AGAIN(x, i)
#else
#define LOAD_PLACE(other, i) (other)[i]
#define LOAD_ELEMENT(values, i) LOAD_VALUE(values, i)
#define LOAD_FACTOR(x, i) LOAD(x, i)
#endif

// Loads the products of all elements of entries begin to begin + count, block after block, or those
// for the sum `number` alone, by `items` items. An item loads what AHEAD elements need before it
// multiplies; behind the last the last is loaded again. If STREAMED, the nearest cache is left to
// x.
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
#if !NORMS
        ARITHMETIC factor[AHEAD];
        uint place[AHEAD];
        WRITTEN_OUT
        for (uint j = 0; j < AHEAD; ++j)
            place[j] = LOAD_PLACE(other, begin + ELEMENT_BEHIND(i, j) / area);
#endif
        WRITTEN_OUT
        for (uint j = 0; j < AHEAD; ++j) {
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

// Adds the terms that `count` blocks have for one sum. Those of neighbours are read as terms.cl
// says; of others the terms of TOGETHER blocks are read before they are added.
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
// Adds the terms that the entries from `entry` to `end` have for a sum. An item loads those of
// DIRECT entries, two elements in each load, before it adds them; behind the last the last are
// loaded again.
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

#if SPLIT && GUESSED
#define ROUND (GROUP_SIZE * ROUND_ENTRIES)
// Entry j of those that an item loads for the round behind `done` entries, or the last.
#define ENTRY_BEHIND(done, j) (begin + min((done) + (uint)get_local_id(0) + (j) * GROUP_SIZE, count - 1))

void load_places(uint* place, uint begin, uint count, uint done, global const uint* other)
{
    WRITTEN_OUT
    for (uint j = 0; j < ROUND_ENTRIES; ++j)
        place[j] = other[ENTRY_BEHIND(done, j)];
}

// Loads two elements of values and of x at once, for the sum `number`.
void load_pairs(VALUE_PAIR* value, ELEMENT_PAIR* factor, const uint* place, uint begin, uint count, uint done, uint number,
                global const VALUE* values, global const ELEMENT* x, uint stride)
{
    WRITTEN_OUT
    for (uint j = 0; j < ROUND_ENTRIES; ++j) {
        const ulong from = (ulong)ENTRY_BEHIND(done, j) * STRIDE + TERM_AT(number, 0), across = (ulong)place[j] * TERMS;
        WRITTEN_OUT
        for (uint k = 0; k < TERMS / 2; ++k) {
            value[j * TERMS / 2 + k] = PAIR_ONCE(values, from + 2 * k);
            factor[j * TERMS / 2 + k] = *(global const ELEMENT_PAIR*)(x + across + 2 * k);
        }
    }
}

// Adds the terms that `count` entries, at least one, have for a sum of a piece, those of a round
// while the elements of the next and the places of the one behind it are loaded.
ARITHMETIC add_piece(local ARITHMETIC* term, uint begin, uint count, uint number, global const uint* other, global const VALUE* values,
                     global const ELEMENT* x, uint stride, local ARITHMETIC* kept, local uchar* follower)
{
    uint place[ROUND_ENTRIES];
    VALUE_PAIR value[ROUND_ENTRIES * TERMS / 2];
    ELEMENT_PAIR factor[ROUND_ENTRIES * TERMS / 2];
    load_places(place, begin, count, 0, other);
    load_pairs(value, factor, place, begin, count, 0, number, values, x, stride);
    load_places(place, begin, count, ROUND, other);
    ARITHMETIC sum = IDENTITY;
    for (uint done = 0; done < count; done += ROUND) {
        WRITTEN_OUT
        for (uint j = 0; j < ROUND_ENTRIES; ++j) {
            local ARITHMETIC* to = term + ((uint)get_local_id(0) + j * GROUP_SIZE) * TERMS;
            WRITTEN_OUT
            for (uint k = 0; k < TERMS / 2; ++k) {
                const VALUE_PAIR pair = value[j * TERMS / 2 + k];
                const ELEMENT_PAIR factors = factor[j * TERMS / 2 + k];
                const ARITHMETIC left = pair.x, right = pair.y, of_left = factors.x, of_right = factors.y;
                to[2 * k] = MULTIPLY(left, of_left);
                to[2 * k + 1] = MULTIPLY(right, of_right);
            }
        }
        GROUP_BARRIER;
        load_pairs(value, factor, place, begin, count, done + ROUND, number, values, x, stride);
        load_places(place, begin, count, done + 2 * ROUND, other);
        sum = add_guessed(sum, term, min((uint)ROUND, count - done) * TERMS, kept, follower);
        GROUP_BARRIER; // every read, before the next round writes
    }
    return sum;
}
#elif SPLIT
// Adds the terms of a sum of a piece, those of a round while others are loaded. The result is that
// of item 0.
ARITHMETIC add_piece(local ARITHMETIC* term, uint begin, uint count, uint number, global const uint* other, global const uint* source,
                     global const VALUE* values, global const ELEMENT* x, uint stride)
{
    const uint item = get_local_id(0), most = HELD * SUMS / 2;
    ARITHMETIC sum = count > 0 ? IDENTITY : EMPTY;
    load_terms(term, begin, min(most, count), number, item, GROUP_SIZE, other, source, values, x, stride);
    GROUP_BARRIER;
    for (uint done = 0, here = 0; done < count; done += most, here = most * TERMS - here) {
        const uint left = count - done;
        if (item < ADDING) {
            if (item == 0)
                sum = add_apart(sum, term + here, min(most, left) * TERMS, 1);
        } else if (left > most) {
            load_terms(term + most * TERMS - here, begin + done + most, min(most, left - most), number, item - ADDING, GROUP_SIZE - ADDING,
                       other, source, values, x, stride);
        }
        GROUP_BARRIER; // the terms of the next round, and every read of this one
    }
    return sum;
}
#endif

// Adds the sums of the parts of a line that is cut: the `of_line` parts from `first_part` on.
void add_parts(global uint* words, uint first_part, uint of_line, uint line, local ARITHMETIC* term, global ELEMENT* restrict y,
               ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint depth = HELD * AREA / SUMS;
    ARITHMETIC sum[OWN];
    for (uint own = 0; own < OWN; ++own)
        sum[own] = IDENTITY;
    for (uint done = 0; done < of_line; done += depth) {
        const uint count = min(depth, of_line - done);
        GROUP_BARRIER; // every read of the round before
        for (uint i = get_local_id(0); i < count * SUMS; i += GROUP_SIZE)
            term[i] = found(words + ((ulong)(first_part + done) * SUMS + i) * WORDS);
        GROUP_BARRIER;
        for (uint own = 0, number = get_local_id(0); number < SUMS; ++own, number += GROUP_SIZE) {
            IN_ORDER
            for (uint i = 0; i < count; ++i)
                sum[own] = ADD(sum[own], term[i * SUMS + number]);
        }
    }
    for (uint own = 0, number = get_local_id(0); number < SUMS; ++own, number += GROUP_SIZE)
        PLACE(sum[own], y, (ulong)line * SUMS + number, alpha, beta);
}

KERNEL sum_lines(global const uint* restrict line_ptr, global const uint4* restrict task, global const uint* restrict other,
                 global const uint* restrict source, global const VALUE* restrict values, global const ELEMENT* restrict x,
                 global uint* arrived, global ELEMENT* restrict y, uint pieces, uint parts, uint stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    local ARITHMETIC term[HELD * AREA + BEHIND];
    local uint arrivals[1];
#if GUESSED
    local ARITHMETIC kept[KEPT];
    local uchar follower[GROUP_SIZE];
#endif
    const uint group = get_group_id(0);
    if (group < pieces * SPLITS) {
        const uint4 at = task[group / SPLITS];
        const uint line = at.x, begin = at.y, end = at.z, part = at.w;
        // Read before the terms, which take longer.
        const uint from = line_ptr[line], pieces_before = (begin - from) / PIECE, of_line = (line_ptr[line + 1] - from - 1) / PIECE + 1;
        const uint groups = of_line * SPLITS;
        ARITHMETIC sum[OWN];
#if SPLIT
        const uint first = group % SPLITS, behind = get_local_id(0) == 0 ? first + 1 : 0;
#if GUESSED
        sum[0] = add_piece(term, begin, end - begin, first, other, values, x, stride, kept, follower);
#else
        sum[0] = add_piece(term, begin, end - begin, first, other, source, values, x, stride);
#endif
#else
        const uint first = get_local_id(0), behind = SUMS;
        for (uint own = 0; own < OWN; ++own)
            sum[own] = begin < end ? IDENTITY : EMPTY;
        // Counted from the first: the number of one behind the last may have no place in 32 bits.
        for (uint done = 0; done < end - begin; done += HELD) {
            const uint count = min((uint)HELD, end - begin - done);
            load_terms(term, begin + done, count, ALL_SUMS, get_local_id(0), GROUP_SIZE, other, source, values, x, stride);
            GROUP_BARRIER;
#if GUESSED
            if (count * TERMS >= GUESSED) {
                sum[0] = add_guessed(IDENTITY, term, count * TERMS, kept, follower);
                continue; // it is the only round
            }
#endif
            for (uint own = 0, number = first; number < behind; ++own, number += GROUP_SIZE)
                sum[own] = add_terms(sum[own], term, count, number);
            GROUP_BARRIER; // every read, before the next round writes
        }
#endif
        global uint* words = arrived + parts;
        for (uint own = 0, number = first; number < behind; ++own, number += GROUP_SIZE) {
            if (part == WHOLE)
                PLACE(sum[own], y, (ulong)line * SUMS + number, alpha, beta);
            else
                give(sum[own], words + ((ulong)part * SUMS + number) * WORDS);
        }
#if SUMS > 1
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); // the group's sums, before it arrives
#endif
        if (get_local_id(0) == 0) {
            arrivals[0] = 0;
            if (part != WHOLE) {
                DEVICE_FENCE;
                arrivals[0] = atomic_inc(&arrived[part - pieces_before]) + 1;
                DEVICE_FENCE;
                if (arrivals[0] == groups)
                    atomic_xchg(&arrived[part - pieces_before], 0); // for the next execution
            }
        }
        GROUP_BARRIER;
        if (part != WHOLE && arrivals[0] == groups)
            add_parts(words, part - pieces_before, of_line, line, term, y, alpha, beta);
    } else {
        const uint4 at = task[group - pieces * (SPLITS - 1)];
#if DIRECT
        const uint first = at.x, sums = (at.y - at.x) * SUMS;
        for (uint i = get_local_id(0); i < sums; i += GROUP_SIZE) {
            const uint from = line_ptr[first + i / SUMS], end = line_ptr[first + i / SUMS + 1];
            if (end - from > LONGEST)
                continue; // it is in pieces
            const ARITHMETIC start = from < end ? IDENTITY : EMPTY;
            PLACE(add_entries(start, from, end, i % SUMS, other, values, x, stride), y, (ulong)first * SUMS + i, alpha, beta);
        }
#else
        const uint first = at.x, sums = (at.y - at.x) * SUMS, begin = at.z;
        // The item's first line, read before the terms.
        uint i = get_local_id(0), from = begin, end = begin;
        if (i < sums)
            from = line_ptr[first + i / SUMS], end = line_ptr[first + i / SUMS + 1];
        load_terms(term, begin, at.w - begin, ALL_SUMS, i, GROUP_SIZE, other, source, values, x, stride);
        GROUP_BARRIER;
        while (i < sums) {
            if (LONGEST >= TILE || end - from <= LONGEST) {
                const ARITHMETIC start = from < end ? IDENTITY : EMPTY;
                const ARITHMETIC sum = add_terms(start, term + (from - begin) * AREA, end - from, i % SUMS);
                PLACE(sum, y, (ulong)first * SUMS + i, alpha, beta);
            }
            i += GROUP_SIZE;
            if (i < sums)
                from = line_ptr[first + i / SUMS], end = line_ptr[first + i / SUMS + 1];
        }
#endif
    }
}
