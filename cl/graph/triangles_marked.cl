// count_marked: counts the triangles through each vertex of a graph, on CPUs. The neighbours of a
// vertex are marked, and then the marked vertices are found among the neighbours of each neighbour.
// A neighbour is the end of an edge that is kept (see triangles.cl). Each work-group is one
// work-item, which takes one range of vertices after another.
// Host: src/graph/triangles.rs
//
//   in      edge_ptr[vertices + 1]  to[edges]   each edge once, see triangles.cl
//   in out  count[vertices]
//   in out  taken[1]                number of ranges that were taken
//   in out  words[groups * places / 64]   for each work-group, the bits of the marked vertices;
//                                         zeros between two vertices
//   in out  list[groups * longest]        for each work-group, the marked vertices among the
//                                         neighbours of one vertex
//
// All ranges of vertices have equally many edges. Every interleaving of the work-groups gives the
// same counts, because counts and `taken` grow by atomic additions, and each work-group marks and
// lists vertices in its own memory.
#ifndef LOOKUP
#error "LOOKUP: see src/graph/triangles.rs"
#endif

// Lists the marked vertices to which the edges first..end lead, and returns their number. There
// must be at least one edge in first..end. The edges mark..mark_end lead to all marked vertices.
// The vertex of every edge is written to the list, and the list's end advances only if the vertex
// is marked. Writing every vertex avoids a branch, which would often be mispredicted. If few
// vertices are marked, they are looked up among the edges instead. A step of a lookup takes as long
// as going over LOOKUP edges.
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
