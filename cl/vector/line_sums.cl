// line_sums: adds over each line of a matrix the products of its elements with those of a vector,
// or the squares of its elements.
// Host: src/vector/line_sums.rs
//
//   sum_lines  one work-group per piece of a line of more than LONGEST entries, and per tile of
//               shorter lines. Neighbouring items load the products of a piece or tile to local
//               memory, then one item adds each sum. Pieces take longest, so they come first.
//               Pieces are added in rounds of HELD entries. The last work-group of a cut line to
//               finish adds the sums of all its parts. If GUESSED, all items of a work-group add a
//               piece, see guesses.cl. If SPLIT, each sum of a piece has a work-group: while one
//               item adds, other items load the terms of the next round. With GUESSED and SPLIT,
//               all items load ROUND_ENTRIES entries each of the next round before they add. If
//               DIRECT, an item loads all operands of a sum of a tile itself, DIRECT entries at
//               once. With DIRECT, lines are columns, and blocks have an even number of rows and
//               are an even number of elements apart. VALUE_PAIR and ELEMENT_PAIR are two elements
//               of values and of x
//
//   in      line_ptr[lines + 1]  task[pieces + tiles]   as in lines.cl, pieces first
//   in      other[nnz]         the column of each entry of a row, or the row of each entry of a
//                              column
//   in      source[nnz]        index of each entry in the values. If ACROSS is 2, it also says
//                              whether the line is a row of its block. The array is not read if
//                              lines are columns
//   in      values[a_nnz * STRIDE]               blocks of ROWS x COLS, column-major. STRIDE is
//                              `stride`, or its value as a constant, which saves a 64-bit
//                              multiplication
//   in      x[]                the vector
//   in out  arrived[parts]     0 for the first part of each line that is cut, before and after. The
//                              sums of all parts follow, SUMS sums of WORDS words for each part
//   in out  y[lines * SUMS]    alpha * sum + beta * old value, which is not read if beta is 0. For
//                              NORMS the root of the sum
//
// A line is a block column, or a block row in the transposed pattern. Each scalar line in it has a
// sum. The terms of a sum are added in the order of the line's entries, and within a block in
// ascending order along the scalar line. Each product is rounded before it is added. After every
// PIECE entries from the line's start a new sum begins, and the sums are added left to right. The
// sum of an empty line is EMPTY.
//
// Norms support plus-times only, because they take roots.
#if !defined(TERM_AT)
#error "TERM_AT: see cl/vector/line_terms.cl"
#endif
#define WHOLE 0xffffffffu

// If a work-group has one line, each item has OWN sums.
#define OWN ((SUMS + GROUP_SIZE - 1) / GROUP_SIZE)

#if NORMS && ELEMENT_IS_DOUBLE
#define FINISHED(sum) sqrt(sum)
#elif NORMS
// Returns the root of a float, rounded to nearest on every device. OpenCL's sqrt may differ by 3
// units in the last place. x is m * 2^e, where m has 47 or 48 bits and e is even. The root of m has
// 24 bits before the point, and is computed in integers.
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

// Adds the sums of the `of_line` parts of a line that is cut, from `first_part` on.
void add_parts(global uint* words, uint first_part, uint of_line, uint line, local ARITHMETIC* term, global ELEMENT* restrict y,
               ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint depth = HELD * AREA / SUMS;
    ARITHMETIC sum[OWN];
    for (uint own = 0; own < OWN; ++own)
        sum[own] = IDENTITY;
    for (uint done = 0; done < of_line; done += depth) {
        const uint count = min(depth, of_line - done);
        GROUP_BARRIER; // term[] is read before the next round overwrites it
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
                 global uint* arrived, global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta, uint pieces, uint parts, uint stride)
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
        // The bounds are read before the terms, so that the loads overlap.
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
        // Entries are counted from the first one, because the index of an entry after the last may
        // not fit 32 bits.
        for (uint done = 0; done < end - begin; done += HELD) {
            const uint count = min((uint)HELD, end - begin - done);
            load_terms(term, begin + done, count, ALL_SUMS, get_local_id(0), GROUP_SIZE, other, source, values, x, stride);
            GROUP_BARRIER;
#if GUESSED
            if (count * TERMS >= GUESSED) {
                sum[0] = add_guessed(IDENTITY, term, count * TERMS, PIECE * TERMS, kept, follower);
                continue; // there is no other round
            }
#endif
            for (uint own = 0, number = first; number < behind; ++own, number += GROUP_SIZE)
                sum[own] = add_terms(sum[own], term, count, number);
            GROUP_BARRIER; // term[] is read before the next round overwrites it
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
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); // the sums are written before item 0 counts the work-group
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
                continue; // the line is in pieces
            const ARITHMETIC start = from < end ? IDENTITY : EMPTY;
            PLACE(add_entries(start, from, end, i % SUMS, other, values, x, stride), y, (ulong)first * SUMS + i, alpha, beta);
        }
#else
        const uint first = at.x, sums = (at.y - at.x) * SUMS, begin = at.z;
        // The bounds of the item's first line are read before the terms, so that the loads overlap.
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
