// several: solves with the factor of each point, for several right-hand sides.
// Host: src/solver/schur/several/core.rs
//
//   solve_lower  one work-item per point and column: x = inverse(L) * b
//   solve_upper  one work-item per point and column: x = inverse(transpose(L)) * x
//
//   in      factor[points * PACKED]   as in factor.cl: columns of L from the diagonal down. The
//                                     diagonal holds reciprocals
//   in      b[]     element (i, j) at i * b_row + j * b_col
//   out     x[]     element (i, j) at i * x_row + j * x_col; in out in solve_upper
//
// Terms are subtracted in the order of factor.cl and lines.cl. These kernels support plus-times
// only.
#ifndef P
#error "P: see src/solver/schur/several/core.rs"
#endif
#define PACKED (P * (P + 1) / 2)
#define AT(i, j) ((j) * (2 * P - 1 - (j)) / 2 + (i)) // i >= j

KERNEL solve_lower(global const ELEMENT* restrict factor, global const ELEMENT* restrict b, global ELEMENT* restrict x, uint points,
                   uint columns, ulong b_row, ulong b_col, ulong x_row, ulong x_col)
{
    const ulong id = get_global_id(0), point = id / columns, col = id % columns;
    if (point < points) {
        global const ELEMENT* l = factor + point * PACKED;
        ARITHMETIC own[P];
        for (uint j = 0; j < P; ++j) {
            ARITHMETIC value = b[(point * P + j) * b_row + col * b_col];
            IN_ORDER
            for (uint k = 0; k < j; ++k)
                value -= l[AT(j, k)] * own[k];
            own[j] = value * l[AT(j, j)];
            x[(point * P + j) * x_row + col * x_col] = own[j];
        }
    }
}

KERNEL solve_upper(global const ELEMENT* restrict factor, global ELEMENT* restrict x, uint points, uint columns, ulong x_row,
                   ulong x_col)
{
    const ulong id = get_global_id(0), point = id / columns, col = id % columns;
    if (point < points) {
        global const ELEMENT* l = factor + point * PACKED;
        ARITHMETIC own[P];
        for (uint i = P; i-- > 0;) {
            ARITHMETIC value = x[(point * P + i) * x_row + col * x_col];
            IN_ORDER
            for (uint k = i + 1; k < P; ++k)
                value -= l[AT(k, i)] * own[k];
            own[i] = value * l[AT(i, i)];
            x[(point * P + i) * x_row + col * x_col] = own[i];
        }
    }
}
