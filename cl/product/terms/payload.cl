// payload: defines the words that are sorted together with the row of a product.
// Host: src/product/terms/payload.rs
//
//   ELEMENT defined: the payload is the value of the product; an operand is a value
//   otherwise: the payload is the pair of its operands. An operand is the number of its entry, or
//              is read from a_operand or b_operand if A_SOURCED or B_SOURCED
//
// This file comes before kernels that make products.
#ifdef ELEMENT
#define OPERAND ELEMENT
#define MAKE(a_entry, b_entry) MULTIPLY(LOAD(a_operand, a_entry), LOAD(b_operand, b_entry))
#else
#if !defined(A_SOURCED) || !defined(B_SOURCED)
#error "A_SOURCED, B_SOURCED: see src/product/terms/payload.rs"
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
