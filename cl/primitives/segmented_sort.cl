// segmented_sort: sorts the rows of each segment, stably, together with their payloads.
// Host: src/primitives/segmented_sort.rs
//
//   sort_tiles    one work-group per SHORT_MAX positions: sorts the short segments that begin
//                 there, in local memory
//   sort_chunks   one work-group per chunk of a long segment: sorts it
//   merge_chunks  one work-group per chunk of output, in one merge pass over the long segments
//
//   in      segment_ptr[segments + 1]
//   in      chunk_ptr[segments + 1]       chunks of long segments before each segment
//   in out  row_in[n]   payload_in[n]     unsorted
//   in out  row_out[n]  payload_out[n]    sorted
//
// Long segments are merged back and forth between the two pairs of arrays. Each segment starts in
// one of the pairs, so that its last pass writes to row_out. A short segment has at most SHORT_MAX
// elements. So the short segments that begin within SHORT_MAX positions fit CHUNK = 2 * SHORT_MAX.
// A long segment that begins there is the last one that begins there. A work-item has ITEMS
// consecutive positions and sorts them in registers. Then the work-group merges sorted stretches of
// doubling width. Only a segment that lies across the border of two stretches needs merging. An odd
// ITEMS spreads the items' positions over the banks of local memory.
#if !defined(PAYLOAD) || !defined(ITEMS) || !defined(SHORT_MAX) || !defined(CHUNK)
#error "PAYLOAD, ITEMS, SHORT_MAX, CHUNK: see src/primitives/segmented_sort.rs"
#endif

// Returns how many of the first `count` elements of the merged sequence come from the left
// sequence. If keys are equal, the elements of the left sequence come first.
uint local_path(local const uint* left, uint lefts, local const uint* right, uint rights, uint count)
{
    uint low = count > rights ? count - rights : 0, high = min(count, lefts);
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if (left[middle] <= right[count - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Does the same as local_path, in global memory and for two counts. Each half of the work-group
// searches for one count. All items of a half read at once, so few rounds of loads are needed.
uint2 group_paths(global const uint* left, uint lefts, global const uint* right, uint rights, uint2 count, local uint* edge)
{
    const uint half_group = GROUP_SIZE / 2, item = get_local_id(0) % half_group, side = get_local_id(0) / half_group;
    uint2 low = count - min(count, (uint2)(rights, rights)), high = min(count, (uint2)(lefts, lefts));
    while (low.x < high.x || low.y < high.y) {
        const uint2 step = (high - low) / half_group + 1;
        const uint own_step = side ? step.y : step.x, to = side ? high.y : high.x, own_count = side ? count.y : count.x;
        // The sum fits 32 bits, because positions are below 2^31.
        const uint at = (side ? low.y : low.x) + item * own_step, next = at + own_step;
        const bool before = at < to && left[at] <= right[own_count - 1 - at];
        const bool next_before = next < to && left[next] <= right[own_count - 1 - next];
        GROUP_BARRIER; // edge[] is read before it is overwritten
        if (get_local_id(0) < 2)
            edge[get_local_id(0)] = 0;
        GROUP_BARRIER;
        if (before && !next_before)
            edge[side] = item + 1; // at most one item of each half
        GROUP_BARRIER;
        const uint2 befores = (uint2)(edge[0], edge[1]);
        high.x = befores.x == 0 ? low.x : min(low.x + befores.x * step.x, high.x);
        high.y = befores.y == 0 ? low.y : min(low.y + befores.y * step.y, high.y);
        low.x = befores.x == 0 ? low.x : low.x + (befores.x - 1) * step.x + 1;
        low.y = befores.y == 0 ? low.y : low.y + (befores.y - 1) * step.y + 1;
    }
    return low;
}

// Merges the item's part of key[first..border) and key[border..end). The part has the positions
// begin..stop of the result, counted from first.
#define MERGE_PART(begin, stop, first, border, end)                                                                   \
    uint l = (first) + local_path(key + (first), (border) - (first), key + (border), (end) - (border), (begin) - (first)); \
    uint r = (border) + (begin) - (l);                                                                                \
    for (uint i = 0; i < ITEMS; ++i)                                                                                  \
        if ((begin) + i < (stop)) {                                                                                   \
            const bool left = l < (border) && (r >= (end) || key[l] <= key[r]);                                       \
            const uint at = left ? l++ : r++;                                                                         \
            my_key[i] = key[at];                                                                                      \
            my_from[i] = from[at];                                                                                    \
        }

// Puts the item's elements at the positions begin..end.
#define PUT_PART(begin, end)                                                                                          \
    for (uint i = 0; i < ITEMS; ++i)                                                                                  \
        if ((begin) + i < (end)) {                                                                                    \
            key[(begin) + i] = my_key[i];                                                                             \
            from[(begin) + i] = my_from[i];                                                                           \
        }

// Sorts key[0..count), which are the positions base..base + count. The positions contain segments
// first..=last, or a part of one segment.
void sort_tile(global const uint* segment_ptr, uint first, uint last, uint base, uint count, local uint* key,
               local ushort* from)
{
    const uint mine = get_local_id(0) * ITEMS;
    uint my_key[ITEMS];
    ushort my_from[ITEMS];
    bool border[ITEMS]; // whether a segment ends after this position

    uint end = 0;
    for (uint i = 0; i < ITEMS; ++i) {
        const uint at = mine + i;
        if (at < count && at >= end) {
            const uint segment = column_between(segment_ptr, first, last, base + at);
            end = min(segment_ptr[segment + 1] - base, count);
        }
        border[i] = at >= count || at + 1 == end;
        my_key[i] = at < count ? key[at] : 0;
        my_from[i] = at;
    }
    // Odd-even transposition is stable, since it swaps only neighbours, and only if the first is
    // greater.
    for (uint round = 0; round < ITEMS; ++round)
        for (uint i = round & 1; i + 1 < ITEMS; i += 2)
            if (!border[i] && my_key[i] > my_key[i + 1]) {
                const uint k = my_key[i];
                const ushort f = my_from[i];
                my_key[i] = my_key[i + 1];
                my_from[i] = my_from[i + 1];
                my_key[i + 1] = k;
                my_from[i + 1] = f;
            }
    PUT_PART(mine, count)

    for (uint width = ITEMS; width < count; width *= 2) {
        GROUP_BARRIER; // key[] and from[] are written before other items read them
        const uint middle = mine / (2 * width) * (2 * width) + width;
        uint begin = 0, stop = 0;
        if (middle < count) {
            const uint segment = column_between(segment_ptr, first, last, base + middle);
            const uint start = segment_ptr[segment];
            const uint low = start > base + middle - width ? start - base : middle - width;
            const uint high = min(min(segment_ptr[segment + 1] - base, count), middle + width);
            begin = max(mine, low);
            stop = min(mine + ITEMS, high);
            if (low < middle && begin < stop) {
                MERGE_PART(begin, stop, low, middle, high)
            } else
                stop = begin;
        }
        GROUP_BARRIER; // key[] and from[] are read before they are overwritten
        PUT_PART(begin, stop)
    }
    GROUP_BARRIER;
}

KERNEL sort_tiles(global const uint* segment_ptr, global const uint* row_in, global const PAYLOAD* payload_in,
                  global uint* row_out, global PAYLOAD* payload_out, uint segments, uint n)
{
    local uint key[CHUNK];
    local ushort from[CHUNK];
    local uint bounds[2];
    const uint item = get_local_id(0);
    const uint position = get_group_id(0) * SHORT_MAX;
    if (item == 0) {
        const uint first = lower_bound(segment_ptr, 0, segments, position);
        uint end = lower_bound(segment_ptr, 0, segments, min(position + SHORT_MAX, n));
        if (end > first && segment_ptr[end] - segment_ptr[end - 1] > SHORT_MAX)
            --end; // a long segment is the last that begins here
        bounds[0] = first;
        bounds[1] = end;
    }
    GROUP_BARRIER;
    const uint first = bounds[0], end = bounds[1];
    const uint base = segment_ptr[first], count = segment_ptr[end] - base;

    for (uint i = item; i < count; i += GROUP_SIZE)
        key[i] = row_in[base + i];
    GROUP_BARRIER;
    sort_tile(segment_ptr, first, max(end, first + 1) - 1, base, count, key, from);
    for (uint i = item; i < count; i += GROUP_SIZE) {
        row_out[base + i] = key[i];
        payload_out[base + i] = payload_in[base + from[i]];
    }
}

// Returns the segment of a chunk, and the number of merge passes that its segment needs: the base-2
// logarithm of the number of chunks, rounded up.
uint segment_of_chunk(global const uint* chunk_ptr, uint segments, uint chunk, uint* passes)
{
    const uint segment = column_between(chunk_ptr, 0, segments - 1, chunk);
    *passes = 32 - clz(chunk_ptr[segment + 1] - chunk_ptr[segment] - 1);
    return segment;
}

KERNEL sort_chunks(global const uint* segment_ptr, global const uint* chunk_ptr, global uint* row_in,
                   global PAYLOAD* payload_in, global uint* row_out, global PAYLOAD* payload_out, uint segments)
{
    local uint key[CHUNK];
    local ushort from[CHUNK];
    const uint item = get_local_id(0);
    uint passes;
    const uint segment = segment_of_chunk(chunk_ptr, segments, get_group_id(0), &passes);
    const uint base = segment_ptr[segment] + (get_group_id(0) - chunk_ptr[segment]) * CHUNK;
    const uint count = min((uint)CHUNK, segment_ptr[segment + 1] - base);

    for (uint i = item; i < count; i += GROUP_SIZE)
        key[i] = row_in[base + i];
    GROUP_BARRIER;
    sort_tile(segment_ptr, segment, segment, base, count, key, from);
    // If the number of merge passes is odd, the passes read the arrays that this kernel reads. So
    // the kernel reads all elements before it writes any.
    PAYLOAD payload[ITEMS];
    for (uint i = 0; i < ITEMS; ++i)
        if (item + i * GROUP_SIZE < count)
            payload[i] = payload_in[base + from[item + i * GROUP_SIZE]];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    global uint* row_to = passes % 2 ? row_in : row_out;
    global PAYLOAD* payload_to = passes % 2 ? payload_in : payload_out;
    for (uint i = 0; i < ITEMS; ++i)
        if (item + i * GROUP_SIZE < count) {
            row_to[base + item + i * GROUP_SIZE] = key[item + i * GROUP_SIZE];
            payload_to[base + item + i * GROUP_SIZE] = payload[i];
        }
}

KERNEL merge_chunks(global const uint* segment_ptr, global const uint* chunk_ptr, global uint* row_in,
                    global PAYLOAD* payload_in, global uint* row_out, global PAYLOAD* payload_out, uint segments, uint pass)
{
    local uint key[CHUNK];
    local ushort from[CHUNK];
    local uint edge[2];
    const uint item = get_local_id(0);
    uint passes;
    const uint segment = segment_of_chunk(chunk_ptr, segments, get_group_id(0), &passes);
    const uint start = segment_ptr[segment], length = segment_ptr[segment + 1] - start;
    const bool back = (passes - pass) % 2 == 0; // the last pass writes to row_out
    global uint* row_from = back ? row_out : row_in;
    global uint* row_to = back ? row_in : row_out;
    global PAYLOAD* payload_from = back ? payload_out : payload_in;
    global PAYLOAD* payload_to = back ? payload_in : payload_out;

    // This chunk of output is merged from two sorted stretches. The stretches are counted from the
    // segment's start.
    const uint position = (get_group_id(0) - chunk_ptr[segment]) * CHUNK;
    const ulong width = (ulong)CHUNK << pass;
    const uint left = (uint)(position / (2 * width) * (2 * width));
    const uint right = (uint)min(left + width, (ulong)length);
    const uint end = (uint)min(left + 2 * width, (ulong)length);
    const uint count = pass < passes ? min((uint)CHUNK, end - position) : 0;

    const uint2 path = group_paths(row_from + start + left, count > 0 ? right - left : 0, row_from + start + right,
                                   count > 0 ? end - right : 0, (uint2)(position - left, position - left + count), edge);
    const uint lefts = path.y - path.x;
    const uint first_left = start + left + path.x, first_right = start + right + (position - left) - path.x;

    for (uint i = item; i < count; i += GROUP_SIZE) {
        key[i] = row_from[i < lefts ? first_left + i : first_right + i - lefts];
        from[i] = i;
    }
    GROUP_BARRIER;
    const uint mine = min(item * ITEMS, count), stop = min(mine + ITEMS, count);
    uint my_key[ITEMS];
    ushort my_from[ITEMS];
    if (mine < stop) {
        MERGE_PART(mine, stop, 0u, lefts, count)
    }
    GROUP_BARRIER; // key[] and from[] are read before they are overwritten
    PUT_PART(mine, stop)
    GROUP_BARRIER;
    for (uint i = item; i < count; i += GROUP_SIZE) {
        const uint source = from[i];
        row_to[start + position + i] = key[i];
        payload_to[start + position + i] = payload_from[source < lefts ? first_left + source : first_right + source - lefts];
    }
}
