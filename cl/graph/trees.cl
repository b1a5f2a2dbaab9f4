// trees: disjoint sets of vertices. It comes before the kernels that join them.
// Host: src/graph/components.rs, src/graph/labels.rs
//
//   in out  parent[vertices]  never above the vertex; a root is its own
//
// A root is hooked to a lower vertex of another tree, by an exchange that succeeds only while it is
// a root. So the root of a tree is its least vertex.
//
// Every interleaving is right, also if an item reads values that others have replaced since:
//
//   root_of  writes only to vertices that were hooked, and writes ancestors of theirs. An older
//            ancestor may replace a newer one. Then the path is longer, but it leads to the same
//            root: each step goes to a lower vertex, and no write makes a vertex a root again.
//   join     `own` and `other` are the two ends or ancestors of theirs. If a root was hooked since
//            it was found, the exchange fails and returns an ancestor of the root. When both are
//            the same vertex, the ends are in one tree.
//
// Plain stores beside exchanges require that the device writes an aligned word of 32 bits whole,
// without its neighbours. Every device that has `atomic_cmpxchg` does.

// The root of a vertex. Vertices on the way come closer to it.
uint root_of(volatile global uint* parent, uint vertex)
{
    uint above = parent[vertex]; // a race: an older ancestor is one, too
    while (above != vertex) {
        const uint next = parent[above]; // a race: the same
        if (next != above)
            parent[vertex] = next; // a race: what it replaces is an ancestor, too
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
        const uint found = atomic_cmpxchg(parent + high, high, low); // a race: the others read and write plainly
        own = low;
        other = found == high ? low : root_of(parent, found);
    }
    return own;
}
