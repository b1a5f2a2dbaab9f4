/* Products of a sparse matrix with a dense one, C = A·D, for the peers in C and CUDA. A is
   FILE.bsr, or random:N:S, a random square matrix of N rows with a share S of zeros, which `lab
   paper shi` generates too. D is random. For a file D has 32 and 128 columns, for a random A as
   many columns as A. --columns N,... gives other numbers for files; `all` stands for as many
   columns as A has, but at most LARGEST_DENSE elements. */
#pragma once
#include "peers.h"

#define LARGEST_DENSE ((int64_t)1 << 26)
#define LARGEST_GEMM ((int64_t)1 << 28) /* elements of A with its zeros */

enum { BY_ROWS, BY_COLUMNS, LAYOUTS };
static const char *const LAYOUT_NAMES[LAYOUTS] = {"rows", "columns"};

/* The bits of a number, each of which depends on all of its bits (the finalizer of splitmix64). */
static uint64_t mixed(uint64_t number) {
    number = (number + 1) * 0x9e3779b97f4a7c15u;
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
    number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
    return number ^ (number >> 31);
}

#define LARGEST_VALUE 31

/* An integer from -31 to 31 that is not 0. The sum of up to 17,458 products of two such integers is
   exact in f32, in any order. */
static double drawn_value(uint64_t bits) {
    int value = (int)((bits & 2047) % (2 * LARGEST_VALUE));
    return value < LARGEST_VALUE ? value - LARGEST_VALUE : value - LARGEST_VALUE + 1;
}

/* Element p of D, in the order of rows. */
static double d_element(int64_t p) { return drawn_value(mixed(~(uint64_t)p)); }

/* Whether `bits`, as a number from 0 to 1, is not below the share of zeros. */
static int is_entry(uint64_t bits, double zeros) { return (double)(bits >> 11) * 0x1p-53 >= zeros; }

static int is_drawn(const char *argument) { return !strncmp(argument, "random:", 7); }

static Blocks drawn_matrix(const char *argument) {
    long long n;
    char zeros_text[32], name[64], *end = zeros_text;
    if (sscanf(argument, "random:%lld:%31s", &n, zeros_text) != 2 || n < 1 || n > 1 << 20) die(argument, "not random:N:S with N to 1048576");
    double zeros = strtod(zeros_text, &end);
    if (end == zeros_text || *end || !(zeros >= 0 && zeros < 1)) die(argument, "not random:N:S with a number S from 0 to less than 1");
    int64_t count = 0, q = 0;
    for (int64_t p = 0; p < n * n; p++) count += is_entry(mixed(p), zeros);
    if (count > INT32_MAX) die(argument, "has too many entries");
    snprintf(name, sizeof name, "random_%lld_%g", n, zeros);
    Blocks m = empty_blocks(name, n, n, count, 1, 1);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            uint64_t bits = mixed(i * n + j);
            if (is_entry(bits, zeros)) m.columns[q] = (int)j, m.values[q++] = drawn_value(bits);
        }
        m.offsets[i + 1] = (int)q;
    }
    return m;
}

static Blocks matrix_of(const char *argument) { return is_drawn(argument) ? drawn_matrix(argument) : read_blocks(argument); }

static void free_blocks(Blocks *m) { free(m->offsets), free(m->columns), free(m->values); }

/* Removes --columns from the arguments and returns its value; NULL if it is not there. */
static const char *columns_option(int *argc, char **argv) {
    const char *given = NULL;
    int kept = 1;
    for (int i = 1; i < *argc; i++)
        if (!strcmp(argv[i], "--columns")) {
            if (i + 1 == *argc || !*argv[i + 1]) die(argv[i], "needs N,..., numbers of columns or `all`");
            given = argv[++i];
        } else argv[kept++] = argv[i];
    *argc = kept;
    if (kept == 1) die(argv[0], "FILE.bsr|random:N:S ... [--columns N|all,...] [--json OUT.json] [--rounds N] [--patience SECONDS]");
    return given;
}

/* The numbers of columns of D for this matrix. */
static const char *columns_wanted(const char *given, const char *argument) { return is_drawn(argument) ? "all" : given ? given : "32,128"; }

/* Returns the number of columns at which *list points, for a D of this many rows, and moves *list
   past it. Returns 0 at the end. */
static int64_t next_columns(const char **list, const char *argument, int64_t rows) {
    int64_t fit = is_drawn(argument) ? rows : LARGEST_DENSE / (rows + !rows), columns;
    char *end;
    if (!**list) return 0;
    if (!strncmp(*list, "all", 3)) columns = rows < fit ? rows : fit, end = (char *)*list + 3;
    else columns = strtoll(*list, &end, 10);
    if (columns < 1 || (*end && *end != ',')) die(*list, "no numbers of columns");
    *list = end + (*end == ',');
    return columns;
}

/* Returns D with this many rows and columns, in f64 by rows. */
static double *made_d(int64_t rows, int64_t columns) {
    double *d = (double *)room(rows * columns, sizeof(double));
    for (int64_t p = 0; p < rows * columns; p++) d[p] = d_element(p);
    return d;
}

/* Whether the sums of row i of A times any column of D are exact in f32 in any order: they are sums
   of integers, whose magnitudes add up to no more than the largest integer up to which f32 holds
   all. */
static int is_exact(const Blocks *a, int64_t i) {
    double sum = 0;
    int64_t row = i / a->height, area = a->height * a->width;
    for (int64_t p = a->offsets[row]; p < a->offsets[row + 1]; p++)
        for (int64_t k = 0; k < a->width; k++) {
            double value = a->values[p * area + i % a->height * a->width + k];
            if (value != floor(value)) return 0;
            sum += fabs(value) * LARGEST_VALUE;
        }
    return sum <= 0x1p24;
}

/* The expected C = A·D. `d` gets the size of D. Rows of C that are exact must have exactly these
   sums, because a bound of rounding grows with the columns of D until it hides wrong elements. */
static Truth know_dense(const Blocks *a, Blocks *d, const double *values, int64_t columns) {
    int64_t rows = a->cols * a->width;
    Blocks size = {rows, columns, rows * columns, 1, 1, NULL, NULL, NULL, "D"};
    *d = size;
    Truth t = {a, d, a->blocks * columns, a->rows * a->height * columns, 0, NULL, NULL, NULL, NULL, NULL, columns, a->rows * a->height};
    t.flops = 2.0 * a->blocks * a->height * a->width * columns;
    t.x = (double *)room(t.x_size, sizeof(double));
    for (int64_t j = 0; j < t.x_size; j++) {
        int64_t number = (int64_t)(mixed(j) & 1023) - 512;
        t.x[j] = (double)(number + (number >= 0)); /* x has no 0, which would hide a column */
    }
    double *dx = (double *)room(rows, sizeof(double)), *magnitudes = (double *)room(rows, sizeof(double));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double term = values[i * columns + j] * t.x[j];
            dx[i] += term, magnitudes[i] += fabs(term);
        }
    t.y = times(a, dx, 0), t.magnitude = times(a, magnitudes, 1);
    free(dx), free(magnitudes);
    t.terms = (double *)room(t.y_size, sizeof(double)), t.scalar_products = (double *)room(t.y_size, sizeof(double));
    for (int64_t i = 0; i < t.y_size; i++) {
        int64_t row = i / a->height;
        if (is_exact(a, i) && t.magnitude[i] <= 0x1p53) continue;
        t.terms[i] = (double)(a->offsets[row + 1] - a->offsets[row]) * a->width;
        t.scalar_products[i] = t.terms[i] * columns + columns;
    }
    return t;
}

static void forget_truth(Truth *t) { free(t->x), free(t->y), free(t->magnitude), free(t->terms), free(t->scalar_products); }

/* The variant of a record, as `blockmul bench --operation dense` writes it. */
static const char *variant_of(const char *what, int layout, int64_t columns) {
    static char text[96];
    snprintf(text, sizeof text, "dense %s by %s %lld", what, LAYOUT_NAMES[layout], (long long)columns);
    return text;
}
