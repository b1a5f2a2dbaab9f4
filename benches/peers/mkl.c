/* Times MKL's mkl_sparse_spmm with mkl_sparse_order: matrices of square blocks as BSR, others on their scalar expansion as CSR; one thread and two.

       pip install mkl mkl-devel
       cc -O3 -I VENV/include benches/peers/mkl.c -o mkl -L VENV/lib -l:libmkl_rt.so.3 -Wl,-rpath,VENV/lib -lm
       ./mkl FILE.bsr ... [--json OUT.json] [--rounds N] [--patience SECONDS] */
#include "peers.h"
#include <mkl.h>
#include <mkl_spblas.h>

static sparse_matrix_t made(const Blocks *m) {
    sparse_matrix_t made = NULL;
    sparse_status_t status =
        m->height > 1
            ? mkl_sparse_d_create_bsr(&made, SPARSE_INDEX_BASE_ZERO, SPARSE_LAYOUT_ROW_MAJOR, m->rows, m->cols, m->height, m->offsets,
                                      m->offsets + 1, m->columns, m->values)
            : mkl_sparse_d_create_csr(&made, SPARSE_INDEX_BASE_ZERO, m->rows, m->cols, m->offsets, m->offsets + 1, m->columns, m->values);
    if (status) die(m->name, "MKL does not take it");
    return made;
}

static int product(sparse_matrix_t a, sparse_matrix_t b, sparse_matrix_t *c) {
    int status = mkl_sparse_spmm(SPARSE_OPERATION_NON_TRANSPOSE, a, b, c);
    return status ? status : (int)mkl_sparse_order(*c);
}

/* C as it lies in MKL's memory, or a fault. */
static const char *seen(sparse_matrix_t handle, int bsr, Blocks *c) {
    sparse_index_base_t base;
    sparse_layout_t layout = SPARSE_LAYOUT_ROW_MAJOR;
    MKL_INT rows, cols, side = 1, *start, *end, *columns;
    double *values;
    int status = bsr ? mkl_sparse_d_export_bsr(handle, &base, &layout, &rows, &cols, &side, &start, &end, &columns, &values)
                     : mkl_sparse_d_export_csr(handle, &base, &rows, &cols, &start, &end, &columns, &values);
    if (status) return "C cannot be exported";
    if (layout != SPARSE_LAYOUT_ROW_MAJOR || base != SPARSE_INDEX_BASE_ZERO || end != start + 1) return "C is in another layout";
    *c = (Blocks){rows, cols, start[rows], side, side, start, columns, values, "C"};
    return NULL;
}

int main(int argc, char **argv) {
    MKLVersion version;
    mkl_get_version(&version);
    char number[32];
    snprintf(number, sizeof number, "%d.%d.%d", version.MajorVersion, version.MinorVersion, version.UpdateVersion);
    int files = arguments(argc, argv, "mkl", number, cpu());
    mkl_set_dynamic(0);
    for (int i = 1; i < files; i++) {
        Blocks a = read_blocks(argv[i]), b = partner(&a);
        Truth truth = know(&a, &b);
        int bsr = a.height == a.width && a.height > 1;
        const char *variant = bsr ? "bsr sorted" : "csr sorted";
        Blocks left = bsr ? a : expanded(&a), right = bsr ? b : expanded(&b);
        for (int threads = 1; threads <= 2; threads++) {
            mkl_set_num_threads(threads);
            sparse_matrix_t l = made(&left), r = made(&right), c = NULL;
            Blocks out;
            const char *fault = product(l, r, &c) ? "mkl_sparse_spmm or mkl_sparse_order refuses" : seen(c, bsr, &out);
            if (!fault) fault = fault_of(&truth, &out);
            if (c) mkl_sparse_destroy(c);
            if (fault) tell(&truth, variant, "f64", threads, NULL, 0, fault);
            else MEASURE(&truth, variant, "f64", threads, product(l, r, &c), mkl_sparse_destroy(c));
            mkl_sparse_destroy(l), mkl_sparse_destroy(r);
        }
    }
    return 0;
}
