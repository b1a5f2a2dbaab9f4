// guesses: adds the terms of a long sum in ascending order, by all items of a group at once.
// Host: src/vector/line_sums.rs. It comes after terms.cl.
//
// Additions that wait for each other take 8 cycles each on an H100 in f64. So the terms are cut
// into STRETCHES, which teams of items add at the same time. The sum from which a stretch goes on
// is not known then. But the terms before it, added in another order, give nearly that sum, and
// each item of a team adds the stretch to another number close to it. Once the sum is known, the
// result of the item that began with its very bits is the sum behind the stretch. If none began
// with them, the stretches from this one on are added again. Its own sum is known now. Those of the
// others are guessed from what the stretches added to their guesses, which nearly always suffices.
// So the sum has the bits of terms that one item adds one after the other, whatever was guessed.
//
// Sums of fewer than GUESSED terms are one item's; if it is 0, all are. If not, STRETCHES divides
// the items of a group, which are more than STRETCHES.
#if !defined(GUESSED) || !defined(STRETCHES)
#error "GUESSED, STRETCHES: see src/vector/line_sums.rs"
#endif

#if GUESSED
// Items of a team.
#define GUESSES (GROUP_SIZE / STRETCHES)
// What a group keeps in local memory: the result of each item, and for each stretch the number in
// the middle of its guesses and what it added to that one.
#define KEPT (GROUP_SIZE + 2 * STRETCHES)
// No item began with a result.
#define NONE 0xff

// A sum as a whole number. Neighbours of one sign have numbers next to each other.
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

// Adds `count` terms to `start`, but those behind the first `cut` to a sum of their own, which is
// then added to that of the others; there are at most as many. Every item of the group calls it and
// has the result. follower[i] is the item of the next stretch that began with the result of item i.
ARITHMETIC add_guessed(ARITHMETIC start, local const ARITHMETIC* term, uint count, uint cut, local ARITHMETIC* kept, local uchar* follower)
{
    const uint item = get_local_id(0), lane = item % GUESSES, team = item / GUESSES;
    local ARITHMETIC *middle = kept + GROUP_SIZE, *added = middle + STRETCHES;
    // The teams that have the first sum; the others have the second.
    const uint teams = count > cut ? min((STRETCHES * cut + count / 2) / count, STRETCHES - 1u) : STRETCHES;
    const uint behind[2] = {teams, STRETCHES};
    const bool second = team >= teams;
    const uint from = second ? cut : 0, to = second ? count : min(cut, count);
    const uint step = (second ? STRETCHES - teams : teams) * AT_ONCE, length = (to - from + step - 1) / step * AT_ONCE;
    const uint begin = min(from + (second ? team - teams : team) * length, to), end = min(begin + length, to);
    // The terms before the stretch. Two sums do not wait for each other, nor do four.
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
    GROUP_BARRIER; // the reads, before results are written
    uint first[2] = {0, teams};
    do {
        // The guess of the first stretch of either sum is right.
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
        // Those behind it, as long as one follows the other.
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
