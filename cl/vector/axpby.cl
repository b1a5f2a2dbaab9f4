// axpby: adds multiples of vectors.
// Host: src/vector/arithmetic.rs
//
//   axpby, scale    one work-item per element
//
//   in      x[n]
//   in out  y[n]      alpha * x + beta * y, each product rounded; y is not read if beta is 0
//
// The kernels support plus-times only, because alpha and beta are real numbers.
KERNEL axpby(global const ELEMENT* restrict x, global ELEMENT* restrict y, ulong n, ARITHMETIC alpha, ARITHMETIC beta)
{
    const ulong i = get_global_id(0);
    if (i >= n)
        return;
    ARITHMETIC value = alpha * LOAD(x, i);
    if (beta != 0)
        value += beta * LOAD(y, i);
    STORE(value, y, i);
}

KERNEL scale(global ELEMENT* y, ulong n, ARITHMETIC alpha)
{
    const ulong i = get_global_id(0);
    if (i < n)
        STORE(alpha * LOAD(y, i), y, i);
}
