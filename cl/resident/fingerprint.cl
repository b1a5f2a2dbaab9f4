// fingerprint: computes two sums over an array's words. Each word is mixed with its place. Two
// patterns count as equal if their sums are equal.
// Host: src/resident/pattern.rs
//
//   Work-items stride over the words. Each work-group has two sums.
//
//   in      word[words]
//   in out  sums[groups * 2]        the sums of this array are added to them
#define PLUS(x, y) ((x) + (y))
GROUP_SCAN(group_sum, ulong, PLUS)

// A bijection of 64-bit numbers (Steele, Lea, Flood 2014: SplitMix).
ulong mixed(ulong x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9UL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebUL;
    return x ^ (x >> 31);
}

KERNEL fingerprint(global const uint* word, global ulong* sums, uint words, uint array)
{
    local ulong shared[GROUP_SIZE];
    const ulong salt = 0x9e3779b97f4a7c15UL * (array + 1);
    ulong first = 0, second = 0;
    for (ulong i = get_global_id(0); i < words; i += get_global_size(0)) {
        const ulong key = (i << 32) | word[i];
        first += mixed(key + salt);
        second += mixed(~key ^ salt);
    }
    ulong totals[2];
    group_sum(first, shared, &totals[0]);
    group_sum(second, shared, &totals[1]);
    if (get_local_id(0) == 0)
        for (uint i = 0; i < 2; ++i)
            sums[2 * get_group_id(0) + i] += totals[i];
}
