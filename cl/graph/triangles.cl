// triangles: counts the triangles through each vertex of a graph.
// Host: src/graph/triangles.rs
//
//   flag_edges       nnz + 1 work-items
//   move_edges       one work-item per entry
//   begin_edges      vertices + 1 work-items
//   count_triangles  one work-item per edge
//                    (CPUs use count_marked instead, see triangles_marked.cl)
//
//   in      col_ptr[vertices + 1]  row_idx[nnz]   both directions of each edge, rows ascending
//   in out  place[nnz + 1]                        1 for an entry that is kept; after an exclusive
//                                                 scan, the number of kept entries before it
//   out     edge_ptr[vertices + 1]  to[edges]  owner[edges]
//   in out  count[vertices]
//
// One direction of each edge is kept: the direction that begins at the vertex with fewer
// neighbours, or with the lower number if both have equally many. The vertex at which the kept
// direction begins owns the edge. So no vertex owns more than sqrt(2 * edges) edges. A triangle is
// found once, at the edge whose two ends both have an edge to the third vertex.
//
// Every interleaving of the work-items gives the same counts, because counts grow by atomic
// additions, and no item reads them.

KERNEL flag_edges(global const uint* restrict col_ptr, global const uint* restrict row_idx, global uint* restrict place, uint nnz,
                  uint vertices)
{
    const uint entry = get_global_id(0);
    if (entry > nnz)
        return;
    uint stays = 0;
    if (entry < nnz) {
        const uint col = column_of(col_ptr, vertices, entry), row = row_idx[entry];
        const uint of_col = col_ptr[col + 1] - col_ptr[col], of_row = col_ptr[row + 1] - col_ptr[row];
        stays = of_col < of_row || (of_col == of_row && col < row);
    }
    place[entry] = stays;
}

KERNEL move_edges(global const uint* restrict col_ptr, global const uint* restrict row_idx, global const uint* restrict place,
                  global uint* restrict to, global uint* restrict owner, uint nnz, uint vertices)
{
    const uint entry = get_global_id(0);
    if (entry >= nnz || place[entry] == place[entry + 1])
        return;
    to[place[entry]] = row_idx[entry];
    owner[place[entry]] = column_of(col_ptr, vertices, entry);
}

KERNEL begin_edges(global const uint* restrict col_ptr, global const uint* restrict place, global uint* restrict edge_ptr, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex <= vertices)
        edge_ptr[vertex] = place[col_ptr[vertex]];
}

KERNEL count_triangles(global const uint* restrict edge_ptr, global const uint* restrict to, global const uint* restrict owner,
                       global uint* count, uint edges)
{
    const uint edge = get_global_id(0);
    if (edge >= edges)
        return;
    const uint one = owner[edge], other = to[edge];
    const uint of_one = edge_ptr[one + 1] - edge_ptr[one], of_other = edge_ptr[other + 1] - edge_ptr[other];
    // The neighbours of the end with fewer edges are looked up among the neighbours of the other
    // end.
    const uint few = of_one < of_other ? one : other, many = of_one < of_other ? other : one;
    const uint end = edge_ptr[many + 1];
    uint at = edge_ptr[many], found = 0;
    for (uint i = edge_ptr[few]; i < edge_ptr[few + 1] && at < end; ++i) {
        at = lower_bound(to, at, end, to[i]);
        if (at < end && to[at] == to[i]) {
            atomic_inc(count + to[i]);
            ++found;
        }
    }
    if (found > 0) {
        atomic_add(count + one, found);
        atomic_add(count + other, found);
    }
}
