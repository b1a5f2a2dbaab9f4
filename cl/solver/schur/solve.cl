// solve: computes Z = W * inverse(transpose(L)). Each block of W is solved with the factor of its
// column.
// Host: src/solver/schur/solve.rs
//
//   solve_rows     one work-item per row of a block
//
//   in   w[nnz * stride]           blocks C x P, column-major
//   in   factor[columns * PACKED]  factors in the format of factor.cl
//   in   column[nnz]
//   out  z[nnz * C * P]
//
// z(r, j) = (w(r, j) - sum over k < j of z(r, k) * l(j, k)) * r(j). The terms are subtracted one by
// one in ascending k.
//
// This kernel supports plus-times only, because it subtracts.
#if !defined(C) || !defined(P)
#error "C, P: see src/solver/schur/solve.rs"
#endif
#define PACKED (P * (P + 1) / 2)
#define AT(i, j) ((j) * (2 * P - 1 - (j)) / 2 + (i)) // i >= j

KERNEL solve_rows(global const ELEMENT* restrict w, global const ELEMENT* restrict factor, global const uint* restrict column,
                  global ELEMENT* restrict z, uint nnz, uint stride)
{
    const ulong item = get_global_id(0);
    const uint entry = (uint)(item / C), row = (uint)(item % C);
    if (entry >= nnz)
        return;
    global const ELEMENT* from = w + (ulong)entry * stride + row;
    global const ELEMENT* l = factor + (ulong)column[entry] * PACKED;
    global ELEMENT* to = z + (ulong)entry * (C * P) + row;
    ARITHMETIC solved[P];
    for (uint j = 0; j < P; ++j) {
        ARITHMETIC value = from[j * C];
        IN_ORDER
        for (uint k = 0; k < j; ++k)
            value -= solved[k] * l[AT(j, k)];
        solved[j] = value * l[AT(j, j)];
        to[j * C] = solved[j];
    }
}
