// count: finds the rows of columns of C, by a bitmap of them in local memory.
// Host: src/product/columns/dense/mod.rs
//
//   count_narrow   teams in a stride over the columns listed. The bitmap of each team has `words`
//                  words. Short columns of wide ranges are counted by fewer teams in a work-group
//   count_wide     work-groups in a stride over the columns and their windows of rows. A window has
//                  32 * `words` rows, and the first begins with the column's first row
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]
//   in   list[first + columns]   the columns, counted from first_col, if `listed`
//   in   first_row[cols]  last_row[cols]    the rows of each column lie between them
//   in   products[cols]          read only if the purpose is SAMPLE
//   i/o  lengths[cols * windows]  entries of C in each column and window; zeros before.
//                                count_narrow counts all entries of a column as those of its first
//                                window
//   i/o  place[cols * windows]   the position in `rows` of the rows of each window; NOWHERE if they
//                                did not fit
//   i/o  top[top_at]             the end of the rows written
//   out  rows[room]              the rows of C, ascending in each window. The windows are in any
//                                order: the window that is complete first gets the next place
//
// `purpose` says which windows are counted (see cl/product/columns/tasks/found.cl). With SAMPLE,
// which only count_wide supports, `columns` evenly spaced columns among the first `first` columns
// are counted. Columns without rows, with too many rows for their windows, or with more than
// SAMPLE_PRODUCTS products are left out. The number of entries of C is added to top[top_at], and
// its upper bound to the next word.
//
// An item that sets the first bit of a word puts the word on a list. If all words fit the list,
// they are sorted, and only they are read and cleared. If the words do not fit the list, all words
// of the range are read and cleared.
#if !defined(SAMPLE_PRODUCTS)
#error "see src/product/columns/dense/mod.rs"
#endif
#define TEAMS (GROUP_SIZE / TEAM_SIZE)
// Number of stretches of a column of A that are read together.
#define STEPS 64
// Number of words on the list: two for each item of a team.
#define TOUCHED 64

// Returns the number of rows of a step: the power of two from 4 to 32 that holds `count` rows, or
// 32.
uint width_of(uint count)
{
    return count <= 4 ? 4 : count <= 8 ? 8 : count <= 16 ? 16 : 32;
}

// Marks a row in a bitmap. Returns whether no bit of its word was set before. A bit that is set
// already need not be set again, but only the items of a warp may read it without an atomic.
bool mark(local uint* bits, uint word, uint bit)
{
#if WARPS
    if (((volatile local uint*)bits)[word] & bit)
        return false;
#endif
    return atomic_or(bits + word, bit) == 0;
}

KERNEL count_narrow(IN_ROWS, local uint* bitmaps, uint top_at, IN_COLUMNS)
{
    TEAM_MEMORY;
    local uint touched_words[TEAMS][2 * TOUCHED], touched_counts[TEAMS];
    local uint2 steps_of_teams[TEAMS][STEPS];
    const uint team_number = get_local_id(0) / TEAM_SIZE, lane = LANE;
    local uint* bits = bitmaps + team_number * words;
    local uint* touched = touched_words[team_number];
    local uint* touched_count = touched_counts + team_number;
    local uint2* steps = steps_of_teams[team_number];
    for (uint word = lane; word < words; word += TEAM_SIZE)
        bits[word] = 0;
    for (uint i = get_group_id(0) * TEAMS + team_number; i < columns; i += get_num_groups(0) * TEAMS) {
        const uint col = listed ? list[first + i] : i;
        if (purpose == MISSING && place[col * windows] != NOWHERE)
            continue;
        const uint low = first_row[col] / 32, range = last_row[col] / 32 - low + 1;
        const uint begin = b_col_ptr[first_col + col], end = b_col_ptr[first_col + col + 1];
        if (lane == 0)
            *touched_count = 0;
        TEAM_BARRIER; // bits[] and *touched_count are set to 0 before items change them
        // The columns of A of the next 32 entries are looked up in advance.
        uint next_from = 0, next_count = 0;
        if (begin + lane < end) {
            const uint k = b_row_idx[begin + lane];
            next_from = a_col_ptr[k];
            next_count = a_col_ptr[k + 1] - next_from;
        }
        for (uint entry = begin; entry < end; entry += TEAM_SIZE) {
            const uint from = next_from, count = next_count;
            next_count = 0;
            if (entry + TEAM_SIZE + lane < end) {
                const uint k = b_row_idx[entry + TEAM_SIZE + lane];
                next_from = a_col_ptr[k];
                next_count = a_col_ptr[k + 1] - next_from;
            }
            // A step is `width` rows of a column of A. The longest of these columns of A determines
            // the width.
            const uint width = width_of(team_max(count, TEAM));
            const uint own = (count + width - 1) / width, in_step = lane % width, at_once = TEAM_SIZE / width;
            uint all;
            const uint before = team_sum_before(own, &all, TEAM);
            for (uint base = 0; base < all; base += STEPS) {
                TEAM_BARRIER; // steps[] is read before it is overwritten
                for (uint step = max(before, base); step < min(before + own, base + STEPS); ++step) {
                    const uint done = (step - before) * width;
                    steps[step - base] = (uint2)(from + done, min(width, count - done));
                }
                TEAM_BARRIER;
                const uint here = min((uint)STEPS, all - base);
                for (uint step = lane / width; step - lane / width < here; step += 4 * at_once) {
                    uint row[4];
                    UNROLLED
                    for (uint q = 0; q < 4; ++q) {
                        row[q] = NOWHERE;
                        if (step + q * at_once < here) {
                            const uint2 of = steps[step + q * at_once];
                            if (in_step < of.y)
                                row[q] = a_row_idx[of.x + in_step];
                        }
                    }
                    UNROLLED
                    for (uint q = 0; q < 4; ++q)
                        if (row[q] != NOWHERE && mark(bits, row[q] / 32 - low, 1u << row[q] % 32)) {
                            const uint at = atomic_inc(touched_count);
                            if (at < TOUCHED)
                                touched[at] = row[q] / 32 - low;
                        }
                }
            }
        }
        TEAM_BARRIER;
        const uint touches = *touched_count;
        const bool few = touches <= TOUCHED;
        if (few) {
            // Each item ranks two of the words. The rank of a word is its place in ascending order.
            const uint mine = lane < touches ? touched[lane] : NOWHERE, other = lane + 32 < touches ? touched[lane + 32] : NOWHERE;
            uint rank = 0, other_rank = 0;
            for (uint q = 0; q < touches; ++q) {
                const uint word = touched[q];
                rank += word < mine;
                other_rank += word < other;
            }
            if (mine != NOWHERE)
                touched[TOUCHED + rank] = mine;
            if (other != NOWHERE)
                touched[TOUCHED + other_rank] = other;
        }
        // No barrier is in a branch, because PoCL 5 does not compile barriers in both branches.
        TEAM_BARRIER;
        uint word = 0, next = 0, set = 0, next_set = 0, count = 0, all;
        if (few) {
            // An item takes two neighbouring words, so that one sum gives the place of both.
            word = 2 * lane < touches ? touched[TOUCHED + 2 * lane] : 0;
            next = 2 * lane + 1 < touches ? touched[TOUCHED + 2 * lane + 1] : 0;
            set = 2 * lane < touches ? bits[word] : 0;
            next_set = 2 * lane + 1 < touches ? bits[next] : 0;
            count = popcount(set) + popcount(next_set);
        } else
            for (uint of_range = lane; of_range < range; of_range += TEAM_SIZE)
                count += popcount(bits[of_range]);
        uint before = team_sum_before(count, &all, TEAM);
        uint at = 0;
        if (lane == 0) {
            at = take_place(top + top_at, all, room);
            place[col * windows] = at;
            if (purpose == ALL)
                lengths[col * windows] = all;
        }
        at = team_from(at, 0, TEAM);
        global uint* to = rows + (at == NOWHERE ? 0 : at);
        if (set != 0)
            bits[word] = 0;
        if (next_set != 0)
            bits[next] = 0;
        if (at != NOWHERE) {
            for (; set != 0; set &= set - 1)
                to[before++] = (low + word) * 32 + 31 - clz(set & -set);
            for (; next_set != 0; next_set &= next_set - 1)
                to[before++] = (low + next) * 32 + 31 - clz(next_set & -next_set);
        }
        const uint words_left = few ? 0 : range;
        for (uint base = 0; base < words_left; base += TEAM_SIZE) {
            const uint of_range = base + lane, here = of_range < range ? bits[of_range] : 0;
            if (here != 0)
                bits[of_range] = 0;
            before = team_sum_before(popcount(here), &all, TEAM);
            if (at != NOWHERE && all > 0)
                write_rows(here, before, all, (low + base) * 32, to, TEAM);
            to += all;
        }
        TEAM_BARRIER; // bits[] is set to 0 and touched[] is read before the next column changes them
    }
}

KERNEL count_wide(IN_ROWS, local uint* bits, uint top_at, IN_COLUMNS)
{
    TEAM_MEMORY;
    // The extents are stretches of columns of A. steps_before[] has the number of steps before each
    // extent.
    local uint2 extents[GROUP_SIZE];
    local uint steps_before[GROUP_SIZE], team_sums[TEAMS], team_rows[TEAMS], shared_at;
    const uint item = get_local_id(0), lane = LANE, team_number = item / TEAM_SIZE;
    for (uint word = item; word < words; word += GROUP_SIZE)
        bits[word] = 0;
    for (uint i = get_group_id(0); i < columns * windows; i += get_num_groups(0)) {
        const uint number = i / windows, window = i % windows;
        const uint col = purpose == SAMPLE ? (uint)((ulong)number * first / columns) : listed ? list[first + number] : number;
        const uint to_place = col * windows + window;
        const uint column_low = first_row[col] / 32, column_high = last_row[col] / 32 + 1;
        const bool in_windows = first_row[col] <= last_row[col] && column_high - column_low <= words * windows;
        const uint samples = purpose == SAMPLE && in_windows ? products[col] : 0;
        // The window may have rows of the column in `range` words, from row low * 32 on.
        const uint low = column_low + window * words, high = min(column_high, low + words);
        barrier(CLK_LOCAL_MEM_FENCE); // bits[] is set to 0 before items change it; shared_at is read before it is overwritten
        if (purpose == SAMPLE && (samples == 0 || samples > SAMPLE_PRODUCTS))
            continue;
        if (purpose == SAMPLE && window == 0 && item == 0)
            atomic_add(top + top_at + 1, min(samples, last_row[col] - first_row[col] + 1));
        if (low >= high || (purpose == MISSING && place[to_place] != NOWHERE))
            continue; // lengths[] is 0 there
        const uint range = high - low;
        const bool whole = low == column_low && high == column_high;
        const uint begin = b_col_ptr[first_col + col], end = b_col_ptr[first_col + col + 1];
        for (uint base = begin; base < end; base += GROUP_SIZE) {
            uint from = 0, count = 0;
            if (base + item < end) {
                const uint k = b_row_idx[base + item];
                uint to = a_col_ptr[k + 1];
                from = a_col_ptr[k];
                if (!whole) {
                    from = lower_bound(a_row_idx, from, to, low * 32);
                    to = high < 1u << 27 ? lower_bound(a_row_idx, from, to, high * 32) : to;
                }
                count = to - from;
            }
            const uint rows_of_team = team_sum(min(count, (uint)TEAM_SIZE), TEAM);
            if (lane == 0)
                team_rows[team_number] = rows_of_team;
            barrier(CLK_LOCAL_MEM_FENCE);
            uint rows_here = 0;
            for (uint team = 0; team < TEAMS; ++team)
                rows_here += team_rows[team];
            // A step is `width` rows of an extent. `width` is chosen for extents of average length;
            // a long extent takes several steps. The number of steps before an extent is the number
            // of steps before it in its own team, plus the steps of the earlier teams.
            const uint width = width_of(rows_here / min((uint)GROUP_SIZE, end - base)), in_step = lane % width, at_once = GROUP_SIZE / width;
            const uint own = (count + width - 1) / width;
            uint of_team;
            uint before = team_sum_before(own, &of_team, TEAM);
            if (lane == 0)
                team_sums[team_number] = of_team;
            barrier(CLK_LOCAL_MEM_FENCE);
            uint all = 0;
            for (uint team = 0; team < TEAMS; ++team) {
                before += team < team_number ? team_sums[team] : 0;
                all += team_sums[team];
            }
            extents[item] = (uint2)(from, count);
            steps_before[item] = before;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint step = item / width; step < all; step += 4 * at_once) {
                uint row[4];
                UNROLLED
                for (uint q = 0; q < 4; ++q) {
                    const uint number = step + q * at_once;
                    row[q] = NOWHERE;
                    if (number < all) {
                        uint low_end = 0;
                        for (uint half_size = GROUP_SIZE / 2; half_size > 0; half_size /= 2)
                            low_end += steps_before[low_end + half_size] <= number ? half_size : 0;
                        const uint2 of = extents[low_end];
                        const uint at = (number - steps_before[low_end]) * width + in_step;
                        if (at < of.y)
                            row[q] = a_row_idx[of.x + at];
                    }
                }
                UNROLLED
                for (uint q = 0; q < 4; ++q)
                    if (row[q] != NOWHERE)
                        mark(bits, row[q] / 32 - low, 1u << row[q] % 32);
            }
            barrier(CLK_LOCAL_MEM_FENCE); // extents[] is read before it is overwritten; bits[] is written before items read it
        }
        // Each team takes a stretch of words, a multiple of 32.
        const uint blocks = (range + 31) / 32, per_team = (blocks + TEAMS - 1) / TEAMS;
        const uint first_block = min(team_number * per_team, blocks), last_block = min(first_block + per_team, blocks);
        uint count = 0, all = 0, before = 0;
        for (uint word = first_block * 32 + lane; word < min(last_block * 32, range); word += TEAM_SIZE)
            count += popcount(bits[word]);
        count = team_sum(count, TEAM);
        if (lane == 0)
            team_sums[team_number] = count;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint team = 0; team < TEAMS; ++team) {
            before += team < team_number ? team_sums[team] : 0;
            all += team_sums[team];
        }
        if (item == 0) {
            shared_at = take_place(top + top_at, all, room);
            if (purpose != SAMPLE)
                place[to_place] = shared_at;
            if (purpose == ALL)
                lengths[to_place] = all;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint at = shared_at;
        global uint* to = rows + (at == NOWHERE ? 0 : at) + before;
        for (uint block = first_block; block < last_block; ++block) {
            const uint word = block * 32 + lane, set = word < range ? bits[word] : 0;
            if (set != 0)
                bits[word] = 0;
            uint of_block;
            const uint in_block = team_sum_before(popcount(set), &of_block, TEAM);
            if (at != NOWHERE && of_block > 0)
                write_rows(set, in_block, of_block, (low + block * 32) * 32, to, TEAM);
            to += of_block;
        }
    }
}
