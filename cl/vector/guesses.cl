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

// Adds `count` terms to `start`. Every item of the group calls it and has the result. follower[i]
// is the item of the next stretch that began with the result of item i.
ARITHMETIC add_guessed(ARITHMETIC start, local const ARITHMETIC* term, uint count, local ARITHMETIC* kept, local uchar* follower)
{
    const uint item = get_local_id(0), lane = item % GUESSES, team = item / GUESSES;
    const uint length = (count + STRETCHES * AT_ONCE - 1) / (STRETCHES * AT_ONCE) * AT_ONCE;
    const uint begin = min(team * length, count), end = min(begin + length, count);
    local ARITHMETIC *middle = kept + GROUP_SIZE, *added = middle + STRETCHES;
    // The terms before the stretch. Two sums do not wait for each other, nor do four.
    ARITHMETIC even = IDENTITY, odd = IDENTITY, four[4] = {IDENTITY, IDENTITY, IDENTITY, IDENTITY};
    for (uint i = lane; i < begin; i += 2 * GUESSES) {
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
    ARITHMETIC guess = team == 0 ? start : ADD(start, before);
    GROUP_BARRIER; // the reads, before results are written
    for (uint first = 0;; ++first) {
        // The guess of stretch `first` is right.
        if (team >= first) {
            kept[item] = add_apart(sum_of(bits_of(guess) + lane - GUESSES / 2), term + begin, end - begin, 1);
            if (lane == 0)
                middle[team] = guess;
        }
        GROUP_BARRIER;
        if (team >= first) {
            const ARITHMETIC result = kept[item];
            const ulong place = team + 1 < STRETCHES ? bits_of(result) - bits_of(middle[team + 1]) + GUESSES / 2 : GUESSES;
            follower[item] = place < GUESSES ? place : NONE;
            if (lane == GUESSES / 2)
                added[team] = result - guess;
        }
        GROUP_BARRIER;
        uint at = first * GUESSES + GUESSES / 2;
        for (uint next = follower[at]; next != NONE; next = follower[at])
            at = ++first * GUESSES + next;
        const ARITHMETIC sum = kept[at];
        if (first + 1 == STRETCHES)
            return sum;
        guess = sum;
        for (uint stretch = first + 1; stretch < team; ++stretch)
            guess = ADD(guess, added[stretch]);
    }
}
#endif
