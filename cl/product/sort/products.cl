// products: makes the products of a column of C and sorts them by row in registers. This file comes
// before the kernels that sort, and after cl/team.cl and cl/product/sort/keys.cl.
// Host: src/product/sort/mod.rs
//
// LANES work-items of a team take a column of at most PRODUCTS products, so a team takes COLUMNS
// columns at once. A product's *place* is its number in the order in which products are made: entry
// by entry of the column of B. Each lane makes the products of HELD places, LANES apart, so that
// neighbouring lanes read neighbouring entries. Each product is sorted as one word, its key: row *
// PLACES + place. Keys differ, so the products of a row stay in the order of their places. If C has
// too many rows for such keys (FAR_ROWS), a key has only some bits of the row, and the sort is
// repeated with the next bits if needed. In the end the keys have the number of the product's run
// in place of its row.
//
// A kernel declares SORT_MEMORY first, and ROWS_MEMORY or rows[] of its own:
//   starts[]     a bit for each place at which the products of an entry of B begin. If
//                STARTS_COUNTED, there is a word for each lane, followed by the number of bits
//                before each word
//   words[]      for each entry of B that has products: its first entry of A minus its first place.
//                Later it holds keys
//   rows[]       if FAR_ROWS: the row of each place
//   kept[]       the value or number of each of these entries, for kernels that make products
// Arrays of a column have SLICE words. After every HELD words one is unused, so that places that
// are HELD apart lie in different banks of local memory, for all columns of the team.
#define COLUMNS (TEAM_SIZE / LANES)
#define GROUP_COLUMNS (GROUP_SIZE / LANES)
#define SLICE (PRODUCTS + LANES)
#define START_WORDS ((PRODUCTS + 31) / 32)
// With up to 64 lanes, each lane counts the starts before its places itself, which is faster than
// STARTS_COUNTED: sums of columns of 512 to 896 products take an H100 0.18 to 0.19 ms, and 0.22 to
// 0.26 ms with STARTS_COUNTED. With 256 lanes, counting in each lane needs so many registers and
// loads that a product takes 0.9 ms, and 0.5 ms with STARTS_COUNTED.
#define STARTS_COUNTED (LANES > 64)
#define STARTS_SLICE (STARTS_COUNTED ? 2 * LANES : START_WORDS)

// The numbers from which a column is made. KEEP(entry) is the number that is kept of an entry of B.
// The type of the number is KEPT.
#if defined(ELEMENT)
#define KEPT ARITHMETIC
#define KEEP(entry) B_VALUE(entry)
#define KEPT_OF , global const ELEMENT *b_values, uint b_stride, local KEPT *kept
#elif defined(PAYLOAD)
#define KEPT uint
#define KEEP(entry) (entry)
#define KEPT_OF , local KEPT *kept
#else
#define KEPT_OF
#endif

#define SORT_MEMORY                                                                                                   \
    local uint all_starts[GROUP_COLUMNS * STARTS_SLICE];                                                              \
    local uint all_words[GROUP_COLUMNS * SLICE];                                                                      \
    local uint* starts = all_starts + get_local_id(0) / LANES * STARTS_SLICE;                                         \
    local uint* words = all_words + get_local_id(0) / LANES * SLICE;                                                  \
    TEAM_MEMORY

// Returns `value` of the column's last lane.
uint column_last(uint value, TEAM_OF)
{
    return team_from(value, LANE | (LANES - 1), team);
}

// Returns the first entry of A by which an entry of B is multiplied, and the number of these
// entries. From `end` on, the number of entries is 0.
uint2 met_by(global const uint* a_col_ptr, global const uint* b_row_idx, uint entry, uint end)
{
    if (entry >= end)
        return (uint2)(0, 0);
    const uint k = b_row_idx[entry], first = a_col_ptr[k];
    return (uint2)(first, a_col_ptr[k + 1] - first);
}

// Stores the entries begin..end of B, which are a column, and returns the number of their products.
uint note_entries(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_row_idx, uint begin,
                  uint end, local uint* starts, local uint* words KEPT_OF, TEAM_OF)
{
    for (uint word = COLUMN_LANE; word < (STARTS_COUNTED ? LANES : START_WORDS); word += LANES)
        starts[word] = 0;
    TEAM_BARRIER;
    uint products = 0, entries = 0;
    // All items of the team take as many rounds as the longest column of the team needs, because
    // rounds have barriers.
    const uint rounds = team_max((end - begin + LANES - 1) / LANES, team);
    uint2 next = met_by(a_col_ptr, b_row_idx, begin + COLUMN_LANE, end);
    for (uint round = 0; round < rounds; ++round) {
        const uint entry = begin + round * LANES + COLUMN_LANE;
        const uint2 met = next;
        next = met_by(a_col_ptr, b_row_idx, entry + LANES, end); // it is loaded while the team adds up
        // The number of products and the number of entries that have products are added up at once.
        // Each is at most 3584.
        const uint own = met.y | (met.y > 0) << 16;
#if LANES == TEAM_SIZE
        uint all;
        const uint before = team_sum_before(own, &all, team);
#else
        const uint before = team_part_sum_before(own, LANES, team), all = column_last(before + own, team);
#endif
        if (met.y > 0) {
            const uint place = products + (before & 0xffff), at = entries + (before >> 16);
            words[at] = met.x - place;
#if defined(KEPT)
            kept[at] = KEEP(entry);
#endif
            atomic_or(&starts[place / 32], 1u << place % 32);
        }
        products += all & 0xffff;
        entries += all >> 16;
    }
#if STARTS_COUNTED
    TEAM_BARRIER; // starts[] is written before it is counted
    // There are no conditions here: PoCL 3.1 with optimisation loses the barriers next to
    // conditions.
    const uint own_starts = popcount(starts[COLUMN_LANE]);
    const uint starts_before = team_part_sum_before(own_starts, LANES, team);
    starts[LANES + COLUMN_LANE] = starts_before;
#endif
    TEAM_BARRIER; // starts[], words[] and kept[] are written before other lanes read them
    return products;
}

#if KEPT_KEYS
// Functions that keep sorted keys in global memory. Each lane writes and reads its own keys,
// several at once. HELD is even.
#define KEYS_AT_ONCE (HELD % 4 == 0 ? 4 : 2)
#if HELD % 4 == 0
#define KEPT_WORDS uint4
#define WORDS_OF(key, i) (uint4)(key[i], key[i + 1], key[i + 2], key[i + 3])
#define TO_KEYS(key, i, of) (key[i] = of.x, key[i + 1] = of.y, key[i + 2] = of.z, key[i + 3] = of.w)
#else
#define KEPT_WORDS uint2
#define WORDS_OF(key, i) (uint2)(key[i], key[i + 1])
#define TO_KEYS(key, i, of) (key[i] = of.x, key[i + 1] = of.y)
#endif

void keep_keys(const uint* key, global uint* keys, uint products)
{
    UNROLLED
    for (uint i = 0; i < HELD; i += KEYS_AT_ONCE)
        if (COLUMN_LANE * HELD + i < products)
            *(global KEPT_WORDS*)(keys + COLUMN_LANE * HELD + i) = WORDS_OF(key, i);
}

void kept_keys(uint* key, global const uint* keys, uint products)
{
    UNROLLED
    for (uint i = 0; i < HELD; i += KEYS_AT_ONCE) {
        KEPT_WORDS of = (KEPT_WORDS)(NO_KEY);
        if (COLUMN_LANE * HELD + i < products)
            of = *(global const KEPT_WORDS*)(keys + COLUMN_LANE * HELD + i);
        TO_KEYS(key, i, of);
    }
}
#endif

// Finds the entry of each of the lane's places, as note_entries counts entries.
void find_entries(uint* entry_of, local const uint* starts)
{
#if !STARTS_COUNTED
    uint before = 0;
    for (uint word = 0; word < COLUMN_LANE / 32; ++word)
        before += popcount(starts[word]);
#endif
    UNROLLED
    for (uint i = 0; i < HELD; ++i) {
        const uint place = COLUMN_LANE + i * LANES, word = place / 32;
#if STARTS_COUNTED
        const uint before = starts[LANES + word];
#else
        // Adds the starts in the words since the lane's previous place.
        if (i > 0 && i * LANES % 32 == 0) {
            UNROLLED
            for (uint back = max(LANES / 32, 1); back > 0; --back)
                before += popcount(starts[word - back]);
        }
#endif
        entry_of[i] = before + popcount(starts[word] & (0xffffffffu >> (31 - place % 32))) - 1;
    }
}

// Stores the rows of the lane's places.
#define NOTE_ROWS(key, entry_of, products)                                                                            \
    UNROLLED                                                                                                          \
    for (uint i = 0; i < HELD; ++i) {                                                                                 \
        const uint place = COLUMN_LANE + i * LANES;                                                                   \
        key[i] = NO_KEY;                                                                                              \
        if (place < products)                                                                                         \
            NOTE_ROW(key, i, a_row_idx[words[entry_of[i]] + place], place);                                           \
    }
