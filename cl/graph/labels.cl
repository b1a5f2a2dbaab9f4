// labels: the nearest source of each vertex, once distances are known. Of several the one with the
// lowest label.
// Host: src/graph/labels.rs
//
//   begin_labels   one work-item per vertex: the tight edge that it follows
//   join_levels    one work-item per vertex: it joins those at its distance
//   enter_levels   one work-item per vertex: its level's root, and the edge that the level follows
//   leave_levels   one work-item per vertex
//   label_sources  one work-item per source
//   follow         one work-item per vertex: the label at the end of its chain
//   lower_labels   one work-item per vertex; it and `follow` until no label changes
//
//   in      in_ptr[vertices + 1]  from[edges]   the edges that enter each vertex, ascending
//   in      source[edges]  values[]             see edges.cl
//   in      path_length[vertices]
//   in      vertex[sources]  of[sources]        different vertices, and their labels
//   in out  before[vertices]                    the vertex that a chain follows; itself at the end
//   in out  parent[vertices]                    the trees of levels, see trees.cl
//   in out  level[vertices]                     the root of each vertex, the least of its level
//   in out  leader[vertices]                    the vertex that a level follows, at its root
//   in out  chain[vertices]                     a copy of before, whose chains become shorter
//   in out  label[vertices]                     NONE out of reach
//   in out  open[1]                             vertices in reach that no closer one leads to
//   in out  changed[number]
//
// An edge is tight if its length leads from the distance of its begin to that of its end. A vertex
// takes the lowest label from which a chain of tight edges leads to it: there is one such label,
// whatever the order.
//
// Chains of tight edges from closer vertices end at a source, so following one gives a label at
// once that is right but for ties. Vertices that edges of length 0 connect in both directions are a
// level: they have one label, so that they follow the edge of any of them, by way of the level's
// root. The rest is few rounds. In each a vertex turns to the lowest label before it, if that is
// below its own, and all follow their chains again.
//
// Every interleaving is right:
//
//   join_levels   see trees.cl
//   enter_levels  the same as `flatten` in components.cl: roots go to another array than the trees,
//                 and `leader` takes the least vertex
//   follow        an item writes to a vertex that is no end, and writes a vertex further along its
//                 chain. An older one may replace a newer one: the rest of the chain is longer
//                 then, and ends at the same vertex. Chains are those of `before`, which nothing
//                 changes here and none of which closes. Labels are read at ends and written
//                 elsewhere
//   lower_labels  labels stay as they are. If several vertices of a level turn it, any of their
//                 edges may stay, because each leads from a label below the level's. Along a chain
//                 the labels never rise, and they fall wherever a level has turned. So a chain that
//                 closed would have no turned level, and be one from before
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
    // Vertices on the way come closer to the end: others then follow a shorter chain.
    uint at = vertex, next = chain[at]; // a race: what is read leads to the end
    while (next != at) {
        const uint further = chain[next]; // a race: what is read leads to the end
        if (further != next)
            chain[at] = further; // a race: what it replaces leads to the end, too
        at = next;
        next = further;
    }
    // No other item writes the label of an end.
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
        // Other vertices of the level may turn it, too: any of their edges may stay.
        atomic_xchg(before + level[vertex], first);
        atomic_or(changed + number, 1u);
    }
}
