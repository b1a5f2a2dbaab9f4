// trees: disjoint sets of vertices. This file comes before the kernels that join them.
// Host: src/graph/components.rs, src/graph/labels.rs
//
//   in out  parent[vertices]  number not above the vertex's own; a root is its own parent
//
// A root becomes the child of a lower vertex of another tree, by an exchange that succeeds only
// while the vertex is a root. So the root of a tree is its least vertex.
//
// Every interleaving of the work-items gives the same trees, also if an item reads values that
// other items have replaced since:
//
//   root_of  writes only to vertices that are not roots, and writes ancestors of them. An older
//            ancestor may replace a newer one. Then the path is longer, but it leads to the same
//            root: each step goes to a lower vertex, and no write makes a vertex a root again.
//   join     `own` and `other` are the two ends of an edge, or ancestors of them. If a root was
//            joined to another tree since it was found, the exchange fails and returns an ancestor
//            of the root. When both are the same vertex, the ends are in one tree.
//
// Plain stores together with exchanges require that the device writes an aligned word of 32 bits as
// a whole, without changing neighbouring words. Every device that has `atomic_cmpxchg` writes
// aligned words of 32 bits as a whole.

// Returns the root of a vertex. Each vertex on the way gets an ancestor closer to the root as its
// parent.
uint root_of(volatile global uint* parent, uint vertex)
{
    uint above = parent[vertex]; // a race: an older ancestor is an ancestor, too
    while (above != vertex) {
        const uint next = parent[above]; // a race: an older ancestor is an ancestor, too
        if (next != above)
            parent[vertex] = next; // a race: the replaced value is an ancestor, too
        vertex = above;
        above = next;
    }
    return vertex;
}

// Joins the tree whose root was `own` with the tree of another vertex. Returns the common root.
uint join(volatile global uint* parent, uint own, uint vertex)
{
    uint other = root_of(parent, vertex);
    while (own != other) {
        const uint high = max(own, other), low = min(own, other);
        const uint found = atomic_cmpxchg(parent + high, high, low); // a race: other items use plain accesses
        own = low;
        other = found == high ? low : root_of(parent, found);
    }
    return own;
}
