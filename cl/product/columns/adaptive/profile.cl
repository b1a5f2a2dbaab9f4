// profile: computes the numbers by which the method of each column of C is chosen, and lists
// columns.
// Host: src/product/columns/adaptive/profile.rs
//
//   profile_columns   PART work-items per column of B, in a stride over the columns. A whole
//                     work-group takes each column of more than LONG entries
//   list_columns      work-items in a stride over the columns
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]
//   out  products[cols]           products of each column; larger numbers become 2^32 - 1
//   out  first_row[cols]  last_row[cols]   the least and the greatest row of each column of C with
//                                 more than sorted_most products, unless it is direct
//   out  class[cols]              the class of each column, see class_of, and FOLLOWS, see
//                                  cl/product/columns/adaptive/equal.cl. A column is hashed if its
//                                  range of rows has more than most_words words of 32 rows. A
//                                  column with such a range is of the last class if it has more
//                                  than HASHED_PRODUCTS products, or if there is no hashed class. A
//                                  column is sorted if it has at most FAR_PRODUCTS products and a
//                                  range of more than FAR_WORDS words. A column with a bitmap is of
//                                  class LONG_CLASS if it has more than MOST_ENTRIES entries of B
//   i/o  record[CLASSES * RECORD] for each class: columns, products, upper bound of the entries of
//                                  C, longest column of B, most products of a column, entries of B;
//                                  columns of dense classes that are hubs, and their products;
//                                  columns that follow, and the upper bound of their entries of C;
//                                  most words of a range of rows; visits of the columns whose rows
//                                  are found, and those of hubs. Each piece of a column's rows
//                                  visits all entries of the column of B. Zeros before. Products,
//                                  bounds and visits have two words, the low one first
//   i/o  record[CLASSES * RECORD + 2 ..]   number of columns of each class that were listed; zeros
//                                          before
//   out  list[cols]               the columns, class after class, within a class in any order. If
//                                 `shares_rows`, columns that follow are left out
#if !defined(CLASSES) || !defined(RECORD) || !defined(AT_ONCE) || !defined(PART) || !defined(LONG) || !defined(LEADING) || !defined(DIRECT) || !defined(SORTED) || !defined(SORTED_SIZES) || !defined(SORTED_MOST) || !defined(DENSE) || !defined(NARROW) || !defined(NARROW_WORDS) || !defined(MEDIUM_WORDS) || !defined(BIG_PRODUCTS) || !defined(LONG_CLASS) || !defined(MOST_ENTRIES) || !defined(HASHED) || !defined(HASHED_MOST) || !defined(HASHED_PRODUCTS) || !defined(FAR_WORDS) || !defined(FAR_PRODUCTS)
#error "see src/product/columns/adaptive/rules.rs"
#endif
#define COLUMNS (GROUP_SIZE / PART)
#define NO_ROWS (uint2)(0xffffffff, 0)
// Number of entries that a work-item looks up at once.
#define AHEAD 4

// Whether a column of B with `entries` entries is of the class of direct columns. The product may
// have no class of direct columns.
bool is_direct(uint entries)
{
    return DIRECT > 0 && entries == 1;
}

// Returns the class's number in `Class`, src/product/terms/class.rs. The model of `class_of` is in
// src/product/columns/adaptive/rules.rs.
uint class_of(uint entries, uint products, uint first_row, uint last_row, uint sorted_most, uint most_words)
{
    if (products == 0)
        return 0;
    if (is_direct(entries))
        return DIRECT;
    const uint words = last_row / 32 - first_row / 32 + 1;
    if (products <= sorted_most || (products <= FAR_PRODUCTS && words > FAR_WORDS)) {
        // The largest numbers of products of the sorted classes.
        const uint most[SORTED_SIZES] = {SORTED_MOST};
        uint sorted = SORTED;
        for (uint i = 0; i < SORTED_SIZES; ++i)
            sorted += products > most[i];
        return sorted;
    }
    if (!DENSE || words > most_words) {
        const uint bound = min(products, last_row - first_row + 1);
        // The largest numbers of rows of the hashed classes, from class HASHED on. The last class
        // has no limit.
        const uint most[HASHED_SIZES] = {HASHED_MOST};
        uint hashed = HASHED;
        for (uint i = 0; i < HASHED_SIZES; ++i)
            hashed += bound > most[i];
        return HASHED > 0 && products <= HASHED_PRODUCTS ? hashed : CLASSES - 1;
    }
    if (entries > MOST_ENTRIES)
        return LONG_CLASS;
    return NARROW + (products > BIG_PRODUCTS ? 3 : words <= NARROW_WORDS ? 0 : words <= MEDIUM_WORDS ? 1 : 2);
}

// Adds to a sum of two words. The additions to the two words are atomic. The item that causes a
// carry adds the carry.
void add_wide(volatile local uint* sum, uint value)
{
    if (atomic_add(sum, value) > 0xffffffff - value)
        atomic_inc(sum + 1);
}

// Returns the number of products of the entries begin, begin + step, and so on, before end.
uint products_of(global const uint* a_col_ptr, global const uint* b_row_idx, uint begin, uint end, uint step)
{
    uint products = 0;
    for (uint entry = begin; entry < end; entry += step) {
        const uint k = b_row_idx[entry];
        products = add_sat(products, a_col_ptr[k + 1] - a_col_ptr[k]);
    }
    return products;
}

// Returns the number of products of these entries, and the first and the last row of their columns
// of A, or (2^32 - 1, 0) if there is no row.
uint3 measure(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_row_idx, uint begin, uint end,
              uint step)
{
    uint3 found = (uint3)(0, NO_ROWS);
    for (ulong entry = begin; entry < end; entry += AHEAD * step) {
        uint from[AHEAD], to[AHEAD];
        UNROLLED
        for (uint q = 0; q < AHEAD; ++q) {
            from[q] = to[q] = 0;
            if (entry + q * step < end) {
                const uint k = b_row_idx[entry + q * step];
                from[q] = a_col_ptr[k];
                to[q] = a_col_ptr[k + 1];
            }
        }
        UNROLLED
        for (uint q = 0; q < AHEAD; ++q)
            if (from[q] < to[q])
                found = (uint3)(add_sat(found.x, to[q] - from[q]), min(found.y, a_row_idx[from[q]]), max(found.z, a_row_idx[to[q] - 1]));
    }
    return found;
}

// Writes the sizes of a column, and adds them to the sums of its class.
#define NOTE_COLUMN(at, of, count, rows, entries, follows)                                                            \
    do {                                                                                                              \
        local uint* of_class = sums + (of) * RECORD;                                                                  \
        const uint most_entries = rows.x <= rows.y ? min(count, rows.y - rows.x + 1) : count;                         \
        products[at] = count;                                                                                         \
        first_row[at] = rows.x;                                                                                       \
        last_row[at] = rows.y;                                                                                        \
        const bool hub = (of == LONG_CLASS || (of >= NARROW && of < NARROW + 4)) && is_hub(entries, count, most_entries); \
        class[at] = (of) | ((follows) ? FOLLOWS : 0) | (hub ? HUB : 0);                                               \
        atomic_inc(of_class);                                                                                         \
        add_wide(of_class + 1, count);                                                                                \
        add_wide(of_class + 3, most_entries);                                                                         \
        atomic_max(of_class + 5, entries);                                                                            \
        atomic_max(of_class + 6, count);                                                                              \
        atomic_add(of_class + 7, entries);                                                                            \
        if (hub) {                                                                                                    \
            atomic_inc(of_class + 8);                                                                                 \
            add_wide(of_class + 9, count);                                                                            \
        }                                                                                                             \
        if (follows) {                                                                                                \
            atomic_inc(of_class + 11);                                                                                \
            add_wide(of_class + 12, most_entries);                                                                    \
        }                                                                                                             \
        if (rows.x <= rows.y)                                                                                         \
            atomic_max(of_class + 14, rows.y / 32 - rows.x / 32 + 1);                                                  \
        if (of >= NARROW && of < CLASSES - 1) {                                                                       \
            const uint visits = (uint)min((ulong)(entries) * pieces_of(most_entries), (ulong)0xffffffff);             \
            add_wide(of_class + 15, visits);                                                                          \
            if (hub)                                                                                                  \
                add_wide(of_class + 17, visits);                                                                      \
        }                                                                                                             \
    } while (0)

KERNEL profile_columns(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                       global const uint* b_row_idx, global uint* products, global uint* first_row,
                       global uint* last_row, global uint* class, global uint* record, uint first_col, uint cols, uint sorted_most, uint most_words)
{
    TEAM_MEMORY;
    // together[] belongs to one long column: its products in two words, and its first and last row.
    local uint sums[CLASSES * RECORD], long_columns[COLUMNS], longs, together[4];
    const uint item = get_local_id(0), place = item % PART;
    for (uint i = item; i < CLASSES * RECORD; i += GROUP_SIZE)
        sums[i] = 0;
    for (ulong base = get_group_id(0) * COLUMNS; base < cols; base += get_num_groups(0) * COLUMNS) {
        if (item == 0)
            longs = 0;
        barrier(CLK_LOCAL_MEM_FENCE); // sums[] and longs are set to 0 before items add to them
        const uint col = min(base + item / PART, (ulong)cols);
        const uint begin = col < cols ? b_col_ptr[first_col + col] : 0, end = col < cols ? b_col_ptr[first_col + col + 1] : 0;
        const bool is_long = end - begin > LONG;
        if (is_long && place == 0)
            long_columns[atomic_inc(&longs)] = col;
        const uint stop = is_long ? begin : end;
        // A column of many entries mostly needs the range of its rows, so the rows are read
        // together with the products.
        const bool at_once = stop - begin > AT_ONCE;
        const uint3 own = at_once ? measure(a_col_ptr, a_row_idx, b_row_idx, begin + place, stop, PART)
                                  : (uint3)(products_of(a_col_ptr, b_row_idx, begin + place, stop, PART), NO_ROWS);
        uint count = own.x;
        for (uint bit = PART / 2; bit > 0; bit /= 2)
            count = add_sat(count, team_across(count, bit, TEAM));
        uint2 rows = own.yz;
        if (!at_once && count > sorted_most && !is_direct(end - begin))
            rows = measure(a_col_ptr, a_row_idx, b_row_idx, begin + place, stop, PART).yz;
        for (uint bit = PART / 2; bit > 0; bit /= 2)
            rows = (uint2)(min(rows.x, team_across(rows.x, bit, TEAM)), max(rows.y, team_across(rows.y, bit, TEAM)));
        const uint entries = stop - begin, of = class_of(entries, count, rows.x, rows.y, sorted_most, most_words);
        // The column is compared with the column before it only if its rows of C will be found.
        bool same = of >= NARROW && of < CLASSES - 1 && col > 0 && (first_col + col) % LEADING > 0
            && begin - b_col_ptr[first_col + col - 1] == entries;
        for (uint entry = begin + place; same && entry < stop; entry += PART)
            same = b_row_idx[entry] == b_row_idx[entry - entries];
        const uint of_part = team_votes(!same, TEAM) >> (LANE - place) & ((1u << PART) - 1);
        if (place == 0 && col < cols && !is_long)
            NOTE_COLUMN(col, of, count, rows, entries, of_part == 0);
        barrier(CLK_LOCAL_MEM_FENCE); // longs and long_columns[] are written before other items read them
        const uint of_group = longs;
        for (uint i = 0; i < of_group; ++i) {
            if (item < 4)
                together[item] = item == 2 ? 0xffffffff : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            const uint from = b_col_ptr[first_col + long_columns[i]], to = b_col_ptr[first_col + long_columns[i] + 1];
            const uint3 own = measure(a_col_ptr, a_row_idx, b_row_idx, from + item, to, GROUP_SIZE);
            add_wide(together, own.x);
            atomic_min(together + 2, own.y);
            atomic_max(together + 3, own.z);
            barrier(CLK_LOCAL_MEM_FENCE);
            count = together[1] > 0 ? 0xffffffff : together[0];
            rows = (uint2)(together[2], together[3]);
            if (item == 0) {
                const uint of = class_of(to - from, count, rows.x, rows.y, sorted_most, most_words);
                NOTE_COLUMN(long_columns[i], of, count, rows, to - from, false);
            }
            barrier(CLK_LOCAL_MEM_FENCE); // together[] is read before the next column overwrites it
        }
        barrier(CLK_LOCAL_MEM_FENCE); // longs is read before it is set to 0
    }
    for (uint i = item; i < CLASSES * RECORD; i += GROUP_SIZE) {
        const uint word = i % RECORD, sum = sums[i];
        if (word == 5 || word == 6 || word == 14)
            atomic_max(record + i, sum);
        else if (sum > 0 && atomic_add(record + i, sum) > 0xffffffff - sum && (word == 1 || word == 3 || word == 9 || word == 12 || word == 15 || word == 17))
            atomic_inc(record + i + 1);
    }
}

KERNEL list_columns(global const uint* class, global uint* record, global uint* list, uint cols, uint shares_rows)
{
    global uint* cursor = record + CLASSES * RECORD + 2;
    local uint counts[CLASSES], firsts[CLASSES];
    const uint item = get_local_id(0);
    for (ulong base = get_group_id(0) * GROUP_SIZE; base < cols; base += get_num_groups(0) * GROUP_SIZE) {
        for (uint i = item; i < CLASSES; i += GROUP_SIZE)
            counts[i] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint col = min(base + item, (ulong)cols), word = col < cols ? class[col] : 0, of = CLASS_OF(word);
        const bool listed = col < cols && !(shares_rows && (word & FOLLOWS));
        const uint place = listed ? atomic_inc(counts + of) : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = item; i < CLASSES; i += GROUP_SIZE) {
            if (counts[i] > 0) {
                uint first = atomic_add(cursor + i, counts[i]);
                for (uint before = 0; before < i; ++before)
                    first += record[before * RECORD] - (shares_rows ? record[before * RECORD + 11] : 0);
                firsts[i] = first;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (listed)
            list[firsts[of] + place] = col;
        barrier(CLK_LOCAL_MEM_FENCE); // counts[] and firsts[] are read before they are overwritten
    }
}
