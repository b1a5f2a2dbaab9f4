// scalars: copies the elements of a symmetric matrix's blocks to compressed columns of scalars.
// Host: src/structure/scalars.rs
//
//   One work-item per element of a copied block, or on a CPU per BLOCKS blocks. BLOCKS is 0 on
//   other devices. Neighbouring items read neighbouring elements. The items write pieces of ROWS
//   elements. The next block of the column continues each piece.
//
//   in   source[nnz]                the block from which each copied block is read
//   in   first[nnz]                 place of the block's element (0, 0), and in the upper bits
//                                   TURNED, FALLING, DIAGONAL: see src/structure/scalar_map.rs
//   in   height[nnz]                number of scalars in the first column of its block column
//   in   from[from_nnz * stride]    blocks, column-major
//   out  to[...]                    columns of scalars, rows ascending
#if !defined(ROWS) || !defined(COLS) || !defined(BLOCKS) || !defined(TURNED) || !defined(FALLING) || !defined(DIAGONAL)
#error "ROWS, COLS, BLOCKS: see src/structure/mod.rs; TURNED, FALLING, DIAGONAL: see src/structure/scalars.rs"
#endif
#define AREA (ROWS * COLS)
#define FIRST (((ulong)1 << DIAGONAL) - 1)

void hand_over(uint row, uint col, ulong place, uint height, global const ELEMENT_BITS* block, global ELEMENT_BITS* out)
{
    const bool turned = place >> TURNED & 1, falling = place >> FALLING & 1, diagonal = place >> DIAGONAL & 1;
    const bool above = diagonal && row < col;
    if (above && falling)
        return; // only the lower triangle is written
    const uint from = turned != above ? row * ROWS + col : col * ROWS + row;
    // The number of scalars above the diagonal in the columns up to this one.
    const uint missing = falling ? col * (col + 1) / 2 : 0;
    out[(place & FIRST) + (ulong)col * height - missing + row] = block[from];
}

KERNEL scalars(global const uint* restrict source, global const ulong* restrict first, global const uint* restrict height,
               global const ELEMENT* restrict from, global ELEMENT* restrict to, uint nnz, uint stride)
{
    global const ELEMENT_BITS* in = (global const ELEMENT_BITS*)from;
    global ELEMENT_BITS* out = (global ELEMENT_BITS*)to;
#if BLOCKS
    const ulong begin = get_global_id(0) * (ulong)BLOCKS;
    const uint end = (uint)min(begin + BLOCKS, (ulong)nnz);
    for (uint k = (uint)min(begin, (ulong)nnz); k < end; ++k)
        for (uint col = 0; col < COLS; ++col)
            for (uint row = 0; row < ROWS; ++row)
                hand_over(row, col, first[k], height[k], in + (ulong)source[k] * stride, out);
#else
    const ulong item = get_global_id(0);
    const uint k = (uint)(item / AREA), element = (uint)(item % AREA);
    if (item < (ulong)nnz * AREA)
        hand_over(element % ROWS, element / ROWS, first[k], height[k], in + (ulong)source[k] * stride, out);
#endif
}
