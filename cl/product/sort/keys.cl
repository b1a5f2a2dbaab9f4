// keys: words that the items of a team sort in registers. It comes before the kernels that sort,
// and behind cl/team.cl.
// Hosts: src/product/sort/mod.rs, src/product/columns/hub/mod.rs
//
// A key is a number, by which products are sorted, and the *place* of the product, which counts the
// products in the order in which they are made: number * PLACES + place. The number is a row, its
// slot, or that of its run. PLACES is a power of two, at least PRODUCTS, or 1: then keys have no
// places. LANES neighbours of a team, a power of two, sort PRODUCTS keys, so that each lane holds
// HELD, at most 32: ODD, at most 7, times a power of two.
#if !defined(PRODUCTS) || !defined(HELD) || !defined(ODD) || !defined(PLACES)
#error "PRODUCTS, HELD, ODD, PLACES: see src/product/sort/columns.rs, src/product/columns/hub/mod.rs"
#endif
#define LANES (PRODUCTS / HELD)
#define COLUMN_LANE (get_local_id(0) % LANES)
// The words behind every HELD pad an array, so that places that are HELD apart lie in different
// banks of local memory.
#define PADDED(i) ((i) + (i) / HELD)
#define NO_KEY 0xffffffffu
#if PLACES > 1
#define KEY_OF(number, place) ((number) * PLACES + (place))
#else
#define KEY_OF(number, place) (number)
#endif
#define NUMBER_OF(key) ((key) / PLACES)
#define PLACE_OF(key) ((key) % PLACES)
// What a team exchanges keys by: a warp by itself, another one over `words`, which have room for
// the keys of all its lanes.
#if WARPS && TEAM_SIZE == WARP_SIZE
#define EXCHANGE_IN(words) TEAM
#else
#define EXCHANGE_IN(words) (words)
#endif
// The keys of the lane whose number differs in these bits.
#define KEYS_ACROSS(other, key, bits) team_across_all(other, key, HELD, bits, team)

// Puts the smaller one of two of the lane's keys first.
#define COMPARE(first, second)                                                                                        \
    do {                                                                                                              \
        const uint low = min(key[first], key[second]);                                                                 \
        key[second] = max(key[first], key[second]);                                                                   \
        key[first] = low;                                                                                             \
    } while (0)

// Sorts each ODD neighbours of the lane's keys, by the fewest comparisons (Knuth 1998, 5.3.4).
void sort_odd(uint* key)
{
    UNROLLED
    for (uint i = 0; i < HELD; i += ODD) {
#if ODD == 3
        COMPARE(i, i + 1);
        COMPARE(i + 1, i + 2);
        COMPARE(i, i + 1);
#elif ODD == 5
        COMPARE(i, i + 3);
        COMPARE(i + 1, i + 4);
        COMPARE(i, i + 2);
        COMPARE(i + 1, i + 3);
        COMPARE(i, i + 1);
        COMPARE(i + 2, i + 4);
        COMPARE(i + 1, i + 2);
        COMPARE(i + 3, i + 4);
        COMPARE(i + 2, i + 3);
#elif ODD == 7
        COMPARE(i, i + 6);
        COMPARE(i + 2, i + 3);
        COMPARE(i + 4, i + 5);
        COMPARE(i, i + 2);
        COMPARE(i + 1, i + 4);
        COMPARE(i + 3, i + 6);
        COMPARE(i, i + 1);
        COMPARE(i + 2, i + 5);
        COMPARE(i + 3, i + 4);
        COMPARE(i + 1, i + 2);
        COMPARE(i + 4, i + 6);
        COMPARE(i + 2, i + 3);
        COMPARE(i + 4, i + 5);
        COMPARE(i + 1, i + 2);
        COMPARE(i + 3, i + 4);
        COMPARE(i + 5, i + 6);
#endif
    }
}

// The same if each ODD neighbours are bitonic: ascending and then descending, or so if they are
// turned round a circle. That takes 8 and 12 comparisons, not 9 and 16: an exhaustive search for 5
// found no fewer. A network that sorts all bitonic words of zeros and ones sorts all bitonic keys.
void merge_odd(uint* key)
{
#if ODD < 5
    sort_odd(key);
#else
    UNROLLED
    for (uint i = 0; i < HELD; i += ODD) {
#if ODD == 5
        COMPARE(i, i + 1);
        COMPARE(i + 2, i + 4);
        COMPARE(i, i + 2);
        COMPARE(i + 1, i + 3);
        COMPARE(i, i + 1);
        COMPARE(i + 2, i + 4);
        COMPARE(i + 1, i + 2);
        COMPARE(i + 3, i + 4);
#elif ODD == 7
        COMPARE(i, i + 1);
        COMPARE(i + 2, i + 6);
        COMPARE(i + 3, i + 5);
        COMPARE(i, i + 4);
        COMPARE(i + 1, i + 5);
        COMPARE(i + 2, i + 3);
        COMPARE(i, i + 2);
        COMPARE(i + 1, i + 3);
        COMPARE(i + 4, i + 6);
        COMPARE(i + 1, i + 2);
        COMPARE(i + 3, i + 4);
        COMPARE(i + 5, i + 6);
#endif
    }
#endif
}

// Sorts the lane's keys, whose halves of 2 * distance are bitonic: compares those `distance` apart,
// and their neighbours at half of it, and so on.
void merge_in_lane(uint* key, uint distance)
{
    UNROLLED
    for (; distance >= ODD; distance /= 2) {
        UNROLLED
        for (uint i = 0; i < HELD; ++i)
            if (i / distance % 2 == 0)
                COMPARE(i, i + distance);
    }
    merge_odd(key);
}

// Sorts the keys of a column; then each lane has HELD neighbours. `team` is EXCHANGE_IN. A bitonic
// sort in which every comparison puts the smaller key first: two sorted halves are merged by
// comparing the ends of both, then their neighbours, and so on (Batcher 1968). All bounds are
// constants, so that the keys stay in registers.
void sort_keys(uint* key, TEAM_OF)
{
    sort_odd(key);
    UNROLLED
    for (uint size = 2 * ODD; size <= HELD; size *= 2) {
        UNROLLED
        for (uint i = 0; i < HELD; ++i)
            if (i % size < size / 2)
                COMPARE(i, i - i % size + size - 1 - i % size);
        merge_in_lane(key, size / 4);
    }
    uint other[HELD];
    // `lanes` hold the halves, then those that compare keys.
    UNROLLED
    for (uint lanes = 2; lanes <= LANES; lanes *= 2) {
        KEYS_ACROSS(other, key, lanes - 1);
        const bool is_low = (LANE & (lanes / 2)) == 0;
        UNROLLED
        for (uint i = 0; i < HELD; ++i)
            key[i] = is_low ? min(key[i], other[HELD - 1 - i]) : max(key[i], other[HELD - 1 - i]);
        UNROLLED
        for (uint distance = lanes / 4; distance > 0; distance /= 2) {
            KEYS_ACROSS(other, key, distance);
            const bool is_first = (LANE & distance) == 0;
            UNROLLED
            for (uint i = 0; i < HELD; ++i)
                key[i] = is_first ? min(key[i], other[i]) : max(key[i], other[i]);
        }
        merge_in_lane(key, HELD / 2);
    }
}

// Which of the lane's sorted keys begin a run, as bits.
uint find_heads(const uint* key, TEAM_OF)
{
    const uint before = team_before(NUMBER_OF(key[HELD - 1]), 1, team);
    uint heads = key[0] != NO_KEY && (COLUMN_LANE == 0 || before != NUMBER_OF(key[0]));
    UNROLLED
    for (uint i = 1; i < HELD; ++i)
        heads |= (uint)(key[i] != NO_KEY && NUMBER_OF(key[i - 1]) != NUMBER_OF(key[i])) << i;
    return heads;
}
