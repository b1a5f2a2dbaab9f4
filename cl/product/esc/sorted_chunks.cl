// sorted_chunks: expansion of long segments, which are sorted by digits of their rows before they
// are written.
// Host: src/product/esc/sorted_chunks.rs
//
//   cut_chunks     one work-group per chunk of ROOM products: where a chunk begins in the order of
//                  rows
//   sorted_chunks  one work-group per chunk, which gets its products from columns of A cut there
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]
//   in   a_operand[a_nnz]  b_operand[b_nnz]    see cl/product/payload.cl
//   in   b_prods[b_nnz + 1]  segment_ptr[cols + 1]  chunk_ptr[cols + 1]
//   out  cut[chunks]                           the row of the first product of each chunk, and how
//                                              many products of that row the chunks before have
//   out  row[products]  payload[products]      sorted by row inside each long segment, stably
//   out  tile_segment[tiles + 1]               segment of the first product of each tile of TILE,
//                                              and of the last product
//
// A column of A has ascending rows, so the products that it gives to a chunk are neighbours. The
// products of a row are in the order of the entries of B, and a cut may lie between them.
//
// A chunk is sorted by digits, the lowest first. The 32 items of a team take 32 neighbours at a
// time. A bit of all their digits is a vote; from the votes each item knows which of them have its
// digit, and those before it come before.
#if !defined(PAYLOAD) || !defined(PAYLOAD_IS_WIDE) || !defined(ITEMS) || !defined(DIGIT_BITS) || !defined(DIGIT_PASSES) || !defined(POSITION_BITS) || !defined(ENTRIES) || !defined(TILE) || !defined(FROM_END)
#error "see src/product/esc/sorted_chunks.rs"
#endif
#define ROOM (GROUP_SIZE * ITEMS)
#define TEAMS (GROUP_SIZE / TEAM_SIZE)
#define WORDS (ROOM / TEAM_SIZE)
#define DIGITS (1 << DIGIT_BITS)
// Neighbouring digits of an item.
#define SHARE ((DIGITS + GROUP_SIZE - 1) / GROUP_SIZE)
#define COUNTS (TEAMS * DIGITS > ROOM ? TEAMS * DIGITS : ROOM)
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

// The last of the segments whose chunks begin at or before a chunk. The team looks at 32 at a time.
uint segment_of_chunk(global const uint* chunk_ptr, uint cols, uint chunk, TEAM_OF)
{
    uint begin = 0, end = cols; // the first that begins behind it
    while (begin < end) {
        const uint step = (end - begin + TEAM_SIZE - 1) / TEAM_SIZE;
        const ulong at = begin + (ulong)LANE * step;
        const uint before = popcount(team_votes(at < end && chunk_ptr[at] <= chunk, team));
        if (before == 0)
            break;
        end = (uint)min((ulong)begin + (ulong)before * step, (ulong)end);
        begin += (before - 1) * step + 1;
    }
    return begin - 1;
}

// The entries of A that an entry of B meets.
uint2 met_by(global const uint* a_col_ptr, global const uint* b_row_idx, global const ulong* b_prods, uint entry)
{
    const uint k = b_row_idx[entry], products = (uint)(b_prods[entry + 1] - b_prods[entry]);
#if FROM_END
    return (uint2)(a_col_ptr[k + 1] - products, a_col_ptr[k + 1]);
#else
    return (uint2)(a_col_ptr[k], a_col_ptr[k] + products);
#endif
}

// The sum of the values of all items before this one, and of all. sums holds TEAMS words.
uint group_sum_before(uint value, local uint* sums, uint* all, TEAM_OF)
{
    uint of_team, before = team_sum_before(value, &of_team, team);
    barrier(CLK_LOCAL_MEM_FENCE); // the reads of the sum before
    if (LANE == 0)
        sums[get_local_id(0) / TEAM_SIZE] = of_team;
    barrier(CLK_LOCAL_MEM_FENCE);
    *all = 0;
    for (uint t = 0; t < TEAMS; ++t) {
        before += t < get_local_id(0) / TEAM_SIZE ? sums[t] : 0;
        *all += sums[t];
    }
    return before;
}

// The items of the team with the same digit, as bits.
uint peers_of(uint digit, TEAM_OF)
{
    uint peers = ~0u;
    UNROLLED
    for (uint bit = 0; bit < DIGIT_BITS; ++bit) {
        const uint own = digit >> bit & 1;
        peers &= team_votes(own, team) ^ (own - 1);
    }
    return peers;
}

KERNEL cut_chunks(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                  global const uint* b_row_idx, global const ulong* b_prods, global const uint* segment_ptr,
                  global const uint* chunk_ptr, global uint2* cut, uint first_col, uint cols, uint rows)
{
    TEAM_MEMORY;
    // Of each entry of the column of B: between which entries of A the cut lies, and its place for
    // the row that is tried.
    local uint from[ENTRIES], to[ENTRIES], place[ENTRIES];
    local uint sums[TEAMS];
    const uint item = get_local_id(0), chunk = get_group_id(0);
    const uint segment = segment_of_chunk(chunk_ptr, cols, chunk, TEAM);
    const uint before = (chunk - chunk_ptr[segment]) * ROOM;
    const uint first = b_col_ptr[first_col + segment], entries = before > 0 ? b_col_ptr[first_col + segment + 1] - first : 0;
    uint begins = 0;
    for (uint i = item; i < entries; i += GROUP_SIZE) {
        const uint2 met = met_by(a_col_ptr, b_row_idx, b_prods, first + i);
        from[i] = met.x;
        to[i] = met.y;
        begins += met.x;
    }
    // The greatest row before which there are at most `before` products. An item has the same
    // entries in all loops.
    uint low = 0, high = before > 0 ? rows : 1, below = 0;
    while (high - low > 1) {
        const uint middle = low + (high - low) / 2;
        uint count = 0 - begins, all;
        for (uint i = item; i < entries; i += GROUP_SIZE) {
            place[i] = lower_bound(a_row_idx, from[i], to[i], middle);
            count += place[i];
        }
        group_sum_before(count, sums, &all, TEAM);
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
                     global const uint2* cut, global uint* row, global PAYLOAD* payload, global uint* tile_segment,
                     uint products, uint first_col, uint cols)
{
    TEAM_MEMORY;
    // Words of products by their positions; a bit for each position at which an entry's products
    // begin.
    local uint held[ROOM], opens[WORDS];
    // The entries of B whose products begin at each position, counted from the column's first one.
    // Then the products of each team with each digit, then the position of the first of them.
    local ushort counts[COUNTS];
    local uint sums[TEAMS];
    const uint item = get_local_id(0), team_number = item / TEAM_SIZE, lane = LANE, chunk = get_group_id(0);
    const uint segment = segment_of_chunk(chunk_ptr, cols, chunk, TEAM);
    const uint base = segment_ptr[segment] + (chunk - chunk_ptr[segment]) * ROOM;
    const uint count = min((uint)ROOM, segment_ptr[segment + 1] - base);
    const uint first_entry = b_col_ptr[first_col + segment], end_entry = b_col_ptr[first_col + segment + 1];
    const bool cut_before = chunk > chunk_ptr[segment], cut_behind = base + count < segment_ptr[segment + 1];
    const uint2 from = cut_before ? cut[chunk] : (uint2)(0, 0), to = cut_behind ? cut[chunk + 1] : (uint2)(0, 0);

    for (uint i = item; i < WORDS; i += GROUP_SIZE)
        opens[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    // Each entry with products marks the position where they begin, and leaves its number and its
    // first entry of A there.
    uint made = 0, before_cuts = 0, all;
    for (uint start = first_entry; start < end_entry; start += GROUP_SIZE) {
        const uint entry = start + item;
        uint2 met = entry < end_entry ? met_by(a_col_ptr, b_row_idx, b_prods, entry) : (uint2)(0, 0);
        if (cut_before || cut_behind) {
            const uint2 all_met = met;
            uint has_first = 0, has_last = 0; // whether there is a product of the row of a cut
            if (cut_before) {
                met.x = lower_bound(a_row_idx, all_met.x, all_met.y, from.x);
                has_first = met.x < all_met.y && a_row_idx[met.x] == from.x;
            }
            if (cut_behind) {
                met.y = lower_bound(a_row_idx, met.x, all_met.y, to.x);
                has_last = met.y < all_met.y && a_row_idx[met.y] == to.x;
            }
            // Entries are numbers of 16 bits here.
            const uint cuts = group_sum_before(has_first | has_last << 16, sums, &all, TEAM) + before_cuts;
            before_cuts += all;
            met.x += has_first && (cuts & 0xffff) < from.y;
            met.y += has_last && cuts >> 16 < to.y;
        }
        const uint own_products = met.y - met.x, at = group_sum_before(own_products, sums, &all, TEAM) + made;
        made += all;
        if (own_products > 0) {
            atomic_or(&opens[at / TEAM_SIZE], 1u << at % TEAM_SIZE);
            held[at] = met.x - at;
            counts[at] = (ushort)(entry - first_entry);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Each team has as many stripes of 32 neighbouring products as the others. First the last
    // position before them where products begin.
    const uint stripes = (count + GROUP_SIZE - 1) / GROUP_SIZE, own_stripe = team_number * stripes;
    const uint own = own_stripe * TEAM_SIZE + lane;
    uint head = 0;
    for (uint word = lane; word < own_stripe; word += TEAM_SIZE)
        head = opens[word] != 0 ? word * TEAM_SIZE + 31 - clz(opens[word]) : head;
    head = team_max(head, TEAM);
    uint a_entry[ITEMS], b_entry[ITEMS], key[ITEMS], place[ITEMS];
    UNROLLED
    for (uint i = 0; i < ITEMS; ++i)
        if (i < stripes) {
            const uint stripe = own + i * TEAM_SIZE - lane, mark = opens[own_stripe + i], seen = mark & (2u << lane) - 1;
            const uint own_head = seen != 0 ? stripe + 31 - clz(seen) : head;
            a_entry[i] = held[own_head] + stripe + lane;
            b_entry[i] = counts[own_head] + first_entry;
            head = mark != 0 ? stripe + 31 - clz(mark) : head;
        }
    // Behind the last product there are keys that come last.
    UNROLLED
    for (uint i = 0; i < ITEMS; ++i)
        if (i < stripes) {
            const uint position = own + i * TEAM_SIZE;
            key[i] = position < count ? a_row_idx[a_entry[i]] << POSITION_BITS | position : ~0u;
        }

    local ushort* own_counts = counts + team_number * DIGITS;
    for (uint pass = 0; pass < DIGIT_PASSES; ++pass) {
        const uint shift = POSITION_BITS + pass * DIGIT_BITS;
        barrier(CLK_LOCAL_MEM_FENCE); // the reads above and of the pass before
        for (uint i = item; i < TEAMS * DIGITS; i += GROUP_SIZE)
            counts[i] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLLED
        for (uint i = 0; i < ITEMS; ++i)
            if (i < stripes) {
                const uint digit = key[i] >> shift & (DIGITS - 1), peers = peers_of(digit, TEAM);
                const uint earlier = own_counts[digit];
                TEAM_BARRIER; // the reads, before the writes; all items with a digit write the same
                own_counts[digit] = (ushort)(earlier + popcount(peers));
                TEAM_BARRIER;
                place[i] = earlier + popcount(peers & ((1u << lane) - 1));
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint sum = 0;
        for (uint digit = item * SHARE; digit < min((item + 1) * SHARE, (uint)DIGITS); ++digit)
            for (uint t = 0; t < TEAMS; ++t) {
                const uint of_team = counts[t * DIGITS + digit];
                counts[t * DIGITS + digit] = (ushort)sum;
                sum += of_team;
            }
        const uint before = group_sum_before(sum, sums, &all, TEAM);
        for (uint digit = item * SHARE; digit < min((item + 1) * SHARE, (uint)DIGITS); ++digit)
            for (uint t = 0; t < TEAMS; ++t)
                counts[t * DIGITS + digit] += (ushort)before;
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLLED
        for (uint i = 0; i < ITEMS; ++i)
            if (i < stripes)
                held[own_counts[key[i] >> shift & (DIGITS - 1)] + place[i]] = key[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (pass + 1 < DIGIT_PASSES) {
            UNROLLED
            for (uint i = 0; i < ITEMS; ++i)
                if (i < stripes)
                    key[i] = held[own + i * TEAM_SIZE];
        }
    }

    // Each word of the payloads goes through local memory on its own.
    UNROLLED
    for (uint i = 0; i < ITEMS; ++i) {
        const uint at = item + i * GROUP_SIZE;
        if (at < count) {
            row[base + at] = held[at] >> POSITION_BITS;
            place[i] = held[at] & (1u << POSITION_BITS) - 1;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE); // the reads above
    UNROLLED
    for (uint i = 0; i < ITEMS; ++i)
        if (i < stripes && own + i * TEAM_SIZE < count) {
#if PAYLOAD_IS_WIDE
            const uint2 halves = as_uint2(MAKE(a_entry[i], b_entry[i]));
            held[own + i * TEAM_SIZE] = halves.x;
            b_entry[i] = halves.y;
#else
            held[own + i * TEAM_SIZE] = as_uint(MAKE(a_entry[i], b_entry[i]));
#endif
        }
    barrier(CLK_LOCAL_MEM_FENCE);
#if PAYLOAD_IS_WIDE
    UNROLLED
    for (uint i = 0; i < ITEMS; ++i)
        if (item + i * GROUP_SIZE < count)
            key[i] = held[place[i]];
    barrier(CLK_LOCAL_MEM_FENCE); // the reads above
    UNROLLED
    for (uint i = 0; i < ITEMS; ++i)
        if (i < stripes && own + i * TEAM_SIZE < count)
            held[own + i * TEAM_SIZE] = b_entry[i];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    UNROLLED
    for (uint i = 0; i < ITEMS; ++i)
        if (item + i * GROUP_SIZE < count)
#if PAYLOAD_IS_WIDE
            payload[base + item + i * GROUP_SIZE] = JOIN(as_, PAYLOAD)((uint2)(key[i], held[place[i]]));
#else
            payload[base + item + i * GROUP_SIZE] = JOIN(as_, PAYLOAD)(held[place[i]]);
#endif

    for (uint tile = (base + TILE - 1) / TILE + item; tile * TILE < base + count; tile += GROUP_SIZE)
        tile_segment[tile] = segment;
    if (item == 0 && base + count == products)
        tile_segment[(products + TILE - 1) / TILE] = segment;
}
