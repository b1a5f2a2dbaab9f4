// trees: disjoint sets of vertices. It comes before the kernels that join them.
// Host: src/graph/components.rs, src/graph/labels.rs
//
//   in out  parent[vertices]  never above the vertex; a root is its own
//
// A root is hooked to another tree's root only if that is lower, and only while it is a root: so
// the root of a tree is its least vertex, whatever the order.

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

// Joins the tree whose root was `own` with that of another vertex. Returns the root.
uint join(volatile global uint* parent, uint own, uint vertex)
{
    uint other = root_of(parent, vertex);
    while (own != other) {
        const uint high = max(own, other), low = min(own, other);
        const uint found = atomic_cmpxchg(parent + high, high, low);
        own = low;
        other = found == high ? low : root_of(parent, found);
    }
    return own;
}
