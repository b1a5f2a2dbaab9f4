// payload: words for what travels with the row of a product. Included before kernels that make products.
//                                                                                     host: src/product/problem.rs
//
//   ELEMENT defined: the value of the product; an operand is its value
//   else: the pair of its operands; an operand is the number of its entry, with A_SOURCED, B_SOURCED one read from a_operand, b_operand
#ifdef ELEMENT
#define OPERAND ELEMENT
#define MAKE(a_entry, b_entry) MULTIPLY(LOAD(a_operand, a_entry), LOAD(b_operand, b_entry))
#else
#if !defined(A_SOURCED) || !defined(B_SOURCED)
#error "A_SOURCED, B_SOURCED: see src/product/problem.rs"
#endif
#define OPERAND uint
#if A_SOURCED
#define A_SOURCE(entry) a_operand[entry]
#else
#define A_SOURCE(entry) (entry)
#endif
#if B_SOURCED
#define B_SOURCE(entry) b_operand[entry]
#else
#define B_SOURCE(entry) (entry)
#endif
#define MAKE(a_entry, b_entry) ((uint2)(A_SOURCE(a_entry), B_SOURCE(b_entry)))
#endif
