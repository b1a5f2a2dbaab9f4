// search: lets a work-group search for two numbers among ascending numbers. This file comes before
// the kernels that search for two numbers.
// Hosts: src/product/esc/sorted_chunks.rs, src/product/esc/sorted_expansion.rs

// Defines name(numbers, begin, end, one, other, edge). The function returns the index of the first
// of the ascending numbers[begin..end) that is at least `one`, and of the first that is at least
// `other`. Each half of the work-group searches for one of the two numbers. With 256 items a search
// among 2^32 numbers takes five rounds instead of 32 loads one after another.
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
            GROUP_BARRIER; /* edge[] is read before it is overwritten */                                              \
            if (get_local_id(0) < 2)                                                                                  \
                edge[get_local_id(0)] = 0;                                                                            \
            GROUP_BARRIER;                                                                                            \
            if (below && !next_below)                                                                                 \
                edge[side] = item + 1; /* at most one item of each half */                                            \
            GROUP_BARRIER;                                                                                            \
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
