// start: sets the distances before any path is known, to 0 at the sources and to EMPTY elsewhere.
// Host: src/graph/start.rs
//
//   begin_distances  one work-item per vertex
//   begin_sources    one work-item per source, after begin_distances
//
//   in   vertex[sources]
//   out  path_length[vertices]
KERNEL begin_distances(global ELEMENT* path_length, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex < vertices)
        path_length[vertex] = EMPTY;
}

KERNEL begin_sources(global const uint* vertex, global ELEMENT* path_length, uint sources)
{
    const uint i = get_global_id(0);
    if (i < sources)
        path_length[vertex[i]] = 0;
}
