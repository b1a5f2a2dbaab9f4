// move_blocks: copies blocks to other places, transposes some, and changes no bit of a value.
// Host: src/structure/move_blocks.rs
//
//   One work-item per element of a moved block, or on a CPU per BLOCKS blocks. BLOCKS is 0 on other
//   devices.
//
//   in   source[nnz]               the block from which each block is copied
//   in   turned[nnz]               if TURN is 2: whether the block is transposed. If TURN is 0, no
//                                  block is transposed; if it is 1, all are
//   in   from[from_nnz * from_stride]      blocks of ROWS x COLS, column-major
//   out  to[nnz * to_stride]               the moved blocks; gaps between them are not written
#if !defined(ROWS) || !defined(COLS) || !defined(TURN) || !defined(BLOCKS)
#error "ROWS, COLS, TURN, BLOCKS: see src/structure/move_blocks.rs"
#endif
#define AREA (ROWS * COLS)

// MIRRORED is the index in the block of an element of its transpose, which has COLS x ROWS
// elements.
#define MIRRORED(element) ((element) % COLS * ROWS + (element) / COLS)

#if TURN == 2
#define TURNED_ARGUMENT global const uint* restrict turned,
#define TURNED(k) turned[k]
#else
#define TURNED_ARGUMENT
#define TURNED(k) TURN
#endif

KERNEL move_blocks(global const uint* restrict source, TURNED_ARGUMENT global const ELEMENT* restrict from,
                   global ELEMENT* restrict to, uint nnz, uint from_stride, uint to_stride)
{
    global const ELEMENT_BITS* in = (global const ELEMENT_BITS*)from;
    global ELEMENT_BITS* out = (global ELEMENT_BITS*)to;
#if BLOCKS
    const ulong first = get_global_id(0) * (ulong)BLOCKS;
    const uint end = (uint)min(first + BLOCKS, (ulong)nnz);
    for (uint k = (uint)min(first, (ulong)nnz); k < end; ++k) {
        global const ELEMENT_BITS* block = in + (ulong)source[k] * from_stride;
        global ELEMENT_BITS* moved = out + (ulong)k * to_stride;
        if (TURNED(k))
            for (uint row = 0; row < ROWS; ++row)
                for (uint col = 0; col < COLS; ++col)
                    moved[row * COLS + col] = block[col * ROWS + row];
        else
            for (uint element = 0; element < AREA; ++element)
                moved[element] = block[element];
    }
#else
    const ulong item = get_global_id(0);
    const uint k = (uint)(item / AREA), element = (uint)(item % AREA);
    if (item < (ulong)nnz * AREA) {
        const uint place = TURNED(k) ? MIRRORED(element) : element;
        out[(ulong)k * to_stride + element] = in[(ulong)source[k] * from_stride + place];
    }
#endif
}
