// sorted_expansion: the expansion and the first half of the sort. Products are sorted before they
// are written.
// Host: src/product/esc/sorted_expansion.rs
//
//   One work-group per `window` positions sorts the short segments that begin there, of at most
//   SHORT_MAX products each and ROOM together. With CHUNKS, one work-group per ROOM products of
//   each long segment sorts these products, and the sorted chunks are merged later.
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]
//   in   a_operand[a_nnz]  b_operand[b_nnz]    see cl/product/terms/payload.cl
//   in   b_prods[b_nnz + 1]  segment_ptr[cols + 1]  chunk_ptr[cols + 1]
//   out  row[products]  payload[products]      sorted by row inside each short segment or chunk,
//                                              stably
//   out  row_between[products]  payload_between[products]     written in place of row and payload
//                                              for the chunks of segments that take an odd number
//                                              of merge passes
//   out  tile_segment[tiles + 1]               segment of the first product of each tile of TILE
//                                              products, and of the last product of all
//
// A work-item sorts ITEMS neighbouring products in registers. Then a work-group merges sorted
// stretches of doubling width. Only the segment that lies across the border of two stretches must
// be merged, and only if it is not sorted there already. The products of an entry of B have
// ascending rows, so a long column of A is merged as a whole. The key of a product is one word,
// made of its row and its position in the expansion. Positions differ, so no two keys are equal,
// and the order is stable.
#if !defined(PAYLOAD) || !defined(PAYLOAD_IS_WIDE) || !defined(PACKED) || !defined(ITEMS) || !defined(SHORT_MAX) || !defined(CHUNKS) || !defined(TILE) || !defined(FROM_END)
#error "see src/product/esc/sorted_expansion.rs"
#endif
#define ROOM (GROUP_SIZE * ITEMS)

// A key consists of the row and 16 bits of position. If rows are below 2^(32 - POSITION_BITS) - 1,
// row and position fit 32 bits (PACKED).
#if PACKED
#define KEY uint
#define PACK(row, position) ((row) << POSITION_BITS | (position))
#define ROW_OF(word) ((word) >> POSITION_BITS)
#define POSITION_OF(word) ((word) & ((1u << POSITION_BITS) - 1))
#define KEY_AT(i) key[i]
#define SET_KEY(i, word) (key[i] = (word))
#define KEYS local uint* key
#define THE_KEYS key
#else
#define KEY ulong
#define PACK(row, position) ((ulong)(row) << 16 | (position))
#define ROW_OF(word) ((uint)((word) >> 16))
#define POSITION_OF(word) ((uint)(word) & 0xffff)
#define KEY_AT(i) ((ulong)key[i] << 16 | origin[i])
#define SET_KEY(i, word) (key[i] = ROW_OF(word), origin[i] = POSITION_OF(word))
#define KEYS local uint* key, local ushort* origin
#define THE_KEYS key, origin
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

// Combines the counts of two stretches of positions. Bits 0 to 15 count the segments that begin in
// a stretch. Bits 16 to 31 are the position, counted from 1, at which the products of the last
// entry begin.
uint behind(uint before, uint own)
{
    return ((before + own) & 0xffff) | max(before & 0xffff0000, own & 0xffff0000);
}
GROUP_SCAN(behind_all_before, uint, behind)

// Returns how many of the first `count` merged words come from begin..border. The other words come
// from border..end.
uint merge_path(KEYS, uint begin, uint border, uint end, uint count)
{
    const uint lefts = border - begin, rights = end - border;
    uint low = count > rights ? count - rights : 0, high = min(count, lefts);
    while (low < high) {
        const uint middle = (low + high) / 2;
        if (KEY_AT(begin + middle) < KEY_AT(border + count - 1 - middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

KERNEL sorted_expansion(global const uint* a_col_ptr, global const uint* a_row_idx, global const OPERAND* a_operand,
                        global const uint* b_col_ptr, global const uint* b_row_idx, global const OPERAND* b_operand,
                        global const ulong* b_prods, global const uint* segment_ptr, global const uint* chunk_ptr,
                        global uint* row_between, global PAYLOAD* payload_between, global uint* row, global PAYLOAD* payload,
                        global uint* tile_segment, ulong first_product, uint products, uint first_col, uint cols,
                        uint window)
{
    // one[] and other[] hold the two words of a payload; before that, the numbers from which it is
    // made.
    local uint key[ROOM], one[ROOM], other[ROOM];
#if !PACKED
    local ushort origin[ROOM];
#endif
    // opening[] is the position at which each segment begins; segment_of[] is the segment of each
    // item's first position.
    local ushort opening[CHUNKS ? 2 : ROOM + 1], segment_of[GROUP_SIZE];
    local uint shared[GROUP_SIZE], edge[2];
    const uint item = get_local_id(0), mine = item * ITEMS;

    // The work-group's segments are first..end. The products of these segments are base to base +
    // count of the band, and belong to the entries from_entry..to_entry of B.
#if CHUNKS
    const uint chunk = get_group_id(0), first = search_positions(chunk_ptr, 0, cols, chunk + 1, chunk + 1, edge).x - 1, end = first + 1;
    const uint base = segment_ptr[first] + (chunk - chunk_ptr[first]) * ROOM, count = min((uint)ROOM, segment_ptr[end] - base);
    const uint passes = 32 - clz(chunk_ptr[end] - chunk_ptr[first] - 1);
    const ulong start = first_product + base;
    const uint2 bounds = search_products(b_prods, b_col_ptr[first_col + first], b_col_ptr[first_col + end], start + 1,
                                         start + count, edge);
    // The last entry whose products begin at or before `start` has that product.
    const uint from_entry = bounds.x - 1, to_entry = bounds.y;
#else
    const uint position = get_group_id(0) * window, passes = 0;
    const uint2 bounds = search_positions(segment_ptr, 0, cols, position, min(position + window, products), edge);
    const uint first = bounds.x;
    // The last segment that begins in the window may be a long segment.
    const bool long_last = bounds.y > first && segment_ptr[bounds.y] - segment_ptr[bounds.y - 1] > SHORT_MAX;
    const uint end = long_last ? bounds.y - 1 : bounds.y;
    const uint base = segment_ptr[first], count = segment_ptr[end] - base;
    const uint from_entry = b_col_ptr[first_col + first], to_entry = b_col_ptr[first_col + end];
    const ulong start = first_product + base;
#endif

    // For each entry of B with products, an item writes to the position at which they begin: the
    // number of the entry, the first entry of A by which it is multiplied, and whether it is the
    // first entry of its segment.
    for (uint i = item; i < count; i += GROUP_SIZE)
        key[i] = 0;
    GROUP_BARRIER;
    for (uint entry = from_entry + item; entry < to_entry; entry += GROUP_SIZE) {
        const ulong begin = max(b_prods[entry], start), stop = min(b_prods[entry + 1], start + count);
        if (begin < stop) {
            const uint at = (uint)(begin - start), k = b_row_idx[entry];
#if FROM_END
            const uint a_entry = a_col_ptr[k + 1] - (uint)(b_prods[entry + 1] - begin);
#else
            const uint a_entry = a_col_ptr[k] + (uint)(begin - b_prods[entry]);
#endif
#if CHUNKS
            const bool opens = at == 0;
#else
            const bool opens = segment_ptr[column_between(b_col_ptr, first_col + first, first_col + end - 1, entry) - first_col] == base + at;
#endif
            key[at] = opens ? 2 : 1;
            one[at] = a_entry - at;
            other[at] = entry;
        }
    }
    GROUP_BARRIER;

    // Each item finds the entry of B and the segment of each of its positions.
    uint marks[ITEMS], own = 0, all;
    for (uint i = 0; i < ITEMS; ++i) {
        marks[i] = mine + i < count ? key[mine + i] : 0;
        if (marks[i] > 0)
            own = (own & 0xffff) + (marks[i] - 1) + ((mine + i + 1) << 16);
    }
    const uint before = behind_all_before(own, shared, &all);
    uint segments = before & 0xffff, head = (before >> 16) - 1;
    uint a_entry[ITEMS], b_entry[ITEMS];
    for (uint i = 0; i < ITEMS; ++i) {
        if (marks[i] > 0)
            head = mine + i;
        if (marks[i] == 2)
            opening[segments++] = mine + i;
        if (i == 0)
            segment_of[item] = segments - 1; // this is not read for positions after the last one
        if (mine + i < count) {
            a_entry[i] = mine + i + one[head];
            b_entry[i] = other[head];
        }
    }
    if (item == 0)
        opening[all & 0xffff] = count;
    KEY word[ITEMS];
    for (uint i = 0; i < ITEMS; ++i)
        if (mine + i < count)
            word[i] = PACK(a_row_idx[a_entry[i]], mine + i);
    GROUP_BARRIER; // key[], one[] and other[] are read before they are overwritten
    for (uint i = 0; i < ITEMS; ++i)
        if (mine + i < count) {
#if PAYLOAD_IS_WIDE
            const uint2 halves = as_uint2(MAKE(a_entry[i], b_entry[i]));
            one[mine + i] = halves.x;
            other[mine + i] = halves.y;
#else
            one[mine + i] = as_uint(MAKE(a_entry[i], b_entry[i]));
#endif
        }

    // Each item sorts its products within segments by odd-even transposition.
    for (uint round = 0; round < ITEMS; ++round)
        for (uint i = round & 1; i + 1 < ITEMS; i += 2)
            if (mine + i + 1 < count && marks[i + 1] != 2 && word[i] > word[i + 1]) {
                const KEY swapped = word[i];
                word[i] = word[i + 1];
                word[i + 1] = swapped;
            }
    for (uint i = 0; i < ITEMS; ++i)
        if (mine + i < count)
            SET_KEY(mine + i, word[i]);

    for (uint width = ITEMS; width < count; width *= 2) {
        GROUP_BARRIER; // key[] is written before other items read it
        const uint border = mine / (2 * width) * (2 * width) + width;
        uint begin = 0, stop = 0;
        if (border < count) {
            const uint segment = segment_of[border / ITEMS];
            const uint low = max((uint)opening[segment], border - width), high = min((uint)opening[segment + 1], border + width);
            begin = max(mine, low);
            stop = min(mine + ITEMS, high);
            if (low < border && begin < stop && KEY_AT(border - 1) > KEY_AT(border)) {
                uint left = low + merge_path(THE_KEYS, low, border, high, begin - low);
                uint right = border + begin - left;
                KEY next_left = left < border ? KEY_AT(left) : ~(KEY)0, next_right = right < high ? KEY_AT(right) : ~(KEY)0;
                for (uint i = 0; i < ITEMS; ++i)
                    if (begin + i < stop) {
                        const bool is_left = next_left < next_right;
                        word[i] = is_left ? next_left : next_right;
                        if (is_left) {
                            ++left;
                            next_left = left < border ? KEY_AT(left) : ~(KEY)0;
                        } else {
                            ++right;
                            next_right = right < high ? KEY_AT(right) : ~(KEY)0;
                        }
                    }
            } else
                stop = begin;
        }
        GROUP_BARRIER; // key[] is read before it is overwritten
        for (uint i = 0; i < ITEMS; ++i)
            if (begin + i < stop)
                SET_KEY(begin + i, word[i]);
    }
    GROUP_BARRIER;

    global uint* row_to = (passes % 2 ? row_between : row) + base;
    global PAYLOAD* payload_to = (passes % 2 ? payload_between : payload) + base;
    for (uint i = item; i < count; i += GROUP_SIZE) {
        const KEY sorted = KEY_AT(i);
        const uint from = POSITION_OF(sorted);
        row_to[i] = ROW_OF(sorted);
#if PAYLOAD_IS_WIDE
        payload_to[i] = JOIN(as_, PAYLOAD)((uint2)(one[from], other[from]));
#else
        payload_to[i] = JOIN(as_, PAYLOAD)(one[from]);
#endif
    }

    for (uint tile = (base + TILE - 1) / TILE + item; tile * TILE < base + count; tile += GROUP_SIZE)
        tile_segment[tile] = column_between(segment_ptr, first, end - 1, tile * TILE);
    if (item == 0 && count > 0 && base + count == products)
        tile_segment[(products + TILE - 1) / TILE] = column_between(segment_ptr, first, end - 1, products - 1);
}
