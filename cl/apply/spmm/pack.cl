// pack: copies blocks into another order, one work-item per element.
// Host: src/apply/spmm/pack.rs
//
//   in   source[nnz]     index of each block in the values; read only if THROUGH
//   in   values[nnz * stride]   blocks of AREA elements
//   out  packed[nnz * AREA]     the blocks; if TURNED is not 0, their transposes, which have TURNED
//                               rows
#if !defined(THROUGH) || !defined(AREA) || !defined(TURNED)
#error "THROUGH, AREA, TURNED: see src/apply/spmm/pack.rs"
#endif

// ELEMENT_OF is the place, in a block of the values, of element `at` of a packed block.
#if TURNED
#define ELEMENT_OF(at) ((at) % TURNED * (AREA / TURNED) + (at) / TURNED)
#else
#define ELEMENT_OF(at) (at)
#endif

KERNEL pack_blocks(global const uint* restrict source, global const ELEMENT* restrict values, global ELEMENT* restrict packed,
                   ulong elements, uint stride)
{
    const ulong at = get_global_id(0), place = at / AREA;
    if (at < elements)
        STORE(LOAD(values, (ulong)(THROUGH ? source[place] : place) * stride + ELEMENT_OF(at % AREA)), packed, at);
}
