// segmented_sort_serial: the kernels of segmented_sort.cl for CPUs, with the same names, arguments
// and results. A work-group is one work-item, and memory is cached.
// Host: src/primitives/segmented_sort.rs
//
// The sort is a natural merge sort. The products of one column of A are sorted already, so the
// number of merge passes depends on the number of columns, not on the number of products. No step
// contains an unpredictable branch, which would cost more than everything else. The number of
// passes grows by one when the number of columns doubles. If there are too many columns, the
// products are distributed by the digits of their rows instead, the lowest digit first.
#if !defined(PAYLOAD) || !defined(SHORT_MAX) || !defined(CHUNK) || !defined(RUNS_MAX)
#error "PAYLOAD, SHORT_MAX, CHUNK, RUNS_MAX: see src/primitives/segmented_sort.rs"
#endif

// INSERTION_MAX is the length up to which moving elements one by one is cheaper than searching for
// runs. MERGE_COST is the cost of an element in a merge pass, DEAL_COST the cost of an element that
// is distributed, and DIGIT_COST the cost of four values of a digit. RUNS_MAX is the largest number
// of runs that are merged.

// Merges left..left_end and right..right_end, and writes the first `count` elements of the result.
void merge(global const uint* row, global const PAYLOAD* payload, uint left, uint left_end, uint right, uint right_end,
           global uint* row_to, global PAYLOAD* payload_to, uint to, uint count)
{
    const uint stop = to + count;
    while (to < stop && left < left_end && right < right_end) {
        const uint of_left = row[left], of_right = row[right];
        const bool take_left = of_left <= of_right;
        row_to[to] = take_left ? of_left : of_right;
        payload_to[to] = payload[take_left ? left : right];
        left += take_left;
        right += !take_left;
        ++to;
    }
    for (; to < stop && left < left_end; ++to, ++left) {
        row_to[to] = row[left];
        payload_to[to] = payload[left];
    }
    for (; to < stop; ++to, ++right) {
        row_to[to] = row[right];
        payload_to[to] = payload[right];
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

// Sorts stably by a digit of the row. The digit has `mask` + 1 values and begins at bit `shift`.
void deal_out(global const uint* row, global const PAYLOAD* payload, global uint* row_to, global PAYLOAD* payload_to, uint begin,
              uint end, uint shift, uint mask)
{
    uint place[1 << DIGIT_BITS];
    for (uint i = 0; i <= mask; ++i)
        place[i] = 0;
    for (uint i = begin; i < end; ++i)
        ++place[row[i] >> shift & mask];
    for (uint i = 0, next = begin; i <= mask; ++i) {
        const uint count = place[i];
        place[i] = next;
        next += count;
    }
    for (uint i = begin; i < end; ++i) {
        const uint to = place[row[i] >> shift & mask]++;
        row_to[to] = row[i];
        payload_to[to] = payload[i];
    }
}

// Sorts begin..end of the first pair of arrays into the second pair, or into the first pair if
// `stay`.
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
    uint runs = 1, differing = 0;
    for (uint i = begin + 1; i < end; ++i) {
        runs += row[i - 1] > row[i];
        differing |= row[begin] ^ row[i];
    }
    const uint bits = 32 - clz(differing), digits = (bits + DIGIT_BITS - 1) / DIGIT_BITS, width = (bits + digits - 1) / max(digits, 1u);
    const uint merges = runs > 1 ? 32 - clz(runs - 1) : 0, length = end - begin;
    const ulong deal = digits * ((ulong)DEAL_COST * length + (DIGIT_COST << width) / 4);
    const bool by_digits = runs > RUNS_MAX || (ulong)MERGE_COST * merges * length > deal;
    const uint passes = by_digits ? digits : merges;
    bool here = true; // whether the data are in the first pair
    if ((passes % 2 == 0) != stay) {
        copy(row, payload, row_to, payload_to, begin, end);
        here = false;
    }
    uint start[RUNS_MAX + 1];
    if (!by_digits) {
        global const uint* r = here ? row : row_to;
        uint run = 0;
        start[0] = begin;
        for (uint i = begin + 1; i < end; ++i) {
            run += r[i - 1] > r[i];
            start[run] = r[i - 1] > r[i] ? i : start[run];
        }
        start[runs] = end;
    }
    for (uint pass = 0; pass < passes; ++pass, here = !here) {
        global const uint* r = here ? row : row_to;
        global const PAYLOAD* p = here ? payload : payload_to;
        global uint* r_to = here ? row_to : row;
        global PAYLOAD* p_to = here ? payload_to : payload;
        if (by_digits)
            deal_out(r, p, r_to, p_to, begin, end, width * pass, (1u << width) - 1);
        else {
            for (uint run = 0; run < runs; run += 2) {
                const uint left = start[run], right = start[run + 1], stop = start[min(run + 2, runs)];
                merge(r, p, left, right, right, stop, r_to, p_to, left, stop - left);
                start[run / 2] = left;
            }
            runs = (runs + 1) / 2;
            start[runs] = end;
        }
    }
}

// The passes overwrite row_in and payload_in.
KERNEL sort_tiles(global const uint* segment_ptr, global uint* row_in, global PAYLOAD* payload_in, global uint* row_out,
                  global PAYLOAD* payload_out, uint segments, uint n)
{
    const uint position = get_group_id(0) * SHORT_MAX;
    const uint stop = min(position + SHORT_MAX, n);
    uint segment = lower_bound(segment_ptr, 0, segments, position);
    while (segment < segments && segment_ptr[segment] < stop) {
        const uint begin = segment_ptr[segment];
        // Finds the next segment that begins later, and so skips empty segments by bisection.
        uint next = segment + 1;
        if (segment_ptr[next] == begin)
            next = lower_bound(segment_ptr, 0, segments, begin + 1) - 1;
        else {
            if (segment_ptr[next] - begin <= SHORT_MAX)
                sort_range(row_in, payload_in, row_out, payload_out, begin, segment_ptr[next], false);
        }
        segment = next > segment ? next : segment + 1;
    }
}

uint segment_of_chunk(global const uint* chunk_ptr, uint segments, uint chunk, uint* passes)
{
    const uint segment = lower_bound(chunk_ptr, 0, segments + 1, chunk + 1) - 1;
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

    // Finds how many output elements before this chunk come from the left stretch.
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
