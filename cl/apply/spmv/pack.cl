// pack: copies A's values into the order of a format, one work-item per place.
// Host: src/apply/spmv/pack.rs
//
//   in   source[places]   number of each place's value, or PADDING; read if THROUGH
//   in   values[nnz * stride]
//   out  packed[places]   0 for padding
#if !defined(THROUGH)
#error "THROUGH: see src/apply/spmv/pack.rs"
#endif
#define PADDING 0xffffffffu

KERNEL pack(global const uint* restrict source, global const ELEMENT* restrict values, global ELEMENT* restrict packed, ulong places,
            uint stride)
{
    const ulong place = get_global_id(0);
    if (place >= places)
        return;
#if THROUGH
    const uint number = source[place];
    const ARITHMETIC value = number == PADDING ? 0 : LOAD(values, (ulong)number * stride);
#else
    const ARITHMETIC value = LOAD(values, place * stride);
#endif
    STORE(value, packed, place);
}
