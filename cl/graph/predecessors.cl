// predecessors: the vertex before each on a shortest path.
// Host: src/graph/predecessors.rs
//
//   begin_ranks  one work-item per vertex
//   claim        one work-item per vertex: it offers itself to the vertices that its edges lead to
//   settle       one work-item per part of the vertices
//
//   in      out_ptr[vertices + 1]  to[edges]  source[edges]  values[]    see edges.cl
//   in      vertex[sources]
//   in      path_length[vertices]
//   in out  rank[vertices]          0 for sources and for vertices that have a predecessor closer
//                                   to the sources, else the round that found one; NONE before
//   in out  predecessor[vertices]   NONE for sources and for vertices out of reach
//   in out  waiting[1]              vertices that have no predecessor yet
//
// An edge is tight if its length leads from the distance of its begin to that of its end. Round 0
// takes tight edges from vertices that are closer to the sources; it is left out if some length is
// negative. Each later round takes tight edges from the vertices of all rounds before, so that no
// chain of predecessors closes. Of several vertices the one with the least number stays.
#define NONE 0xffffffffu

KERNEL begin_ranks(global uint* restrict rank, global uint* restrict predecessor, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    rank[vertex] = NONE;
    predecessor[vertex] = NONE;
}

KERNEL rank_sources(global const uint* vertex, global const ELEMENT* path_length, global uint* rank, uint sources)
{
    const uint i = get_global_id(0);
    if (i < sources && path_length[vertex[i]] == 0)
        rank[vertex[i]] = 0;
}

KERNEL claim(global const uint* restrict out_ptr, global const uint* restrict to, global const uint* restrict source,
             global const ELEMENT* restrict values, global const ELEMENT* restrict path_length, global const uint* restrict rank,
             global uint* predecessor, uint vertices, uint stride, uint this_round)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    const ELEMENT so_far = path_length[vertex];
    if (!(so_far < EMPTY) || (this_round > 0 && rank[vertex] >= this_round))
        return;
    for (uint edge = out_ptr[vertex]; edge < out_ptr[vertex + 1]; ++edge) {
        const uint next = to[edge];
        const ELEMENT length = LENGTH(edge);
        if (rank[next] == NONE && MULTIPLY(length, so_far) == path_length[next] && (this_round > 0 || so_far < path_length[next]))
            atomic_min(predecessor + next, vertex);
    }
}

KERNEL settle(global const ELEMENT* restrict path_length, global const uint* restrict predecessor, global uint* restrict rank,
              global uint* waiting, uint vertices, uint parts, uint this_round)
{
    const uint part = get_global_id(0);
    if (part >= parts)
        return;
    const uint begin = (uint)((ulong)vertices * part / parts), end = (uint)((ulong)vertices * (part + 1) / parts);
    uint open = 0;
    for (uint vertex = begin; vertex < end; ++vertex) {
        if (rank[vertex] != NONE || !(path_length[vertex] < EMPTY))
            continue;
        if (predecessor[vertex] != NONE)
            rank[vertex] = this_round;
        else
            ++open;
    }
    if (open > 0)
        atomic_add(waiting, open);
}
