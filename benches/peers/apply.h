/* Products of a sparse matrix with a vector, y = A·x, for the peers in C and CUDA. x has random
   integers, whose sums with those of A are exact in f32. */
#pragma once
#include "dense.h"

/* The expected y = A·x; `x` gets the size of x. Rows whose sums are exact in f32 must have exactly
   these sums. */
static Truth know_applied(const Blocks *a, Blocks *x) {
    int64_t columns = a->cols * a->width, rows = a->rows * a->height;
    Blocks size = {columns, 1, columns, 1, 1, NULL, NULL, NULL, "x"};
    *x = size;
    Truth t = {a, x, a->blocks, rows, 2.0 * a->blocks * a->height * a->width, NULL, NULL, NULL, NULL, NULL, columns, rows};
    t.x = made_d(columns, 1);
    t.y = times(a, t.x, 0), t.magnitude = times(a, t.x, 1);
    t.terms = (double *)room(rows, sizeof(double)), t.scalar_products = (double *)room(rows, sizeof(double));
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = i / a->height;
        if (!is_exact(a, i)) t.terms[i] = (double)(a->offsets[row + 1] - a->offsets[row]) * a->width + 1; /* the values are rounded too */
    }
    return t;
}
