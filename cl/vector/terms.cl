// terms: adds terms that are in local memory.
// Host: src/vector/line_sums.rs, src/apply/spmv/csr_shared.rs
//
// Reads of local memory do not wait for each other: AT_ONCE terms are read while AT_ONCE other
// terms are added. After the last of neighbouring terms up to BEHIND more places are read. The
// contents of these places have no effect.
#if !defined(AT_ONCE)
#error "AT_ONCE: see src/vector/line_sums.rs"
#endif

#define BEHIND (AT_ONCE - 1)
// If some items of the work-group write while other items add, no place after the last is read.
#if defined(SPLIT) && SPLIT
#define ALONE 0
#else
#define ALONE 1
#endif

// Adds `count` terms one after another. The terms are `apart` places from each other.
#if AT_ONCE > 1
#define READ_APART(to, begin)          \
    WRITTEN_OUT                        \
    for (uint i = 0; i < AT_ONCE; ++i) \
        to[i] = term[((begin) + i) * apart];
#define ADD_ALL(sum, held)             \
    WRITTEN_OUT                        \
    for (uint i = 0; i < AT_ONCE; ++i) \
        sum = ADD(sum, held[i]);
ARITHMETIC add_apart(ARITHMETIC sum, local const ARITHMETIC* term, uint count, uint apart)
{
    ARITHMETIC held[AT_ONCE];
    uint first = 0;
    if (count >= AT_ONCE) {
        ARITHMETIC next[AT_ONCE];
        READ_APART(held, first);
        // Two batches of terms take turns. No batch is copied, because a copy waits for its read.
        AS_WRITTEN
        for (; first + 3 * AT_ONCE <= count; first += 2 * AT_ONCE) {
            READ_APART(next, first + AT_ONCE);
            ADD_ALL(sum, held);
            READ_APART(held, first + 2 * AT_ONCE);
            ADD_ALL(sum, next);
        }
        if (first + 2 * AT_ONCE <= count) {
            READ_APART(next, first + AT_ONCE);
            ADD_ALL(sum, held);
            ADD_ALL(sum, next);
            first += 2 * AT_ONCE;
        } else {
            ADD_ALL(sum, held);
            first += AT_ONCE;
        }
    }
    if (first < count) {
        WRITTEN_OUT
        for (uint i = 0; i < AT_ONCE; ++i)
            held[i] = term[ALONE && apart == 1 ? first + i : min(first + i, count - 1) * apart];
        WRITTEN_OUT
        for (uint i = 0; i < AT_ONCE; ++i) {
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
