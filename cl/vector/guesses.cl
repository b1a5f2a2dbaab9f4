// guesses: adds the terms of a long sum in ascending order, with all items of a work-group in
// parallel.
// Host: src/vector/line_sums.rs. This file comes after terms.cl.
//
// In f64, each addition takes 8 cycles on an H100 if it waits for the addition before it. So the
// terms are cut into STRETCHES, which teams of items add at the same time. The exact sum at the
// start of a stretch is not known at that time. But the terms before the stretch, added in another
// order, give nearly the exact sum. Each item of a team guesses a different number close to the
// sum, and adds the stretch to its guess. When the exact sum is known, the item that guessed
// exactly its bits has the sum after the stretch. If no item guessed it, the stretches from this
// one on are added again. The start of this stretch is then known. The starts of the other
// stretches are guessed from the earlier differences that the stretches made, which nearly always
// succeeds. So the sum always has the same bits as if one item added the terms one after another.
//
// Sums of fewer than GUESSED terms are added by one item. If GUESSED is 0, one item adds every sum.
// If GUESSED is not 0, the number of items of a work-group is a multiple of STRETCHES, and larger
// than STRETCHES.
#if !defined(GUESSED) || !defined(STRETCHES)
#error "GUESSED, STRETCHES: see src/vector/line_sums.rs"
#endif

#if GUESSED
// Number of items of a team.
#define GUESSES (GROUP_SIZE / STRETCHES)
// The number of words that a work-group keeps in local memory: the result of each item; and for
// each stretch the middle of its guesses, and the difference that the stretch made to it.
#define KEPT (GROUP_SIZE + 2 * STRETCHES)
// Marks a result that no item of the next stretch guessed.
#define NONE 0xff

// A sum as an integer, such that neighbouring sums of one sign have consecutive numbers.
#define NUMBERED                                                                                                      \
    union {                                                                                                           \
        ARITHMETIC sum;                                                                                               \
        ulong eight;                                                                                                  \
        uint four;                                                                                                    \
    }

ulong bits_of(ARITHMETIC sum)
{
    NUMBERED bits;
    bits.eight = 0;
    bits.sum = sum;
    return sizeof(ARITHMETIC) == 8 ? bits.eight : bits.four;
}

ARITHMETIC sum_of(ulong number)
{
    NUMBERED bits;
    bits.eight = 0;
    if (sizeof(ARITHMETIC) == 8)
        bits.eight = number;
    else
        bits.four = (uint)number;
    return bits.sum;
}

// Adds `count` terms to `start`. Terms after the first `cut` are added to a second sum, which is
// then added to the first. At most `cut` terms follow the first `cut` terms. Every item of the
// work-group must call `add_guessed`, and gets the result. follower[i] is the item of the next
// stretch that began with the result of item i.
ARITHMETIC add_guessed(ARITHMETIC start, local const ARITHMETIC* term, uint count, uint cut, local ARITHMETIC* kept, local uchar* follower)
{
    const uint item = get_local_id(0), lane = item % GUESSES, team = item / GUESSES;
    local ARITHMETIC *middle = kept + GROUP_SIZE, *added = middle + STRETCHES;
    // The number of teams for the first sum. The other teams are for the second sum.
    const uint teams = count > cut ? min((STRETCHES * cut + count / 2) / count, STRETCHES - 1u) : STRETCHES;
    const uint behind[2] = {teams, STRETCHES};
    const bool second = team >= teams;
    const uint from = second ? cut : 0, to = second ? count : min(cut, count);
    const uint step = (second ? STRETCHES - teams : teams) * AT_ONCE, length = (to - from + step - 1) / step * AT_ONCE;
    const uint begin = min(from + (second ? team - teams : team) * length, to), end = min(begin + length, to);
    // Adds the terms before the stretch. Two independent sums do not wait for each other, and
    // likewise the four sums below.
    ARITHMETIC even = IDENTITY, odd = IDENTITY, four[4] = {IDENTITY, IDENTITY, IDENTITY, IDENTITY};
    for (uint i = from + lane; i < begin; i += 2 * GUESSES) {
        even = ADD(even, term[i]);
        if (i + GUESSES < begin)
            odd = ADD(odd, term[i + GUESSES]);
    }
    kept[item] = ADD(even, odd);
    GROUP_BARRIER;
    WRITTEN_OUT
    for (uint i = 0; i < GUESSES; ++i)
        four[i % 4] = ADD(four[i % 4], kept[item - lane + i]);
    const ARITHMETIC before = ADD(ADD(four[0], four[1]), ADD(four[2], four[3]));
    ARITHMETIC sum[2] = {start, IDENTITY};
    ARITHMETIC guess = second ? sum[1] : sum[0];
    if (begin > from)
        guess = ADD(guess, before);
    GROUP_BARRIER; // kept[] is read before results overwrite it
    uint first[2] = {0, teams};
    do {
        // The guess of the first stretch of each sum is exact.
        const bool adds = team >= (second ? first[1] : first[0]);
        if (adds) {
            kept[item] = add_apart(sum_of(bits_of(guess) + lane - GUESSES / 2), term + begin, end - begin, 1);
            if (lane == 0)
                middle[team] = guess;
        }
        GROUP_BARRIER;
        if (adds) {
            const ARITHMETIC result = kept[item];
            const bool is_last = team + 1 == (second ? behind[1] : behind[0]);
            const ulong place = is_last ? GUESSES : bits_of(result) - bits_of(middle[team + 1]) + GUESSES / 2;
            follower[item] = place < GUESSES ? place : NONE;
            if (lane == GUESSES / 2)
                added[team] = result - guess;
        }
        GROUP_BARRIER;
        // Goes on from stretch to stretch, as long as an item guessed the start of the stretch.
        WRITTEN_OUT
        for (uint i = 0; i < 2; ++i) {
            if (first[i] == behind[i])
                continue;
            uint at = first[i] * GUESSES + GUESSES / 2;
            for (uint next = follower[at]; next != NONE; next = follower[at])
                at = ++first[i] * GUESSES + next;
            ++first[i];
            sum[i] = kept[at];
        }
        guess = second ? sum[1] : sum[0];
        for (uint stretch = second ? first[1] : first[0]; stretch < team; ++stretch)
            guess = ADD(guess, added[stretch]);
    } while (first[0] < behind[0] || first[1] < behind[1]);
    return teams < STRETCHES ? ADD(sum[0], sum[1]) : sum[0];
}
#endif
