/* Products of a solver's iteration for the peers in C and C++. Instead of a file, an argument may
   be a formula as iteration.py writes it, such as FOLDER/S=U-Z*Z', whose factors are files of the
   folder. The name in the records has the folder's name and the product's. */
#pragma once
#include "peers.h"
#include <ctype.h>

/* [minuend -] left · [middle ·] right, with the factors as they are in the files. */
typedef struct {
    Blocks minuend, left, middle, right, a, b; /* a and b: left and right, transposed where the formula says so */
    int has_minuend, has_middle, left_turned, right_turned;
    int gram; /* a product X'·X, X·X' or X'·M·X: symmetric, if M is */
} Formula;

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int is_formula(const char *path) { return strchr(base_of(path), '=') != NULL; }

/* Reads one factor at *text and moves *text past it; `turned` tells whether a ' follows. */
static Blocks factor_at(const char **text, const char *path, int *turned) {
    const char *end = *text;
    char file[4096];
    while (isalnum((unsigned char)*end)) end++;
    if (end == *text) die(path, "not a formula");
    snprintf(file, sizeof file, "%.*s%.*s.bsr", (int)(base_of(path) - path), path, (int)(end - *text), *text);
    *turned = *end == '\'';
    *text = end + *turned;
    return read_blocks(file);
}

static Formula read_formula(const char *path) {
    const char *base = base_of(path), *text = strchr(base, '=') + 1;
    Formula f;
    memset(&f, 0, sizeof f);
    f.left = factor_at(&text, path, &f.left_turned);
    if (*text == '-') {
        f.has_minuend = 1, f.minuend = f.left;
        if (f.left_turned) die(path, "the minuend cannot be transposed");
        text++, f.left = factor_at(&text, path, &f.left_turned);
    }
    if (*text++ != '*') die(path, "not a product");
    f.right = factor_at(&text, path, &f.right_turned);
    if (*text == '*') {
        f.has_middle = 1, f.middle = f.right;
        if (f.right_turned) die(path, "the middle cannot be transposed");
        text++, f.right = factor_at(&text, path, &f.right_turned);
    }
    if (*text) die(path, "not a formula");
    f.gram = !strcmp(f.left.name, f.right.name) && f.left_turned != f.right_turned;
    f.a = f.left_turned ? transposed(&f.left) : f.left;
    f.b = f.right_turned ? transposed(&f.right) : f.right;
    const char *folder_end = base > path ? base - 1 : path, *folder = folder_end;
    while (folder > path && folder[-1] != '/') folder--;
    snprintf(f.a.name, sizeof f.a.name, "%.*s %.*s", (int)(folder_end - folder), folder, (int)strcspn(base, "="), base);
    return f;
}

/* The number of blocks that the minuend has and A·B does not. */
static int64_t beyond_product(const Formula *f) {
    int *seen = (int *)room(f->b.cols, sizeof(int));
    int64_t count = 0;
    for (int i = 0; i < f->a.rows; i++) {
        for (int p = f->a.offsets[i]; p < f->a.offsets[i + 1]; p++)
            for (int q = f->b.offsets[f->a.columns[p]]; q < f->b.offsets[f->a.columns[p] + 1]; q++) seen[f->b.columns[q]] = i + 1;
        for (int p = f->minuend.offsets[i]; p < f->minuend.offsets[i + 1]; p++) count += seen[f->minuend.columns[p]] != i + 1;
    }
    free(seen);
    return count;
}

/* The expected product, like `Truth` of blocks.py. */
static Truth know_formula(const Formula *f) {
    Truth t = know(&f->a, &f->b);
    double *x = (double *)room(t.x_size, sizeof(double));
    const Blocks *m = &f->middle;
    for (int64_t j = 0; j < t.x_size; j++) x[j] = t.x[j];
    if (f->has_middle) {
        for (int64_t i = 0; i <= m->rows; i++)
            if (m->rows != m->cols || m->offsets[i] != i || (i < m->rows && m->columns[i] != i)) die(m->name, "not block-diagonal");
        t.y = times(&f->a, times(m, times(&f->b, x, 0), 0), 0);
        t.magnitude = times(&f->a, times(m, times(&f->b, x, 1), 1), 1);
        t.flops += 2.0 * f->b.blocks * m->height * f->b.height * f->b.width;
        for (int64_t i = 0; i < t.y_size; i++) t.terms[i] += m->width, t.scalar_products[i] *= 1 + m->width;
    }
    if (f->has_minuend) {
        double *y = times(&f->minuend, x, 0), *magnitude = times(&f->minuend, x, 1);
        for (int64_t i = 0; i < t.y_size; i++) {
            t.y[i] = y[i] - t.y[i], t.magnitude[i] += magnitude[i];
            t.terms[i] += 1, t.scalar_products[i] += t.x_size;
        }
        t.flops += (double)f->minuend.blocks * f->minuend.height * f->minuend.width;
        t.c_blocks += beyond_product(f);
    }
    return t;
}

/* The upper triangle of a matrix of scalars. */
static Blocks upper_of(const Blocks *m) {
    Blocks u = empty_blocks(m->name, m->rows, m->cols, m->blocks, 1, 1);
    for (int i = 0; i < m->rows; i++) {
        u.offsets[i + 1] = u.offsets[i];
        for (int p = m->offsets[i]; p < m->offsets[i + 1]; p++)
            if (m->columns[p] >= i) u.columns[u.offsets[i + 1]] = m->columns[p], u.values[u.offsets[i + 1]++] = m->values[p];
    }
    u.blocks = u.offsets[u.rows];
    return u;
}

/* The symmetric matrix of scalars or blocks whose upper triangle this is: columns ascend in its rows if they do in the triangle's. */
static Blocks mirrored(const Blocks *u) {
    Blocks t = transposed(u), m = empty_blocks(u->name, u->rows, u->cols, 2 * u->offsets[u->rows], u->height, u->width);
    int64_t area = u->height * u->width;
    int q = 0;
    for (int i = 0; i < u->rows; i++) {
        for (int side = 0; side < 2; side++) {
            const Blocks *from = side ? u : &t;
            for (int p = from->offsets[i]; p < from->offsets[i + 1]; p++) {
                if (!side && from->columns[p] >= i) continue;
                m.columns[q] = from->columns[p];
                memcpy(m.values + q++ * area, from->values + p * area, area * sizeof(double));
            }
        }
        m.offsets[i + 1] = q;
    }
    m.blocks = q;
    return m;
}
