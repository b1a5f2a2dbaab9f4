// terms: adds terms that lie in local memory.
// Host: src/vector/line_sums.rs, src/apply/spmv/csr_shared.rs
//
// The reads of local memory do not wait for each other: TOGETHER terms are read while as many are
// added. Behind the last of neighbouring terms up to BEHIND places are read, whatever they hold.
#if !defined(TOGETHER)
#error "TOGETHER: see src/vector/line_sums.rs"
#endif

#define BEHIND (TOGETHER - 1)
// If items of the group write while others add, none is read behind the last.
#if defined(SPLIT) && SPLIT
#define ALONE 0
#else
#define ALONE 1
#endif

// Adds `count` terms, `apart` places from each other, one after the other.
#if TOGETHER > 1
ARITHMETIC add_apart(ARITHMETIC sum, local const ARITHMETIC* term, uint count, uint apart)
{
    ARITHMETIC held[TOGETHER];
    uint first = 0;
    if (count >= TOGETHER) {
        WRITTEN_OUT
        for (uint i = 0; i < TOGETHER; ++i)
            held[i] = term[i * apart];
        AS_WRITTEN
        for (; first + 2 * TOGETHER <= count; first += TOGETHER) {
            ARITHMETIC next[TOGETHER];
            WRITTEN_OUT
            for (uint i = 0; i < TOGETHER; ++i)
                next[i] = term[(first + TOGETHER + i) * apart];
            WRITTEN_OUT
            for (uint i = 0; i < TOGETHER; ++i) {
                sum = ADD(sum, held[i]);
                held[i] = next[i];
            }
        }
        WRITTEN_OUT
        for (uint i = 0; i < TOGETHER; ++i)
            sum = ADD(sum, held[i]);
        first += TOGETHER;
    }
    if (first < count) {
        WRITTEN_OUT
        for (uint i = 0; i < TOGETHER; ++i)
            held[i] = term[ALONE && apart == 1 ? first + i : min(first + i, count - 1) * apart];
        WRITTEN_OUT
        for (uint i = 0; i < TOGETHER; ++i) {
            const ARITHMETIC more = ADD(sum, held[i]);
            sum = first + i < count ? more : sum;
        }
    }
    return sum;
}
#else
ARITHMETIC add_apart(ARITHMETIC sum, local const ARITHMETIC* term, uint count, uint apart)
{
    IN_ORDER
    for (uint i = 0; i < count; ++i)
        sum = ADD(sum, term[i * apart]);
    return sum;
}
#endif
