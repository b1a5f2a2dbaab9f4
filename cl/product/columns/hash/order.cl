// order: puts the distinct rows of a column of C in ascending order. All items of a work-group take
// part. This file comes before the kernels that count by hashes, and after
// cl/product/columns/tasks/bits.cl.
// Host: src/product/columns/hash/mod.rs
//
// A bitmap orders rows without comparing them: each row sets its bit, then the rows of set bits are
// written. A range of rows that the bitmap does not cover is cut into windows. If there are many
// windows for the number of rows, the rows are sorted instead.
#define TEAMS (GROUP_SIZE / TEAM_SIZE)
// Number of rows that an item loads together.
#define AHEAD 4

// Returns the sum of the values of all items before this one in the work-group. `all` becomes the
// sum of the whole work-group. `before` is the sum of the items before this one in its team, and
// `of_team` the sum of its whole team. Every item of the work-group calls `group_sum_before`.
uint group_sum_before(uint before, uint of_team, uint* all, local uint* team_sums)
{
#if WARPS
    uint sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE); // team_sums[] is read before it is overwritten
    if (LANE == 0)
        team_sums[get_local_id(0) / TEAM_SIZE] = of_team;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint other = 0; other < TEAMS; ++other) {
        before += other < get_local_id(0) / TEAM_SIZE ? team_sums[other] : 0;
        sum += team_sums[other];
    }
    *all = sum;
#else
    *all = of_team; // a team is a work-group
#endif
    return before;
}

// Moves the rows of a table of `capacity` places to its front, in any order. FENCE is the kind of
// memory of the table. Rows never move towards the end. The rows of AHEAD places of each item are
// read before any row is written.
#define MOVE_ROWS(table, capacity, FENCE)                                                                             \
    for (uint base = 0, moved = 0; base < capacity; base += AHEAD * GROUP_SIZE) {                                     \
        uint row[AHEAD], before[AHEAD], of_team = 0, all;                                                             \
        UNROLLED for (uint q = 0; q < AHEAD; ++q)                                                                     \
        {                                                                                                             \
            const uint at = base + q * GROUP_SIZE + item;                                                             \
            row[q] = at < capacity ? table[at] : NO_ROW;                                                              \
            const uint taken = team_votes(row[q] != NO_ROW, TEAM);                                                    \
            before[q] = of_team + popcount(taken & ((1u << LANE) - 1));                                               \
            of_team += popcount(taken);                                                                               \
        }                                                                                                             \
        barrier(FENCE); /* the table is read before it is overwritten */                                              \
        const uint in_group = moved + group_sum_before(0, of_team, &all, team_sums);                                  \
        UNROLLED for (uint q = 0; q < AHEAD; ++q)                                                                     \
        {                                                                                                             \
            if (row[q] != NO_ROW)                                                                                     \
                table[in_group + before[q]] = row[q];                                                                 \
        }                                                                                                             \
        moved += all;                                                                                                 \
    }

// Sorts key[0..count) in local memory, by a bitonic sort in which every comparison puts the smaller
// key first. Two sorted halves are merged by comparing the two ends, then their neighbours, and so
// on (Batcher 1968). Keys after the last one would not move, so they need not exist.
void sort_local(local uint* key, uint count)
{
    for (uint half_size = 1; half_size < count; half_size *= 2) {
        for (uint distance = half_size; distance > 0; distance /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE); // key[] is written before other items read it
            for (uint pair = get_local_id(0);; pair += GROUP_SIZE) {
                const uint in_part = pair & (distance - 1), low = 2 * (pair - in_part) + in_part;
                const uint high = distance == half_size ? 2 * (pair - in_part) + 2 * distance - 1 - in_part : low + distance;
                if (low >= count)
                    break;
                if (high < count && key[low] > key[high]) {
                    const uint larger = key[low];
                    key[low] = key[high];
                    key[high] = larger;
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

#define GROUP_MEMORY_BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

// Sorts from[0..count). The sort uses `words` words of local memory, and memory for `count` rows at
// `to`. Returns which of the two arrays has the sorted rows.
global const uint* sort_global(global uint* from, global uint* to, uint count, local uint* part, uint words)
{
    const uint item = get_local_id(0);
    for (uint base = 0; base < count; base += words) {
        const uint here = min(words, count - base);
        for (uint at = item; at < here; at += GROUP_SIZE)
            part[at] = from[base + at];
        sort_local(part, here);
        for (uint at = item; at < here; at += GROUP_SIZE)
            from[base + at] = part[at];
        barrier(CLK_LOCAL_MEM_FENCE); // part[] is read before it is overwritten
    }
    GROUP_MEMORY_BARRIER;
    // Sorted parts are merged in pairs. The place of a row is the number of rows before it in its
    // own part plus the number of lower rows in the other part.
    for (uint width = words; width < count; width *= 2) {
        for (uint at = item; at < count; at += GROUP_SIZE) {
            const uint number = at / width, row = from[at];
            const uint other = min((number ^ 1) * width, count), end = min(other + width, count);
            to[number / 2 * 2 * width + at % width + lower_bound(from, other, end, row) - other] = row;
        }
        GROUP_MEMORY_BARRIER;
        global uint* merged = to;
        to = from;
        from = merged;
    }
    return from;
}

// Whether a bitmap of `words` words orders rows faster than a sort. Each of its windows reads all
// `places` places of the table, and each word is cleared once and read twice. Each round of a
// bitonic sort compares all rows.
bool bits_pay(uint places, uint count, uint range, uint words)
{
    const ulong windows = (range - 1) / (32 * max(words, 1u)) + 1;
    const uint halvings = 32 - clz(count), rounds = halvings * (halvings + 1) / 2;
    return (words > 0) & (windows * places + 3 * (range / 32) <= (ulong)count * rounds);
}

// Sets the bits of those rows of row[0..count) that are among the `here` rows from `low` on. NO_ROW
// is not among these rows.
#define DEFINE_SET_BITS(set_bits, SPACE)                                                                              \
    void set_bits(local uint* bits, SPACE const uint* row, uint count, uint low, uint here)                           \
    {                                                                                                                 \
        for (uint base = get_local_id(0); base < count; base += AHEAD * GROUP_SIZE) {                                 \
            uint bit[AHEAD];                                                                                          \
            UNROLLED for (uint q = 0; q < AHEAD; ++q)                                                                 \
                bit[q] = (base + q * GROUP_SIZE < count ? row[base + q * GROUP_SIZE] : NO_ROW) - low;                 \
            UNROLLED for (uint q = 0; q < AHEAD; ++q)                                                                 \
            {                                                                                                         \
                if (bit[q] < here)                                                                                    \
                    atomic_or(bits + bit[q] / 32, 1u << bit[q] % 32);                                                 \
            }                                                                                                         \
        }                                                                                                             \
    }
DEFINE_SET_BITS(set_bits_of_local, local)
DEFINE_SET_BITS(set_bits_of_global, global)

// Writes the rows whose bits are set in `words` words, and returns their number. The first bit
// stands for row `low`. Each team takes a stretch of words, a multiple of 32.
uint write_bits(local const uint* bits, uint words, uint low, global uint* to, local uint* team_sums, TEAM_OF)
{
    const uint blocks = (words + 31) / 32, per_team = (blocks + TEAMS - 1) / TEAMS;
    const uint first_block = min((uint)get_local_id(0) / TEAM_SIZE * per_team, blocks);
    const uint last_block = min(first_block + per_team, blocks);
    uint count = 0, all;
    for (uint word = first_block * 32 + LANE; word < min(last_block * 32, words); word += TEAM_SIZE)
        count += popcount(bits[word]);
    const uint of_team = team_sum(count, team);
    to += group_sum_before(0, of_team, &all, team_sums);
    for (uint block = first_block; block < last_block; ++block) {
        const uint word = block * 32 + LANE, set = word < words ? bits[word] : 0;
        uint of_block;
        const uint before = team_sum_before(popcount(set), &of_block, team);
        if (of_block > 0)
            write_rows(set, before, of_block, low + block * 1024, to, team);
        to += of_block;
    }
    return all;
}

// Writes the rows of row[0..count) to rows[to..] in ascending order, by a bitmap of `words` words.
// NO_ROW is left out. The rows are among the `range` rows from `first` on. If `range` is 0, nothing
// is written.
#define WRITE_BY_BITS(set_bits, row, count, first, range, bits, words, to)                                            \
    const uint windows_of_rows = (range) == 0 ? 0 : ((range) - 1) / (32 * (words)) + 1;                               \
    for (uint window = 0, done = 0; window < windows_of_rows; ++window) {                                             \
        const uint from = window * 32 * (words), here = min(32 * (words), (range) - from);                            \
        for (uint word = item; word < (here + 31) / 32; word += GROUP_SIZE)                                           \
            (bits)[word] = 0;                                                                                         \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                 \
        set_bits(bits, row, count, (first) + from, here);                                                             \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                 \
        done += write_bits(bits, (here + 31) / 32, (first) + from, rows + to + done, team_sums, TEAM);                \
        barrier(CLK_LOCAL_MEM_FENCE); /* bits is read before the next window overwrites it */                         \
    }
