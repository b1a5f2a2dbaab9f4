// components: finds the least vertex of each connected component. Edges are taken in both
// directions.
// Host: src/graph/components.rs
//
//   own_roots  one work-item per vertex: makes each vertex a tree of its own
//   hook       one work-item per vertex: joins the trees of its edges' ends
//   flatten    one work-item per vertex: finds its root
//
//   in      col_ptr[vertices + 1]  row_idx[edges]
//   in out  parent[vertices]       see trees.cl
//   out     root[vertices]
//
// Every interleaving gives the same result, see trees.cl. After `hook`, both ends of each edge are
// in one tree. `flatten` finds the root of that tree while other items shorten the paths to it.
// Those items may write to any vertex that is no root. So roots are written to another array: in
// `parent` an older ancestor could replace a root.
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
