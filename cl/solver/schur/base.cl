// base: adds U and its damping to S, which holds the products.
// Host: src/solver/schur/base.rs
//
//   add_base       one work-item per element of a slot
//
//   in      u[u_nnz * stride]                               blocks C x C, column-major
//   in      floors[floored]                                 floored is C, or 0 for no floors: see
//                                                         damping.cl
//   in      place[slots]  source[slots]  kind[slots]        see structure.cl
//   in out  s[blocks * C * C]                               blocks of slots without products are
//                                                         not read
//
// This kernel supports plus-times only, because damping is defined for real numbers.
#if !defined(C)
#error "C: see src/solver/schur/base.rs"
#endif
#define AREA (C * C)
#define NONE 0xffffffffu
#define HAS_PRODUCT 1u
#define ON_DIAGONAL 2u

KERNEL add_base(global const ELEMENT* restrict u, global const ELEMENT* restrict floors, global const uint* restrict place,
                global const uint* restrict source, global const uint* restrict kind, global ELEMENT* restrict s, uint slots,
                uint stride, uint floored, ARITHMETIC scale, ARITHMETIC shift)
{
    const ulong item = get_global_id(0);
    const uint slot = (uint)(item / AREA), element = (uint)(item % AREA);
    if (slot >= slots || place[slot] == NONE)
        return;
    ARITHMETIC value = source[slot] == NONE ? 0 : u[(ulong)source[slot] * stride + element];
    if ((kind[slot] & ON_DIAGONAL) && element % (C + 1) == 0)
        value = damped(value, scale, shift, floors, floored, element / (C + 1));
    const ulong to = (ulong)place[slot] * AREA + element;
    s[to] = kind[slot] & HAS_PRODUCT ? value + s[to] : value;
}
