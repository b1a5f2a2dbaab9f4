/* Times cuSPARSE's products of a sparse matrix with a vector on an NVIDIA GPU: SpMV of the scalar
   expansion as CSR by ALG1 and ALG2 and as COO by ALG1 and ALG2, each as it is and "prepared" by
   cusparseSpMV_preprocess, and as sliced ELL; square blocks also as BSR, by SpMV where cuSPARSE has
   that and by cusparse?bsrmv. Operands, and what cuSPARSE prepares, are made before the clock
   starts. The time is the mean of CALLS products that are enqueued together.

       nvcc -arch=native -O3 -std=c++17 benches/peers/apply_gpu.cu -o apply_gpu -lcusparse -Xcompiler -Wno-deprecated-declarations
       ./apply_gpu FILE.bsr ... [--json OUT.json] [--rounds N] [--patience SECONDS]

   The exit status is 1 if something was left out because it failed, as for lack of memory. */
#include "apply.h"
#include "gpu.h"
#include <algorithm>
#include <string>

static constexpr int CALLS = 100;
static constexpr int64_t SLICE = 32;
/* Maximum number of places of sliced ELL for each entry. */
static constexpr int64_t MOST_PADDING = 2;

/* x and y of the products with one A in one element type. */
template <class T> struct Vectors {
    const Truth &truth;
    Held<T> x, y;
    cusparseDnVecDescr_t of_x = nullptr, of_y = nullptr;
    T one = 1, zero = 0;

    explicit Vectors(const Truth &of) : truth(of), y(allocate<T>(of.y_size)) {
        std::vector<T> values(of.x, of.x + of.x_size);
        x.reset(upload(values.data(), values.size()));
        check(cusparseCreateDnVec(&of_x, of.x_size, x.get(), Kind<T>::type));
        check(cusparseCreateDnVec(&of_y, of.y_size, y.get(), Kind<T>::type));
    }
    Vectors(const Vectors &) = delete;
    ~Vectors() { cusparseDestroyDnVec(of_x), cusparseDestroyDnVec(of_y); }

    /* Fills y with NaN, so that a sum that is not written is found. */
    void spoil() { check(cudaMemset(y.get(), 0xff, truth.y_size * sizeof(T))); }

    const char *fault() {
        std::vector<T> found(truth.y_size);
        check(cudaMemcpy(found.data(), y.get(), found.size() * sizeof(T), cudaMemcpyDeviceToHost));
        std::vector<double> sums(found.begin(), found.end());
        return fault_of_sums(&truth, sums.data(), Kind<T>::rounding);
    }

    void tell_why(const std::string &variant, const std::exception &error) {
        cudaGetLastError();
        tell(&truth, variant.c_str(), Kind<T>::name, 0, nullptr, 0, error.what());
    }

    /* Times `run` if its result is right; reports what goes wrong. */
    template <class Run> void measure(const std::string &variant, Run run) {
        try {
            spoil(), run();
            check(cudaDeviceSynchronize());
            if (const char *found = fault()) throw std::runtime_error(found);
            auto several = [&] {
                for (int i = 0; i < CALLS; i++) run();
                check(cudaDeviceSynchronize());
            };
            MEASURE_TOGETHER(CALLS, &truth, variant.c_str(), Kind<T>::name, 0, several(), (void)0);
        } catch (const std::exception &error) {
            tell_why(variant, error);
        }
    }
};

/* A matrix on the device: its arrays, and the handle of cuSPARSE. */
template <class T> struct Stored {
    Held<int> offsets, rows, columns;
    Held<T> values;
    cusparseSpMatDescr_t handle = nullptr;
    Stored() = default;
    Stored(const Stored &) = delete;
    Stored(Stored &&other) noexcept
        : offsets(std::move(other.offsets)), rows(std::move(other.rows)), columns(std::move(other.columns)), values(std::move(other.values)),
          handle(std::exchange(other.handle, nullptr)) {}
    ~Stored() {
        if (handle) cusparseDestroySpMat(handle);
    }
};

/* The arrays of a matrix by rows, without a handle. */
template <class T> static Stored<T> arrays(const Blocks &m) {
    std::vector<T> values(m.values, m.values + m.blocks * m.height * m.width);
    Stored<T> a;
    a.offsets.reset(upload(m.offsets, m.rows + 1)), a.columns.reset(upload(m.columns, m.blocks));
    a.values.reset(upload(values.data(), values.size()));
    return a;
}

template <class T> static Stored<T> csr(const Blocks &m) {
    Stored<T> a = arrays<T>(m);
    check(cusparseCreateCsr(&a.handle, m.rows, m.cols, m.blocks, a.offsets.get(), a.columns.get(), a.values.get(), INDEX, INDEX, ZERO, Kind<T>::type));
    return a;
}

template <class T> static Stored<T> coo(const Blocks &m) {
    Stored<T> a = arrays<T>(m);
    std::vector<int> rows(m.blocks);
    for (int64_t i = 0; i < m.rows; i++) std::fill(rows.begin() + m.offsets[i], rows.begin() + m.offsets[i + 1], (int)i);
    a.rows.reset(upload(rows.data(), rows.size()));
    check(cusparseCreateCoo(&a.handle, m.rows, m.cols, m.blocks, a.rows.get(), a.columns.get(), a.values.get(), INDEX, ZERO, Kind<T>::type));
    return a;
}

/* The first place of each slice of rows, and at the end the number of places. A slice is as wide as
   its longest row. */
static std::vector<int64_t> slices_of(const Blocks &m) {
    std::vector<int64_t> starts{0};
    for (int64_t first = 0; first < m.rows; first += SLICE) {
        int width = 0;
        for (int64_t i = first; i < std::min(first + SLICE, m.rows); i++) width = std::max(width, m.offsets[i + 1] - m.offsets[i]);
        starts.push_back(starts.back() + SLICE * width);
    }
    return starts;
}

template <class T> static Stored<T> sliced_ell(const Blocks &m, const std::vector<int64_t> &starts) {
    int64_t places = starts.back();
    std::vector<int> offsets(starts.begin(), starts.end()), columns(places, -1);
    std::vector<T> values(places);
    for (int64_t i = 0; i < m.rows; i++)
        for (int p = m.offsets[i]; p < m.offsets[i + 1]; p++) {
            int64_t place = starts[i / SLICE] + (p - m.offsets[i]) * SLICE + i % SLICE;
            columns[place] = m.columns[p], values[place] = (T)m.values[p];
        }
    Stored<T> a;
    a.offsets.reset(upload(offsets.data(), offsets.size())), a.columns.reset(upload(columns.data(), columns.size()));
    a.values.reset(upload(values.data(), values.size()));
    check(cusparseCreateSlicedEll(&a.handle, m.rows, m.cols, m.blocks, places, SLICE, a.offsets.get(), a.columns.get(), a.values.get(), INDEX, INDEX,
                                  ZERO, Kind<T>::type));
    return a;
}

/* SpMV by an algorithm, prepared or not. */
template <class T>
static void spmv(cusparseHandle_t handle, Vectors<T> &of, const std::string &variant, const Stored<T> &a, cusparseSpMVAlg_t algorithm, bool prepared) {
    constexpr auto type = Kind<T>::type;
    try {
        size_t bytes = 0;
        check(cusparseSpMV_bufferSize(handle, PLAIN, &of.one, a.handle, of.of_x, &of.zero, of.of_y, type, algorithm, &bytes));
        Held<char> buffer = allocate<char>(bytes);
        if (prepared) {
            auto status = cusparseSpMV_preprocess(handle, PLAIN, &of.one, a.handle, of.of_x, &of.zero, of.of_y, type, algorithm, buffer.get());
            if (status == CUSPARSE_STATUS_NOT_SUPPORTED) return; /* an algorithm may have nothing to prepare */
            check(status);
        }
        of.measure(variant, [&] {
            check(cusparseSpMV(handle, PLAIN, &of.one, a.handle, of.of_x, &of.zero, of.of_y, type, algorithm, buffer.get()));
        });
    } catch (const std::exception &error) {
        of.tell_why(variant, error);
    }
}

static cusparseStatus_t bsrmv(cusparseHandle_t handle, cusparseMatDescr_t general, const Blocks &m, const Stored<double> &a, Vectors<double> &of) {
    return cusparseDbsrmv(handle, CUSPARSE_DIRECTION_ROW, PLAIN, m.rows, m.cols, m.blocks, &of.one, general, a.values.get(), a.offsets.get(),
                          a.columns.get(), m.height, of.x.get(), &of.zero, of.y.get());
}

static cusparseStatus_t bsrmv(cusparseHandle_t handle, cusparseMatDescr_t general, const Blocks &m, const Stored<float> &a, Vectors<float> &of) {
    return cusparseSbsrmv(handle, CUSPARSE_DIRECTION_ROW, PLAIN, m.rows, m.cols, m.blocks, &of.one, general, a.values.get(), a.offsets.get(),
                          a.columns.get(), m.height, of.x.get(), &of.zero, of.y.get());
}

/* Square blocks as BSR. */
template <class T> static void blocks(cusparseHandle_t handle, Vectors<T> &of, const Blocks &m) {
    Stored<T> a = arrays<T>(m);
    cusparseMatDescr_t general;
    check(cusparseCreateMatDescr(&general)); /* a general matrix that counts from 0 */
    of.measure("apply bsrmv", [&] { check(bsrmv(handle, general, m, a, of)); });
    cusparseDestroyMatDescr(general);
#if CUSPARSE_VERSION >= 12600
    check(cusparseCreateBsr(&a.handle, m.rows, m.cols, m.blocks, m.height, m.width, a.offsets.get(), a.columns.get(), a.values.get(), INDEX, INDEX,
                            ZERO, Kind<T>::type, CUSPARSE_ORDER_ROW));
    spmv(handle, of, "apply bsr", a, CUSPARSE_SPMV_BSR_ALG1, false);
#endif
}

template <class T> static void all_variants(cusparseHandle_t handle, const Truth &truth, const Blocks &m, const Blocks &scalars) {
    Vectors<T> of(truth);
    /* A handle keeps what was prepared, so each variant has its own. */
    for (bool prepared : {false, true}) {
        std::string last = prepared ? " prepared" : "";
        spmv(handle, of, "apply csr ALG1" + last, csr<T>(scalars), CUSPARSE_SPMV_CSR_ALG1, prepared);
        spmv(handle, of, "apply csr ALG2" + last, csr<T>(scalars), CUSPARSE_SPMV_CSR_ALG2, prepared);
        spmv(handle, of, "apply coo ALG1" + last, coo<T>(scalars), CUSPARSE_SPMV_COO_ALG1, prepared);
        spmv(handle, of, "apply coo ALG2" + last, coo<T>(scalars), CUSPARSE_SPMV_COO_ALG2, prepared);
    }
    std::vector<int64_t> starts = slices_of(scalars);
    if (starts.back() > std::min(MOST_PADDING * scalars.blocks, (int64_t)INT32_MAX))
        fprintf(stderr, "%s: sliced ELL is left out, %lld places for %lld entries\n", m.name, (long long)starts.back(), (long long)scalars.blocks);
    else spmv(handle, of, "apply sell ALG1", sliced_ell<T>(scalars, starts), CUSPARSE_SPMV_SELL_ALG1, false);
    if (m.height == m.width && m.height > 1) blocks(handle, of, m);
}

/* Times every variant in one element type. A variant that does not fit or fails is left out with a
   message, and the result is false; later variants still run. */
template <class T> static bool measured(cusparseHandle_t handle, const Truth &truth, const Blocks &m, const Blocks &scalars) {
    try {
        all_variants<T>(handle, truth, m, scalars);
        return true;
    } catch (const std::exception &error) {
        fprintf(stderr, "%s in %s: %s\n", m.name, Kind<T>::name, error.what());
        cudaGetLastError();
        return false;
    }
}

static int run(int argc, char **argv) {
    cusparseHandle_t handle;
    bool whole = true;
    int files = begun(argc, argv, &handle);
    for (int i = 1; i < files; i++) {
        Blocks m = read_blocks(argv[i]), scalars = expanded(&m), size;
        Truth truth = know_applied(&m, &size);
        whole &= measured<double>(handle, truth, m, scalars);
        whole &= measured<float>(handle, truth, m, scalars);
        forget_truth(&truth);
        if (scalars.values != m.values) free_blocks(&scalars);
        free_blocks(&m);
    }
    return whole ? 0 : 1;
}

int main(int argc, char **argv) { return status_of(run, argc, argv); }
