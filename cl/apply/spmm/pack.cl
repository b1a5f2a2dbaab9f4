// pack: copies blocks into the order of the sums, one work-item per element.
// Host: src/apply/spmm/pack.rs
//
//   in   source[nnz]     number of each block in the values; read if THROUGH
//   in   values[nnz * stride]   blocks of AREA elements
//   out  packed[nnz * AREA]
#if !defined(THROUGH) || !defined(AREA)
#error "THROUGH, AREA: see src/apply/spmm/pack.rs"
#endif

KERNEL pack_blocks(global const uint* restrict source, global const ELEMENT* restrict values, global ELEMENT* restrict packed,
                   ulong elements, uint stride)
{
    const ulong at = get_global_id(0), place = at / AREA;
    if (at < elements)
        STORE(LOAD(values, (ulong)(THROUGH ? source[place] : place) * stride + at % AREA), packed, at);
}
