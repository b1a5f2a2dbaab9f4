// components: finds the least vertex of each connected component. Edges connect in both directions.
// Host: src/graph/components.rs
//
//   own_roots  one work-item per vertex: makes each vertex a tree of its own
//   hook       one work-item per vertex: joins the trees of the ends of the vertex's edges
//   flatten    one work-item per vertex: finds the root of the vertex's tree
//
//   in      col_ptr[vertices + 1]  row_idx[edges]
//   in out  parent[vertices]       see trees.cl
//   out     root[vertices]
//
// Every interleaving of the work-items gives the same result, see trees.cl. After `hook`, both ends
// of each edge are in one tree. An item of `flatten` finds the root of a vertex's tree while other
// items shorten the paths to this root. Those items may write to any vertex that is no root. So
// roots are written to the array `root`: in `parent` another item could replace a root by an older
// ancestor.
KERNEL own_roots(global uint* parent, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex < vertices)
        parent[vertex] = vertex;
}

KERNEL hook(global const uint* restrict col_ptr, global const uint* restrict row_idx, volatile global uint* parent, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    uint own = root_of(parent, vertex);
    for (uint edge = col_ptr[vertex]; edge < col_ptr[vertex + 1]; ++edge)
        own = join(parent, own, row_idx[edge]);
}

KERNEL flatten(volatile global uint* parent, global uint* restrict root, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex < vertices)
        root[vertex] = root_of(parent, vertex);
}
