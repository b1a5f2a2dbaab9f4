// arrival: adding to a sum that other work-items add to, in the order in which they arrive.
// Host: src/apply/spmv/atomics.rs
//
// OpenCL C 1.2 adds no floating-point numbers atomically: a sum is exchanged if no other item has
// changed it. WIDE is 1 if a sum has 64 bits.
#if !defined(WIDE)
#error "WIDE: see src/apply/spmv/atomics.rs"
#endif
#if WIDE
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define SUM_BITS ulong
#define AS_BITS as_ulong
#define EXCHANGE atom_cmpxchg
#else
#define SUM_BITS uint
#define AS_BITS as_uint
#define EXCHANGE atomic_cmpxchg
#endif
#define AS_(word) as_##word
#define AS(word) AS_(word)

// Defines name(sum, term) for sums in an address space.
#define ADDS_ON_ARRIVAL(name, SPACE)                                                                                  \
    void name(SPACE ARITHMETIC* sum, ARITHMETIC term)                                                                 \
    {                                                                                                                 \
        volatile SPACE SUM_BITS* word = (volatile SPACE SUM_BITS*)sum;                                                \
        SUM_BITS expected = *word, found = EXCHANGE(word, expected, AS_BITS(ADD(AS(ARITHMETIC)(expected), term)));    \
        while (found != expected) {                                                                                   \
            expected = found;                                                                                         \
            found = EXCHANGE(word, expected, AS_BITS(ADD(AS(ARITHMETIC)(expected), term)));                           \
        }                                                                                                             \
    }
