// predecessors: finds the vertex before each vertex on a shortest path.
// Host: src/graph/predecessors.rs
//
//   begin_predecessors  one work-item per vertex
//   settle_sources      one work-item per source
//   claim_closer        one work-item per vertex: offers the vertex as a predecessor to the
//                       vertices to which its edges lead, if the vertex is closer to the sources
//                       than they are
//   settle              one work-item per part of the vertices
//   mark_steps          one work-item per vertex: marks those of its edges that lead to vertices
//                       without a predecessor
//   claim_by_steps      one work-item per vertex, once `steps` are known
//
//   in      out_ptr[vertices + 1]  to[edges]  source[edges]  values[]    see edges.cl
//   in      vertex[sources]
//   in      path_length[vertices]
//   in out  settled[vertices]       1 for sources and for vertices that have a predecessor
//   in out  predecessor[vertices]   NONE for sources and for vertices that no source reaches
//   in out  waiting[1]              vertices that have no predecessor yet
//   out     step_length[edges]      1 for an edge whose begin may become the predecessor, else NONE
//   out     border[count]           settled vertices at which such edges begin, in any order
//   in out  count[1]
//   in      steps[vertices]         fewest such edges from the border; NONE if there is no path
//
// An edge is tight if the distance of its begin plus its length is the distance of its end. A
// vertex with tight edges from vertices that are closer to the sources takes one of these edges.
// Chains of such edges end at a source. Each other vertex takes a tight edge from a vertex that is
// one step closer to the settled vertices, so that no cycle arises. If a vertex can take several
// edges, it takes the edge from the vertex with the least number.
//
// Every interleaving of the work-items gives the same result, because no kernel reads values that
// other items of its launch write. Vertices are offered by atomic minima and counted by atomic
// additions. An item writes all other values to its own vertex, or to a place that it has reserved
// by an atomic addition.
#define NONE 0xffffffffu

KERNEL begin_predecessors(global uint* restrict settled, global uint* restrict predecessor, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    settled[vertex] = 0;
    predecessor[vertex] = NONE;
}

KERNEL settle_sources(global const uint* vertex, global const ELEMENT* path_length, global uint* settled, uint sources)
{
    const uint i = get_global_id(0);
    if (i < sources && path_length[vertex[i]] == 0)
        settled[vertex[i]] = 1;
}

KERNEL claim_closer(LEAVING_OF, global const ELEMENT* restrict path_length, global uint* predecessor, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    const ELEMENT so_far = path_length[vertex];
    if (!(so_far < EMPTY))
        return;
    for (uint edge = out_ptr[vertex]; edge < out_ptr[vertex + 1]; ++edge) {
        const uint next = to[edge];
        const ELEMENT length = LENGTH(edge), reached = path_length[next];
        if (so_far < reached && reached < EMPTY && MULTIPLY(length, so_far) == reached)
            atomic_min(predecessor + next, vertex);
    }
}

KERNEL settle(global const ELEMENT* restrict path_length, global const uint* restrict predecessor, global uint* restrict settled,
              global uint* waiting, uint vertices, uint parts)
{
    const uint part = get_global_id(0);
    if (part >= parts)
        return;
    const uint begin = (uint)((ulong)vertices * part / parts), end = (uint)((ulong)vertices * (part + 1) / parts);
    uint open = 0;
    for (uint vertex = begin; vertex < end; ++vertex) {
        if (settled[vertex] || !(path_length[vertex] < EMPTY))
            continue;
        if (predecessor[vertex] != NONE)
            settled[vertex] = 1;
        else
            ++open;
    }
    if (open > 0)
        atomic_add(waiting, open);
}

KERNEL mark_steps(LEAVING_OF, global const ELEMENT* restrict path_length, global const uint* restrict settled,
                  global uint* restrict step_length, global uint* restrict border, global uint* count, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    const ELEMENT so_far = path_length[vertex];
    uint any = 0;
    for (uint edge = out_ptr[vertex]; edge < out_ptr[vertex + 1]; ++edge) {
        const uint next = to[edge];
        const ELEMENT length = LENGTH(edge), reached = path_length[next];
        const uint leads = so_far < EMPTY && !settled[next] && reached < EMPTY && MULTIPLY(length, so_far) == reached;
        step_length[edge] = leads ? 1 : NONE;
        any |= leads;
    }
    if (any && settled[vertex])
        border[atomic_inc(count)] = vertex;
}

KERNEL claim_by_steps(global const uint* restrict out_ptr, global const uint* restrict to, global const uint* restrict step_length,
                      global const uint* restrict steps, global uint* predecessor, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices || steps[vertex] == NONE)
        return;
    for (uint edge = out_ptr[vertex]; edge < out_ptr[vertex + 1]; ++edge)
        if (step_length[edge] == 1 && steps[to[edge]] == steps[vertex] + 1)
            atomic_min(predecessor + to[edge], vertex);
}
