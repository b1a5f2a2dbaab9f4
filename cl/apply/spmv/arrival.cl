// arrival: adds a term to a sum to which several work-items add, in the order in which they arrive.
// This file comes after ptx.cl.
// Host: src/apply/spmv/arrival.rs
//
// OpenCL C 1.2 cannot add floating-point numbers atomically. So an item reads a sum, adds its
// number, and stores the result if no other item has changed the stored sum since. NVIDIA GPUs that
// have CACHE_HINTS have an instruction that adds in global memory. WIDE is 1 if a sum has 64 bits,
// FLOATING if floating-point numbers are added.
//
// Every interleaving gives a correct sum, whatever value is read at first. If that value is not the
// current sum, the exchange fails and returns the current sum. So an item that reads an old sum, or
// halves of two different sums, only tries once more.
#if !defined(WIDE) || !defined(FLOATING)
#error "WIDE, FLOATING: see src/apply/spmv/arrival.rs"
#endif
#if WIDE
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define SUM_BITS ulong
#define AS_BITS as_ulong
#define EXCHANGE atom_cmpxchg
#define REPLACE atom_xchg
#else
#define SUM_BITS uint
#define AS_BITS as_uint
#define EXCHANGE atomic_cmpxchg
#define REPLACE atomic_xchg
#endif
#define AS_(word) as_##word
#define AS(word) AS_(word)

// Defines name(sum, term), which adds by exchange to sums in the address space SPACE. A sum is
// stored as its bits, exclusive-ored with `mask`.
#define SUM_AND(stored, term, mask) (AS_BITS(ADD(AS(ARITHMETIC)((stored) ^ (mask)), term)) ^ (mask))
#define ADDS_ON_ARRIVAL(name, SPACE, mask)                                                                            \
    void name(SPACE ARITHMETIC* sum, ARITHMETIC term)                                                                 \
    {                                                                                                                 \
        volatile SPACE SUM_BITS* word = (volatile SPACE SUM_BITS*)sum;                                                \
        SUM_BITS expected = *word, found = EXCHANGE(word, expected, SUM_AND(expected, term, mask));                   \
        while (found != expected) {                                                                                   \
            expected = found;                                                                                         \
            found = EXCHANGE(word, expected, SUM_AND(expected, term, mask));                                          \
        }                                                                                                             \
    }

// add_on_arrival adds to sums in global memory.
#if FLOATING && CACHE_HINTS
void add_on_arrival(global ARITHMETIC* sum, ARITHMETIC term)
{
#if WIDE
    ADD_DOUBLE(term, sum);
#else
    ADD_FLOAT(term, sum);
#endif
}
#else
ADDS_ON_ARRIVAL(add_on_arrival, global, 0) // a race: see above
#endif
