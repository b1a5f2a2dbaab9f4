// tail_counts: finds the products of the sorted expansion that end a run, and counts them in each
// tile.
// Host: src/product/esc/tail_counts.rs
//
//   One work-group per TILE products.
//
//   in   row[products]                sorted within each segment
//   in   segment_ptr[segments + 1]    the position at which each segment begins
//   in   tile_segment[tiles + 1]      segment of the first product of each tile, and of the last
//                                     product of all
//   out  tail_flags[tiles * WORDS]    a bit per product: the paper's array of flags. One item
//                                     writes each word
//   out  tail_ptr[tiles + 1]          number of run ends in each tile, 0 at the end; after an
//                                     exclusive scan, number of run ends before each tile
//   out  record[3]                    stored after tail_ptr, zero before: longest run; number of
//                                     pieces of the runs longer than LONG_RUN; number of those
//                                     pieces that are parts of a run longer than RUN_PIECE
#if !defined(TILE) || !defined(WORD_BITS) || !defined(LONG_RUN) || !defined(RUN_PIECE)
#error "TILE, WORD_BITS, LONG_RUN, RUN_PIECE: see src/product/tuning.rs"
#endif
#define WORDS ((TILE + WORD_BITS - 1) / WORD_BITS)

// Whether product p is the last of its segment. The segment is one of those from `first` to `last`.
bool ends_segment(global const uint* segment_ptr, uint first, uint last, uint p)
{
    return segment_ptr[column_between(segment_ptr, first, last, p) + 1] == p + 1;
}

// Returns the start of the run that ends with product p, which is the first run end of its tile.
// The run may begin in any earlier tile.
uint begin_of_run(global const uint* row, global const uint* segment_ptr, uint first, uint last, uint p)
{
    return lower_bound(row, segment_ptr[column_between(segment_ptr, first, last, p)], p, row[p]);
}

KERNEL tail_counts(global const uint* row, global const uint* segment_ptr, global const uint* tile_segment,
                   global uint* tail_flags, global uint* tail_ptr, uint products)
{
    local uint flags[WORDS];
    local uint tails_of_tile, longest_of_tile, pieces_of_tile, parts_of_tile;
    const uint item = get_local_id(0), tile = get_group_id(0);
    const uint start = tile * TILE, count = min((uint)TILE, products - start);
    const uint first = tile_segment[tile], last = tile_segment[tile + 1];
    if (item == 0)
        tails_of_tile = longest_of_tile = pieces_of_tile = parts_of_tile = 0;
    for (uint word = item; word < WORDS; word += GROUP_SIZE)
        flags[word] = 0;
    GROUP_BARRIER;

    // Ends of segments are marked one by one, unless most segments are empty.
    const bool few = last - first <= 2 * TILE;
    if (few)
        for (uint segment = first + item; segment <= last; segment += GROUP_SIZE) {
            const uint end = segment_ptr[segment + 1];
            if (end > start && end <= start + count && end > segment_ptr[segment])
                atomic_or(&flags[(end - 1 - start) / WORD_BITS], 1u << ((end - 1 - start) % WORD_BITS));
        }
    GROUP_BARRIER;

    for (uint word = item; word < WORDS; word += GROUP_SIZE) {
        uint bits = flags[word];
        const uint from = start + word * WORD_BITS, to = min(from + WORD_BITS, start + count);
        if (few && to == from + WORD_BITS && to < products) {
            // The loads have no conditions, so that all are issued at once.
            uint here = row[from];
            for (uint i = 0; i < WORD_BITS; ++i) {
                const uint next = row[from + i + 1];
                bits |= (uint)(here != next) << i;
                here = next;
            }
        } else
            for (uint p = from; p < to; ++p)
                if (p + 1 == products || row[p] != row[p + 1] || (!few && ends_segment(segment_ptr, first, last, p)))
                    bits |= 1u << (p - from);
        flags[word] = bits;
        tail_flags[tile * WORDS + word] = bits;
    }
    GROUP_BARRIER;

    // The length of a run is the distance from one run end to the next.
    uint ends = 0, longest = 0, pieces = 0, parts = 0;
    for (uint word = item; word < WORDS; word += GROUP_SIZE)
        if (flags[word] != 0) {
            uint before = word, begin = 0;
            while (before > 0 && flags[before - 1] == 0)
                --before;
            const uint from = start + word * WORD_BITS;
            if (before > 0)
                begin = start + before * WORD_BITS - (WORD_BITS - 32 + clz(flags[before - 1]));
            else
                begin = begin_of_run(row, segment_ptr, first, last, from + (31 - clz(flags[word] & -flags[word])));
            for (uint bits = flags[word]; bits != 0; bits &= bits - 1) {
                const uint end = from + (32 - clz(bits & -bits)), length = end - begin;
                const uint cuts = (length + RUN_PIECE - 1) / RUN_PIECE;
                ++ends;
                longest = max(longest, length);
                pieces += length > LONG_RUN ? cuts : 0;
                parts += cuts > 1 ? cuts : 0;
                begin = end;
            }
        }
    if (ends > 0) {
        atomic_add(&tails_of_tile, ends);
        atomic_max(&longest_of_tile, longest);
        if (pieces > 0)
            atomic_add(&pieces_of_tile, pieces);
        if (parts > 0)
            atomic_add(&parts_of_tile, parts);
    }
    GROUP_BARRIER;
    if (item == 0) {
        tail_ptr[tile] = tails_of_tile;
        // The record has sums and maxima of integers, which do not depend on the order of the
        // work-groups.
        global uint* record = tail_ptr + get_num_groups(0) + 1;
        if (longest_of_tile > 0)
            atomic_max(&record[0], longest_of_tile);
        if (pieces_of_tile > 0)
            atomic_add(&record[1], pieces_of_tile);
        if (parts_of_tile > 0)
            atomic_add(&record[2], parts_of_tile);
    }
}
