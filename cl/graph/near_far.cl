// near_far: computes distances from the sources, edge by edge.
// Host: src/graph/near_far.rs
//
//   set_sources  one work-item per source, after distances were begun (start.cl)
//   near_far     one work-item, which visits about `budget` edges; the host repeats the launch
//
//   in      vertex[sources]                  different vertices
//   in      out_ptr[vertices + 1]  to[edges]  the edges that leave each vertex
//   in      source[edges]  values[]          see edges.cl
//   in out  path_length[vertices]
//   in out  place[vertices]                  in which list a vertex is: NOWHERE, NEAR, FAR
//   in out  near[vertices]                   a ring of vertices to be visited
//   in out  far[vertices]                    vertices beyond the limit, and some that have become
//                                            near
//   in out  bounds[2]                        the limit, and the step by which it rises
//   in out  record[RECORD]                   see the words below
//
// When the distance of a vertex falls, the vertex becomes near if the distance is at most the
// limit, otherwise far. Near vertices are visited in the order in which they became near. When no
// vertex is near, the limit rises. A vertex that was near once is never far again, since its
// distance only falls and the limit only rises. So `far` never has more than `vertices` entries. If
// a pass over the far vertices takes much longer than the visits before the pass, the step of the
// limit is doubled. The order of visits does not change a distance.
//
// Every interleaving of the work-items gives the same result, because `near_far` has one work-item,
// and each item of `set_sources` writes to its own elements. Some elements are bytes, which OpenCL
// devices write without changing neighbouring bytes.
#if !defined(RECORD)
#error "RECORD: see src/graph/near_far.rs"
#endif
#define NOWHERE 0
#define NEAR 1
#define FAR 2

// The words of the record.
#define HEAD 0
#define COUNT 1
#define FAR_COUNT 2
#define VISITED 3
#define PHASES 4
#define EDGES 5

KERNEL set_sources(global const uint* vertex, global uchar* place, global uint* near, uint sources)
{
    const uint i = get_global_id(0);
    if (i >= sources)
        return;
    place[vertex[i]] = NEAR;
    near[i] = vertex[i];
}

KERNEL near_far(LEAVING_OF, global ELEMENT* restrict path_length, global uchar* restrict place, global uint* restrict near,
                global uint* restrict far, global ELEMENT* restrict bounds, global ulong* restrict record, ulong vertices,
                ulong budget)
{
    ulong head = record[HEAD], count = record[COUNT], far_count = record[FAR_COUNT], edges = 0;
    ulong visited = record[VISITED];
    ELEMENT limit = bounds[0], step = bounds[1];
    while (edges < budget && (count > 0 || far_count > 0)) {
        if (count > 0) {
            const uint vertex = near[head];
            head = head + 1 < vertices ? head + 1 : 0;
            --count;
            ++visited;
            place[vertex] = NOWHERE;
            const ELEMENT so_far = path_length[vertex];
            const uint begin = out_ptr[vertex], end = out_ptr[vertex + 1];
            edges += end - begin + 1;
            for (uint edge = begin; edge < end; ++edge) {
                const uint next = to[edge];
                const ELEMENT length = LENGTH(edge), reached = MULTIPLY(length, so_far);
                if (!(reached < path_length[next]))
                    continue;
                path_length[next] = reached;
                const uchar in = place[next];
                if (reached <= limit) {
                    if (in != NEAR) {
                        const ulong tail = head + count < vertices ? head + count : head + count - vertices;
                        near[tail] = next;
                        place[next] = NEAR;
                        ++count;
                    }
                } else if (in == NOWHERE) {
                    far[far_count++] = next;
                    place[next] = FAR;
                }
            }
            continue;
        }
        if (far_count > 4 * visited + 64)
            step = MULTIPLY(step, step);
        visited = 0;
        ++record[PHASES];
        edges += far_count;
        limit = MULTIPLY(step, limit);
        ELEMENT least = EMPTY;
        ulong kept = 0;
        for (ulong i = 0; i < far_count; ++i) {
            const uint vertex = far[i];
            if (place[vertex] != FAR)
                continue;
            const ELEMENT reached = path_length[vertex];
            if (reached <= limit) {
                const ulong tail = head + count < vertices ? head + count : head + count - vertices;
                near[tail] = vertex;
                place[vertex] = NEAR;
                ++count;
            } else {
                far[kept++] = vertex;
                least = reached < least ? reached : least;
            }
        }
        far_count = kept;
        if (count == 0)
            limit = least; // the next pass takes at least the vertex with this distance
    }
    bounds[0] = limit;
    bounds[1] = step;
    record[HEAD] = head;
    record[COUNT] = count;
    record[FAR_COUNT] = far_count;
    record[VISITED] = visited;
    record[EDGES] += edges;
}
