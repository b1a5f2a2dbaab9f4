// sorted_expansion: expansion and the first half of the sort in one: products are made, sorted and only then written.
//                                                                                     host: src/esc/sorted_expansion.rs
//
//   one work-group per `window` positions: the short segments that begin there (at most SHORT_MAX products each, and all of them at most CHUNK)
//   then one per CHUNK products of each long segment, whose sorted chunks are left to merge
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]
//   in   a_of[a_nnz]  b_of[b_nnz]      values; for pairs the stored entry behind each, read where it is transposed
//   in   b_prods[b_nnz + 1]  segment_ptr[cols + 1]  chunk_ptr[cols + 1]
//   out  row[products]  payload[products]                sorted by row inside each segment, stably; of long ones chunks, those of
//   out  row_between[products]  payload_between[products]   segments that take an odd number of merge passes here
//   out  tile_segment[tiles + 1]       segment of the first product of each tile of TILE, at the end that of the last product
//
// The products of one entry of B come with ascending rows: they are a sorted *stretch*, and a segment of s stretches takes
// log2(s) rounds, in each of which neighbours are merged: a product's place is its own plus what it finds by bisection in the other.
// A work-item keeps ITEMS products in registers, only rows lie in local memory; an odd ITEMS spreads its places over the banks.
#if !defined(PAYLOAD) || !defined(PAYLOAD_IS_WIDE) || !defined(ITEMS) || !defined(SHORT_MAX) || !defined(TILE) || !defined(FROM_END)
#error "see src/esc/sorted_expansion.rs"
#endif
#define CHUNK (GROUP_SIZE * ITEMS)
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#ifdef ELEMENT
#define OF ELEMENT
#define MAKE(a_entry, b_entry) (LOAD(a_of, a_entry) * LOAD(b_of, b_entry))
#else
#define OF uint
#if A_TRANSPOSED
#define A_SOURCE(entry) a_of[entry]
#else
#define A_SOURCE(entry) (entry)
#endif
#if B_TRANSPOSED
#define B_SOURCE(entry) b_of[entry]
#else
#define B_SOURCE(entry) (entry)
#endif
#define MAKE(a_entry, b_entry) ((uint2)(A_SOURCE(a_entry), B_SOURCE(b_entry)))
#endif

// Where the ascending numbers[begin..end) stop being below `one`, and where below `other`: half of the work-group looks for each, so
// that 2^32 numbers take five rounds for 256 items and not 32 loads one after another.
#define GROUP_SEARCH(name, WORD)                                                                                      \
    uint2 name(global const WORD* numbers, uint begin, uint end, WORD one, WORD other, local uint* edge)              \
    {                                                                                                                 \
        const uint half_group = GROUP_SIZE / 2, item = get_local_id(0) % half_group, side = get_local_id(0) / half_group; \
        const WORD number = side ? other : one;                                                                       \
        uint2 low = (uint2)(begin, begin), high = (uint2)(end, end);                                                  \
        while (low.x < high.x || low.y < high.y) {                                                                    \
            const uint2 step = (high - low) / half_group + 1;                                                         \
            const uint own_step = side ? step.y : step.x, to = side ? high.y : high.x;                                \
            const ulong at = (side ? low.y : low.x) + (ulong)item * own_step;                                         \
            const bool below = at < to && numbers[at] < number;                                                       \
            const bool next_below = at + own_step < to && numbers[at + own_step] < number;                            \
            barrier(CLK_LOCAL_MEM_FENCE); /* the reads of the round before */                                         \
            if (get_local_id(0) < 2)                                                                                  \
                edge[get_local_id(0)] = 0;                                                                            \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                             \
            if (below && !next_below)                                                                                 \
                edge[side] = item + 1; /* one item of each half at most */                                            \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                             \
            const uint2 belows = (uint2)(edge[0], edge[1]);                                                           \
            high.x = belows.x == 0 ? low.x : (uint)min((ulong)low.x + (ulong)belows.x * step.x, (ulong)high.x);       \
            high.y = belows.y == 0 ? low.y : (uint)min((ulong)low.y + (ulong)belows.y * step.y, (ulong)high.y);       \
            low.x = belows.x == 0 ? low.x : low.x + (belows.x - 1) * step.x + 1;                                      \
            low.y = belows.y == 0 ? low.y : low.y + (belows.y - 1) * step.y + 1;                                      \
        }                                                                                                             \
        return low;                                                                                                   \
    }
GROUP_SEARCH(search_positions, uint)
GROUP_SEARCH(search_products, ulong)

// What is known behind some positions: how many stretches begin there (bits 0 to 15), at which of them, counted from 1, the last segment
// begins (16 to 31), which entry of B, counted from 1, the last stretch is of (32 to 63).
ulong behind(ulong before, ulong own)
{
    const ulong stretches = (before & 0xffff) + (own & 0xffff);
    const ulong opening = (own & 0xffff0000) ? (own & 0xffff0000) + ((before & 0xffff) << 16) : before & 0xffff0000;
    return stretches | opening | ((own & 0xffff) ? own >> 32 : before >> 32) << 32;
}
GROUP_SCAN(behind_all_before, ulong, behind)

KERNEL sorted_expansion(global const uint* a_col_ptr, global const uint* a_row_idx, global const OF* a_of,
                        global const uint* b_col_ptr, global const uint* b_row_idx, global const OF* b_of,
                        global const ulong* b_prods, global const uint* segment_ptr, global const uint* chunk_ptr,
                        global uint* row_between, global PAYLOAD* payload_between, global uint* row, global PAYLOAD* payload,
                        global uint* tile_segment, ulong first_product, uint products, uint first_col, uint cols,
                        uint window, uint windows)
{
    local uint key[CHUNK], from_a[CHUNK];
    local ushort stretch[CHUNK + 1], segment_end[CHUNK];
    local ulong shared[GROUP_SIZE];
    local uint edge[2], most;
    const uint item = get_local_id(0), mine = item * ITEMS;
    const bool chunked = get_group_id(0) >= windows;

    // Segments first to end (not included), their products base to base + count of the band, those of entries from_entry to to_entry of B.
    uint first, end, base, count, from_entry, to_entry, passes = 0;
    if (!chunked) {
        const uint position = get_group_id(0) * window;
        const uint2 bounds = search_positions(segment_ptr, 0, cols, position, min(position + window, products), edge);
        first = bounds.x;
        end = bounds.y;
        if (end > first && segment_ptr[end] - segment_ptr[end - 1] > SHORT_MAX)
            --end; // a long one: it is the last that begins here
        base = segment_ptr[first];
        count = segment_ptr[end] - base;
        from_entry = b_col_ptr[first_col + first];
        to_entry = b_col_ptr[first_col + end];
    } else {
        const uint chunk = get_group_id(0) - windows;
        first = search_positions(chunk_ptr, 0, cols, chunk + 1, chunk + 1, edge).x - 1;
        end = first + 1;
        base = segment_ptr[first] + (chunk - chunk_ptr[first]) * CHUNK;
        count = min((uint)CHUNK, segment_ptr[end] - base);
        passes = 32 - clz(chunk_ptr[end] - chunk_ptr[first] - 1);
        const ulong product = first_product + base;
        const uint2 bounds = search_products(b_prods, b_col_ptr[first_col + first], b_col_ptr[first_col + end],
                                             product + 1, product + count, edge);
        from_entry = bounds.x - 1; // the last that has no products behind this one: it has it
        to_entry = bounds.y;
    }

    // Each entry with products marks where its stretch begins, and whether its segment does.
    if (item == 0)
        most = 0;
    for (uint i = item; i < count; i += GROUP_SIZE)
        key[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong origin = first_product + base;
    for (uint entry = from_entry + item; entry < to_entry; entry += GROUP_SIZE) {
        const ulong start = max(b_prods[entry], origin), stop = min(b_prods[entry + 1], origin + count);
        if (start < stop) {
            const uint at = (uint)(start - origin), k = b_row_idx[entry];
#if FROM_END
            const uint a_entry = a_col_ptr[k + 1] - (uint)(b_prods[entry + 1] - start);
#else
            const uint a_entry = a_col_ptr[k] + (uint)(start - b_prods[entry]);
#endif
            key[at] = entry - from_entry + 1;
            from_a[at] = a_entry - at;
            const uint segment = chunked ? 0 : column_between(b_col_ptr, first_col + first, first_col + end - 1, entry) - first_col;
            segment_end[at] = at == 0 || (!chunked && segment_ptr[segment] == base + at);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Each position learns its stretch and its segment.
    uint entry[ITEMS];
    bool opens[ITEMS];
    ulong own = 0, total;
    for (uint i = 0; i < ITEMS; ++i) {
        const uint at = mine + i;
        entry[i] = at < count ? key[at] : 0;
        opens[i] = entry[i] > 0 && segment_end[at];
        own = behind(own, entry[i] > 0 ? (ulong)entry[i] << 32 | (opens[i] ? 0x10001 : 1) : 0);
    }
    const ulong before = behind_all_before(own, shared, &total);
    uint stretches = before & 0xffff, opening = before >> 16 & 0xffff, last = before >> 32;
    uint place[ITEMS]; // its segment's first stretch (bits 0 to 15), how many stretches behind that is its own
    for (uint i = 0; i < ITEMS; ++i) {
        if (entry[i] > 0) {
            stretch[stretches] = mine + i;
            if (opens[i]) {
                if (stretches > 0) {
                    segment_end[opening - 1] = stretches;
                    atomic_max(&most, stretches - (opening - 1));
                }
                opening = stretches + 1;
            }
            last = entry[i];
            ++stretches;
        }
        entry[i] = from_entry + last - 1;
        place[i] = (opening - 1) | (stretches - opening) << 16;
    }
    if (item == 0 && count > 0) {
        const uint all = total & 0xffff, last_opening = (total >> 16 & 0xffff) - 1;
        stretch[all] = count;
        segment_end[last_opening] = all;
        atomic_max(&most, all - last_opening);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // The products, each at its position.
    uint my_row[ITEMS];
    PAYLOAD product[ITEMS];
    ushort at[ITEMS];
    for (uint i = 0; i < ITEMS; ++i)
        if (mine + i < count) {
            const uint a_entry = mine + i + from_a[stretch[(place[i] & 0xffff) + (place[i] >> 16)]];
            my_row[i] = a_row_idx[a_entry];
            product[i] = MAKE(a_entry, entry[i]);
            at[i] = mine + i;
            key[mine + i] = my_row[i];
        }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint round = 0; most - 1 >> round > 0 && count > 0; ++round) {
        for (uint i = 0; i < ITEMS; ++i)
            if (mine + i < count) {
                const uint opened = place[i] & 0xffff, number = place[i] >> 16 >> round;
                const uint other = opened + ((number ^ 1) << round), stop = segment_end[opened];
                if (other < stop) {
                    const uint begin = stretch[other], behind_it = stretch[min(other + (1u << round), stop)];
                    // Of equal rows those of the earlier stretch come first.
                    const uint is_behind = number & 1, bound = my_row[i] + is_behind;
                    uint low = begin, high = behind_it;
                    while (low < high) {
                        const uint middle = (low + high) / 2;
                        if (key[middle] < bound)
                            low = middle + 1;
                        else
                            high = middle;
                    }
                    at[i] += low - (is_behind ? behind_it : begin);
                }
            }
        barrier(CLK_LOCAL_MEM_FENCE); // every read above
        for (uint i = 0; i < ITEMS; ++i)
            if (mine + i < count)
                key[at[i]] = my_row[i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    global uint* row_to = (passes % 2 ? row_between : row) + base;
    global PAYLOAD* payload_to = (passes % 2 ? payload_between : payload) + base;
    for (uint i = item; i < count; i += GROUP_SIZE)
        row_to[i] = key[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < ITEMS; ++i)
        if (mine + i < count) {
#if PAYLOAD_IS_WIDE
            const uint2 halves = as_uint2(product[i]);
            key[at[i]] = halves.x;
            from_a[at[i]] = halves.y;
#else
            key[at[i]] = as_uint(product[i]);
#endif
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < count; i += GROUP_SIZE)
#if PAYLOAD_IS_WIDE
        payload_to[i] = JOIN(as_, PAYLOAD)((uint2)(key[i], from_a[i]));
#else
        payload_to[i] = JOIN(as_, PAYLOAD)(key[i]);
#endif

    for (uint tile = (base + TILE - 1) / TILE + item; tile * TILE < base + count; tile += GROUP_SIZE)
        tile_segment[tile] = chunked ? first : column_between(segment_ptr, first, end - 1, tile * TILE);
    if (item == 0 && count > 0 && base + count == products)
        tile_segment[(products + TILE - 1) / TILE] = chunked ? first : column_between(segment_ptr, first, end - 1, products - 1);
}
