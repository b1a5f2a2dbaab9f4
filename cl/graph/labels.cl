// labels: finds the nearest source of each vertex, once distances are known. If several sources are
// nearest, the source with the lowest label counts.
// Host: src/graph/labels.rs
//
//   begin_labels   one work-item per vertex: finds the tight edge that the vertex follows
//   join_levels    one work-item per vertex: joins the vertex with vertices of its level
//   enter_levels   one work-item per vertex: finds the root of the vertex's level, and the edge
//                  that the level follows
//   leave_levels   one work-item per vertex
//   label_sources  one work-item per source
//   follow         one work-item per vertex: reads the label at the end of the vertex's chain
//   lower_labels   one work-item per vertex. lower_labels and follow are repeated until no label
//                  changes
//
//   in      in_ptr[vertices + 1]  from[edges]   the edges that enter each vertex, ascending
//   in      source[edges]  values[]             see edges.cl
//   in      path_length[vertices]
//   in      vertex[sources]  of[sources]        different vertices, and their labels
//   in out  before[vertices]                    the next vertex of each vertex's chain; at the end
//                                               of a chain, the vertex itself
//   in out  parent[vertices]                    the trees of levels, see trees.cl
//   in out  level[vertices]                     the root of each vertex: the least vertex of its
//                                               level
//   in out  leader[vertices]                    at the root of a level, the vertex that the level
//                                               follows
//   in out  chain[vertices]                     a copy of before, whose chains become shorter
//   in out  label[vertices]                     NONE if no source reaches the vertex
//   in out  open[1]                             number of reached vertices without a tight edge
//                                               from a closer vertex
//   in out  changed[number]
//
// An edge is tight if the distance of its begin plus its length is the distance of its end. A
// vertex takes the lowest label from which a chain of tight edges leads to the vertex. There is
// exactly one such label, whatever the order of the work-items.
//
// Chains of tight edges from closer vertices end at a source. The label at the end of a chain is
// correct unless several sources are equally near. Vertices that edges of length 0 connect in both
// directions are a level. All vertices of a level have one label. So the vertices of a level follow
// one edge, which enters any vertex of the level, by way of the level's root. A few more rounds
// correct the labels of vertices with several nearest sources. In each round a vertex compares its
// label with the labels from which tight edges lead to it. If a vertex finds a label below its own
// label, its level follows the edge with the lowest label from then on. All vertices then follow
// their chains again.
//
// Every interleaving of the work-items gives the same labels:
//
//   join_levels   see trees.cl
//   enter_levels  as with `flatten` in components.cl, roots are written to another array than the
//                 trees, and `leader` takes the least vertex
//   follow        an item writes only to vertices that are not ends. It writes a vertex further
//                 along the chain. An older value may replace a newer one: then the rest of the
//                 chain is longer, and ends at the same vertex. Chains are those of `before`, which
//                 does not change here and has no cycle. Labels are read at ends and written
//                 elsewhere
//   lower_labels  no label changes. If several vertices of a level replace its edge, any of their
//                 edges may stay, because each leads from a label below the level's. From a vertex
//                 to the next of its chain the label never rises, and it falls where an edge was
//                 replaced. Around a cycle it cannot fall, so no edge of a cycle was replaced: the
//                 cycle would have been there before this kernel, when there was none
#define NONE 0xffffffffu

KERNEL begin_labels(ENTERING_OF, global const ELEMENT* restrict path_length, global uint* restrict before,
                    global uint* restrict level, global uint* restrict label, global uint* open, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    const ELEMENT reached = path_length[vertex];
    uint first = vertex;
    if (reached < EMPTY) {
        for (uint edge = in_ptr[vertex]; edge < in_ptr[vertex + 1] && first == vertex; ++edge) {
            const ELEMENT length = LENGTH(edge), so_far = path_length[from[edge]];
            if (so_far < reached && MULTIPLY(length, so_far) == reached)
                first = from[edge];
        }
        if (first == vertex)
            atomic_inc(open);
    }
    before[vertex] = first;
    level[vertex] = vertex;
    label[vertex] = NONE;
}

KERNEL join_levels(ENTERING_OF, global const ELEMENT* restrict path_length, volatile global uint* parent, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    const ELEMENT reached = path_length[vertex];
    if (!(reached < EMPTY))
        return;
    uint own = root_of(parent, vertex);
    for (uint edge = in_ptr[vertex]; edge < in_ptr[vertex + 1] && from[edge] < vertex; ++edge) {
        const uint other = from[edge], end = in_ptr[other + 1];
        const ELEMENT length = LENGTH(edge);
        if (path_length[other] != reached || MULTIPLY(length, reached) != reached)
            continue;
        const uint back = lower_bound(from, in_ptr[other], end, vertex);
        if (back == end || from[back] != vertex)
            continue;
        const ELEMENT length_back = LENGTH(back);
        if (MULTIPLY(length_back, reached) == reached)
            own = join(parent, own, other);
    }
}

KERNEL enter_levels(global const uint* restrict before, volatile global uint* parent, global uint* restrict level, global uint* leader,
                    uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    const uint root = root_of(parent, vertex);
    level[vertex] = root;
    if (before[vertex] != vertex)
        atomic_min(leader + root, before[vertex]);
}

KERNEL leave_levels(global uint* restrict before, global const uint* restrict level, global const uint* restrict leader, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    if (level[vertex] != vertex)
        before[vertex] = level[vertex];
    else if (leader[vertex] != NONE)
        before[vertex] = leader[vertex];
}

KERNEL label_sources(global const uint* vertex, global const uint* of, global const uint* level, global uint* label, uint sources)
{
    const uint i = get_global_id(0);
    if (i < sources)
        atomic_min(label + level[vertex[i]], of[i]);
}

KERNEL follow(volatile global uint* chain, global uint* label, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    // Each vertex on the way along the chain gets a later vertex of the chain as its next vertex,
    // so that items which follow the chain later take fewer steps.
    uint at = vertex, next = chain[at]; // a race: any value leads to the end
    while (next != at) {
        const uint further = chain[next]; // a race: any value leads to the end
        if (further != next)
            chain[at] = further; // a race: the replaced value leads to the end, too
        at = next;
        next = further;
    }
    // No item writes the label of a vertex at the end of a chain.
    if (at != vertex)
        label[vertex] = label[at];
}

KERNEL lower_labels(ENTERING_OF, global const ELEMENT* restrict path_length, global const uint* restrict label,
                    global const uint* restrict level, global uint* before, global uint* changed, uint vertices, uint number)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    const ELEMENT reached = path_length[vertex];
    if (!(reached < EMPTY))
        return;
    uint least = label[vertex], first = vertex;
    for (uint edge = in_ptr[vertex]; edge < in_ptr[vertex + 1]; ++edge) {
        const uint other = label[from[edge]];
        const ELEMENT length = LENGTH(edge), so_far = path_length[from[edge]];
        if (other < least && MULTIPLY(length, so_far) == reached) {
            least = other;
            first = from[edge];
        }
    }
    if (first != vertex) {
        // Items of other vertices of the level may also replace the level's edge. Whichever item
        // writes last, its edge is a valid choice.
        atomic_xchg(before + level[vertex], first);
        atomic_or(changed + number, 1u);
    }
}
