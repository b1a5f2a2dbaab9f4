// sweep: one sweep of the algorithm of Bellman and Ford: paths get one more edge.
// Host: src/graph/sweeps.rs
//
//   sweep         one work-item per vertex
//   last_lengths  one work-item per vertex
//
//   in      in_ptr[vertices + 1]  from[edges]   the edges that enter each vertex
//   in      source[edges]  values[]             see edges.cl
//   in      before[vertices]                    distances after the sweep before
//   out     after[vertices]
//   in out  last[vertices]                      begin of the edge that last lowered the distance
//   in out  changed[number]                     set to 1 if a distance has fallen
//   out     last_length[vertices]               length of the edge from `last`; EMPTY if there is
//                                               none
//
// Every interleaving gives the same result: an item writes only to its own vertex, and reads the
// distances from another array. `changed` is set atomically.
KERNEL sweep(ENTERING_OF, global const ELEMENT* restrict before, global ELEMENT* restrict after, global uint* restrict last,
             global uint* changed, uint vertices, uint number)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    const ELEMENT old = before[vertex];
    ELEMENT best = old;
    uint by = 0;
    for (uint edge = in_ptr[vertex]; edge < in_ptr[vertex + 1]; ++edge) {
        const ELEMENT length = LENGTH(edge), so_far = before[from[edge]], reached = MULTIPLY(length, so_far);
        if (reached < best) {
            best = reached;
            by = from[edge];
        }
    }
    after[vertex] = best;
    if (best < old) {
        last[vertex] = by;
        atomic_or(changed + number, 1u);
    }
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
