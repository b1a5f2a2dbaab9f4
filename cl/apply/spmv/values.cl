// values: where a format's kernels find the value of a place. It comes before each of them.
// Host: src/apply/spmv/mod.rs
//
// THROUGH is 1 if the values are A's own, in another order than the format's: source[place] is the
// number of the place's value. Otherwise they are in the format's order, and source is not read;
// they are one after another if PACKED, else `stride` elements apart.
#if !defined(THROUGH) || !defined(PACKED)
#error "THROUGH, PACKED: see src/apply/spmv/mod.rs"
#endif
#if PACKED
#define VALUE(place) LOAD(values, place)
#elif THROUGH
#define VALUE(place) LOAD(values, (ulong)source[place] * stride)
#else
#define VALUE(place) LOAD(values, (ulong)(place) * stride)
#endif
#define TERM(place) MULTIPLY(VALUE(place), LOAD(x, col[place]))
