/* Times MKL's mkl_sparse_spmm with mkl_sparse_order: matrices of square blocks as BSR, others on their scalar expansion as CSR; one thread and two.

       pip install mkl mkl-devel
       cc -O3 -I VENV/include benches/peers/mkl.c -o mkl -L VENV/lib -l:libmkl_rt.so.3 -Wl,-rpath,VENV/lib -lm
       ./mkl FILE.bsr ... [--json OUT.json] [--rounds N] [--patience SECONDS]

   A formula may replace FILE.bsr, see formula.h. It is computed by mkl_sparse_sp2m, which
   transposes, from nothing and into a kept pattern; if the product is symmetric, its upper triangle
   is also computed by mkl_sparse_syrk or mkl_sparse_sypr. mkl_sparse_d_add subtracts.

   The memory in the record of a matrix times itself or its transpose is that of the operands, and
   the most that one more product adds to the resident memory of the process. Pages that the C
   library has kept are returned to the system first. */
#include "formula.h"
#include <malloc.h>
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

/* C in MKL's memory, or a fault. */
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

enum { MINUEND, LEFT, MIDDLE, RIGHT, FACTORS };
enum { WHOLE, KEPT, UPPER }; /* from nothing; into the pattern of the last product; the upper triangle of a symmetric one, from nothing */

/* A formula that is being evaluated; `inner` and `product` are its kept pattern. */
typedef struct {
    const Formula *formula;
    Blocks given[FACTORS];
    sparse_matrix_t factors[FACTORS], inner, product, value;
    int way, bsr;
} Evaluation;

static const struct matrix_descr GENERAL = {SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_FULL, SPARSE_DIAG_NON_UNIT};
static const struct matrix_descr SYMMETRIC = {SPARSE_MATRIX_TYPE_SYMMETRIC, SPARSE_FILL_MODE_UPPER, SPARSE_DIAG_NON_UNIT};

static sparse_operation_t turn(int turned) { return turned ? SPARSE_OPERATION_TRANSPOSE : SPARSE_OPERATION_NON_TRANSPOSE; }

static void drop(sparse_matrix_t *one) {
    if (*one) mkl_sparse_destroy(*one);
    *one = NULL;
}

/* Computes the product with its columns in order. The handles of the factors must be new, because
   an older handle keeps the transpose of the values that it had when it was last used. */
static int formula_product(Evaluation *e) {
    const Formula *f = e->formula;
    sparse_operation_t left = turn(f->left_turned), right = turn(f->right_turned);
    sparse_request_t request = e->product ? SPARSE_STAGE_FINALIZE_MULT : SPARSE_STAGE_FULL_MULT;
    sparse_matrix_t *of = e->factors;
    int status = 0;
    for (int k = 0; k < FACTORS; k++)
        if (e->given[k].offsets) of[k] = made(&e->given[k]);
    if (e->way == UPPER)
        status = f->has_middle ? mkl_sparse_sypr(left, of[LEFT], of[MIDDLE], SYMMETRIC, &e->product, request)
                               : mkl_sparse_syrk(left, of[LEFT], &e->product);
    else if (f->has_middle) {
        status = mkl_sparse_sp2m(turn(0), GENERAL, of[MIDDLE], right, GENERAL, of[RIGHT], request, &e->inner);
        if (!status) status = mkl_sparse_sp2m(left, GENERAL, of[LEFT], turn(0), GENERAL, e->inner, request, &e->product);
    } else
        status = mkl_sparse_sp2m(left, GENERAL, of[LEFT], right, GENERAL, of[RIGHT], request, &e->product);
    return status || request == SPARSE_STAGE_FINALIZE_MULT ? status : (int)mkl_sparse_order(e->product);
}

static int evaluate(Evaluation *e) {
    int status = formula_product(e);
    e->value = e->product;
    if (status || !e->formula->has_minuend) return status;
    e->value = NULL;
    status = mkl_sparse_d_add(turn(0), e->product, -1, e->factors[MINUEND], &e->value);
    return status ? status : (int)mkl_sparse_order(e->value);
}

/* Frees the results of an evaluation, except for the pattern that the next one needs. */
static void forget(Evaluation *e, int keep) {
    if (e->value != e->product) drop(&e->value);
    e->value = NULL;
    for (int k = 0; k < FACTORS; k++) drop(&e->factors[k]);
    if (!keep) drop(&e->inner), drop(&e->product);
}

static void scale(Blocks *m, double by) {
    for (int64_t k = 0; k < m->blocks * m->height * m->width; k++) m->values[k] *= by;
}

/* Makes the pattern of a product, with values of the factors that differ from those to be timed. */
static int prepare(Evaluation *e) {
    scale(&e->given[LEFT], 2), scale(&e->given[RIGHT], 4);
    int status = formula_product(e);
    scale(&e->given[LEFT], 0.5), scale(&e->given[RIGHT], 0.25);
    forget(e, 1);
    return status;
}

/* The fault of the formula's value, or NULL if it has none. */
static const char *fault_of_evaluation(Evaluation *e, const Truth *truth) {
    Blocks out;
    const char *fault = (e->way == KEPT && prepare(e)) || evaluate(e) ? "MKL refuses" : seen(e->value, e->bsr, &out);
    if (!fault && e->way == UPPER) out = mirrored(&out);
    if (!fault) fault = fault_of(truth, &out);
    forget(e, e->way == KEPT);
    return fault;
}

/* Times a formula in all ways that MKL has for it: on scalars and, if its blocks are squares of one
   size, on blocks. */
static void measure_formula(const char *path) {
    static const char *names[2][3] = {{"csr sorted", "csr kept", "csr upper"}, {"bsr sorted", "bsr kept", "bsr upper"}};
    Formula f = read_formula(path);
    Truth truth = know_formula(&f);
    const Blocks *read[FACTORS] = {&f.minuend, &f.left, &f.middle, &f.right};
    int squares = 1;
    for (int k = 0; k < FACTORS; k++) squares &= !read[k]->offsets || (read[k]->height == f.left.height && read[k]->width == f.left.height);
    for (int bsr = 0; bsr <= squares; bsr++)
        for (int way = WHOLE; way <= (f.gram ? UPPER : KEPT); way++) {
            Evaluation e = {&f, {f.minuend, f.left, f.middle, f.right}, {NULL}, NULL, NULL, NULL, way, bsr};
            for (int k = 0; k < FACTORS && !bsr; k++) {
                if (!read[k]->offsets) continue;
                e.given[k] = expanded(read[k]);
                if (way == UPPER && (k == MINUEND || k == MIDDLE)) e.given[k] = upper_of(&e.given[k]);
            }
            for (int threads = 1; threads <= 2; threads++) {
                mkl_set_num_threads(threads);
                const char *fault = fault_of_evaluation(&e, &truth);
                if (fault) tell(&truth, names[bsr][way], "f64", threads, NULL, 0, fault);
                else MEASURE(&truth, names[bsr][way], "f64", threads, evaluate(&e), forget(&e, way == KEPT));
                forget(&e, 0);
            }
        }
}

/* Returns a number of /proc/self/status that is given in kB, in bytes; -1 if the number is not
   there. */
static int64_t status_bytes(const char *key) {
    char line[256];
    long long kilobytes = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, key, strlen(key)) && sscanf(line + strlen(key), ": %lld", &kilobytes) == 1) break;
    if (file) fclose(file);
    return kilobytes < 0 ? -1 : 1024 * kilobytes;
}

/* Makes the system count the largest resident memory from now on; returns 0 if it cannot. */
static int count_anew(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    return file && fputs("5", file) >= 0 && fclose(file) == 0;
}

/* The most bytes that a product adds to the resident memory; 0 if the system does not tell. */
static int64_t added_bytes(sparse_matrix_t a, sparse_matrix_t b) {
    sparse_matrix_t c = NULL;
    mkl_free_buffers(), malloc_trim(0);
    int64_t before = status_bytes("VmRSS");
    if (before < 0 || !count_anew() || product(a, b, &c)) return 0;
    int64_t most = status_bytes("VmHWM");
    mkl_sparse_destroy(c);
    return most > before ? most - before : 0;
}

/* Times a matrix multiplied by itself or by its transpose. */
static void measure_square(const char *path) {
    Blocks a = read_blocks(path), b = partner(&a);
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
        else {
            int64_t added = added_bytes(l, r);
            if (added) program.peak_bytes = added + bytes_of(&left, 8) + (left.offsets == right.offsets ? 0 : bytes_of(&right, 8));
            MEASURE(&truth, variant, "f64", threads, product(l, r, &c), mkl_sparse_destroy(c));
        }
        mkl_sparse_destroy(l), mkl_sparse_destroy(r);
    }
}

int main(int argc, char **argv) {
    MKLVersion version;
    mkl_get_version(&version);
    char number[32];
    snprintf(number, sizeof number, "%d.%d.%d", version.MajorVersion, version.MinorVersion, version.UpdateVersion);
    int files = arguments(argc, argv, "mkl", number, cpu());
    mkl_set_dynamic(0);
    for (int i = 1; i < files; i++)
        if (is_formula(argv[i])) measure_formula(argv[i]);
        else measure_square(argv[i]);
    return 0;
}
