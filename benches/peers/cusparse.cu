/* Times cuSPARSE's SpGEMM on the scalar expansion of block matrices: ALG1, ALG2, ALG3, SpGEMMreuse
   from nothing and, as "kept pattern", its numeric part alone, one at a time and ten enqueued
   together. Operands are on the device. Temporaries and C are allocated and freed in every round,
   and freed after the clock has stopped. The memory in a record is the sum of operands, temporaries
   and C: cuSPARSE lets this program allocate its temporaries.

       nvcc -arch=native -O3 -std=c++17 benches/peers/cusparse.cu -o cusparse -lcusparse
       ./cusparse FILE.bsr ... [--json OUT.json] [--rounds N] [--patience SECONDS] */
#include "gpu.h"
#include <string>

/* A product that is being computed, and the memory that it has allocated. */
template <class T> struct Product {
    cusparseHandle_t handle;
    cusparseSpMatDescr_t a, b, c = nullptr;
    cusparseSpGEMMDescr_t descriptor = nullptr;
    std::vector<void *> held;
    int *offsets = nullptr, *columns = nullptr;
    T *values = nullptr, one = 1, zero = 0;
    int64_t rows, cols, count = 0;
    /* The bytes of the operands, and of all memory that is held. */
    int64_t operand_bytes = 0, bytes = 0;

    void *hold(size_t size) {
        void *memory = nullptr;
        if (size) check(cudaMalloc(&memory, size)), held.push_back(memory);
        bytes += size;
        return memory;
    }

    void begin() {
        int64_t inner, values;
        bytes = operand_bytes;
        check(cusparseSpMatGetSize(a, &rows, &inner, &values));
        check(cusparseSpMatGetSize(b, &inner, &cols, &values));
        offsets = (int *)hold((rows + 1) * sizeof(int));
        check(cusparseCreateCsr(&c, rows, cols, 0, offsets, nullptr, nullptr, INDEX, INDEX, ZERO, Kind<T>::type));
        check(cusparseSpGEMM_createDescr(&descriptor));
    }

    void make_room_for_c() {
        check(cusparseSpMatGetSize(c, &rows, &cols, &count));
        columns = (int *)hold(count * sizeof(int)), values = (T *)hold(count * sizeof(T));
        check(cusparseCsrSetPointers(c, offsets, columns, values));
    }

    void at_once(cusparseSpGEMMAlg_t algorithm) {
        begin();
        size_t estimate = 0, memory = 0, work = 0;
        auto works = [&](void *at) {
            check(cusparseSpGEMM_workEstimation(handle, PLAIN, PLAIN, &one, a, b, &zero, c, Kind<T>::type, algorithm, descriptor, &estimate, at));
        };
        auto compute = [&](void *at) {
            check(cusparseSpGEMM_compute(handle, PLAIN, PLAIN, &one, a, b, &zero, c, Kind<T>::type, algorithm, descriptor, &work, at));
        };
        works(nullptr), works(hold(estimate));
        if (algorithm == CUSPARSE_SPGEMM_ALG1) {
            compute(nullptr);
        } else {
            /* The share of the products that ALG3 computes at a time; ALG2 ignores it. */
            auto size = [&](void *at, size_t *of_work) {
                check(cusparseSpGEMM_estimateMemory(handle, PLAIN, PLAIN, &one, a, b, &zero, c, Kind<T>::type, algorithm, descriptor, 0.2f, &memory,
                                                    at, of_work));
            };
            size(nullptr, nullptr), size(hold(memory), &work);
        }
        compute(hold(work));
        make_room_for_c();
        check(cusparseSpGEMM_copy(handle, PLAIN, PLAIN, &one, a, b, &zero, c, Kind<T>::type, algorithm, descriptor));
    }

    void symbolic() {
        begin();
        constexpr auto algorithm = CUSPARSE_SPGEMM_DEFAULT;
        size_t sizes[5] = {};
        auto works = [&](void *at) { check(cusparseSpGEMMreuse_workEstimation(handle, PLAIN, PLAIN, a, b, c, algorithm, descriptor, &sizes[0], at)); };
        works(nullptr), works(hold(sizes[0]));
        auto counts = [&](void *x, void *y, void *z) {
            check(cusparseSpGEMMreuse_nnz(handle, PLAIN, PLAIN, a, b, c, algorithm, descriptor, &sizes[1], x, &sizes[2], y, &sizes[3], z));
        };
        counts(nullptr, nullptr, nullptr);
        void *x = hold(sizes[1]), *y = hold(sizes[2]), *z = hold(sizes[3]);
        counts(x, y, z);
        make_room_for_c();
        auto copies = [&](void *at) { check(cusparseSpGEMMreuse_copy(handle, PLAIN, PLAIN, a, b, c, algorithm, descriptor, &sizes[4], at)); };
        copies(nullptr), copies(hold(sizes[4]));
    }

    void numeric() {
        check(cusparseSpGEMMreuse_compute(handle, PLAIN, PLAIN, &one, a, b, &zero, c, Kind<T>::type, CUSPARSE_SPGEMM_DEFAULT, descriptor));
    }

    void drop() {
        if (descriptor) cusparseSpGEMM_destroyDescr(descriptor);
        if (c) cusparseDestroySpMat(c);
        for (void *memory : held) cudaFree(memory);
        descriptor = nullptr, c = nullptr, held.clear();
    }
};

/* Computes y = C·x in f64, with a warp for each row. A row whose columns do not ascend gets NaN. */
template <class T>
__global__ void times_vector(int64_t rows, const int *offsets, const int *columns, const T *values, const double *x, double *y) {
    int64_t row = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    double sum = 0;
    for (int p = offsets[row] + threadIdx.x % 32; p < offsets[row + 1]; p += 32) {
        sum += values[p] * x[columns[p]];
        if (p > offsets[row] && columns[p - 1] >= columns[p]) sum = NAN;
    }
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) y[row] = sum;
}

template <class T> static const char *fault_of(const Truth &truth, const Product<T> &p, const double *x) {
    const char *fault = fault_of_size(&truth, p.count);
    if (fault) return fault;
    double *y;
    std::vector<double> sums(p.rows);
    check(cudaMalloc(&y, p.rows * sizeof(double)));
    times_vector<<<(p.rows + 7) / 8, 256>>>(p.rows, p.offsets, p.columns, p.values, x, y);
    check(cudaMemcpy(sums.data(), y, p.rows * sizeof(double), cudaMemcpyDeviceToHost));
    cudaFree(y);
    return fault_of_sums(&truth, sums.data(), Kind<T>::rounding);
}

/* Executions into a kept pattern that are enqueued together, as with `--together 10` of `blockmul bench --operation plan`. */
static const int TOGETHER = 10;

/* Verifies the result of `prepare` and `multiply`, then times `multiply`. The result of `prepare`
   is kept if the caller gives a place for it. */
template <class T, class Prepare, class Multiply>
static void variant(const Truth &truth, Product<T> &product, const char *name, const double *x, bool kept, Prepare prepare, Multiply multiply) {
    std::string why;
    try {
        prepare(), multiply();
        check(cudaDeviceSynchronize());
        const char *fault = fault_of(truth, product, x);
        if (fault) throw std::runtime_error(fault);
        const int64_t peak = product.bytes;
        if (!kept) product.drop();
        program.peak_bytes = peak;
        MEASURE(&truth, name, Kind<T>::name, 0, (multiply(), check(cudaDeviceSynchronize())), if (!kept) product.drop());
        if (kept) {
            auto several = [&] {
                for (int i = 0; i < TOGETHER; i++) multiply();
                check(cudaDeviceSynchronize());
            };
            program.peak_bytes = peak;
            MEASURE_TOGETHER(TOGETHER, &truth, "kept pattern, ten together", Kind<T>::name, 0, several(), (void)0);
        }
    } catch (const std::exception &error) {
        why = error.what();
    }
    product.drop();
    cudaGetLastError();
    if (!why.empty()) tell(&truth, name, Kind<T>::name, 0, nullptr, 0, why.c_str());
}

template <class T> static void all_variants(cusparseHandle_t handle, const Truth &truth, const Blocks &left, const Blocks &right) {
    Product<T> product{handle, upload<T>(left), upload<T>(right)};
    product.operand_bytes = bytes_of(&left, sizeof(T)) + (left.offsets == right.offsets ? 0 : bytes_of(&right, sizeof(T)));
    double *x = upload(truth.x, truth.x_size);
    auto nothing = [] {};
    variant(truth, product, "ALG1", x, false, nothing, [&] { product.at_once(CUSPARSE_SPGEMM_ALG1); });
    variant(truth, product, "ALG2", x, false, nothing, [&] { product.at_once(CUSPARSE_SPGEMM_ALG2); });
    variant(truth, product, "ALG3", x, false, nothing, [&] { product.at_once(CUSPARSE_SPGEMM_ALG3); });
    variant(truth, product, "reuse", x, false, nothing, [&] { product.symbolic(), product.numeric(); });
    variant(truth, product, "kept pattern", x, true, [&] { product.symbolic(); }, [&] { product.numeric(); });
    free_matrix(product.a), free_matrix(product.b), cudaFree(x);
}

static int run(int argc, char **argv) {
    cusparseHandle_t handle;
    int files = begun(argc, argv, &handle);
    for (int i = 1; i < files; i++) {
        Blocks a = read_blocks(argv[i]), b = partner(&a);
        Truth truth = know(&a, &b);
        Blocks left = expanded(&a), right = a.offsets == b.offsets ? left : expanded(&b);
        all_variants<double>(handle, truth, left, right);
        all_variants<float>(handle, truth, left, right);
    }
    return 0;
}

int main(int argc, char **argv) { return status_of(run, argc, argv); }
