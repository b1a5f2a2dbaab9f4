/* What the peers that use cuSPARSE share: checked calls, element types, matrices on the device. */
#pragma once
#include "peers.h"
#include <cuda_runtime.h>
#include <cusparse.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static void check(cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseGetErrorString(status));
}

/* Makes a handle of cuSPARSE, and returns the number of files as `arguments` does; the records name
   the version of cuSPARSE and the device. */
static int begun(int argc, char **argv, cusparseHandle_t *handle) {
    static cudaDeviceProp device;
    static std::string version;
    int number = 0;
    check(cudaGetDeviceProperties(&device, 0));
    check(cusparseCreate(handle));
    check(cusparseGetVersion(*handle, &number));
    version = std::to_string(number);
    return arguments(argc, argv, "cusparse", version.c_str(), device.name);
}

/* Returns the exit status of a program. If the program throws an exception, its message is printed.
   */
static int status_of(int (*run)(int, char **), int argc, char **argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception &error) {
        die(argv[0], error.what());
    }
}

/* Memory of the device that is freed with its owner. */
struct Release {
    void operator()(void *memory) const { cudaFree(memory); }
};
template <class T> using Held = std::unique_ptr<T, Release>;

template <class T> static Held<T> allocate(size_t count) {
    T *memory = nullptr;
    check(cudaMalloc(&memory, (count + !count) * sizeof(T)));
    return Held<T>(memory);
}

template <class T> static T *upload(const T *from, size_t count) {
    T *to;
    check(cudaMalloc(&to, (count + !count) * sizeof(T)));
    check(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

template <class T> struct Kind;
template <> struct Kind<double> {
    static constexpr cudaDataType type = CUDA_R_64F;
    static constexpr const char *name = "f64";
    static constexpr double rounding = 0x1p-53;
};
template <> struct Kind<float> {
    static constexpr cudaDataType type = CUDA_R_32F;
    static constexpr const char *name = "f32";
    static constexpr double rounding = 0x1p-24;
};

static constexpr auto PLAIN = CUSPARSE_OPERATION_NON_TRANSPOSE;
static constexpr auto INDEX = CUSPARSE_INDEX_32I;
static constexpr auto ZERO = CUSPARSE_INDEX_BASE_ZERO;

template <class T> static cusparseSpMatDescr_t upload(const Blocks &m) {
    std::vector<T> values(m.values, m.values + m.blocks);
    cusparseSpMatDescr_t made;
    check(cusparseCreateCsr(&made, m.rows, m.cols, m.blocks, upload(m.offsets, m.rows + 1), upload(m.columns, m.blocks),
                            upload(values.data(), values.size()), INDEX, INDEX, ZERO, Kind<T>::type));
    return made;
}

static void free_matrix(cusparseSpMatDescr_t matrix) {
    int64_t rows, cols, values;
    void *offsets, *columns, *numbers;
    cusparseIndexType_t of_offsets, of_columns;
    cusparseIndexBase_t base;
    cudaDataType type;
    if (!cusparseCsrGet(matrix, &rows, &cols, &values, &offsets, &columns, &numbers, &of_offsets, &of_columns, &base, &type))
        cudaFree(offsets), cudaFree(columns), cudaFree(numbers);
    cusparseDestroySpMat(matrix);
}
