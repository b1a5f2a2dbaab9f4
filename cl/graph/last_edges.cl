// last_edges: the edges that lowered distances last, one work-item per vertex.
// Host: src/graph/sweeps.rs
//
//   last_edges    after each sweep
//   last_lengths  before cycles are looked for
//
//   in      in_ptr[vertices + 1]  from[edges]   the edges that enter each vertex
//   in      source[edges]  values[]             see edges.cl
//   in      before[vertices]                    distances before the sweep
//   in out  after[vertices]                     distances after the sweep; no NaN remains
//   in out  last[vertices]                      begin of the edge that last lowered the distance
//   out     last_length[vertices]               length of the edge from `last`; EMPTY if there is
//                                               none
//
// Every interleaving of the work-items gives the same result, because an item writes only to its
// own vertex.

// If a length and a distance are infinite with opposite signs, their sum is NaN, which is no
// distance. If a distance is NaN after a sweep, this kernel replaces it by the least distance over
// the vertex's edges.
KERNEL last_edges(ENTERING_OF, global const ELEMENT* restrict before, global ELEMENT* restrict after, global uint* restrict last,
                  uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices || after[vertex] >= before[vertex])
        return;
    ELEMENT best = before[vertex];
    for (uint edge = in_ptr[vertex]; edge < in_ptr[vertex + 1]; ++edge) {
        const ELEMENT length = LENGTH(edge), so_far = before[from[edge]], reached = MULTIPLY(length, so_far);
        if (reached < best) {
            best = reached;
            last[vertex] = from[edge];
        }
    }
    after[vertex] = best;
}

KERNEL last_lengths(ENTERING_OF, global const uint* restrict last, global ELEMENT* restrict last_length, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    ELEMENT of_last = EMPTY;
    for (uint edge = in_ptr[vertex]; edge < in_ptr[vertex + 1]; ++edge)
        if (from[edge] == last[vertex])
            of_last = LENGTH(edge);
    last_length[vertex] = of_last;
}
