// sorted_chunks: expands long segments. The products of a segment are sorted before they are
// written.
// Host: src/product/esc/sorted_chunks.rs
//
//   cut_chunks     one work-group per chunk: finds the row at which the chunk begins. A chunk has
//                  at most CHUNK products. The chunks of a segment differ by at most one product
//   sorted_chunks  one work-group per chunk. The work-group holds at most ROOM products. Chunks of
//                  more than ROOM products, or of at most `above`, are left to another launch. If
//                  by_rows, a chunk gets its products from columns of A that cut_chunks has cut.
//                  If not by_rows, a chunk has CHUNK consecutive products of the expansion, and the
//                  sorted chunks are merged later
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]
//   in   a_operand[a_nnz]  b_operand[b_nnz]    see cl/product/terms/payload.cl
//   in   b_prods[b_nnz + 1]  segment_ptr[cols + 1]  chunk_ptr[cols + 1]
//   out  cut[chunks]                           the row of the first product of each chunk, and the
//                                              number of products of that row in the chunks before
//   out  row[products]  payload[products]  row_between[products]  payload_between[products]
//   out  tile_segment[tiles + 1]               see cl/product/esc/sorted_expansion.cl
//
// The rows of a column of A ascend, so its products that belong to a chunk are neighbours. The
// products of a row are in the order of the entries of B. A chunk may begin between two products of
// one row.
//
// The work-group of a chunk is one team (cl/team.cl). The team sorts the chunk in registers
// (cl/product/sort/keys.cl).
#if !defined(PAYLOAD) || !defined(PAYLOAD_IS_WIDE) || !defined(CHUNK) || !defined(ENTRIES) || !defined(TILE) || !defined(FROM_END)
#error "see src/product/esc/sorted_chunks.rs"
#endif
#define ROOM PRODUCTS
#define ITEMS HELD
#define WORDS ((ROOM + 31) / 32)
// Visits the products of a work-item: item + i * GROUP_SIZE.
#define EACH_OWN(i) UNROLLED for (uint i = 0; i < ITEMS; ++i) if (item + i * GROUP_SIZE < count)
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

// Returns the last segment whose chunks begin at or before a chunk.
uint segment_of_chunk(global const uint* chunk_ptr, uint cols, uint chunk, local uint* edge)
{
    return search_positions(chunk_ptr, 0, cols, chunk + 1, chunk + 1, edge).x - 1;
}

// Returns the number of products before a chunk of a segment that is cut by rows.
uint before_chunk(uint products, uint chunk, uint chunks)
{
    return products / chunks * chunk + min(chunk, products % chunks);
}

// Returns the begin and the end of the entries of A by which an entry of B is multiplied.
uint2 met_by(global const uint* a_col_ptr, global const uint* b_row_idx, global const ulong* b_prods, uint entry)
{
    const uint k = b_row_idx[entry], products = (uint)(b_prods[entry + 1] - b_prods[entry]);
#if FROM_END
    return (uint2)(a_col_ptr[k + 1] - products, a_col_ptr[k + 1]);
#else
    return (uint2)(a_col_ptr[k], a_col_ptr[k] + products);
#endif
}

KERNEL cut_chunks(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                  global const uint* b_row_idx, global const ulong* b_prods, global const uint* segment_ptr,
                  global const uint* chunk_ptr, global uint2* cut, uint first_col, uint cols, uint rows)
{
    TEAM_MEMORY;
    // For each entry of the column of B: the entries of A between which the cut lies, and the place
    // of the cut for the row that is tried.
    local uint from[ENTRIES], to[ENTRIES], place[ENTRIES], edge[2];
    const uint item = get_local_id(0), chunk = get_group_id(0);
    const uint segment = segment_of_chunk(chunk_ptr, cols, chunk, edge);
    const uint first_chunk = chunk_ptr[segment], chunks = chunk_ptr[segment + 1] - first_chunk;
    const uint before = before_chunk(segment_ptr[segment + 1] - segment_ptr[segment], chunk - first_chunk, chunks);
    const uint first = b_col_ptr[first_col + segment], entries = before > 0 ? b_col_ptr[first_col + segment + 1] - first : 0;
    uint begins = 0;
    for (uint i = item; i < entries; i += GROUP_SIZE) {
        const uint2 met = met_by(a_col_ptr, b_row_idx, b_prods, first + i);
        from[i] = met.x;
        to[i] = met.y;
        begins += met.x;
    }
    // Finds the greatest row before which there are at most `before` products. An item has the same
    // entries in all loops.
    uint low = 0, high = before > 0 ? rows : 1, below = 0;
    while (high - low > 1) {
        const uint middle = low + (high - low) / 2;
        uint count = 0 - begins, all;
        for (uint i = item; i < entries; i += GROUP_SIZE) {
            place[i] = lower_bound(a_row_idx, from[i], to[i], middle);
            count += place[i];
        }
        team_sum_before(count, &all, TEAM);
        if (all <= before) {
            low = middle;
            below = all;
            for (uint i = item; i < entries; i += GROUP_SIZE)
                from[i] = place[i];
        } else {
            high = middle;
            for (uint i = item; i < entries; i += GROUP_SIZE)
                to[i] = place[i];
        }
    }
    if (item == 0)
        cut[chunk] = (uint2)(low, before - below);
}

KERNEL sorted_chunks(global const uint* a_col_ptr, global const uint* a_row_idx, global const OPERAND* a_operand,
                     global const uint* b_col_ptr, global const uint* b_row_idx, global const OPERAND* b_operand,
                     global const ulong* b_prods, global const uint* segment_ptr, global const uint* chunk_ptr,
                     global const uint2* cut, global uint* row_between, global PAYLOAD* payload_between,
                     global uint* row, global PAYLOAD* payload, global uint* tile_segment, ulong first_product,
                     uint products, uint first_col, uint cols, uint by_rows, uint above)
{
    TEAM_MEMORY;
    // At each position at which the products of an entry of B begin, entry_at[] has the number of
    // that entry, and held[] has the first entry of A by which it is multiplied, minus the
    // position. Later held[] has words that are exchanged, keys, and payloads.
    local uint held[ROOM + LANES];
    local uint entry_at[ROOM];
    // starts[] has a bit for each position at which an entry's products begin. start_before[] has
    // the last such position before each word.
    local uint starts[WORDS];
    local ushort start_before[WORDS];
    ROWS_MEMORY(1);
    local uint edge[2];
    const uint item = get_local_id(0), chunk = get_group_id(0);
    const uint segment = segment_of_chunk(chunk_ptr, cols, chunk, edge);
    const uint first_chunk = chunk_ptr[segment], chunks = chunk_ptr[segment + 1] - first_chunk, number = chunk - first_chunk;
    const uint begin_segment = segment_ptr[segment], of_segment = segment_ptr[segment + 1] - begin_segment;
    const uint before = by_rows ? before_chunk(of_segment, number, chunks) : number * CHUNK, base = begin_segment + before;
    const uint count = by_rows ? before_chunk(of_segment, number + 1, chunks) - before : min((uint)CHUNK, of_segment - before);
    // The loop has at most one turn, because PoCL 3.1 loses the barriers after a return.
    for (bool serves = count > above && count <= ROOM; serves; serves = false) {
        const uint passes = by_rows ? 0 : 32 - clz(chunks - 1);
        const bool cut_before = by_rows && number > 0, cut_behind = by_rows && number + 1 < chunks;
        const uint2 from = cut_before ? cut[chunk] : (uint2)(0, 0), to = cut_behind ? cut[chunk + 1] : (uint2)(0, 0);

        uint first_entry = b_col_ptr[first_col + segment], end_entry = b_col_ptr[first_col + segment + 1];
        const ulong begin = first_product + base, end = begin + count;
        if (!by_rows) {
            const uint2 bounds = search_products(b_prods, first_entry, end_entry, begin + 1, end, edge);
            // The last entry whose products begin at or before `begin` has that product.
            first_entry = bounds.x - 1;
            end_entry = bounds.y;
        }

        for (uint i = item; i < WORDS; i += GROUP_SIZE)
            starts[i] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        // Each entry with products marks the position where they begin.
        uint made = 0, before_cuts = 0, all;
        for (uint start = first_entry; start < end_entry; start += GROUP_SIZE) {
            const uint entry = start + item;
            uint2 met = entry < end_entry ? met_by(a_col_ptr, b_row_idx, b_prods, entry) : (uint2)(0, 0);
            if (!by_rows && entry < end_entry) {
                met.x += (uint)(max(b_prods[entry], begin) - b_prods[entry]);
                met.y -= (uint)(b_prods[entry + 1] - min(b_prods[entry + 1], end));
            }
            if (cut_before || cut_behind) {
                const uint2 all_met = met;
                uint has_first = 0, has_last = 0; // whether the entry has a product in the row of a cut
                if (cut_before) {
                    met.x = lower_bound(a_row_idx, all_met.x, all_met.y, from.x);
                    has_first = met.x < all_met.y && a_row_idx[met.x] == from.x;
                }
                if (cut_behind) {
                    met.y = lower_bound(a_row_idx, met.x, all_met.y, to.x);
                    has_last = met.y < all_met.y && a_row_idx[met.y] == to.x;
                }
                // The number of entries fits 16 bits here.
                const uint cuts = team_sum_before(has_first | has_last << 16, &all, TEAM) + before_cuts;
                before_cuts += all;
                met.x += has_first && (cuts & 0xffff) < from.y;
                met.y += has_last && cuts >> 16 < to.y;
            }
            const uint own_products = met.y - met.x, at = team_sum_before(own_products, &all, TEAM) + made;
            made += all;
            if (own_products > 0) {
                atomic_or(&starts[at / 32], 1u << at % 32);
                held[at] = met.x - at;
                entry_at[at] = entry;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        for (uint word = item; word < WORDS; word += GROUP_SIZE) {
            uint before = word;
            while (before > 0 && starts[before - 1] == 0)
                --before;
            start_before[word] = (ushort)(before > 0 ? before * 32 - 1 - clz(starts[before - 1]) : 0);
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        global uint* row_to = (passes % 2 ? row_between : row) + base;
        global PAYLOAD* payload_to = (passes % 2 ? payload_between : payload) + base;
        uint key[ITEMS], place[ITEMS];
        PAYLOAD payloads[ITEMS];
        UNROLLED
        for (uint i = 0; i < ITEMS; ++i) {
            const uint position = item + i * GROUP_SIZE, word = position / 32;
            key[i] = NO_KEY;
            if (position < count) {
                const uint seen = starts[word] & ((2u << position % 32) - 1);
                const uint start = seen != 0 ? word * 32 + 31 - clz(seen) : start_before[word], a_entry = held[start] + position;
                NOTE_ROW(key, i, a_row_idx[a_entry], position);
                payloads[i] = MAKE(a_entry, entry_at[start]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE); // held[] is read before it is overwritten
        SORT_ROWS(key, count, held);
        UNROLLED
        for (uint i = 0; i < ITEMS; ++i)
            held[PADDED(item * ITEMS + i)] = key[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLLED
        for (uint i = 0; i < ITEMS; ++i) {
            const uint at = item + i * GROUP_SIZE;
            if (at < count) {
                const uint sorted = held[PADDED(at)];
                place[i] = PLACE_OF(sorted);
                row_to[at] = ROW_OF(sorted);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE); // held[] is read before it is overwritten
        // Each word of the payloads goes through local memory separately.
#if PAYLOAD_IS_WIDE
        EACH_OWN(i) held[item + i * GROUP_SIZE] = as_uint2(payloads[i]).x;
        barrier(CLK_LOCAL_MEM_FENCE);
        EACH_OWN(i) key[i] = held[place[i]];
        barrier(CLK_LOCAL_MEM_FENCE); // held[] is read before it is overwritten
        EACH_OWN(i) held[item + i * GROUP_SIZE] = as_uint2(payloads[i]).y;
        barrier(CLK_LOCAL_MEM_FENCE);
        EACH_OWN(i) payload_to[item + i * GROUP_SIZE] = JOIN(as_, PAYLOAD)((uint2)(key[i], held[place[i]]));
#else
        EACH_OWN(i) held[item + i * GROUP_SIZE] = as_uint(payloads[i]);
        barrier(CLK_LOCAL_MEM_FENCE);
        EACH_OWN(i) payload_to[item + i * GROUP_SIZE] = JOIN(as_, PAYLOAD)(held[place[i]]);
#endif

        for (uint tile = (base + TILE - 1) / TILE + item; tile * TILE < base + count; tile += GROUP_SIZE)
            tile_segment[tile] = segment;
        if (item == 0 && base + count == products)
            tile_segment[(products + TILE - 1) / TILE] = segment;
    }
}
