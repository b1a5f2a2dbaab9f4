// balance: lengths from which the costs and gains of changed patches are computed, for balanced
// Lloyd relaxation.
// Host: src/graph/balance.rs
//
//   inside_lengths  one work-item per vertex, over the edges as they are stored
//   begin_second    one work-item per vertex: the least distance by way of one edge from another
//                   patch
//
//   in   ptr[vertices + 1]  idx[edges]             edges as they are stored
//   in   in_ptr[vertices + 1]  from[edges]         the edges that enter each vertex
//   in   source[edges]  values[]                   see edges.cl
//   in   label[vertices]  path_length[vertices]
//   out  inside[edges]       lengths of edges within patches, EMPTY for other edges
//   out  second[vertices]    the distances of begin_second; EMPTY if no edge comes from another
//                            patch
KERNEL inside_lengths(global const uint* restrict ptr, global const uint* restrict idx, global const ELEMENT* restrict values,
                      global const uint* restrict label, global ELEMENT* restrict inside, uint vertices, uint stride)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    for (uint entry = ptr[vertex]; entry < ptr[vertex + 1]; ++entry)
        inside[entry] = label[idx[entry]] == label[vertex] ? LOAD(values, (ulong)entry * stride) : EMPTY;
}

KERNEL begin_second(ENTERING_OF, global const uint* restrict label, global const ELEMENT* restrict path_length,
                    global ELEMENT* restrict second, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    ELEMENT least = EMPTY;
    for (uint edge = in_ptr[vertex]; edge < in_ptr[vertex + 1]; ++edge) {
        if (label[from[edge]] == label[vertex])
            continue;
        const ELEMENT length = LENGTH(edge), so_far = path_length[from[edge]], reached = MULTIPLY(length, so_far);
        least = reached < least ? reached : least;
    }
    second[vertex] = least;
}
