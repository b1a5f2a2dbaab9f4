// components: the least vertex of each connected component, edges taken in both directions.
// Host: src/graph/components.rs
//
//   own_roots  one work-item per vertex: each is a tree of its own
//   hook       one work-item per vertex: joins the trees of its edges' ends
//   flatten    one work-item per vertex: its root
//
//   in      col_ptr[vertices + 1]  row_idx[edges]
//   in out  parent[vertices]       see trees.cl
//   out     root[vertices]
//
// Every interleaving is right, see trees.cl. `hook` ends with both ends of each edge in one tree.
// `flatten` finds the root of that tree while other items shorten the paths to it. They may write
// to any vertex that is no root, so roots go to another array: in `parent` an older ancestor could
// replace a root.
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
