/* Handles of MKL for matrices, in f64 and f32. */
#pragma once
#include "peers.h"
#include <mkl.h>
#include <mkl_spblas.h>

static const struct matrix_descr GENERAL = {SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_FULL, SPARSE_DIAG_NON_UNIT};
static const char *const ELEMENTS[] = {"f64", "f32"};
static const double ROUNDING[] = {0x1p-53, 0x1p-24};

/* Copies elements into a new array, of f64 or, if `single`, of f32. */
static void *elements(const double *from, int64_t count, int single) {
    void *to = room(count, single ? sizeof(float) : sizeof(double));
    for (int64_t p = 0; p < count; p++)
        if (single) ((float *)to)[p] = (float)from[p];
        else ((double *)to)[p] = from[p];
    return to;
}

/* Makes the handle of a matrix, in CSR if its blocks are 1x1, else in BSR. */
static sparse_status_t create(sparse_matrix_t *made, const Blocks *m, void *values, int single) {
    if (m->height > 1)
        return single ? mkl_sparse_s_create_bsr(made, SPARSE_INDEX_BASE_ZERO, SPARSE_LAYOUT_ROW_MAJOR, m->rows, m->cols, m->height, m->offsets,
                                                m->offsets + 1, m->columns, (float *)values)
                      : mkl_sparse_d_create_bsr(made, SPARSE_INDEX_BASE_ZERO, SPARSE_LAYOUT_ROW_MAJOR, m->rows, m->cols, m->height, m->offsets,
                                                m->offsets + 1, m->columns, (double *)values);
    return single ? mkl_sparse_s_create_csr(made, SPARSE_INDEX_BASE_ZERO, m->rows, m->cols, m->offsets, m->offsets + 1, m->columns, (float *)values)
                  : mkl_sparse_d_create_csr(made, SPARSE_INDEX_BASE_ZERO, m->rows, m->cols, m->offsets, m->offsets + 1, m->columns, (double *)values);
}

/* The version that MKL reports. */
static const char *mkl_version(void) {
    static char number[32];
    MKLVersion version;
    mkl_get_version(&version);
    snprintf(number, sizeof number, "%d.%d.%d", version.MajorVersion, version.MinorVersion, version.UpdateVersion);
    return number;
}
