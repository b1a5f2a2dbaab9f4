/* Times the product of Eigen's SparseMatrix, which sorts its result, on the scalar expansion; one thread.

       apt-get install libeigen3-dev
       c++ -O3 -march=native -I /usr/include/eigen3 benches/peers/eigen.cpp -o eigen
       ./eigen FILE.bsr ... [--json OUT.json] [--rounds N] [--patience SECONDS]

   A formula may replace FILE.bsr, see formula.h. Eigen has no product that leaves out a triangle:
   its rankUpdate forms the whole product. */
#include "formula.h"
#include <Eigen/SparseCore>

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;

static Matrix made(const Blocks &m) {
    Blocks s = expanded(&m);
    return Eigen::Map<const Matrix>(s.rows, s.cols, s.blocks, s.offsets, s.columns, s.values);
}

/* Checks, times and reports. */
template <class Evaluate> static void measure(const Truth &truth, Evaluate evaluate) {
    Matrix c = evaluate();
    c.makeCompressed();
    Blocks out = {c.rows(), c.cols(), c.nonZeros(), 1, 1, c.outerIndexPtr(), c.innerIndexPtr(), c.valuePtr(), "C"};
    const char *fault = fault_of(&truth, &out);
    c = Matrix();
    if (fault) tell(&truth, "sorted", "f64", 1, nullptr, 0, fault);
    else MEASURE(&truth, "sorted", "f64", 1, c = evaluate(), c = Matrix());
}

static void measure_formula(const char *path) {
    Formula f = read_formula(path);
    Truth truth = know_formula(&f);
    Matrix left = made(f.left), right = made(f.right), minuend, middle;
    if (f.has_minuend) minuend = made(f.minuend);
    if (f.has_middle) middle = made(f.middle);
    measure(truth, [&]() -> Matrix {
        Matrix inner = f.has_middle ? Matrix(middle * right) : Matrix();
        const Matrix &last = f.has_middle ? inner : right;
        Matrix product;
        if (f.left_turned && f.right_turned) product = Matrix(left.transpose()) * Matrix(last.transpose());
        else if (f.left_turned) product = left.transpose() * last;
        else if (f.right_turned) product = left * last.transpose();
        else product = left * last;
        return f.has_minuend ? Matrix(minuend - product) : product;
    });
}

static void measure_square(const char *path) {
    Blocks a = read_blocks(path), b = partner(&a);
    Truth truth = know(&a, &b);
    Matrix left = made(a), right = made(b);
    measure(truth, [&]() -> Matrix { return left * right; });
}

int main(int argc, char **argv) {
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
    int files = arguments(argc, argv, "eigen", version, cpu());
    for (int i = 1; i < files; i++)
        if (is_formula(argv[i])) measure_formula(argv[i]);
        else measure_square(argv[i]);
}
