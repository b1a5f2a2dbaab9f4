// scan: sums (exclusive) or maxima (inclusive) of everything before, in place.            host: src/primitives/scan.rs
//
// Reduce, scan the partials, scan again: each tile of GROUP_SIZE * ITEMS values is read twice and written once.
//
//   scan_reduce   one work-group per tile: partials[tile] = reduction of the tile
//   scan_tiles    one work-group per tile: scans it, starting from partials[tile] (already scanned, exclusive)
//
//   in out  data[n]
//   in out  partials[tiles]       ignored by scan_tiles where tiles == 1
#if !defined(SCAN_WORD) || !defined(ITEMS) || !defined(MAXIMUM)
#error "SCAN_WORD, ITEMS, MAXIMUM: see src/primitives/scan.rs"
#endif

// 0 is the identity of both: the words are unsigned.
#if MAXIMUM
#define COMBINE(x, y) max(x, y)
#else
#define COMBINE(x, y) ((x) + (y))
#endif

// Combines the values of all items before this one (exclusive); the whole group's goes to *total.
SCAN_WORD scan_group(SCAN_WORD value, local SCAN_WORD* shared, SCAN_WORD* total)
{
    const uint item = get_local_id(0);
    shared[item] = value;
    for (uint distance = 1; distance < GROUP_SIZE; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const SCAN_WORD before = item >= distance ? shared[item - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE); // every read above, before the writes below
        shared[item] = COMBINE(before, shared[item]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *total = shared[GROUP_SIZE - 1];
    return item > 0 ? shared[item - 1] : 0;
}

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
    if (tiles > 1)
        before = COMBINE(before, partials[get_group_id(0)]);
    for (uint i = 0; i < ITEMS; ++i) {
        const SCAN_WORD through = COMBINE(before, values[i]);
        if (start + i < n)
            data[start + i] = MAXIMUM ? through : before;
        before = through;
    }
}
