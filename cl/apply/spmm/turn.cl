// turn: transposes dense elements on a CPU, TURNED x 8 at once, and writes a whole cache line at a
// time.
// Host: src/apply/spmm/tuning.rs
#if !defined(TURNED)
#error "TURNED: see src/apply/spmm/tuning.rs"
#endif
#define JOIN_(word, n) word##n
#define JOIN(word, n) JOIN_(word, n)

#if GROUP_SIZE == 1 && !ELEMENT_IS_HALF
#define EIGHT JOIN(ELEMENT, 8)
#define LINE JOIN(ELEMENT, TURNED)
// MAY_PASS says whether vectors of type LINE may be written past the caches. `place` is the address
// of the first vector.
#define MAY_PASS(place) (sizeof(LINE) == 64 && (size_t)(place) % sizeof(LINE) == 0)

// Transposes TURNED vectors of 8 elements. Element r of all vectors is written from to[r * apart]
// on.
void place_turned(const EIGHT* from, global ELEMENT* to, ulong apart, uint past)
{
    LINE line[8];
    WRITTEN_OUT
    for (uint r = 0; r < 8; ++r) {
        ELEMENT one[TURNED];
        WRITTEN_OUT
        for (uint k = 0; k < TURNED; ++k)
            one[k] = ((const ELEMENT*)&from[k])[r];
        line[r] = JOIN(vload, TURNED)(0, one);
    }
    if (past) {
        WRITTEN_OUT
        for (uint r = 0; r < 8; ++r)
            STORE_PAST(line[r], (global LINE*)(to + r * apart));
    } else {
        WRITTEN_OUT
        for (uint r = 0; r < 8; ++r)
            JOIN(vstore, TURNED)(line[r], 0, to + r * apart);
    }
}
#endif
