// scan: sums (exclusive) or maxima (inclusive) of everything before, in place.            host: src/primitives/scan.rs
//
// Reduce, scan the partials, scan again: each tile of GROUP_SIZE * ITEMS values is read twice and written once.
//
//   scan_reduce   one work-group per tile: partials[tile] = reduction of the tile
//   scan_tiles    one work-group per tile: scans it, starting from what the scanned partials say of the tiles before
//
//   in out  data[n]
//   in out  partials[tiles]       scanned between the two, by the same kernels; unused by scan_tiles where tiles == 1
#if !defined(SCAN_WORD) || !defined(ITEMS) || !defined(MAXIMUM)
#error "SCAN_WORD, ITEMS, MAXIMUM: see src/primitives/scan.rs"
#endif

// 0 is the identity of both: the words are unsigned.
#if MAXIMUM
#define COMBINE(x, y) max(x, y)
#else
#define COMBINE(x, y) ((x) + (y))
#endif

GROUP_SCAN(scan_group, SCAN_WORD, COMBINE)

KERNEL scan_reduce(global const SCAN_WORD* data, global SCAN_WORD* partials, uint n)
{
    local SCAN_WORD shared[GROUP_SIZE];
    const ulong start = ((ulong)get_group_id(0) * GROUP_SIZE + get_local_id(0)) * ITEMS;
    SCAN_WORD sum = 0;
    for (uint i = 0; i < ITEMS; ++i)
        if (start + i < n)
            sum = COMBINE(sum, data[start + i]);
    SCAN_WORD total;
    scan_group(sum, shared, &total);
    if (get_local_id(0) == 0)
        partials[get_group_id(0)] = total;
}

KERNEL scan_tiles(global SCAN_WORD* data, global const SCAN_WORD* partials, uint n, uint tiles)
{
    local SCAN_WORD shared[GROUP_SIZE];
    const ulong start = ((ulong)get_group_id(0) * GROUP_SIZE + get_local_id(0)) * ITEMS;
    SCAN_WORD values[ITEMS];
    SCAN_WORD sum = 0;
    for (uint i = 0; i < ITEMS; ++i) {
        values[i] = start + i < n ? data[start + i] : 0;
        sum = COMBINE(sum, values[i]);
    }
    SCAN_WORD total;
    SCAN_WORD before = scan_group(sum, shared, &total);
    // Sums are scanned exclusively, maxima inclusively: the tiles before end one partial earlier.
    const uint tile = get_group_id(0);
    const bool some_before = MAXIMUM ? tile > 0 : true;
    if (tiles > 1 && some_before)
        before = COMBINE(before, partials[MAXIMUM ? tile - 1 : tile]);
    for (uint i = 0; i < ITEMS; ++i) {
        const SCAN_WORD through = COMBINE(before, values[i]);
        if (start + i < n)
            data[start + i] = MAXIMUM ? through : before;
        before = through;
    }
}
