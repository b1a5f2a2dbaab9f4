/* Times MKL's products of a sparse matrix with a vector, mkl_sparse_d_mv and mkl_sparse_s_mv:
   scalar expansion as CSR and square blocks also as BSR, as they are and "optimized" by
   mkl_sparse_optimize after a hint of many products, one thread and two. x and y are made before
   the clock starts. The time is the mean of CALLS products.

       pip install mkl mkl-devel
       cc -O3 -I VENV/include benches/peers/apply_mkl.c -o apply_mkl -L VENV/lib -l:libmkl_rt.so.3 -Wl,-rpath,VENV/lib -lm
       ./apply_mkl FILE.bsr ... [--json OUT.json] [--rounds N] [--patience SECONDS] */
#include "apply.h"
#include "mkl_handle.h"

/* The number of products that `blockmul bench --operation apply` enqueues together. */
#define CALLS 20
#define CALLS_HINTED 1000

static sparse_status_t multiply(sparse_matrix_t a, const void *x, void *y, int single) {
    sparse_operation_t plain = SPARSE_OPERATION_NON_TRANSPOSE;
    return single ? mkl_sparse_s_mv(plain, 1, a, GENERAL, (const float *)x, 0, (float *)y)
                  : mkl_sparse_d_mv(plain, 1, a, GENERAL, (const double *)x, 0, (double *)y);
}

static void repeat(sparse_matrix_t a, const void *x, void *y, int single) {
    for (int call = 0; call < CALLS; call++) multiply(a, x, y, single);
}

static const char *fault_of_vector(const Truth *t, const void *y, int single) {
    double *sums = (double *)room(t->y_size, sizeof(double));
    for (int64_t i = 0; i < t->y_size; i++) sums[i] = single ? ((float *)y)[i] : ((double *)y)[i];
    const char *fault = fault_of_sums(t, sums, ROUNDING[single]);
    free(sums);
    return fault;
}

/* What MKL learns about A before the clock starts. */
static sparse_status_t optimize(sparse_matrix_t a) {
    sparse_status_t status = mkl_sparse_set_mv_hint(a, SPARSE_OPERATION_NON_TRANSPOSE, GENERAL, CALLS_HINTED);
    if (status && status != SPARSE_STATUS_NOT_SUPPORTED) return status; /* a hint is optional */
    return mkl_sparse_optimize(a);
}

/* Times A as it is stored in `m`, plain or optimized, on `threads` threads. */
static void measure_handle(const Truth *t, const Blocks *m, int single, int optimized, int threads) {
    char variant[48], refused[48];
    snprintf(variant, sizeof variant, "apply %s%s", m->height > 1 ? "bsr" : "csr", optimized ? " optimized" : "");
    void *values = elements(m->values, m->blocks * m->height * m->width, single), *x = elements(t->x, t->x_size, single);
    size_t bytes = t->y_size * (single ? sizeof(float) : sizeof(double));
    void *y = room(bytes, 1);
    memset(y, 0xff, bytes); /* NaN, so that a sum that is not written shows */
    mkl_set_num_threads(threads);
    sparse_matrix_t a = NULL;
    int status = create(&a, m, values, single);
    if (!status && optimized) status = optimize(a);
    if (!status) status = multiply(a, x, y, single);
    snprintf(refused, sizeof refused, "MKL refuses, status %d", status);
    const char *fault = status ? refused : fault_of_vector(t, y, single);
    if (fault) tell(t, variant, ELEMENTS[single], threads, NULL, 0, fault);
    else MEASURE_TOGETHER(CALLS, t, variant, ELEMENTS[single], threads, repeat(a, x, y, single), (void)0);
    if (a) mkl_sparse_destroy(a);
    free(values), free(x), free(y);
}

int main(int argc, char **argv) {
    int files = arguments(argc, argv, "mkl", mkl_version(), cpu());
    mkl_set_dynamic(0);
    for (int i = 1; i < files; i++) {
        Blocks blocks = read_blocks(argv[i]), scalars = expanded(&blocks), size;
        Truth t = know_applied(&blocks, &size);
        int squares = blocks.height == blocks.width && blocks.height > 1;
        for (int single = 0; single <= 1; single++)
            for (int bsr = 0; bsr <= squares; bsr++)
                for (int optimized = 0; optimized <= 1; optimized++)
                    for (int threads = 1; threads <= 2; threads++) measure_handle(&t, bsr ? &blocks : &scalars, single, optimized, threads);
        forget_truth(&t);
        if (scalars.values != blocks.values) free_blocks(&scalars);
        free_blocks(&blocks);
    }
    return 0;
}
