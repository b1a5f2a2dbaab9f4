// edges: the length of an edge. It comes before the kernels that read lengths.
// Host: src/graph/edges.rs
//
// UNIT is 1 if every edge has length 1 and values are not read. THROUGH is 1 if source[edge] is the
// number of an edge's value, else it is the edge's own. Lengths are added by MULTIPLY of min-plus;
// EMPTY is the length of no path.
#if !defined(UNIT) || !defined(THROUGH)
#error "UNIT, THROUGH: see src/graph/edges.rs"
#endif
#if UNIT
#define LENGTH(edge) ((ARITHMETIC)1)
#elif THROUGH
#define LENGTH(edge) LOAD(values, (ulong)source[edge] * stride)
#else
#define LENGTH(edge) LOAD(values, (ulong)(edge) * stride)
#endif
