// heads: the offsets of segments that are given by flags or by the rows of their elements.
// Host: src/primitives/segments/heads.rs
//
//   pack_flags   one work-item per word of 32 elements
//   count_heads  one work-item per word, and one more; a scan follows
//   place_heads  one work-item per word, and one more
//   check_rows   one work-item per element
//
//   in      flags[n]             a byte for each element, not 0 if it begins a segment
//   out     bits[words]          the same in bits, the lowest first
//   in      bits[words]          bits beyond the elements are not looked at; element 0 begins a
//                                segment in any case
//   in out  rank[words + 1]      heads in a word; after the scan, heads before it
//   out     offset[segments + 1]
//   in      row[n]
//   in out  wrong[1]             n before; after, the first element whose row is less than the row
//                                of the element before it, or not below `rows`

KERNEL pack_flags(global const uchar* restrict flags, global uint* restrict bits, uint n)
{
    const uint word = get_global_id(0), words = n / 32 + (n % 32 > 0);
    if (word >= words)
        return;
    const uint count = min(32u, n - 32 * word);
    uint packed = 0;
    for (uint i = 0; i < count; ++i)
        packed |= (uint)(flags[32 * word + i] != 0) << i;
    bits[word] = packed;
}

// Returns the heads in a word, as bits; 0 for the word after the last.
uint heads_of(global const uint* bits, uint word, uint n)
{
    const uint words = n / 32 + (n % 32 > 0);
    if (word >= words)
        return 0;
    const uint kept = n - 32 * word < 32 ? (1u << (n - 32 * word)) - 1 : 0xffffffffu;
    return (bits[word] | (word == 0)) & kept;
}

KERNEL count_heads(global const uint* restrict bits, global uint* restrict rank, uint n)
{
    const uint word = get_global_id(0);
    if (word <= n / 32 + (n % 32 > 0))
        rank[word] = popcount(heads_of(bits, word, n));
}

KERNEL place_heads(global const uint* restrict bits, global const uint* restrict rank, global uint* restrict offset, uint n)
{
    const uint word = get_global_id(0), words = n / 32 + (n % 32 > 0);
    if (word > words)
        return;
    uint at = rank[word];
    if (word == words)
        offset[at] = n;
    for (uint heads = heads_of(bits, word, n); heads > 0; heads &= heads - 1)
        offset[at++] = 32 * word + popcount((heads & -heads) - 1);
}

KERNEL check_rows(global const uint* restrict row, global uint* restrict wrong, uint rows, uint n)
{
    const uint i = get_global_id(0);
    if (i < n && (row[i] >= rows || (i > 0 && row[i] < row[i - 1])))
        atomic_min(wrong, i);
}
