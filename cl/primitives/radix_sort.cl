// radix_sort: sorts elements stably by a digit of their keys, in tiles.
// Host: src/primitives/radix_sort.rs. This file comes after ptx.cl.
//
//   count_digits  one work-group per tile of GROUP_SIZE * ITEMS elements
//   deal_digits   one work-group per tile of GROUP_SIZE * ITEMS elements
//
//   in   key[n]              the digit begins at bit `shift` and has `digits` values
//   out  counts[digits * tiles]   number of elements of each tile with each digit, digit by digit
//   in   starts[digits * tiles]   the counts, scanned; not read if there is one tile
//   in   key_in[n]  order_in[n]  column_in[n]      keys, and the words that they carry. If `fresh`,
//                            order is the index of an element, and column is its column in col_ptr
//   in   col_ptr[ncols + 1]
//   out  key_out[n]  order_out[n]  column_out[n]   sorted by the digit. Columns are written only if
//                                                  COLUMNS
//
// A tile is sorted in local memory and written from there, so that neighbouring elements with equal
// digits are written to neighbouring places. The 32 items of a team, which is a warp if the device
// has warps, take 32 neighbouring elements at a time. Each item sets its bit in one mask for the
// high half of its digit and in one for the low half. The bits that are set in both masks are the
// items whose elements have the item's digit. The elements of lower items come first.
#if !defined(ITEMS) || !defined(DIGIT_BITS) || !defined(COLUMNS)
#error "ITEMS, DIGIT_BITS, COLUMNS: see src/primitives/radix_sort.rs"
#endif

#define TEAM_SIZE 32
#define TEAMS (GROUP_SIZE / TEAM_SIZE)
// Makes a team's writes to local memory visible to the team. All teams use TEAM_BARRIER the same
// number of times.
#if WARPS
#define TEAM_BARRIER WARP_BARRIER
#else
#define TEAM_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#endif
#define TILE (GROUP_SIZE * ITEMS)
#define MOST_DIGITS (1 << DIGIT_BITS)
// HALF is the number of values of half a digit.
#define HALF (1 << (DIGIT_BITS + 1) / 2)
// SHARE is the number of digits that an item scans.
#define SHARE ((MOST_DIGITS + GROUP_SIZE - 1) / GROUP_SIZE)
#define DIGIT(key) ((key) >> shift & (digits - 1))

#define PLUS(x, y) ((x) + (y))
GROUP_SCAN(scan_group, uint, PLUS)

KERNEL count_digits(global const uint* restrict key, global uint* restrict counts, uint n, uint tile, uint shift, uint digits)
{
    local uint count[MOST_DIGITS];
    const uint item = get_local_id(0), tiles = get_num_groups(0);
    const uint start = get_group_id(0) * tile, length = min(tile, n - start);
    for (uint digit = item; digit < MOST_DIGITS; digit += GROUP_SIZE)
        count[digit] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    // Elements after the last one add 0 instead of being skipped, which avoids a branch.
    UNROLLED
    for (uint i = 0; i < ITEMS; ++i) {
        const uint at = i * GROUP_SIZE + item;
        const uint here = key[start + min(at, length - 1)];
        atomic_add(&count[DIGIT(here)], (uint)(at < length));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint digit = item; digit < digits; digit += GROUP_SIZE)
        counts[digit * tiles + get_group_id(0)] = count[digit];
}

// Writes the element `element` of each position e of the item to its place in `out`, by way of
// local memory.
#define DEAL(out, element)                                                                                            \
    UNROLLED                                                                                                          \
    for (uint i = 0; i < ITEMS; ++i) {                                                                                \
        const uint e = start + min(own + i * TEAM_SIZE, length - 1);                                                  \
        held[place[i]] = element;                                                                                     \
    }                                                                                                                 \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                     \
    UNROLLED                                                                                                          \
    for (uint i = 0; i < ITEMS; ++i) {                                                                                \
        const uint at = i * GROUP_SIZE + item;                                                                        \
        if (at < length)                                                                                              \
            out[to[i]] = held[at];                                                                                    \
    }

KERNEL deal_digits(global const uint* restrict key_in, global const uint* restrict order_in, global const uint* restrict column_in,
                   global const uint* restrict col_ptr, global const uint* restrict starts, global uint* restrict key_out,
                   global uint* restrict order_out, global uint* restrict column_out, uint n, uint tile, uint ncols, uint shift,
                   uint digits, uint fresh)
{
    // Masks of the low and the high half of a digit. There are two pairs, so that one pair is
    // cleared while the other is in use.
    local uint masks[TEAMS * 4 * HALF];
    // The number of elements with each digit in the teams before, and in the team itself.
    local ushort before[TEAMS * MOST_DIGITS];
    // The difference between an element's place in the result and its place in the sorted tile.
    local uint shift_to[MOST_DIGITS];
    local uint shared[GROUP_SIZE], held[TILE];
#if COLUMNS
    local uint ends[2];
#endif
    const uint item = get_local_id(0), team = item / TEAM_SIZE, lane = item % TEAM_SIZE, tiles = get_num_groups(0);
    const uint start = get_group_id(0) * tile, length = min(tile, n - start);
    // The first of this item's elements. Each further element is TEAM_SIZE places later.
    const uint own = team * TEAM_SIZE * ITEMS + lane;

    uint key[ITEMS], place[ITEMS];
    // Elements after the last have keys that sort last.
    UNROLLED
    for (uint i = 0; i < ITEMS; ++i) {
        const uint at = own + i * TEAM_SIZE;
        key[i] = at < length ? key_in[start + at] : ~0u;
    }
#if COLUMNS
    if (fresh && item < 2)
        ends[item] = column_of(col_ptr, ncols, item == 0 ? start : start + length - 1);
#endif
    for (uint i = item; i < TEAMS * 4 * HALF; i += GROUP_SIZE)
        masks[i] = 0;
    for (uint i = item; i < TEAMS * MOST_DIGITS; i += GROUP_SIZE)
        before[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    local ushort* counts = before + team * MOST_DIGITS;
    UNROLLED
    for (uint i = 0; i < ITEMS; ++i) {
        local uint* low = masks + (team * 2 + i % 2) * 2 * HALF + DIGIT(key[i]) % HALF;
        local uint* high = masks + (team * 2 + i % 2) * 2 * HALF + HALF + DIGIT(key[i]) / HALF;
        atomic_or(low, 1u << lane);
        atomic_or(high, 1u << lane);
        TEAM_BARRIER;
        const uint peers = *low & *high;
        const uint earlier = counts[DIGIT(key[i])];
        TEAM_BARRIER; // counts[] is read before items with equal digits write equal counts to it
        *low = 0;
        *high = 0;
        counts[DIGIT(key[i])] = (ushort)(earlier + popcount(peers));
        place[i] = earlier + popcount(peers & ((1u << lane) - 1));
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    uint sum = 0, total;
    for (uint k = 0; k < SHARE; ++k) {
        const uint digit = item * SHARE + k;
        if (digit < MOST_DIGITS) {
            uint of_teams = 0;
            for (uint i = digit; i < TEAMS * MOST_DIGITS; i += MOST_DIGITS) {
                const uint count = before[i];
                before[i] = (ushort)of_teams;
                of_teams += count;
            }
            shift_to[digit] = sum;
            sum += of_teams;
        }
    }
    const uint of_items = scan_group(sum, shared, &total);
    for (uint k = 0; k < SHARE; ++k) {
        const uint digit = item * SHARE + k;
        if (digit < MOST_DIGITS) {
            const uint first = of_items + shift_to[digit];
            for (uint i = digit; i < TEAMS * MOST_DIGITS; i += MOST_DIGITS)
                before[i] += (ushort)first;
            shift_to[digit] = tiles > 1 && digit < digits ? starts[digit * tiles + get_group_id(0)] - first : 0;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Each array goes through local memory separately, so that longer tiles fit.
    UNROLLED
    for (uint i = 0; i < ITEMS; ++i) {
        place[i] += counts[DIGIT(key[i])];
        held[place[i]] = key[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint to[ITEMS];
    UNROLLED
    for (uint i = 0; i < ITEMS; ++i) {
        const uint at = i * GROUP_SIZE + item, sorted = held[at];
        to[i] = shift_to[DIGIT(sorted)] + at;
        if (at < length)
            key_out[to[i]] = sorted;
    }
    barrier(CLK_LOCAL_MEM_FENCE); // held[] is read before the next array overwrites it
    DEAL(order_out, fresh ? e : order_in[e])
#if COLUMNS
    barrier(CLK_LOCAL_MEM_FENCE); // held[] is read before the next array overwrites it
    DEAL(column_out, fresh ? column_between(col_ptr, ends[0], ends[1], e) : column_in[e])
#endif
}
