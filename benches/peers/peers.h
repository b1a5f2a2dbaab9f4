/* What the peers in C, C++ and CUDA share: BSR1 files (see inputs.py), the check of a product (see
   blocks.py, which says how), records of the benchmark's schema. This file repeats parts of
   blocks.py, because a library is timed and checked in its own language. A program calls
   `arguments`, then `read_blocks` and `know` for each file, and `fault_of` and `record` or `fault`
   for each variant. Only the results of timed rounds are freed; the rest is freed when the process
   ends. */
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BSR_MAGIC 0x42535231
#define FEWEST_ROUNDS 3

/* A matrix of dense blocks by rows. */
typedef struct {
    int64_t rows, cols, blocks, height, width;
    int *offsets, *columns;
    double *values; /* [blocks * height * width], blocks row-major */
    char name[64];
} Blocks;

/* The expected product of two matrices. */
typedef struct {
    const Blocks *a, *b;
    int64_t products, c_blocks; /* in blocks */
    double flops, *x, *y, *magnitude, *terms, *scalar_products; /* y = A·(B·x); the other numbers, one for each row, are those of blocks.py */
    int64_t x_size, y_size;
} Truth;

__attribute__((noreturn)) static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(2);
}

static void *room(int64_t count, size_t size) {
    void *memory = calloc(count > 0 ? count : 1, size);
    if (!memory) die("memory", "there is not enough");
    return memory;
}

static Blocks empty_blocks(const char *name, int64_t rows, int64_t cols, int64_t blocks, int64_t height, int64_t width) {
    Blocks m = {rows, cols, blocks, height, width, NULL, NULL, NULL, ""};
    m.offsets = (int *)room(rows + 1, sizeof(int));
    m.columns = (int *)room(blocks, sizeof(int));
    m.values = (double *)room(blocks * height * width, sizeof(double));
    snprintf(m.name, sizeof m.name, "%s", name);
    return m;
}

static Blocks read_blocks(const char *path) {
    FILE *file = fopen(path, "rb");
    int64_t head[6];
    if (!file) die(path, "cannot be opened");
    if (fread(head, 8, 6, file) != 6 || head[0] != BSR_MAGIC) die(path, "not a BSR1 file");
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
    Blocks m = empty_blocks(name, head[1], head[2], head[3], head[4], head[5]);
    size_t values = m.blocks * m.height * m.width;
    if (fread(m.offsets, 4, m.rows + 1, file) != (size_t)m.rows + 1 || fread(m.columns, 4, m.blocks, file) != (size_t)m.blocks ||
        fread(m.values, 8, values, file) != values)
        die(path, "ends too early");
    fclose(file);
    return m;
}

static Blocks transposed(const Blocks *m) {
    Blocks t = empty_blocks(m->name, m->cols, m->rows, m->blocks, m->width, m->height);
    int64_t area = m->height * m->width;
    int *next = (int *)room(t.rows + 1, sizeof(int));
    for (int64_t p = 0; p < m->blocks; p++) t.offsets[m->columns[p] + 1]++;
    for (int64_t i = 0; i < t.rows; i++) t.offsets[i + 1] += t.offsets[i];
    memcpy(next, t.offsets, t.rows * sizeof(int));
    for (int64_t i = 0; i < m->rows; i++)
        for (int p = m->offsets[i]; p < m->offsets[i + 1]; p++) {
            int q = next[m->columns[p]]++;
            t.columns[q] = (int)i;
            for (int64_t k = 0; k < area; k++)
                t.values[q * area + k % m->width * m->height + k / m->width] = m->values[p * area + k];
        }
    free(next);
    return t;
}

/* The other factor of a matrix: the matrix itself if it is square, else its transpose. */
static Blocks partner(const Blocks *m) { return m->rows == m->cols && m->height == m->width ? *m : transposed(m); }

/* The same matrix in blocks of 1x1. */
static Blocks expanded(const Blocks *m) {
    int64_t h = m->height, w = m->width;
    if (h * w == 1) return *m;
    Blocks s = empty_blocks(m->name, m->rows * h, m->cols * w, m->blocks * h * w, 1, 1);
    for (int64_t i = 0, q = 0; i < s.rows; i++) {
        for (int64_t p = m->offsets[i / h]; p < m->offsets[i / h + 1]; p++)
            for (int64_t k = 0; k < w; k++, q++) {
                s.columns[q] = (int)(m->columns[p] * w + k);
                s.values[q] = m->values[p * h * w + i % h * w + k];
            }
        s.offsets[i + 1] = (int)q;
    }
    return s;
}

/* y = M·x, or |M|·|x|. */
static double *times(const Blocks *m, const double *x, int magnitudes) {
    int64_t h = m->height, w = m->width;
    double *y = (double *)room(m->rows * h, sizeof(double));
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t p = m->offsets[i]; p < m->offsets[i + 1]; p++)
            for (int64_t k = 0; k < h * w; k++) {
                double term = m->values[p * h * w + k] * x[m->columns[p] * w + k % w];
                y[i * h + k / w] += magnitudes ? fabs(term) : term;
            }
    return y;
}

static Truth know(const Blocks *a, const Blocks *b) {
    Truth t = {a, b, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, b->cols * b->width, a->rows * a->height};
    t.x = (double *)room(t.x_size, sizeof(double));
    for (int64_t j = 0; j < t.x_size; j++) t.x[j] = (double)((((uint64_t)j * 2654435761u + 12345) >> 7) & 1023) - 512;
    double *bx = times(b, t.x, 0), *magnitudes = times(b, t.x, 1);
    t.y = times(a, bx, 0), t.magnitude = times(a, magnitudes, 1);
    free(bx), free(magnitudes);
    t.terms = (double *)room(t.y_size, sizeof(double)), t.scalar_products = (double *)room(t.y_size, sizeof(double));
    int *seen = (int *)room(b->cols, sizeof(int));
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t before = t.products;
        for (int p = a->offsets[i]; p < a->offsets[i + 1]; p++) {
            int k = a->columns[p];
            t.products += b->offsets[k + 1] - b->offsets[k];
            for (int q = b->offsets[k]; q < b->offsets[k + 1]; q++)
                if (seen[b->columns[q]] != i + 1) seen[b->columns[q]] = (int)i + 1, t.c_blocks++;
        }
        for (int64_t k = i * a->height; k < (i + 1) * a->height; k++) {
            t.terms[k] = (double)(a->offsets[i + 1] - a->offsets[i]) * a->width;
            t.scalar_products[k] = (double)(t.products - before) * a->width * b->width;
        }
    }
    free(seen);
    t.flops = 2.0 * t.products * a->height * a->width * b->width;
    return t;
}

/* Bytes of a matrix in CSR or BSR, whose numbers have this many bytes. */
static int64_t bytes_of(const Blocks *m, int64_t number) { return 4 * (m->rows + 1 + m->blocks) + m->blocks * m->height * m->width * number; }

/* The fault of a C with this many values, or of y = C·x; NULL if there is none. */
static const char *fault_of_size(const Truth *t, int64_t values) {
    static char text[128];
    int64_t right = t->c_blocks * t->a->height * t->b->width;
    if (values == right) return NULL;
    snprintf(text, sizeof text, "%lld values, not %lld", (long long)values, (long long)right);
    return text;
}

static const char *fault_of_sums(const Truth *t, const double *y, double rounding) {
    static char text[160];
    for (int64_t i = 0; i < t->y_size; i++) {
        double bound = 2 * (t->terms[i] * rounding + t->scalar_products[i] * 0x1p-53) * t->magnitude[i];
        if (fabs(y[i] - t->y[i]) <= bound) continue;
        snprintf(text, sizeof text, "row %lld times x is %.17g, not %.17g", (long long)i, y[i], t->y[i]);
        return text;
    }
    return NULL;
}

/* The fault of C in f64; NULL if there is none. */
static const char *fault_of(const Truth *t, const Blocks *c) {
    const char *fault = fault_of_size(t, c->offsets[c->rows] * c->height * c->width);
    if (fault) return fault;
    for (int64_t i = 0; i < c->rows; i++)
        for (int p = c->offsets[i] + 1; p < c->offsets[i + 1]; p++)
            if (c->columns[p - 1] >= c->columns[p]) return "columns not ascending";
    double *y = times(c, t->x, 0);
    fault = fault_of_sums(t, y, 0x1p-53);
    free(y);
    return fault;
}

/* The model name of the processor. */
static const char *cpu(void) {
    static char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "model name", 10)) {
            fclose(file);
            line[strcspn(line, "\n")] = 0;
            return strchr(line, ':') + 2;
        }
    return "CPU";
}

/* The most bytes in use at once, operands and C included, during the product that is recorded next;
   0 if they are not measured. */
static struct {
    const char *library, *version, *device;
    FILE *json;
    int rounds, any;
    double patience;
    int64_t peak_bytes;
} program = {"", "", "", NULL, 11, 0, 2.0, 0};

/* Reads and removes the options, so that argv[1..] has only files. Begins the JSON file. */
static int arguments(int argc, char **argv, const char *library, const char *version, const char *device) {
    int files = 1;
    program.library = library, program.version = version, program.device = device;
    for (int i = 1; i < argc; i++) {
        int more = i + 1 < argc;
        if (more && !strcmp(argv[i], "--json")) {
            if (!(program.json = fopen(argv[++i], "w"))) die(argv[i], "cannot be written");
        } else if (more && !strcmp(argv[i], "--rounds")) program.rounds = atoi(argv[++i]);
        else if (more && !strcmp(argv[i], "--patience")) program.patience = atof(argv[++i]);
        else if (argv[i][0] == '-') die(argv[i], "not an option; there are --json OUT.json, --rounds N, --patience SECONDS");
        else argv[files++] = argv[i];
    }
    if (files == 1) die(argv[0], "FILE.bsr ... [--json OUT.json] [--rounds N] [--patience SECONDS]");
    if (program.json) {
        char host[256] = "";
        gethostname(host, sizeof host - 1);
        fprintf(program.json, "{\"schema\": \"blockmul-bench/1\", \"host\": {\"machine\": \"%s\", \"cpu\": \"%s\", \"threads\": %ld}, \"results\": [\n]}\n",
                host, cpu(), sysconf(_SC_NPROCESSORS_ONLN));
    }
    return files;
}

static void write_blocks(FILE *f, const char *key, const Blocks *m) {
    fprintf(f, "\"%s\": {\"rows\": %lld, \"cols\": %lld, \"nnz\": %lld, \"block\": [%lld, %lld]}, ", key, (long long)m->rows,
            (long long)m->cols, (long long)m->blocks, (long long)m->height, (long long)m->width);
}

static int by_size(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Prints a result and writes it over the end of the JSON file, which is complete after each result.
   If `threads` is 0, the record has no number of threads. */
static void tell(const Truth *t, const char *variant, const char *element, int threads, const double *runs, int count, const char *fault) {
    double ms = 0;
    FILE *f = program.json;
    if (f) {
        fseek(f, -4, SEEK_END);
        fprintf(f, "%s\n{\"library\": \"%s\", \"version\": \"%s\", \"device\": \"%s\", \"variant\": \"%s\", ", program.any++ ? "," : "",
                program.library, program.version, program.device, variant);
        threads ? fprintf(f, "\"threads\": %d, ", threads) : fprintf(f, "\"threads\": null, ");
        fprintf(f, "\"matrix\": \"%s\", ", t->a->name);
        write_blocks(f, "a", t->a), write_blocks(f, "b", t->b);
        fprintf(f, "\"element\": \"%s\", \"products\": %lld, \"c_nnz\": %lld, \"flops\": %.0f, \"verified\": %s, ", element,
                (long long)t->products, (long long)t->c_blocks, t->flops, fault ? "false" : "true");
        if (fault) fprintf(f, "\"reason\": \"%s\"", fault);
        else fprintf(f, "\"runs_ms\": [");
        for (int i = 0; i < count; i++) fprintf(f, "%s%.6f", i ? ", " : "", runs[i]);
    }
    if (count) {
        double *sorted = (double *)room(count, sizeof(double));
        memcpy(sorted, runs, count * sizeof(double));
        qsort(sorted, count, sizeof(double), by_size);
        ms = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
        free(sorted);
    }
    if (f && !fault) fprintf(f, "], \"ms\": %.6f, \"gflops\": %.6f", ms, t->flops / ms / 1e6);
    if (f && !fault && program.peak_bytes) fprintf(f, ", \"peak_device_bytes\": %lld", (long long)program.peak_bytes);
    program.peak_bytes = 0;
    if (f) fprintf(f, "}\n]}\n"), fflush(f);
    if (fault) printf("%-10s %-14s %-14s %s FAILED: %s\n", program.library, variant, t->a->name, element, fault);
    else printf("%-10s %-14s %-14s %s %d %10.3f ms %9.2f Gflop/s\n", program.library, variant, t->a->name, element, threads, ms, t->flops / ms / 1e6);
    fflush(stdout);
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

/* Times `times` calls of `multiply` in each round, after a round to warm up, and reports the mean
   of each round. `drop` runs after each round, while the clock is stopped. */
#define MEASURE_TOGETHER(times, truth, variant, element, threads, multiply, drop)                                                            \
    do {                                                                                                                                     \
        double *runs_ = (double *)room(program.rounds + FEWEST_ROUNDS, sizeof(double)), began_ = 0, start_;                                  \
        int count_ = -1;                                                                                                                     \
        for (; count_ < program.rounds && (count_ < FEWEST_ROUNDS || now_ms() - began_ < program.patience * 1e3); count_++) {                \
            start_ = now_ms();                                                                                                               \
            if (count_ == 0) began_ = start_;                                                                                                \
            multiply;                                                                                                                        \
            if (count_ >= 0) runs_[count_] = (now_ms() - start_) / (times);                                                                  \
            drop;                                                                                                                            \
        }                                                                                                                                    \
        tell(truth, variant, element, threads, runs_, count_, NULL);                                                                         \
        free(runs_);                                                                                                                         \
    } while (0)

/* Times one call of `multiply` in each round, and reports it. */
#define MEASURE(truth, variant, element, threads, multiply, drop) MEASURE_TOGETHER(1, truth, variant, element, threads, multiply, drop)
