// keys: lets the items of a team sort words in registers. This file comes before the kernels that
// sort, and after cl/team.cl.
// Hosts: src/product/sort/mod.rs, src/product/columns/hub/mod.rs
//
// A key is number * PLACES + place. Products are sorted by the number: a row, its slot, or the
// number of its run. The *place* of a product counts the products in the order in which they are
// made. PLACES is a power of two and at least PRODUCTS, or it is 1 and keys have no places. LANES
// neighbouring lanes of a team, a power of two, sort PRODUCTS keys. Each lane holds HELD keys. HELD
// is at most 32, and is ODD times a power of two. ODD is at most 7.
#if !defined(PRODUCTS) || !defined(HELD) || !defined(ODD) || !defined(PLACES)
#error "PRODUCTS, HELD, ODD, PLACES: see src/product/sort/columns.rs, src/product/columns/hub/mod.rs"
#endif
#define LANES (PRODUCTS / HELD)
#define COLUMN_LANE (get_local_id(0) % LANES)
// An array has an unused word after every HELD words, so that places that are HELD apart lie in
// different banks of local memory.
#define PADDED(i) ((i) + (i) / HELD)
#define NO_KEY 0xffffffffu
#if PLACES > 1
#define KEY_OF(number, place) ((number) * PLACES + (place))
#else
#define KEY_OF(number, place) (number)
#endif
#define NUMBER_OF(key) ((key) / PLACES)
#define PLACE_OF(key) ((key) % PLACES)
// The argument by which a team exchanges keys. A warp exchanges registers; any other team goes
// through `words`, local memory for the keys of all its lanes.
#if WARPS && TEAM_SIZE == WARP_SIZE
#define EXCHANGE_IN(words) TEAM
#else
#define EXCHANGE_IN(words) (words)
#endif
// Gets the keys of the lane whose number differs in the bits `bits`.
#define KEYS_ACROSS(other, key, bits) team_across_all(other, key, HELD, bits, team)

// Puts the smaller of two of the lane's keys first.
#define COMPARE(first, second)                                                                                        \
    do {                                                                                                              \
        const uint low = min(key[first], key[second]);                                                                 \
        key[second] = max(key[first], key[second]);                                                                   \
        key[first] = low;                                                                                             \
    } while (0)

#define COMPARE_NEIGHBOURS(first, second) COMPARE(i + first, i + second);

// The comparisons that sort ODD neighbouring keys: the fewest (Knuth 1998, 5.3.4). Fewer merge them
// if they are bitonic: ascending and then descending, or a rotation of such keys. That takes 8
// comparisons for 5 keys and 12 for 7, where sorting takes 9 and 16. An exhaustive search for 5
// keys found no fewer. A network that sorts all bitonic words of zeros and ones sorts all bitonic
// keys.
#if ODD == 3
#define SORT_ODD(C) C(0, 1) C(1, 2) C(0, 1)
#define MERGE_ODD(C) SORT_ODD(C)
#elif ODD == 5
#define SORT_ODD(C) C(0, 3) C(1, 4) C(0, 2) C(1, 3) C(0, 1) C(2, 4) C(1, 2) C(3, 4) C(2, 3)
#define MERGE_ODD(C) C(0, 1) C(2, 4) C(0, 2) C(1, 3) C(0, 1) C(2, 4) C(1, 2) C(3, 4)
#elif ODD == 7
#define SORT_ODD(C)                                                                                                   \
    C(0, 6) C(2, 3) C(4, 5) C(0, 2) C(1, 4) C(3, 6) C(0, 1) C(2, 5) C(3, 4) C(1, 2) C(4, 6) C(2, 3) C(4, 5) C(1, 2)    \
    C(3, 4) C(5, 6)
#define MERGE_ODD(C) \
    C(0, 1) C(2, 6) C(3, 5) C(0, 4) C(1, 5) C(2, 3) C(0, 2) C(1, 3) C(4, 6) C(1, 2) C(3, 4) C(5, 6)
#else
#define SORT_ODD(C)
#define MERGE_ODD(C)
#endif

// Sorts each ODD neighbouring keys of the lane.
void sort_odd(uint* key)
{
    UNROLLED
    for (uint i = 0; i < HELD; i += ODD) {
        SORT_ODD(COMPARE_NEIGHBOURS)
    }
}

// Does the same as sort_odd if each ODD neighbouring keys are bitonic.
void merge_odd(uint* key)
{
    UNROLLED
    for (uint i = 0; i < HELD; i += ODD) {
        MERGE_ODD(COMPARE_NEIGHBOURS)
    }
}

// Sorts the lane's keys. Each 2 * distance neighbouring keys are bitonic. Compares keys that are
// `distance` apart, then half of it, and so on.
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

// Sorts the keys of a column. After the sort each lane has HELD neighbouring keys. `team` is
// EXCHANGE_IN. The sort is a bitonic sort in which every comparison puts the smaller key first: two
// sorted halves are merged by comparing the two ends, then their neighbours, and so on (Batcher
// 1968). All bounds are constants, so that the keys stay in registers.
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
    // `lanes` lanes hold the two halves that are merged. `distance` is the distance of lanes that
    // compare keys.
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

// Returns which of the lane's sorted keys begin a run, as bits.
uint find_heads(const uint* key, TEAM_OF)
{
    const uint before = team_before(NUMBER_OF(key[HELD - 1]), 1, team);
    uint heads = key[0] != NO_KEY && (COLUMN_LANE == 0 || before != NUMBER_OF(key[0]));
    UNROLLED
    for (uint i = 1; i < HELD; ++i)
        heads |= (uint)(key[i] != NO_KEY && NUMBER_OF(key[i - 1]) != NUMBER_OF(key[i])) << i;
    return heads;
}
