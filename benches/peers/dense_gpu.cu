/* Times products of a sparse matrix with a dense one on an NVIDIA GPU: cuSPARSE's SpMM, CSR by
   ALG1, ALG2 and ALG3, and square blocks also as BSR, with D and C by rows and by columns; what
   cuSPARSE does not support is reported and has no record. If D has as many columns as A, it also
   times cuBLAS' product of the dense matrices, in f32 without TF32, and cuSPARSE's conversion of
   the dense A to CSR. Operands, C and what cuSPARSE prepares are made before the clock starts.

       nvcc -arch=native -O3 -std=c++17 benches/peers/dense_gpu.cu -o dense_gpu -lcusparse -lcublas
       ./dense_gpu FILE.bsr|random:N:S ... [--columns N|all,...] [--json OUT.json] [--rounds N] [--patience SECONDS]

   The exit status is 1 if something was left out because it failed, as for lack of memory. */
#include "dense.h"
#include "gpu.h"
#include <algorithm>
#include <cublas_v2.h>
#include <string>
#include <utility>

/* Flops from which a single product is timed, because the time of a launch is then negligible. */
static constexpr double LONG_FLOPS = 1e11;
static constexpr int TOGETHER = 5;
static constexpr int GROUP = 256;

static void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

/* Element (i, j) of a dense matrix is values[i * row_step + j * column_step]. */
struct Steps {
    int64_t row, column;
};

static Steps steps_of(int layout, int64_t rows, int64_t columns) {
    return layout == BY_ROWS ? Steps{columns, 1} : Steps{1, rows};
}

/* Computes y = C·x in f64, with a warp for each row. */
template <class T>
__global__ void dense_times_vector(int64_t rows, int64_t columns, Steps steps, const T *values, const double *x, double *y) {
    int64_t row = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    double sum = 0;
    for (int64_t j = threadIdx.x % 32; j < columns; j += 32) sum += (double)values[row * steps.row + j * steps.column] * x[j];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) y[row] = sum;
}

/* Puts the entries of rows into a dense matrix of zeros, with a warp for each row. */
template <class T>
__global__ void spread(int64_t rows, const int *offsets, const int *columns, const T *values, Steps steps, T *to) {
    int64_t row = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    for (int p = offsets[row] + threadIdx.x % 32; p < offsets[row + 1]; p += 32) to[row * steps.row + columns[p] * steps.column] = values[p];
}

static unsigned warps(int64_t rows) { return (unsigned)((rows * 32 + GROUP - 1) / GROUP); }

/* A dense matrix on the device, with its handle of cuSPARSE. */
template <class T> struct Descriptor {
    cusparseDnMatDescr_t handle = nullptr;
    Descriptor(int64_t rows, int64_t columns, int layout, T *values) {
        int64_t leading = layout == BY_ROWS ? columns : rows;
        check(cusparseCreateDnMat(&handle, rows, columns, leading, values, Kind<T>::type, layout == BY_ROWS ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL));
    }
    Descriptor(const Descriptor &) = delete;
    ~Descriptor() { cusparseDestroyDnMat(handle); }
};

/* D and C of the products of one A in one element type. */
template <class T> struct Operands {
    const Truth &truth;
    int64_t rows, inner, columns;
    Held<T> d[LAYOUTS], c;
    Held<double> x, y;
    T one = 1, zero = 0;

    Operands(const Truth &of, const double *values)
        : truth(of), rows(of.y_size), inner(of.b->rows), columns(of.b->cols), c(allocate<T>(rows * columns)), x(upload(of.x, of.x_size)),
          y(allocate<double>(rows)) {
        std::vector<T> ordered(inner * columns);
        for (int layout = BY_ROWS; layout < LAYOUTS; layout++) {
            Steps steps = steps_of(layout, inner, columns);
            for (int64_t i = 0; i < inner; i++)
                for (int64_t j = 0; j < columns; j++) ordered[i * steps.row + j * steps.column] = (T)values[i * columns + j];
            d[layout].reset(upload(ordered.data(), ordered.size()));
        }
    }

    /* Fills C with NaN, so that an element that is not written is found. */
    void spoil() { check(cudaMemset(c.get(), 0xff, rows * columns * sizeof(T))); }

    const char *fault(int layout) {
        std::vector<double> sums(rows);
        dense_times_vector<<<warps(rows), GROUP>>>(rows, columns, steps_of(layout, rows, columns), c.get(), x.get(), y.get());
        check(cudaGetLastError());
        check(cudaMemcpy(sums.data(), y.get(), rows * sizeof(double), cudaMemcpyDeviceToHost));
        return fault_of_sums(&truth, sums.data(), Kind<T>::rounding);
    }

    /* Times `run` if `fault` finds its result right; `drop` runs while the clock is stopped.
       Reports what goes wrong. */
    template <class Fault, class Run, class Drop> void measure(const std::string &variant, Fault fault, Run run, Drop drop) {
        std::string why;
        try {
            spoil(), run();
            check(cudaDeviceSynchronize());
            if (const char *found = fault()) throw std::runtime_error(found);
            int together = truth.flops < LONG_FLOPS ? TOGETHER : 1;
            auto several = [&] {
                for (int i = 0; i < together; i++) run();
                check(cudaDeviceSynchronize());
            };
            MEASURE_TOGETHER(together, &truth, variant.c_str(), Kind<T>::name, 0, several(), drop());
        } catch (const std::exception &error) {
            why = error.what();
        }
        cudaGetLastError();
        if (!why.empty()) tell(&truth, variant.c_str(), Kind<T>::name, 0, nullptr, 0, why.c_str());
    }
};

/* Times cuSPARSE's product by one algorithm, unless cuSPARSE does not support this algorithm in
   this layout. */
template <class T> static void sparse(cusparseHandle_t handle, Operands<T> &of, const char *what, int layout, cusparseSpMatDescr_t a, cusparseSpMMAlg_t algorithm) {
    std::string variant = variant_of(what, layout, of.columns), why;
    try {
        Descriptor<T> d(of.inner, of.columns, layout, of.d[layout].get()), c(of.rows, of.columns, layout, of.c.get());
        size_t bytes = 0;
        Held<char> buffer;
        auto multiply = [&] {
            return cusparseSpMM(handle, PLAIN, PLAIN, &of.one, a, d.handle, &of.zero, c.handle, Kind<T>::type, algorithm, buffer.get());
        };
        cusparseStatus_t first =
            cusparseSpMM_bufferSize(handle, PLAIN, PLAIN, &of.one, a, d.handle, &of.zero, c.handle, Kind<T>::type, algorithm, &bytes);
        if (first == CUSPARSE_STATUS_SUCCESS) {
            buffer = allocate<char>(bytes);
            cusparseStatus_t prepared =
                cusparseSpMM_preprocess(handle, PLAIN, PLAIN, &of.one, a, d.handle, &of.zero, c.handle, Kind<T>::type, algorithm, buffer.get());
            if (prepared != CUSPARSE_STATUS_NOT_SUPPORTED) check(prepared); /* optional: an algorithm may have none */
            first = multiply();
        }
        if (first == CUSPARSE_STATUS_NOT_SUPPORTED) {
            fprintf(stderr, "%s in %s: cuSPARSE does not support %s\n", of.truth.a->name, Kind<T>::name, variant.c_str());
            return;
        }
        check(first);
        of.measure(variant, [&] { return of.fault(layout); }, [&] { check(multiply()); }, [] {});
    } catch (const std::exception &error) {
        why = error.what();
    }
    cudaGetLastError();
    if (!why.empty()) tell(&of.truth, variant.c_str(), Kind<T>::name, 0, nullptr, 0, why.c_str());
}

/* Square blocks as BSR. */
template <class T> static void blocks(cusparseHandle_t handle, Operands<T> &of, const Blocks &m) {
    std::vector<T> values(m.values, m.values + m.blocks * m.height * m.width);
    Held<int> offsets(upload(m.offsets, m.rows + 1)), columns(upload(m.columns, m.blocks));
    Held<T> on_device(upload(values.data(), values.size()));
    cusparseSpMatDescr_t a;
    check(cusparseCreateBsr(&a, m.rows, m.cols, m.blocks, m.height, m.width, offsets.get(), columns.get(), on_device.get(), INDEX, INDEX, ZERO,
                            Kind<T>::type, CUSPARSE_ORDER_ROW));
    for (int layout = BY_ROWS; layout < LAYOUTS; layout++) sparse(handle, of, "bsr", layout, a, CUSPARSE_SPMM_BSR_ALG1);
    cusparseDestroySpMat(a);
}

template <class T> static void csr(cusparseHandle_t handle, Operands<T> &of, const Blocks &m) {
    std::vector<T> values(m.values, m.values + m.blocks);
    Held<int> offsets(upload(m.offsets, m.rows + 1)), columns(upload(m.columns, m.blocks));
    Held<T> on_device(upload(values.data(), values.size()));
    cusparseSpMatDescr_t a;
    check(cusparseCreateCsr(&a, m.rows, m.cols, m.blocks, offsets.get(), columns.get(), on_device.get(), INDEX, INDEX, ZERO, Kind<T>::type));
    for (int layout = BY_ROWS; layout < LAYOUTS; layout++) {
        sparse(handle, of, "csr ALG1", layout, a, CUSPARSE_SPMM_CSR_ALG1);
        sparse(handle, of, "csr ALG2", layout, a, CUSPARSE_SPMM_CSR_ALG2);
        sparse(handle, of, "csr ALG3", layout, a, CUSPARSE_SPMM_CSR_ALG3);
    }
    cusparseDestroySpMat(a);
}

static void gemm(cublasHandle_t handle, Operands<double> &of, const double *a) {
    check(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, of.rows, of.columns, of.inner, &of.one, a, of.rows, of.d[BY_COLUMNS].get(), of.inner, &of.zero,
                      of.c.get(), of.rows));
}

static void gemm(cublasHandle_t handle, Operands<float> &of, const float *a) {
    check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, of.rows, of.columns, of.inner, &of.one, a, of.rows, of.d[BY_COLUMNS].get(), of.inner, &of.zero,
                      of.c.get(), of.rows));
}

/* Times the conversion of the dense A to CSR: entries are counted, and their arrays allocated and
   filled. cuSPARSE leaves the entries of a row in any order
   (github.com/NVIDIA/CUDALibrarySamples/issues/21). */
template <class T> static void conversion(cusparseHandle_t handle, Operands<T> &of, const Blocks &scalars, T *a) {
    Held<int> offsets = allocate<int>(scalars.rows + 1), columns;
    Held<T> values;
    Descriptor<T> dense(scalars.rows, scalars.cols, BY_ROWS, a);
    constexpr auto algorithm = CUSPARSE_DENSETOSPARSE_ALG_DEFAULT;
    std::vector<Held<void>> done; /* arrays of earlier conversions, which are freed outside the clock */
    auto convert = [&] {
        cusparseSpMatDescr_t made;
        int64_t rows, inner, count;
        size_t bytes = 0;
        check(cusparseCreateCsr(&made, scalars.rows, scalars.cols, 0, offsets.get(), nullptr, nullptr, INDEX, INDEX, ZERO, Kind<T>::type));
        check(cusparseDenseToSparse_bufferSize(handle, dense.handle, made, algorithm, &bytes));
        Held<char> buffer = allocate<char>(bytes);
        check(cusparseDenseToSparse_analysis(handle, dense.handle, made, algorithm, buffer.get()));
        check(cusparseSpMatGetSize(made, &rows, &inner, &count));
        done.emplace_back(columns.release()), done.emplace_back(values.release());
        columns = allocate<int>(count), values = allocate<T>(count);
        check(cusparseCsrSetPointers(made, offsets.get(), columns.get(), values.get()));
        check(cusparseDenseToSparse_convert(handle, dense.handle, made, algorithm, buffer.get()));
        check(cudaDeviceSynchronize());
        cusparseDestroySpMat(made);
        done.emplace_back(buffer.release());
    };
    auto fault = [&]() -> const char * {
        std::vector<int> found_offsets(scalars.rows + 1), found(scalars.blocks);
        std::vector<T> found_values(scalars.blocks);
        check(cudaMemcpy(found_offsets.data(), offsets.get(), found_offsets.size() * sizeof(int), cudaMemcpyDeviceToHost));
        if (memcmp(found_offsets.data(), scalars.offsets, found_offsets.size() * sizeof(int))) return "other offsets";
        check(cudaMemcpy(found.data(), columns.get(), found.size() * sizeof(int), cudaMemcpyDeviceToHost));
        check(cudaMemcpy(found_values.data(), values.get(), found.size() * sizeof(T), cudaMemcpyDeviceToHost));
        std::vector<std::pair<int, T>> row;
        for (int64_t i = 0; i < scalars.rows; i++) {
            row.clear();
            for (int p = scalars.offsets[i]; p < scalars.offsets[i + 1]; p++) row.emplace_back(found[p], found_values[p]);
            std::sort(row.begin(), row.end());
            for (int p = scalars.offsets[i]; p < scalars.offsets[i + 1]; p++)
                if (row[p - scalars.offsets[i]] != std::make_pair(scalars.columns[p], (T)scalars.values[p])) return "another entry";
        }
        return nullptr;
    };
    of.measure("from-dense by rows", fault, convert, [&] { done.clear(); });
}

/* Times the variants that need A with its zeros. */
template <class T> static void with_zeros(cusparseHandle_t handle, cublasHandle_t blas, Operands<T> &of, const Blocks &scalars) {
    int64_t size = scalars.rows * scalars.cols;
    std::vector<T> values(scalars.values, scalars.values + scalars.blocks);
    Held<int> offsets(upload(scalars.offsets, scalars.rows + 1)), columns(upload(scalars.columns, scalars.blocks));
    Held<T> on_device(upload(values.data(), values.size())), dense = allocate<T>(size);
    for (int layout = BY_ROWS; layout < LAYOUTS; layout++) {
        check(cudaMemset(dense.get(), 0, size * sizeof(T)));
        spread<<<warps(scalars.rows), GROUP>>>(scalars.rows, offsets.get(), columns.get(), on_device.get(),
                                               steps_of(layout, scalars.rows, scalars.cols), dense.get());
        check(cudaGetLastError());
        check(cudaDeviceSynchronize());
        if (layout == BY_ROWS) {
            conversion(handle, of, scalars, dense.get());
            continue;
        }
        program.library = "cublas";
        of.measure(variant_of("gemm", BY_COLUMNS, of.columns), [&] { return of.fault(BY_COLUMNS); }, [&] { gemm(blas, of, dense.get()); }, [] {});
        program.library = "cusparse";
    }
}

template <class T>
static void all_variants(cusparseHandle_t handle, cublasHandle_t blas, const Truth &truth, const double *values, const Blocks &m, const Blocks &scalars) {
    Operands<T> of(truth, values);
    csr(handle, of, scalars);
    if (m.height == m.width && m.height > 1) blocks(handle, of, m);
    if (of.columns == scalars.cols && scalars.rows * scalars.cols <= LARGEST_GEMM) with_zeros(handle, blas, of, scalars);
}

/* Times every variant in one element type. A variant that is too large or fails is left out with a
   message, and the result is false; later variants still run. */
template <class T>
static bool measured(cusparseHandle_t handle, cublasHandle_t blas, const Truth &truth, const double *values, const Blocks &m, const Blocks &scalars) {
    try {
        all_variants<T>(handle, blas, truth, values, m, scalars);
        return true;
    } catch (const std::exception &error) {
        fprintf(stderr, "%s in %s with %lld columns: %s\n", m.name, Kind<T>::name, (long long)truth.b->cols, error.what());
        cudaGetLastError();
        return false;
    }
}

static int run(int argc, char **argv) {
    cusparseHandle_t handle;
    cublasHandle_t blas;
    bool whole = true;
    check(cublasCreate(&blas));
    check(cublasSetMathMode(blas, CUBLAS_DEFAULT_MATH)); /* which keeps all bits of f32 */
    const char *given = columns_option(&argc, argv);
    int files = begun(argc, argv, &handle);
    for (int i = 1; i < files; i++) {
        Blocks m = matrix_of(argv[i]), scalars = expanded(&m);
        const char *list = columns_wanted(given, argv[i]);
        for (int64_t columns; (columns = next_columns(&list, argv[i], scalars.cols));) {
            double *values = made_d(scalars.cols, columns);
            Blocks size;
            Truth truth = know_dense(&m, &size, values, columns);
            whole &= measured<double>(handle, blas, truth, values, m, scalars);
            whole &= measured<float>(handle, blas, truth, values, m, scalars);
            forget_truth(&truth), free(values);
        }
        if (scalars.values != m.values) free_blocks(&scalars);
        free_blocks(&m);
    }
    return whole ? 0 : 1;
}

int main(int argc, char **argv) { return status_of(run, argc, argv); }
