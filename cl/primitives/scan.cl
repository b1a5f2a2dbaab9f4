// scan: replaces each value by the sum of all values before it.
// Host: src/primitives/scan.rs
//
// Each tile of GROUP_SIZE * ITEMS values is read twice and written once.
//
//   scan_reduce   one work-group per tile: partials[tile] = sum of the tile
//   scan_tiles    one work-group per tile: scans the tile, starting from the sum of the tiles
//                 before it. This sum is partials[tile] if the partials are scanned. Otherwise
//                 scan_tiles adds up the partials
//
//   in out  data[n]
//   in out  partials[tiles]
#if !defined(SCAN_WORD) || !defined(ITEMS) || !defined(AT_ONCE)
#error "SCAN_WORD, ITEMS, AT_ONCE: see src/primitives/scan.rs"
#endif

#define PLUS(x, y) ((x) + (y))
GROUP_SCAN(scan_group, SCAN_WORD, PLUS)

// The values of an item are neighbours. An item moves AT_ONCE values at once, at most 16 bytes, so
// that neighbouring items use most of each cache line that they read.
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#if AT_ONCE == 1
#define SCAN_VECTOR SCAN_WORD
#else
#define SCAN_VECTOR JOIN(SCAN_WORD, AT_ONCE)
#endif

KERNEL scan_reduce(global const SCAN_WORD* data, global SCAN_WORD* partials, uint n)
{
    local SCAN_WORD shared[GROUP_SIZE];
    const ulong start = (ulong)get_group_id(0) * GROUP_SIZE * ITEMS;
    SCAN_WORD sum = 0;
    for (uint i = get_local_id(0); i < GROUP_SIZE * ITEMS; i += GROUP_SIZE)
        if (start + i < n)
            sum += data[start + i];
    SCAN_WORD total;
    scan_group(sum, shared, &total);
    if (get_local_id(0) == 0)
        partials[get_group_id(0)] = total;
}

KERNEL scan_tiles(global SCAN_WORD* data, global const SCAN_WORD* partials, uint n, uint scanned)
{
    local SCAN_WORD shared[GROUP_SIZE];
    const uint tile = get_group_id(0);
    SCAN_WORD before_tile = scanned ? partials[tile] : 0;
    if (!scanned && tile > 0) {
        SCAN_WORD some = 0;
        for (uint i = get_local_id(0); i < tile; i += GROUP_SIZE)
            some += partials[i];
        scan_group(some, shared, &before_tile);
    }
    const ulong start = ((ulong)tile * GROUP_SIZE + get_local_id(0)) * ITEMS;
    const bool whole = start + ITEMS <= n;
    union {
        SCAN_VECTOR vector[ITEMS / AT_ONCE];
        SCAN_WORD value[ITEMS];
    } own;
    if (whole) {
        for (uint i = 0; i < ITEMS / AT_ONCE; ++i)
            own.vector[i] = ((global const SCAN_VECTOR*)(data + start))[i];
    } else {
        for (uint i = 0; i < ITEMS; ++i)
            own.value[i] = start + i < n ? data[start + i] : 0;
    }
    SCAN_WORD sum = 0, total;
    for (uint i = 0; i < ITEMS; ++i)
        sum += own.value[i];
    SCAN_WORD before = before_tile + scan_group(sum, shared, &total);
    for (uint i = 0; i < ITEMS; ++i) {
        const SCAN_WORD value = own.value[i];
        own.value[i] = before;
        before += value;
    }
    if (whole) {
        for (uint i = 0; i < ITEMS / AT_ONCE; ++i)
            ((global SCAN_VECTOR*)(data + start))[i] = own.vector[i];
    } else {
        for (uint i = 0; i < ITEMS; ++i)
            if (start + i < n)
                data[start + i] = own.value[i];
    }
}
