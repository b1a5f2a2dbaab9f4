// heads: finds the starts of segments that are given by flags.
// Host: src/primitives/segments.rs
//
// One work-item per element. The first element begins a segment, and so does each element whose
// flag is not 0.
//
//   count_heads  rank[i] = 1 if element i begins a segment, else 0; a scan follows
//   place_heads  head[rank[i]] = i for each element that begins a segment
//
//   in      flags[n]
//   in out  rank[n]
//   out     head[segments]
KERNEL count_heads(global const uchar* restrict flags, global uint* restrict rank, uint n)
{
    const uint i = get_global_id(0);
    if (i < n)
        rank[i] = i == 0 || flags[i] != 0;
}

KERNEL place_heads(global const uchar* restrict flags, global const uint* restrict rank, global uint* restrict head, uint n)
{
    const uint i = get_global_id(0);
    if (i < n && (i == 0 || flags[i] != 0))
        head[rank[i]] = i;
}
