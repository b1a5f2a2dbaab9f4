// common: definitions that every kernel shares. This file is the first part of every program.
//
// No macro in any kernel file has a default. A kernel does not build if the host omits a define.
#ifndef GROUP_SIZE
#error "GROUP_SIZE: the host plans the work-group size, see docs/architecture.md"
#endif

// Each product is rounded before it is added, on every device, so that the bits of a result do not
// depend on the device.
#pragma OPENCL FP_CONTRACT OFF

// Marks a loop whose additions must keep the written order. Intel's CPU compiler would otherwise
// add in vectors, which gives other bits.
#ifdef __clang__
#define IN_ORDER _Pragma("clang loop vectorize(disable) interleave(disable)")
#else
#define IN_ORDER
#endif

// Marks a loop of unknown length that must not be unrolled, because copies of its body would cost
// more time than they save.
#ifdef __clang__
#define AS_WRITTEN _Pragma("clang loop vectorize(disable) interleave(disable) unroll(disable)")
#else
#define AS_WRITTEN
#endif

// Marks a loop of known length that is to be unrolled, so that its arrays stay in registers.
#ifdef __clang__
#define WRITTEN_OUT _Pragma("clang loop unroll(full)")
#else
#define WRITTEN_OUT _Pragma("unroll")
#endif

// Marks a loop whose rounds neither read nor write what another round writes. A CPU runs several of
// them at once, as the lanes of vectors. PoCL would do this by itself only with another method for
// its work-groups. A loop that is not turned into vectors, such as one compiled without
// optimisation, needs no warning.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#define VECTORIZED _Pragma("clang loop vectorize(assume_safety)")
#else
#define VECTORIZED
#endif

// Prefetches memory. Only kernels for CPUs use ASK. NVIDIA's compiler is also clang, but its
// __builtin_prefetch does not take pointers to global memory.
#if defined(__clang__) && !defined(__NV_CL_C_VERSION)
#define ASK(place) __builtin_prefetch((const void*)(size_t)(place))
#else
#define ASK(place) ((void)0)
#endif

// Makes each item's writes to local memory visible to the whole work-group. A work-group of one
// item needs no barrier. PoCL compiles a kernel without barriers in a third of the time of a kernel
// with barriers.
#if GROUP_SIZE == 1
#define GROUP_BARRIER
#else
#define GROUP_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#endif

// Writes a vector past the caches, so that the overwritten memory is not loaded. Only kernels for
// CPUs use the macro that writes past the caches.
#if defined(__clang__) && !defined(__NV_CL_C_VERSION)
#define STORE_PAST(vector, place) __builtin_nontemporal_store(vector, place)
#else
#define STORE_PAST(vector, place) (*(place) = (vector))
#endif

#define KERNEL kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void

// Matrix elements are stored as ELEMENT and computed as ARITHMETIC. Halves are loaded and stored by
// core functions. ELEMENT_BITS is the type of an element's bits, which is copied unchanged: few
// devices can load a half directly.
#ifdef ELEMENT
#if ELEMENT_IS_HALF
#define ELEMENT_BITS ushort
#define LOAD(values, i) vload_half(i, values)
#define STORE(value, values, i) vstore_half_rte(value, i, values)
#else
#define ELEMENT_BITS ELEMENT
#define LOAD(values, i) ((values)[i])
#define STORE(value, values, i) ((values)[i] = (value))
#endif

// A matrix's values are stored as VALUE if vectors may have another element type.
#ifdef VALUE
#if VALUE_IS_HALF
#define LOAD_VALUE(values, i) vload_half(i, values)
#else
#define LOAD_VALUE(values, i) ((values)[i])
#endif
#endif

// Ordered sums use ADD(x, y), MULTIPLY(x, y), IDENTITY and EMPTY. A sum starts from IDENTITY, and
// EMPTY is the value of an entry without products. The sums, products, IDENTITY and EMPTY are of
// type ARITHMETIC. The host defines the text of all four macros. ADD and MULTIPLY may evaluate x
// and y more than once. The arguments x and y are numbers, or vectors of equal length.
#if !defined(ADD) || !defined(MULTIPLY) || !defined(IDENTITY) || !defined(EMPTY)
#error "ADD, MULTIPLY, IDENTITY, EMPTY: see src/element/algebra.rs"
#endif

// Writes alpha * sum + beta * old value. The old value is not read if beta is 0. In algebras other
// than plus-times alpha is 1, and beta is 0 or 1: the sum replaces the old value or is added to it.
void place_sum(ARITHMETIC sum, global ELEMENT* values, ulong i, ARITHMETIC alpha, ARITHMETIC beta)
{
    ARITHMETIC value = alpha * sum;
    if (beta != 0)
        value = ADD(value, beta * LOAD(values, i));
    STORE(value, values, i);
}
#endif

// Defines name(value, shared, &total). The function returns the combination of the values of all
// work-items before the calling item, and 0 for the first item. The function writes the combination
// of the values of all items of the work-group to total. Every item of the work-group must call the
// function. shared holds GROUP_SIZE words, and may be reused as soon as the function returns.
#define GROUP_SCAN(name, WORD, COMBINE)                                                                               \
    WORD name(WORD value, local WORD* shared, WORD* total)                                                            \
    {                                                                                                                 \
        const uint item = get_local_id(0);                                                                            \
        GROUP_BARRIER;                                                                                                \
        shared[item] = value;                                                                                         \
        for (uint distance = 1; distance < GROUP_SIZE; distance *= 2) {                                               \
            GROUP_BARRIER;                                                                                            \
            const WORD before = item >= distance ? shared[item - distance] : 0;                                       \
            GROUP_BARRIER; /* shared[] is read before it is overwritten */                                            \
            shared[item] = COMBINE(before, shared[item]);                                                             \
        }                                                                                                             \
        GROUP_BARRIER;                                                                                                \
        *total = shared[GROUP_SIZE - 1];                                                                              \
        return item > 0 ? shared[item - 1] : 0;                                                                       \
    }

// Returns the column of an entry, or the segment of an element: of the columns from `first` to
// `last`, the last that begins at or before the entry. If several columns begin at the same place,
// all these columns except the last are empty.
uint column_between(global const uint* col_ptr, uint first, uint last, uint entry)
{
    while (first < last) {
        const uint middle = last - (last - first) / 2;
        if (col_ptr[middle] <= entry)
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

// Returns the column of an entry among all `ncols` columns.
uint column_of(global const uint* col_ptr, uint ncols, uint entry)
{
    return column_between(col_ptr, 0, ncols - 1, entry);
}

// Defines name(numbers, first, last, number), which returns the first index in first..last whose
// number is at least `number`, or `last` if there is no such index. The numbers must ascend.
#define LOWER_BOUND(name, WORD)                                                                                       \
    uint name(global const WORD* numbers, uint first, uint last, WORD number)                                         \
    {                                                                                                                 \
        while (first < last) {                                                                                        \
            const uint middle = first + (last - first) / 2;                                                           \
            if (numbers[middle] < number)                                                                             \
                first = middle + 1;                                                                                   \
            else                                                                                                      \
                last = middle;                                                                                        \
        }                                                                                                             \
        return first;                                                                                                 \
    }
LOWER_BOUND(lower_bound, uint)
LOWER_BOUND(lower_bound_long, ulong)
