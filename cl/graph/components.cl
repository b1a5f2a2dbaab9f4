// components: the least vertex of each connected component, edges taken in both directions.
// Host: src/graph/components.rs
//
//   own_roots  one work-item per vertex: each is a tree of its own
//   hook       one work-item per vertex: joins the trees of its edges' ends
//   flatten    one work-item per vertex: its root
//
//   in      col_ptr[vertices + 1]  row_idx[edges]
//   in out  parent[vertices]       never above the vertex; a root is its own
//
// A root is hooked to another tree's root only if that is lower, and only while it is a root: so
// the root of a tree is its least vertex, whatever the order.
KERNEL own_roots(global uint* parent, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex < vertices)
        parent[vertex] = vertex;
}

// The root of a vertex. Vertices on the way come closer to it: they are no roots, which alone are
// hooked.
uint root_of(volatile global uint* parent, uint vertex)
{
    uint above = parent[vertex];
    while (above != vertex) {
        const uint next = parent[above];
        if (next != above)
            parent[vertex] = next;
        vertex = above;
        above = next;
    }
    return vertex;
}

KERNEL hook(global const uint* restrict col_ptr, global const uint* restrict row_idx, volatile global uint* parent, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    uint own = root_of(parent, vertex);
    for (uint edge = col_ptr[vertex]; edge < col_ptr[vertex + 1]; ++edge) {
        uint other = root_of(parent, row_idx[edge]);
        while (own != other) {
            const uint high = max(own, other), low = min(own, other);
            const uint found = atomic_cmpxchg(parent + high, high, low);
            own = low;
            other = found == high ? low : root_of(parent, found);
        }
    }
}

KERNEL flatten(volatile global uint* parent, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex < vertices)
        parent[vertex] = root_of(parent, vertex);
}
