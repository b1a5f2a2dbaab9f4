// count_marked: the triangles through each vertex of a graph, on CPUs: the vertices that a vertex
// has edges to are marked, and looked for among those that each of them has edges to. One work-item
// per group, which takes one range of vertices after another.
// Host: src/graph/triangles.rs
//
//   in      edge_ptr[vertices + 1]  to[edges]   each edge once, see triangles.cl
//   in out  count[vertices]
//   in out  taken[1]                ranges that were taken
//   in out  words[groups * places / 64]   of each group: the bits of the marked vertices; zeros
//                                         between vertices
//   in out  list[groups * longest]        of each group: the marked among the vertices that one of
//                                         them has edges to
//
// Ranges have equally many edges. Every interleaving is right: counts and `taken` grow by atomic
// additions, and each group marks and lists in memory of its own.
#ifndef LOOKUP
#error "LOOKUP: see src/graph/triangles.rs"
#endif

// Lists the marked vertices to which the edges first..end lead, which are not none. The edges
// mark..mark_end lead to all marked ones. Returns their number. Every edge's vertex is written to
// the list, and its end moves on if it is marked, since a branch would be guessed wrong. If marked
// ones are few they are looked up instead: a step of that takes as long as LOOKUP edges.
uint list_marked(global const uint* restrict to, uint first, uint end, uint mark, uint mark_end, global const ulong* restrict words,
                 global uint* restrict list)
{
    uint count = 0;
    if ((ulong)(mark_end - mark) * LOOKUP * (32 - clz(end - first)) < end - first) {
        for (; mark < mark_end && first < end; ++mark) {
            const uint vertex = to[mark];
            first = lower_bound(to, first, end, vertex);
            list[count] = vertex;
            count += first < end && to[first] == vertex;
        }
    } else {
        for (; first < end; ++first) {
            const uint vertex = to[first];
            list[count] = vertex;
            count += (uint)(words[vertex / 64] >> vertex % 64) & 1;
        }
    }
    return count;
}

KERNEL count_marked(global const uint* restrict edge_ptr, global const uint* restrict to, global uint* count, global uint* taken,
                    global ulong* restrict words, global uint* restrict list, uint vertices, uint edges, uint ranges, uint places,
                    uint longest)
{
    const ulong group = get_group_id(0);
    global ulong* restrict const marks = words + group * (places / 64);
    global uint* restrict const found = list + group * longest;
    for (uint word = 0; word < places / 64; ++word)
        marks[word] = 0;
    for (uint range = atomic_inc(taken); range < ranges; range = atomic_inc(taken)) {
        uint one = lower_bound(edge_ptr, 0, vertices, (uint)((ulong)range * edges / ranges));
        const uint last = range + 1 == ranges ? vertices : lower_bound(edge_ptr, 0, vertices, (uint)((range + 1ul) * edges / ranges));
        for (; one < last; ++one) {
            const uint first = edge_ptr[one], end = edge_ptr[one + 1];
            uint of_one = 0;
            for (uint edge = first; edge < end; ++edge)
                marks[to[edge] / 64] |= (ulong)1 << to[edge] % 64;
            for (uint edge = first; edge < end; ++edge) {
                const uint other = to[edge], of_other = edge_ptr[other], end_of_other = edge_ptr[other + 1];
                if (of_other == end_of_other)
                    continue;
                const uint triangles = list_marked(to, of_other, end_of_other, first, end, marks, found);
                for (uint i = 0; i < triangles; ++i)
                    atomic_inc(count + found[i]);
                if (triangles > 0)
                    atomic_add(count + other, triangles);
                of_one += triangles;
            }
            if (of_one > 0)
                atomic_add(count + one, of_one);
            for (uint edge = first; edge < end; ++edge)
                marks[to[edge] / 64] = 0;
        }
    }
}
