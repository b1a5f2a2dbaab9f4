// segmented_scan: combines the values of each segment from left to right, by any operator.
// Host: src/primitives/segmented_scan.rs
//
// Segments are cut into pieces. The values of a piece are combined from left to right, then the
// totals of a segment's pieces.
//
//   piece_totals   one work-item per piece: computes its total
//   carry_totals   one work-group per segment of several pieces. The total of its first piece is
//                  replaced by the total of the segment, the total of each other piece by that of
//                  all pieces before it
//   scan_pieces    one work-item per piece: scans it, starting from the value of carry_totals
//   segment_totals one work-item per segment: writes its total, or EMPTY
//
//   in      begin[pieces + 1]         the start of each piece; the last ends at begin[pieces]
//   in      follows[pieces]           1 if the piece is not the first of its segment
//   in      piece_ptr[segments + 1]   the first piece of each segment
//   in      long_begin[long]  long_end[long]   the pieces of each segment that has several
//   in out  values[begin[pieces]]
//   in out  totals[pieces]            scan_pieces does not read the total of a segment's first
//                                     piece
//   out     sums[segments]
#if !defined(COMBINE) || !defined(EMPTY) || !defined(ARITHMETIC)
#error "COMBINE(x, y), EMPTY, ARITHMETIC: see src/primitives/operator.rs"
#endif

// Each of x and y is evaluated once, and the operator's expression sees no other variables.
ARITHMETIC combined(ARITHMETIC x, ARITHMETIC y)
{
    return COMBINE(x, y);
}

KERNEL piece_totals(global const uint* restrict begin, global const ARITHMETIC* restrict values,
                    global ARITHMETIC* restrict totals, uint pieces)
{
    const uint piece = get_global_id(0);
    if (piece >= pieces)
        return;
    const uint first = begin[piece], end = begin[piece + 1];
    ARITHMETIC total = values[first];
    IN_ORDER
    for (uint i = first + 1; i < end; ++i)
        total = combined(total, values[i]);
    totals[piece] = total;
}

KERNEL carry_totals(global const uint* restrict long_begin, global const uint* restrict long_end,
                    global ARITHMETIC* restrict totals)
{
    local ARITHMETIC shared[GROUP_SIZE];
    const uint item = get_local_id(0), first = long_begin[get_group_id(0)], end = long_end[get_group_id(0)];
    ARITHMETIC before = EMPTY;
    for (uint round = first; round < end; round += GROUP_SIZE) {
        const uint piece = round + item;
        if (piece < end)
            shared[item] = totals[piece];
        GROUP_BARRIER;
        if (item == 0) {
            const uint count = min((uint)GROUP_SIZE, end - round);
            IN_ORDER
            for (uint i = 0; i < count; ++i) {
                const ARITHMETIC total = shared[i];
                shared[i] = before;
                before = round + i == first ? total : combined(before, total);
            }
        }
        GROUP_BARRIER;
        if (piece < end)
            totals[piece] = shared[item];
    }
    if (item == 0)
        totals[first] = before;
}

KERNEL scan_pieces(global const uint* restrict begin, global const uchar* restrict follows,
                   global const ARITHMETIC* restrict totals, global ARITHMETIC* restrict values, uint pieces, uint inclusive)
{
    const uint piece = get_global_id(0);
    if (piece >= pieces)
        return;
    const uint first = begin[piece], end = begin[piece + 1];
    const bool carries = follows[piece];
    const ARITHMETIC carry = carries ? totals[piece] : EMPTY;
    ARITHMETIC sum = values[first], before = carry, with = carries ? combined(carry, sum) : sum;
    values[first] = inclusive ? with : before;
    IN_ORDER
    for (uint i = first + 1; i < end; ++i) {
        sum = combined(sum, values[i]);
        before = with;
        with = carries ? combined(carry, sum) : sum;
        values[i] = inclusive ? with : before;
    }
}

KERNEL segment_totals(global const uint* restrict piece_ptr, global const ARITHMETIC* restrict totals,
                      global ARITHMETIC* restrict sums, uint segments)
{
    const uint segment = get_global_id(0);
    if (segment >= segments)
        return;
    const uint piece = piece_ptr[segment];
    sums[segment] = piece < piece_ptr[segment + 1] ? totals[piece] : EMPTY;
}
