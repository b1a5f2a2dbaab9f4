// edges: defines the length of an edge. This file comes before the kernels that read lengths.
// Host: src/graph/edges.rs
//
// If UNIT is 1, every edge has length 1 and values are not read. If THROUGH is 1, the length of
// edge number `edge` is values[source[edge]], otherwise values[edge]. Lengths are added by MULTIPLY
// of min-plus. EMPTY is the distance of a vertex to which no path leads.
#if !defined(UNIT) || !defined(THROUGH)
#error "UNIT, THROUGH: see src/graph/edges.rs"
#endif

// The parameters of kernels for the edges that enter or leave each vertex, as Entering and Leaving
// of src/graph/edges.rs pass them.
#define ENTERING_OF EDGES_OF(in_ptr, from)
#define LEAVING_OF EDGES_OF(out_ptr, to)
#define EDGES_OF(ptr, vertex)                                                                                         \
    global const uint* restrict ptr, global const uint* restrict vertex, global const uint* restrict source,          \
        global const ELEMENT* restrict values, uint stride

#if UNIT
#define LENGTH(edge) ((ARITHMETIC)1)
#elif THROUGH
#define LENGTH(edge) LOAD(values, (ulong)source[edge] * stride)
#else
#define LENGTH(edge) LOAD(values, (ulong)(edge) * stride)
#endif
