// common: the words every kernel shares. Included first in every program.
//
// Nothing here or in any kernel file has a default: a kernel built without a define the host owes it does not build.
#ifndef GROUP_SIZE
#error "GROUP_SIZE: the host plans the work-group size, see src/product/tuning.rs"
#endif

// A product is rounded before it is added, on every device: the bits of a result do not depend on where it was computed.
#pragma OPENCL FP_CONTRACT OFF

// Before a loop that adds: in the order written. Intel's CPU compiler would add in vectors, which gives other bits.
#ifdef __clang__
#define IN_ORDER _Pragma("clang loop vectorize(disable) interleave(disable)")
#else
#define IN_ORDER
#endif

// Local memory as every item of the group has written it. A group of one item waits for nobody: on PoCL a kernel without barriers compiles
// three times as fast.
#if GROUP_SIZE == 1
#define GROUP_BARRIER
#else
#define GROUP_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#endif

#define KERNEL kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void

// Matrix elements are stored as ELEMENT and computed with as ARITHMETIC; half is loaded and stored by core functions.
#ifdef ELEMENT
#if ELEMENT_IS_HALF
#define LOAD(values, i) vload_half(i, values)
#define STORE(value, values, i) vstore_half_rte(value, i, values)
#else
#define LOAD(values, i) ((values)[i])
#define STORE(value, values, i) ((values)[i] = (value))
#endif

// Sums in order are written with ADD(x, y), MULTIPLY(x, y), IDENTITY, what a sum starts from, and
// EMPTY, an entry without products. All are in ARITHMETIC, and their text is the host's.
#if !defined(ADD) || !defined(MULTIPLY) || !defined(IDENTITY) || !defined(EMPTY)
#error "ADD, MULTIPLY, IDENTITY, EMPTY: see src/element/semiring.rs"
#endif

// Puts alpha * sum + beta * what is there in its place, which is not read if beta is 0. For other
// algebras than plus-times alpha is 1, and beta is 0 or 1: the sum replaces what is there or is
// added to it.
void place_sum(ARITHMETIC sum, global ELEMENT* values, ulong i, ARITHMETIC alpha, ARITHMETIC beta)
{
    ARITHMETIC value = alpha * sum;
    if (beta != 0)
        value = ADD(value, beta * LOAD(values, i));
    STORE(value, values, i);
}
#endif

// Defines name(value, shared, &total): combines the values of all work-items before this one, 0 for the first; the
// whole group's go to total. Every item of the group must call it; shared holds GROUP_SIZE words and may be reused at once.
#define GROUP_SCAN(name, WORD, COMBINE)                                                                               \
    WORD name(WORD value, local WORD* shared, WORD* total)                                                            \
    {                                                                                                                 \
        const uint item = get_local_id(0);                                                                            \
        GROUP_BARRIER;                                                                                                \
        shared[item] = value;                                                                                         \
        for (uint distance = 1; distance < GROUP_SIZE; distance *= 2) {                                               \
            GROUP_BARRIER;                                                                                            \
            const WORD before = item >= distance ? shared[item - distance] : 0;                                       \
            GROUP_BARRIER; /* the reads above, before the writes below */                                             \
            shared[item] = COMBINE(before, shared[item]);                                                             \
        }                                                                                                             \
        GROUP_BARRIER;                                                                                                \
        *total = shared[GROUP_SIZE - 1];                                                                              \
        return item > 0 ? shared[item - 1] : 0;                                                                       \
    }

// The last of the columns from `first` to `last` that begins at or before `entry`: the one that has it, for the columns after it that begin
// there are empty.
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

// The same of all `ncols` columns.
uint column_of(global const uint* col_ptr, uint ncols, uint entry)
{
    return column_between(col_ptr, 0, ncols - 1, entry);
}

// Where the ascending numbers from `first` to `last` stop being below `number`.
uint lower_bound(global const uint* numbers, uint first, uint last, uint number)
{
    while (first < last) {
        const uint middle = first + (last - first) / 2;
        if (numbers[middle] < number)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}
