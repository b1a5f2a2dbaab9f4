// sweep: finds whether a sweep has lowered distances, one work-item per vertex.
// Host: src/graph/sweeps.rs
//
//   in      before[vertices]  after[vertices]   distances before and after the sweep
//   in out  changed[number]                     set to 1 if a distance has fallen
//
// `changed` is set atomically, so every interleaving of the work-items gives the same result.
KERNEL mark_fall(global const ELEMENT* restrict before, global const ELEMENT* restrict after, global uint* changed, uint vertices,
                 uint number)
{
    const uint vertex = get_global_id(0);
    if (vertex < vertices && after[vertex] < before[vertex])
        atomic_or(changed + number, 1u);
}
