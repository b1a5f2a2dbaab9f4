// parts: exchanges sums between work-groups, for the parts of a line that is cut.
// Host: src/vector/line_sums.rs, src/apply/spmv/csr_shared.rs. This file comes after ptx.cl.

// WORDS is the number of words of a sum.
#define WORDS ((sizeof(ARITHMETIC) + 3) / 4)

// A sum as words that work-groups exchange by atomics. The device carries atomics out in one place,
// whatever its caches, so the work-group that arrives last reads the words of the other
// work-groups.
#define EXCHANGED                                                                                                     \
    union {                                                                                                           \
        ARITHMETIC sum;                                                                                               \
        uint word[WORDS];                                                                                             \
    }

void give(ARITHMETIC sum, global uint* to)
{
    EXCHANGED given;
    given.sum = sum;
    for (uint i = 0; i < WORDS; ++i)
        CARRY_OUT(atomic_xchg(&to[i], given.word[i]));
}

ARITHMETIC found(global uint* at)
{
    EXCHANGED found;
    for (uint i = 0; i < WORDS; ++i)
        found.word[i] = atomic_or(&at[i], 0);
    return found.sum;
}
