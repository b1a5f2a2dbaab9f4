// lengths: the least length, the sum and the number of the finite lengths, and the first NaN, one
// work-item per part of the edges.
// Host: src/graph/lengths.rs
//
//   in   values[edges * stride]
//   out  least[parts]     the least length, EMPTY if the part has no edge
//   out  sum[parts]       the sum of the finite lengths, each divided by `edges` so that no sum
//                         overflows
//   out  finite[parts]    the number of the finite lengths
//   out  unknown[parts]   the first edge whose length is NaN, NONE if there is none
//
// A part is a range of neighbouring edges. If INTERLEAVED is 1, a part is instead the edges whose
// numbers have the same remainder when they are divided by the number of parts. SUM is the type of
// sums.
#if !defined(INTERLEAVED) || !defined(SUM)
#error "INTERLEAVED, SUM: see src/graph/lengths.rs"
#endif
#define NONE 0xffffffffu

KERNEL look_at_lengths(global const ELEMENT* restrict values, global ELEMENT* restrict least, global SUM* restrict sum,
                       global uint* restrict finite, global uint* restrict unknown, uint edges, uint stride, uint parts)
{
    const uint part = get_global_id(0);
    if (part >= parts)
        return;
#if INTERLEAVED
    const ulong begin = part, end = edges, apart = parts;
#else
    const ulong begin = (ulong)edges * part / parts, end = (ulong)edges * (part + 1) / parts, apart = 1;
#endif
    ELEMENT smallest = EMPTY;
    const SUM share = (SUM)1 / (SUM)edges;
    SUM total = 0;
    uint count = 0, first = NONE;
    for (ulong edge = begin; edge < end; edge += apart) {
        const ELEMENT length = LOAD(values, edge * stride);
        if (length != length)
            first = min(first, (uint)edge);
        smallest = length < smallest ? length : smallest;
        if (length < EMPTY) {
            total += (SUM)length * share;
            ++count;
        }
    }
    least[part] = smallest;
    sum[part] = total;
    finite[part] = count;
    unknown[part] = first;
}
