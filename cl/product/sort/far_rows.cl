// far_rows: sorts products by rows that do not fit a key together with a place. This file comes
// before the kernels that sort, and after cl/product/sort/keys.cl.
// Hosts: src/product/sort/mod.rs, src/product/esc/sorted_chunks.rs
//
// FAR_ROWS is 1 if some rows do not fit a key. Kernels use the same macros in both cases:
//
//   ROWS_MEMORY(columns)            memory for the rows of `columns` columns, if it is needed
//   NOTE_ROW(key, i, row, place)    stores the row of the lane's place number i
//   SORT_ROWS(key, products, words) sorts the keys of all places. Each place has a stored row, or
//                                     its key is NO_KEY. `words` are those of EXCHANGE_IN
//   SORT_RUNS(key, products, words) the same; returns which of the lane's keys begin a run, as bits
//   ROW_OF(key)                     the row of a sorted key
#if !defined(FAR_ROWS)
#error "FAR_ROWS: see src/product/sort/columns.rs, src/product/tuning.rs"
#endif
#if !FAR_ROWS
#define ROWS_MEMORY(columns)
#define NOTE_ROW(key, i, row, place) (key[i] = KEY_OF(row, place))
#define SORT_ROWS(key, products, words) sort_keys(key, EXCHANGE_IN(words))
#define SORT_RUNS(key, products, words) (SORT_ROWS(key, products, words), find_heads(key, TEAM))
#define ROW_OF(key) NUMBER_OF(key)
#else
#define ROWS_MEMORY(columns)                                                                                          \
    local uint all_rows[(columns) * PRODUCTS];                                                                        \
    local uint* rows = all_rows + get_local_id(0) / LANES * PRODUCTS
#define NOTE_ROW(key, i, row, place) (rows[place] = key[i] = (row))
#define SORT_ROWS(key, products, words) sort_far_rows(key, rows, products, EXCHANGE_IN(words))
#define SORT_RUNS(key, products, words) SORT_ROWS(key, products, words)
#define ROW_OF(key) rows[PLACE_OF(key)]
// Number of rounds in which neighbours are swapped, before all products are sorted again.
#define NEIGHBOURS 2

// Whether the rows of a column of the team descend anywhere. `before` is the row before the lane's
// first row.
bool any_descends(const uint* row, uint before, TEAM_OF)
{
    uint descends = COLUMN_LANE > 0 && before > row[0];
    UNROLLED
    for (uint i = 1; i < HELD; ++i)
        descends |= row[i - 1] > row[i];
    return team_max(descends, team) > 0;
}

// Swaps two products if their rows descend.
#define ORDER(first, second)                                                                                          \
    if (row[first] > row[second]) {                                                                                   \
        const uint greater_row = row[first], its_key = key[first];                                                    \
        row[first] = row[second];                                                                                     \
        key[first] = key[second];                                                                                     \
        row[second] = greater_row;                                                                                    \
        key[second] = its_key;                                                                                        \
    }

// Does a round of odd-even transposition, which is stable.
void order_neighbours(uint* row, uint* key, TEAM_OF)
{
    UNROLLED
    for (uint i = 0; i + 1 < HELD; i += 2)
        ORDER(i, i + 1);
    UNROLLED
    for (uint i = 1; i + 1 < HELD; i += 2)
        ORDER(i, i + 1);
    const uint row_before = team_before(row[HELD - 1], 1, team), key_before = team_before(key[HELD - 1], 1, team);
    const uint next = (LANE + 1) % TEAM_SIZE;
    const uint row_behind = team_from(row[0], next, team), key_behind = team_from(key[0], next, team);
    if (COLUMN_LANE + 1 < LANES && row[HELD - 1] > row_behind) {
        row[HELD - 1] = row_behind;
        key[HELD - 1] = key_behind;
    }
    if (COLUMN_LANE > 0 && row_before > row[0]) {
        row[0] = row_before;
        key[0] = key_before;
    }
}

// Sorts the products of a column by row, and makes keys of the numbers of their runs. Returns which
// of the lane's keys begin a run, as bits. At the start key[i] is the row of the lane's place
// number i, or NO_KEY if there is none, and rows[] has the rows of all places. `team` is
// EXCHANGE_IN.
//
// Rows are counted from the least row of the column. The first sort is by the high bits of the
// rows, as many bits as fit a key. Products with equal high bits are a group, in the order of their
// places. If few rows descend in a group, neighbours are swapped. If some rows still descend, the
// number of the group is sorted together with the next bits, and so on. Most columns need one sort:
// their rows are either close together, or so far apart that no group has more than two or three
// products.
uint sort_far_rows(uint* key, local const uint* rows, uint products, TEAM_OF)
{
    // The least row, and the complement of the last row. The two numbers are minima over the
    // column.
    uint ends[2] = {NO_KEY, NO_KEY}, other[2];
    UNROLLED
    for (uint i = 0; i < HELD; ++i) {
        ends[0] = min(ends[0], key[i]);
        ends[1] = min(ends[1], key[i] == NO_KEY ? NO_KEY : ~key[i]);
    }
    UNROLLED
    for (uint bits = LANES / 2; bits > 0; bits /= 2) {
        team_across_all(other, ends, 2, bits, team);
        ends[0] = min(ends[0], other[0]);
        ends[1] = min(ends[1], other[1]);
    }
    const uint least = ends[0], place_bits = 31 - clz((uint)PLACES), row_bits = 32 - clz(~ends[1] - least + 1);
    // The number of bits of rows that are not sorted yet.
    uint left = max(row_bits + place_bits, 32u) - 32;
    UNROLLED
    for (uint i = 0; i < HELD; ++i)
        key[i] = key[i] == NO_KEY ? NO_KEY : KEY_OF((key[i] - least) >> left, COLUMN_LANE + i * LANES);
    // If no bits are left, the rows fit the keys. No key has 32 ones, because row_bits is the
    // length of a number of rows.
    if ((LANES < TEAM_SIZE ? team_max(left, team) : left) == 0) {
        sort_keys(key, team);
        return find_heads(key, team);
    }
    const uint first = COLUMN_LANE * HELD;
    bool descends;
    uint heads;
    do {
        sort_keys(key, team);
        uint row[HELD];
        UNROLLED
        for (uint i = 0; i < HELD; ++i)
            row[i] = first + i < products ? rows[PLACE_OF(key[i])] - least : NO_KEY;
        uint before = team_before(row[HELD - 1], 1, team);
        descends = any_descends(row, before, team);
        for (uint round = 0; descends && round < NEIGHBOURS; ++round) {
            order_neighbours(row, key, team);
            before = team_before(row[HELD - 1], 1, team);
            descends = any_descends(row, before, team);
        }
        // The bits mark the bounds of groups, which are runs in the end.
        const uint unsorted = descends ? left : 0, more = descends ? min(left, 32 - 2 * place_bits) : 0;
        heads = first < products && (COLUMN_LANE == 0 || before >> unsorted != row[0] >> unsorted);
        UNROLLED
        for (uint i = 1; i < HELD; ++i)
            heads |= (uint)(first + i < products && row[i - 1] >> unsorted != row[i] >> unsorted) << i;
        uint groups = team_part_sum_before(popcount(heads), LANES, team);
        left -= more;
        UNROLLED
        for (uint i = 0; i < HELD; ++i) {
            groups += heads >> i & 1;
            const uint number = (groups - 1) << more | (row[i] >> left & ((1u << more) - 1));
            key[i] = first + i < products ? KEY_OF(number, PLACE_OF(key[i])) : NO_KEY;
        }
    } while (descends);
    return heads;
}
#endif
