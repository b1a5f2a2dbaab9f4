// factor: computes Cholesky factors of the damped diagonal blocks of V, and the products of their
// inverses with the points' right-hand side.
// Host: src/solver/schur/factor.rs
//
//   factor_each    small blocks: one work-group per TOGETHER blocks. Each block has an item, or one
//                  item takes all. Blocks are loaded and stored through local memory, so that
//                  neighbouring items access neighbouring elements
//   factor_group   one work-group per block, one item for each row
//
//   in      v[blocks * stride]      blocks P x P, column-major, read on and below their diagonals
//   in      b[blocks * P]
//   in      floors[floored]         floored is P, or 0 for no floors: see damping.cl
//   out     factor[blocks * PACKED] L of V + damping = L * transpose(L): columns from the diagonal
//                                    down, one after another. The diagonal holds reciprocals, so
//                                    that solving only multiplies
//   out     y[blocks * P]           inverse(L) * b
//   in out  status[1]               0, or blocks - the smallest number of a block that is not
//                                   positive definite
//
// With v'(j, j) damped as in damping.cl:
//   r(j) = 1 / sqrt(v'(j, j) - sum over k < j of l(j, k)^2)
//   l(i, j) = (v(i, j) - sum over k < j of l(i, k) * l(j, k)) * r(j)
//   y(j) = (b(j) - sum over k < j of l(j, k) * y(k)) * r(j)
// The terms of every sum are subtracted one by one in ascending k. Every product is rounded before
// it is subtracted.
//
// These kernels support plus-times only, because they subtract, divide and take roots.
#if !defined(P) || !defined(TOGETHER) || !defined(LEAST_PIVOT)
#error "P, TOGETHER, LEAST_PIVOT: see src/solver/schur/factor.rs"
#endif
#define AREA (P * P)
#define PACKED (P * (P + 1) / 2)
#define AT(i, j) ((j) * (2 * P - 1 - (j)) / 2 + (i)) // i >= j

// Whether a pivot is at least the smallest normal number. A pivot that is not normal has lost
// digits, and its reciprocal may be infinite.
bool is_positive(ARITHMETIC value)
{
    return value >= LEAST_PIVOT && value < INFINITY; // false for NaN
}

#if EACH
KERNEL factor_each(global const ELEMENT* restrict v, global const ELEMENT* restrict b, global const ELEMENT* restrict floors,
                   global ELEMENT* restrict factor, global ELEMENT* restrict y, global uint* status, uint blocks, uint stride,
                   uint floored, ARITHMETIC scale, ARITHMETIC shift)
{
    local ARITHMETIC tile[TOGETHER * AREA];
    const uint item = get_local_id(0), first = get_group_id(0) * TOGETHER, count = min((uint)TOGETHER, blocks - first);
    for (uint i = item; i < count * AREA; i += GROUP_SIZE)
        tile[i] = v[(ulong)(first + i / AREA) * stride + i % AREA];
    GROUP_BARRIER;
    for (uint block = item; block < count; block += GROUP_SIZE) {
        local ARITHMETIC* own = tile + block * AREA;
        ARITHMETIC l[PACKED], solved[P];
        for (uint j = 0; j < P; ++j)
            for (uint i = j; i < P; ++i)
                l[AT(i, j)] = own[j * P + i];
        bool positive = true;
        for (uint j = 0; j < P; ++j) {
            ARITHMETIC pivot = damped(l[AT(j, j)], scale, shift, floors, floored, j);
            ARITHMETIC right = b[((ulong)first + block) * P + j];
            IN_ORDER
            for (uint k = 0; k < j; ++k) {
                pivot -= l[AT(j, k)] * l[AT(j, k)];
                right -= l[AT(j, k)] * solved[k];
            }
            positive = positive && is_positive(pivot);
            const ARITHMETIC reciprocal = 1 / sqrt(pivot);
            for (uint i = j + 1; i < P; ++i) {
                ARITHMETIC value = l[AT(i, j)];
                IN_ORDER
                for (uint k = 0; k < j; ++k)
                    value -= l[AT(i, k)] * l[AT(j, k)];
                l[AT(i, j)] = value * reciprocal;
            }
            l[AT(j, j)] = reciprocal;
            solved[j] = right * reciprocal;
        }
        if (!positive)
            atomic_max(status, blocks - (first + block));
        for (uint i = 0; i < PACKED; ++i)
            own[i] = l[i];
        for (uint j = 0; j < P; ++j)
            y[((ulong)first + block) * P + j] = solved[j];
    }
    GROUP_BARRIER;
    for (uint i = item; i < count * PACKED; i += GROUP_SIZE)
        factor[(ulong)first * PACKED + i] = tile[i / PACKED * AREA + i % PACKED];
}
#else
KERNEL factor_group(global const ELEMENT* restrict v, global const ELEMENT* restrict b, global const ELEMENT* restrict floors,
                    global ELEMENT* restrict factor, global ELEMENT* restrict y, global uint* status, uint blocks, uint stride,
                    uint floored, ARITHMETIC scale, ARITHMETIC shift)
{
    local ARITHMETIC a[AREA], solved[P];
    const uint item = get_local_id(0), block = get_group_id(0);
    for (uint i = item; i < AREA; i += GROUP_SIZE)
        a[i] = v[(ulong)block * stride + i];
    if (item < P)
        solved[item] = b[(ulong)block * P + item];
    GROUP_BARRIER;
    for (uint j = 0; j < P; ++j) {
        ARITHMETIC value = 0;
        if (item >= j && item < P) {
            value = item == j ? damped(a[j * P + j], scale, shift, floors, floored, j) : a[j * P + item];
            IN_ORDER
            for (uint k = 0; k < j; ++k)
                value -= a[k * P + item] * a[k * P + j];
        }
        if (item == j) {
            if (!is_positive(value))
                atomic_max(status, blocks - block);
            a[j * P + j] = 1 / sqrt(value);
        }
        GROUP_BARRIER; // a[j * P + j] is written before other items read it
        if (item == j)
            solved[j] *= a[j * P + j];
        if (item > j && item < P)
            a[j * P + item] = value * a[j * P + j];
        GROUP_BARRIER; // column j is written before other items read it
        if (item > j && item < P)
            solved[item] -= a[j * P + item] * solved[j];
    }
    for (uint i = item; i < AREA; i += GROUP_SIZE)
        if (i % P >= i / P)
            factor[(ulong)block * PACKED + AT(i % P, i / P)] = a[i];
    if (item < P)
        y[(ulong)block * P + item] = solved[item];
}
#endif
