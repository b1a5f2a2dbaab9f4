// labels: the nearest source of each vertex, once distances are known. Of several the one with the
// lowest label.
// Host: src/graph/labels.rs
//
//   begin_labels   one work-item per vertex: the tight edge that it follows
//   label_sources  one work-item per source
//   follow         one work-item per vertex: the label at the end of its chain
//   lower_labels   one work-item per vertex, repeated until no label changes
//
//   in      in_ptr[vertices + 1]  from[edges]   the edges that enter each vertex
//   in      source[edges]  values[]             see edges.cl
//   in      path_length[vertices]
//   in      vertex[sources]  of[sources]        different vertices, and their labels
//   in out  before[vertices]                    the vertex that a chain follows; itself at the end
//   in out  label[vertices]                     NONE out of reach
//   in out  changed[number]
//
// An edge is tight if its length leads from the distance of its begin to that of its end. A vertex
// takes the lowest label from which a chain of tight edges leads to it: there is one such label,
// whatever the order. Chains of tight edges from closer vertices end at a source, so following one
// gives a label at once that is right but for ties. The rest is few sweeps. An item may read a
// label that is lowered meanwhile: then the next sweep sees it.
#define NONE 0xffffffffu

KERNEL begin_labels(global const uint* restrict in_ptr, global const uint* restrict from, global const uint* restrict source,
                    global const ELEMENT* restrict values, global const ELEMENT* restrict path_length, global uint* restrict before,
                    global uint* restrict label, uint vertices, uint stride)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    const ELEMENT reached = path_length[vertex];
    uint first = vertex;
    if (reached < EMPTY)
        for (uint edge = in_ptr[vertex]; edge < in_ptr[vertex + 1] && first == vertex; ++edge) {
            const ELEMENT length = LENGTH(edge), so_far = path_length[from[edge]];
            if (so_far < reached && MULTIPLY(length, so_far) == reached)
                first = from[edge];
        }
    before[vertex] = first;
    label[vertex] = NONE;
}

KERNEL label_sources(global const uint* vertex, global const uint* of, global uint* label, uint sources)
{
    const uint i = get_global_id(0);
    if (i < sources)
        label[vertex[i]] = of[i];
}

KERNEL follow(volatile global uint* before, global uint* label, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    // Vertices on the way come closer to the end: others then follow a shorter chain.
    uint at = vertex, next = before[at];
    while (next != at) {
        const uint further = before[next];
        if (further != next)
            before[at] = further;
        at = next;
        next = further;
    }
    // No other item writes the label of an end.
    if (at != vertex)
        label[vertex] = label[at];
}

KERNEL lower_labels(global const uint* restrict in_ptr, global const uint* restrict from, global const uint* restrict source,
                    global const ELEMENT* restrict values, global const ELEMENT* restrict path_length, volatile global uint* label,
                    global uint* changed, uint vertices, uint stride, uint number)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    const ELEMENT reached = path_length[vertex];
    if (!(reached < EMPTY))
        return;
    const uint old = label[vertex];
    uint least = old;
    for (uint edge = in_ptr[vertex]; edge < in_ptr[vertex + 1]; ++edge) {
        const uint other = label[from[edge]];
        const ELEMENT length = LENGTH(edge), so_far = path_length[from[edge]];
        if (other < least && MULTIPLY(length, so_far) == reached)
            least = other;
    }
    if (least < old) {
        label[vertex] = least;
        atomic_or(changed + number, 1u);
    }
}
