// sweep: a sweep of Bellman and Ford: paths of one edge more. One work-item per vertex.
// Host: src/graph/sweeps.rs
//
//   in      in_ptr[vertices + 1]  from[edges]   the edges that enter each vertex
//   in      source[edges]  values[]             see edges.cl
//   in      before[vertices]                    distances by the sweep before
//   out     after[vertices]
//   in out  last[vertices]                      the vertex before, of the edge that lowered the
//                                               distance last
//   in out  changed[number]                     set to 1 if a distance has fallen
KERNEL sweep(global const uint* restrict in_ptr, global const uint* restrict from, global const uint* restrict source,
             global const ELEMENT* restrict values, global const ELEMENT* restrict before, global ELEMENT* restrict after,
             global uint* restrict last, global uint* changed, uint vertices, uint stride, uint number)
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
