/* Times the product of Eigen's SparseMatrix, which sorts its result, on the scalar expansion; one thread.

       apt-get install libeigen3-dev
       c++ -O3 -march=native -I /usr/include/eigen3 benches/peers/eigen.cpp -o eigen
       ./eigen FILE.bsr ... [--json OUT.json] [--rounds N] [--patience SECONDS] */
#include "peers.h"
#include <Eigen/SparseCore>

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;

static Matrix made(const Blocks &m) {
    Blocks s = expanded(&m);
    return Eigen::Map<const Matrix>(s.rows, s.cols, s.blocks, s.offsets, s.columns, s.values);
}

int main(int argc, char **argv) {
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
    int files = arguments(argc, argv, "eigen", version, cpu());
    for (int i = 1; i < files; i++) {
        Blocks a = read_blocks(argv[i]), b = partner(&a);
        Truth truth = know(&a, &b);
        Matrix left = made(a), right = made(b), c = left * right;
        c.makeCompressed();
        Blocks out = {c.rows(), c.cols(), c.nonZeros(), 1, 1, c.outerIndexPtr(), c.innerIndexPtr(), c.valuePtr(), "C"};
        const char *fault = fault_of(&truth, &out);
        c = Matrix();
        if (fault) tell(&truth, "sorted", "f64", 1, nullptr, 0, fault);
        else MEASURE(&truth, "sorted", "f64", 1, c = left * right, c = Matrix());
    }
}
