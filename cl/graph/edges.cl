// edges: defines the length of an edge. It comes before the kernels that read lengths.
// Host: src/graph/edges.rs
//
// If UNIT is 1, every edge has length 1 and values are not read. If THROUGH is 1, the length of an
// edge is value source[edge], otherwise value `edge`. Lengths are added by MULTIPLY of min-plus.
// EMPTY is the length if there is no path.
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
