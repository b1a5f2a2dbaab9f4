// target: defines from where products of scalars read values, and where their sums are written.
// This file comes before the kernels that add up products of scalars.
// Host: src/product/terms/target.rs
//
// TARGET says what C is, and which of TARGET_ARGUMENTS a kernel reads:
//   0   no arguments: C is new, and its rows are written too
//   1   c_first, alpha, beta: C has its pattern, and entry i is value c_first + i
//   2   all arguments: the values of A, B and C are a_stride, b_stride and c_stride elements apart
#if !defined(TARGET)
#error "TARGET: see src/product/terms/target.rs"
#endif
#define TARGET_ARGUMENTS ulong c_first, uint a_stride, uint b_stride, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta

#if TARGET == 2
#define A_VALUE(i) LOAD(a_values, (ulong)(i) * a_stride)
#define B_VALUE(i) LOAD(b_values, (ulong)(i) * b_stride)
#define C_PLACE(i) ((c_first + (i)) * c_stride)
#else
#define A_VALUE(i) LOAD(a_values, i)
#define B_VALUE(i) LOAD(b_values, i)
#define C_PLACE(i) (c_first + (i))
#endif

// Writes the row or the sum of entry i of C.
#if TARGET == 0
#define PUT_ROW(row, i) (c_row_idx[i] = (row))
#define PUT_SUM(sum, i) STORE(sum, c_values, i)
#else
#define PUT_ROW(row, i) ((void)0)
#define PUT_SUM(sum, i) place_sum(sum, c_values, C_PLACE(i), alpha, beta)
#endif
