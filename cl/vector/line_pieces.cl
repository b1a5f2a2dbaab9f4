// line_pieces: computes the sums of a piece of a long line, in rounds. This file comes after
// line_terms.cl and guesses.cl, and before line_sums.cl.
// Host: src/vector/line_sums.rs
#if !defined(SUMS)
#error "SUMS: see cl/vector/line_terms.cl"
#endif

// SPLITS is the number of work-groups of a piece. ADDING is the number of items of these
// work-groups that do not load while one item adds.
#if SPLIT
#define SPLITS SUMS
#define ADDING (GROUP_SIZE < 64 ? GROUP_SIZE / 2 : 32)
#else
#define SPLITS 1
#endif

#if SPLIT && GUESSED
#define ROUND (GROUP_SIZE * ROUND_ENTRIES)
// ENTRY_BEHIND is entry j of those that an item loads for the round after `done` entries, or the
// last entry.
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

// Adds the terms of `count` entries, at least one, for a sum of a piece. While the terms of a round
// are added, the elements of the next round are loaded, and the places of the round after it.
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
        sum = add_guessed(sum, term, min((uint)ROUND, count - done) * TERMS, ROUND * TERMS, kept, follower);
        GROUP_BARRIER; // term[] is read before the next round overwrites it
    }
    return sum;
}
#elif SPLIT
// Adds the terms of a sum of a piece. While the terms of a round are added, the terms of the next
// round are loaded. Item 0 has the result.
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
        GROUP_BARRIER; // term[] is written before it is read, and read before it is overwritten
    }
    return sum;
}
#endif
