// arrivals: sorts the entries of compressed columns by row. Each entry takes the next place of its
// row from a counter, in any order. Then the entries of each row are sorted.
// Host: src/primitives/arrivals.rs
//
//   count_arrivals  one work-group per tile of GROUP_SIZE * ITEMS entries
//   place_arrivals  one work-group per tile of GROUP_SIZE * ITEMS entries
//   order_rows      LANES work-items per row, in whole work-groups
//   order_long      any number of work-groups
//
//   in      row_idx[n]  col_ptr[ncols + 1]
//   in out  count[rows + 1]    zero before; number of entries of each row
//   out     place[n]           number of entries of the same row that were counted earlier
//   in out  found[2]           zero before; entries of the longest row, and number of rows with
//                              more than HELD entries
//   in      row_ptr[rows + 1]  the counts, scanned
//   out     pair[n]            by rows: the index of an entry, with its column in the lower bits
//   out     column[n]  order[n]  the columns and the indices of the entries by rows, ascending in
//                              each row
//   out     longer[]           rows of more than HELD entries, at most LONGEST, in any order
//
// Every interleaving gives the same result. A counter gives each entry its own place, and the
// entries of a row are sorted by their indices, which are all different. The entries of a row are
// sorted in local memory. In a row of at most HELD entries, the final place of an entry is the
// number of lower indices in the row. A work-group sorts each longer row.
#if !defined(ITEMS) || !defined(LANES) || !defined(HELD) || !defined(LONGEST)
#error "ITEMS, LANES, HELD, LONGEST: see src/primitives/arrivals.rs"
#endif
#define SLOTS (GROUP_SIZE / LANES)

KERNEL count_arrivals(global const uint* restrict row_idx, global uint* restrict count, global uint* restrict place,
                      global uint* restrict found, uint n)
{
    local uint longest;
    const uint item = get_local_id(0), start = get_group_id(0) * GROUP_SIZE * ITEMS;
    uint at[ITEMS];
    if (item == 0)
        longest = 0;
    WRITTEN_OUT
    for (uint i = 0; i < ITEMS; ++i) {
        const uint e = start + i * GROUP_SIZE + item;
        at[i] = e < n ? row_idx[e] : 0;
    }
    WRITTEN_OUT
    for (uint i = 0; i < ITEMS; ++i) {
        if (start + i * GROUP_SIZE + item < n)
            at[i] = atomic_inc(&count[at[i]]);
    }
    uint most = 0;
    WRITTEN_OUT
    for (uint i = 0; i < ITEMS; ++i) {
        const uint e = start + i * GROUP_SIZE + item;
        if (e < n) {
            place[e] = at[i];
            most = max(most, at[i] + 1);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE); // longest is set to 0 before other items raise it
    atomic_max(&longest, most);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0)
        atomic_max(&found[0], longest);
}

KERNEL place_arrivals(global const uint* restrict row_idx, global const uint* restrict place, global const uint* restrict row_ptr,
                      global const uint* restrict col_ptr, global ulong* restrict pair, uint n, uint ncols)
{
    local uint ends[2];
    const uint item = get_local_id(0), start = get_group_id(0) * GROUP_SIZE * ITEMS, last = min(start + GROUP_SIZE * ITEMS, n) - 1;
    if (item < 2)
        ends[item] = column_of(col_ptr, ncols, item == 0 ? start : last);
    barrier(CLK_LOCAL_MEM_FENCE);
    WRITTEN_OUT
    for (uint i = 0; i < ITEMS; ++i) {
        const uint e = start + i * GROUP_SIZE + item;
        if (e < n)
            pair[row_ptr[row_idx[e]] + place[e]] = (ulong)e << 32 | column_between(col_ptr, ends[0], ends[1], e);
    }
}

KERNEL order_rows(global const uint* restrict row_ptr, global const ulong* restrict pair, global uint* restrict column,
                  global uint* restrict order, global uint* restrict found, global uint* restrict longer, uint rows)
{
    local uint held[SLOTS * HELD] __attribute__((aligned(16)));
    const uint slot = get_local_id(0) / LANES, lane = get_local_id(0) % LANES, row = get_group_id(0) * SLOTS + slot;
    const uint begin = row_ptr[min(row, rows)], length = row_ptr[min(row + 1, rows)] - begin;
    const uint kept = length <= HELD ? length : 0;
    local uint* own = held + slot * HELD;
    // Four indices are compared at once. The padding after the last entry has the highest number.
    for (uint i = lane; i < (kept + 3) / 4 * 4; i += LANES)
        own[i] = i < kept ? (uint)(pair[begin + i] >> 32) : ~0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < kept; i += LANES) {
        const ulong of = pair[begin + i];
        const uint number = (uint)(of >> 32);
        uint below = 0;
        for (uint k = 0; k < kept; k += 4) {
            const uint4 others = *(local const uint4*)(own + k);
            below += (others.x < number) + (others.y < number) + (others.z < number) + (others.w < number);
        }
        column[begin + below] = (uint)of;
        order[begin + below] = number;
    }
    if (length > HELD && lane == 0)
        longer[atomic_inc(&found[1])] = row;
}

KERNEL order_long(global const uint* restrict row_ptr, global const ulong* restrict pair, global uint* restrict column,
                  global uint* restrict order, global const uint* restrict found, global const uint* restrict longer)
{
    local ulong held[LONGEST];
    const uint rows = found[1];
    for (uint number = get_group_id(0); number < rows; number += get_num_groups(0)) {
        const uint begin = row_ptr[longer[number]], length = row_ptr[longer[number] + 1] - begin;
        uint padded = 2;
        while (padded < length)
            padded *= 2;
        for (uint i = get_local_id(0); i < padded; i += GROUP_SIZE)
            held[i] = i < length ? pair[begin + i] : ~(ulong)0;
        // A bitonic sort.
        for (uint size = 2; size <= padded; size *= 2)
            for (uint distance = size / 2; distance > 0; distance /= 2) {
                barrier(CLK_LOCAL_MEM_FENCE);
                for (uint i = get_local_id(0); i < padded / 2; i += GROUP_SIZE) {
                    const uint low = 2 * i - (i & (distance - 1)), high = low + distance;
                    const ulong one = held[low], other = held[high];
                    if ((one > other) == ((low & size) == 0))
                        held[low] = other, held[high] = one;
                }
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = get_local_id(0); i < length; i += GROUP_SIZE) {
            column[begin + i] = (uint)held[i];
            order[begin + i] = (uint)(held[i] >> 32);
        }
        barrier(CLK_LOCAL_MEM_FENCE); // held[] is read before the next row overwrites it
    }
}
