/* Times MKL's products of a sparse matrix with a dense one, mkl_sparse_d_mm and mkl_sparse_s_mm
   after mkl_sparse_optimize: scalar expansion as CSR and square blocks also as BSR, D and C by rows
   and by columns, one thread and two. If D has as many columns as A, it also times the product of
   the dense matrices, cblas_dgemm and cblas_sgemm. C is allocated before the clock starts.

       pip install mkl mkl-devel
       cc -O3 -I VENV/include benches/peers/dense_mkl.c -o dense_mkl -L VENV/lib -l:libmkl_rt.so.3 -Wl,-rpath,VENV/lib -lm
       ./dense_mkl FILE.bsr|random:N:S ... [--columns N|all,...] [--json OUT.json] [--rounds N] [--patience SECONDS] */
#include "dense.h"
#include "mkl_handle.h"

#define CALLS_HINTED 100

/* A dense matrix: its elements in its layout, and the distance between its lines. */
typedef struct {
    int64_t rows, columns, leading;
    int layout, single;
    void *values;
} Dense;

static double element_of(const Dense *m, int64_t i, int64_t j) {
    int64_t p = m->layout == BY_ROWS ? i * m->leading + j : i + j * m->leading;
    return m->single ? ((float *)m->values)[p] : ((double *)m->values)[p];
}

/* Makes a dense matrix of the elements, which are given by rows; without elements it has zeros. */
static Dense dense(int64_t rows, int64_t columns, int layout, int single, const double *by_rows) {
    Dense m = {rows, columns, layout == BY_ROWS ? columns : rows, layout, single, NULL};
    if (!by_rows) m.values = room(rows * columns, single ? sizeof(float) : sizeof(double));
    else if (layout == BY_ROWS) m.values = elements(by_rows, rows * columns, single);
    else {
        double *turned = (double *)room(rows * columns, sizeof(double));
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) turned[i + j * rows] = by_rows[i * columns + j];
        m.values = elements(turned, rows * columns, single);
        free(turned);
    }
    return m;
}

/* Fills C with NaN, so that an element that is not written is found. */
static void spoil(Dense *c) { memset(c->values, 0xff, c->rows * c->columns * (c->single ? sizeof(float) : sizeof(double))); }

static const char *fault_of_dense(const Truth *t, const Dense *c) {
    double *y = (double *)room(c->rows, sizeof(double));
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->columns; j++) y[i] += element_of(c, i, j) * t->x[j];
    const char *fault = fault_of_sums(t, y, ROUNDING[c->single]);
    free(y);
    return fault;
}

static sparse_layout_t layout_of(const Dense *d) { return d->layout == BY_ROWS ? SPARSE_LAYOUT_ROW_MAJOR : SPARSE_LAYOUT_COLUMN_MAJOR; }

static sparse_status_t multiply(sparse_matrix_t a, const Dense *d, Dense *c) {
    sparse_operation_t plain = SPARSE_OPERATION_NON_TRANSPOSE;
    return c->single ? mkl_sparse_s_mm(plain, 1, a, GENERAL, layout_of(d), (float *)d->values, d->columns, d->leading, 0, (float *)c->values, c->leading)
                     : mkl_sparse_d_mm(plain, 1, a, GENERAL, layout_of(d), (double *)d->values, d->columns, d->leading, 0, (double *)c->values, c->leading);
}

/* Times every layout and number of threads for A as it is stored in `m`. */
static void measure_sparse(const Truth *t, const Blocks *m, const Dense *d, Dense *c) {
    const char *variant = variant_of(m->height > 1 ? "bsr" : "csr", d->layout, d->columns);
    void *values = elements(m->values, m->blocks * m->height * m->width, d->single);
    for (int threads = 1; threads <= 2; threads++) {
        mkl_set_num_threads(threads);
        sparse_matrix_t a = NULL;
        int status = create(&a, m, values, d->single);
        if (!status) {
            int hinted = mkl_sparse_set_mm_hint(a, SPARSE_OPERATION_NON_TRANSPOSE, GENERAL, layout_of(d), d->columns, CALLS_HINTED);
            status = hinted == SPARSE_STATUS_NOT_SUPPORTED ? 0 : hinted; /* a hint is optional */
        }
        if (!status) status = mkl_sparse_optimize(a);
        spoil(c);
        if (!status) status = multiply(a, d, c);
        char refused[48];
        snprintf(refused, sizeof refused, "MKL refuses, status %d", status);
        const char *fault = status ? refused : fault_of_dense(t, c);
        if (fault) tell(t, variant, ELEMENTS[d->single], threads, NULL, 0, fault);
        else MEASURE(t, variant, ELEMENTS[d->single], threads, multiply(a, d, c), (void)0);
        if (a) mkl_sparse_destroy(a);
    }
    free(values);
}

static void gemm(const Dense *a, const Dense *d, Dense *c) {
    if (c->single)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, c->rows, c->columns, d->rows, 1, (float *)a->values, a->leading, (float *)d->values,
                    d->leading, 0, (float *)c->values, c->leading);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, c->rows, c->columns, d->rows, 1, (double *)a->values, a->leading, (double *)d->values,
                    d->leading, 0, (double *)c->values, c->leading);
}

/* Times the product of A with its zeros and D, by rows. */
static void measure_gemm(const Truth *t, const Blocks *m, const Dense *d, Dense *c) {
    double *by_rows = (double *)room(m->rows * m->cols, sizeof(double));
    for (int64_t i = 0; i < m->rows; i++)
        for (int p = m->offsets[i]; p < m->offsets[i + 1]; p++) by_rows[i * m->cols + m->columns[p]] = m->values[p];
    Dense a = dense(m->rows, m->cols, BY_ROWS, d->single, by_rows);
    free(by_rows);
    for (int threads = 1; threads <= 2; threads++) {
        mkl_set_num_threads(threads);
        const char *variant = variant_of("gemm", d->layout, d->columns);
        spoil(c);
        gemm(&a, d, c);
        const char *fault = fault_of_dense(t, c);
        if (fault) tell(t, variant, ELEMENTS[d->single], threads, NULL, 0, fault);
        else MEASURE(t, variant, ELEMENTS[d->single], threads, gemm(&a, d, c), (void)0);
    }
    free(a.values);
}

/* Times every variant with a D of this many columns. */
static void measure_columns(const Blocks *blocks, const Blocks *scalars, int64_t columns) {
    double *values = made_d(scalars->cols, columns);
    Blocks size;
    Truth t = know_dense(blocks, &size, values, columns);
    int squares = blocks->height == blocks->width && blocks->height > 1;
    int whole = columns == scalars->cols && scalars->rows * scalars->cols <= LARGEST_GEMM;
    for (int single = 0; single <= 1; single++)
        for (int layout = BY_ROWS; layout < LAYOUTS; layout++) {
            Dense d = dense(scalars->cols, columns, layout, single, values), c = dense(scalars->rows, columns, layout, single, NULL);
            measure_sparse(&t, scalars, &d, &c);
            if (squares) measure_sparse(&t, blocks, &d, &c);
            if (whole && layout == BY_ROWS) measure_gemm(&t, scalars, &d, &c);
            free(d.values), free(c.values);
        }
    forget_truth(&t), free(values);
}

int main(int argc, char **argv) {
    const char *given = columns_option(&argc, argv);
    int files = arguments(argc, argv, "mkl", mkl_version(), cpu());
    mkl_set_dynamic(0);
    for (int i = 1; i < files; i++) {
        Blocks blocks = matrix_of(argv[i]), scalars = expanded(&blocks);
        const char *list = columns_wanted(given, argv[i]);
        for (int64_t columns; (columns = next_columns(&list, argv[i], scalars.cols));) measure_columns(&blocks, &scalars, columns);
        if (scalars.values != blocks.values) free_blocks(&scalars);
        free_blocks(&blocks);
    }
    return 0;
}
