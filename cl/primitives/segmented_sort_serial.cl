// segmented_sort_serial: the kernels of segmented_sort.cl for CPUs, where a work-group is one work-item and memory is cached: the same
// names, arguments and results.                                                       host: src/primitives/segmented_sort.rs
//
// Natural merge sort: what a column of A contributes is already sorted, so the passes follow the number of columns, not of products.
#if !defined(PAYLOAD) || !defined(SHORT_MAX) || !defined(CHUNK)
#error "PAYLOAD, SHORT_MAX, CHUNK: see src/primitives/segmented_sort.rs"
#endif

uint run_end(global const uint* row, uint begin, uint end)
{
    for (++begin; begin < end && row[begin - 1] <= row[begin]; ++begin)
        ;
    return min(begin, end);
}

void merge(global const uint* row, global const PAYLOAD* payload, uint left, uint left_end, uint right, uint right_end,
           global uint* row_to, global PAYLOAD* payload_to, uint to, uint count)
{
    for (const uint stop = to + count; to < stop; ++to) {
        const bool take_left = left < left_end && (right >= right_end || row[left] <= row[right]);
        const uint at = take_left ? left++ : right++;
        row_to[to] = row[at];
        payload_to[to] = payload[at];
    }
}

void copy(global const uint* row, global const PAYLOAD* payload, global uint* row_to, global PAYLOAD* payload_to, uint begin,
          uint end)
{
    for (uint i = begin; i < end; ++i) {
        row_to[i] = row[i];
        payload_to[i] = payload[i];
    }
}

// Below this, moving elements one by one is cheaper than looking for runs.
#define INSERTION_MAX 24

// Sorts begin..end of the first pair of arrays into the second (or, where `stay`, into the first).
void sort_range(global uint* row, global PAYLOAD* payload, global uint* row_to, global PAYLOAD* payload_to, uint begin, uint end,
                bool stay)
{
    if (!stay && end - begin <= INSERTION_MAX) {
        for (uint i = begin; i < end; ++i) {
            const uint key = row[i];
            uint to = i;
            for (; to > begin && row_to[to - 1] > key; --to) {
                row_to[to] = row_to[to - 1];
                payload_to[to] = payload_to[to - 1];
            }
            row_to[to] = key;
            payload_to[to] = payload[i];
        }
        return;
    }
    uint runs = 0;
    for (uint i = begin; i < end; i = run_end(row, i, end))
        ++runs;
    const uint passes = runs > 1 ? 32 - clz(runs - 1) : 0;
    bool here = true; // the data are in the first pair
    if ((passes % 2 == 0) != stay) {
        copy(row, payload, row_to, payload_to, begin, end);
        here = false;
    }
    for (uint pass = 0; pass < passes; ++pass, here = !here) {
        global const uint* r = here ? row : row_to;
        global const PAYLOAD* p = here ? payload : payload_to;
        for (uint left = begin; left < end;) {
            const uint right = run_end(r, left, end);
            const uint stop = right < end ? run_end(r, right, end) : end;
            merge(r, p, left, right, right, stop, here ? row_to : row, here ? payload_to : payload, left, stop - left);
            left = stop;
        }
    }
}

uint segment_from(global const uint* segment_ptr, uint segments, uint position)
{
    uint first = 0, end = segments;
    while (first < end) {
        const uint middle = first + (end - first) / 2;
        if (segment_ptr[middle] < position)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

// row_in and payload_in are scratch of the passes.
KERNEL sort_tiles(global const uint* segment_ptr, global uint* row_in, global PAYLOAD* payload_in, global uint* row_out,
                  global PAYLOAD* payload_out, uint segments, uint n)
{
    const uint position = get_group_id(0) * SHORT_MAX;
    const uint stop = min(position + SHORT_MAX, n);
    uint segment = segment_from(segment_ptr, segments, position);
    while (segment < segments && segment_ptr[segment] < stop) {
        const uint begin = segment_ptr[segment];
        // Behind this one and the empty ones that follow it: a search, not a walk.
        uint next = segment + 1;
        if (segment_ptr[next] == begin)
            next = segment_from(segment_ptr, segments, begin + 1) - 1;
        else {
            if (segment_ptr[next] - begin <= SHORT_MAX)
                sort_range(row_in, payload_in, row_out, payload_out, begin, segment_ptr[next], false);
        }
        segment = next > segment ? next : segment + 1;
    }
}

uint segment_of_chunk(global const uint* chunk_ptr, uint segments, uint chunk, uint* passes)
{
    const uint segment = segment_from(chunk_ptr, segments + 1, chunk + 1) - 1;
    *passes = 32 - clz(chunk_ptr[segment + 1] - chunk_ptr[segment] - 1);
    return segment;
}

KERNEL sort_chunks(global const uint* segment_ptr, global const uint* chunk_ptr, global uint* row_in,
                   global PAYLOAD* payload_in, global uint* row_out, global PAYLOAD* payload_out, uint segments)
{
    uint passes;
    const uint segment = segment_of_chunk(chunk_ptr, segments, get_group_id(0), &passes);
    const uint begin = segment_ptr[segment] + (get_group_id(0) - chunk_ptr[segment]) * CHUNK;
    const uint end = min(begin + CHUNK, segment_ptr[segment + 1]);
    sort_range(row_in, payload_in, row_out, payload_out, begin, end, passes % 2);
}

KERNEL merge_chunks(global const uint* segment_ptr, global const uint* chunk_ptr, global uint* row_in,
                    global PAYLOAD* payload_in, global uint* row_out, global PAYLOAD* payload_out, uint segments, uint pass)
{
    uint passes;
    const uint segment = segment_of_chunk(chunk_ptr, segments, get_group_id(0), &passes);
    if (pass >= passes)
        return;
    const uint start = segment_ptr[segment], length = segment_ptr[segment + 1] - start;
    const bool back = (passes - pass) % 2 == 0;
    global const uint* row = (back ? row_out : row_in) + start;

    const uint position = (get_group_id(0) - chunk_ptr[segment]) * CHUNK;
    const ulong width = (ulong)CHUNK << pass;
    const uint left = (uint)(position / (2 * width) * (2 * width));
    const uint right = (uint)min(left + width, (ulong)length);
    const uint end = (uint)min(left + 2 * width, (ulong)length);
    const uint count = min((uint)CHUNK, end - position);

    // How many of the outputs before this chunk's come from the left stretch.
    const uint before = position - left;
    uint low = before > end - right ? before - (end - right) : 0, high = min(before, right - left);
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if (row[left + middle] <= row[right + before - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    merge(row, (back ? payload_out : payload_in) + start, left + low, right, right + before - low, end,
          (back ? row_in : row_out) + start, (back ? payload_in : payload_out) + start, position, count);
}
