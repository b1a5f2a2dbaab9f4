// pack: copies A's values into the order of a format. One work-item copies the terms of one sum of
// a place, or one element if WHOLE_SUMS is 1, so that neighbouring items write neighbouring
// elements.
// Host: src/apply/spmv/pack.rs
//
//   in   source[places]   as in values.cl; PADDING for a place without an entry
//   in   values[nnz * stride]
//   out  packed[places * AREA]   0 for padding
//
// The first `heads` places are in chunks of `height`. A chunk is one column of a slice: it has the
// first terms of all sums of its places, then the second terms, and so on. Each further place is a
// chunk by itself. If WHOLE_SUMS is 1, the terms of a block for one sum are stored one after
// another.
#if !defined(WHOLE_SUMS)
#error "WHOLE_SUMS: see src/apply/spmv/pack.rs"
#endif
#define PADDING 0xffffffffu

#if WHOLE_SUMS
#define OF_PLACE AREA
#else
#define OF_PLACE SUMS
#endif

KERNEL pack(global const uint* restrict source, global const ELEMENT* restrict values, global ELEMENT* restrict packed, ulong places,
            ulong heads, ulong height, uint stride)
{
    const ulong item = get_global_id(0), place = item / OF_PLACE;
    if (place >= places)
        return;
#if WHOLE_SUMS
    const uint element = item % AREA, sum = element / DEPTH, first = element % DEPTH, behind = first + 1;
    ulong at = item;
    const ulong apart = 1;
#else
    const uint sum = item % SUMS, first = 0, behind = DEPTH;
#if AREA == 1
    ulong at = place;
    const ulong apart = 1;
#else
    const ulong row = place < heads ? place % height : 0;
    ulong at = (place - row) * AREA + row * SUMS + sum;
    const ulong apart = place < heads ? height * SUMS : SUMS;
#endif
#endif
#if THROUGH
    const bool is_padding = source[place] == PADDING;
#else
    const bool is_padding = false;
#endif
    const ulong begin = is_padding ? 0 : BEGIN(place, sum);
    const uint step = is_padding ? 0 : STEP(place);
    for (uint k = first; k < behind; ++k) {
        const ARITHMETIC value = is_padding ? 0 : LOAD(values, begin + (ulong)k * step);
        STORE(value, packed, at);
        at += apart;
    }
}
