// bin: counts the entries in each cell of a raster laid over a matrix, and finds their largest
// magnitude.
// Host: src/spy/bin.rs
//
//   One work-item per ITEMS consecutive elements. Work is divided by elements, so that the lengths
//   of columns do not matter.
//
//   in      col_ptr[ncols + 1]  row_idx[nnz]  values[nnz * stride]
//   in out  counts[cells]       number of entries in each cell; zero before
//   in out  largest[cells]      bits of the largest magnitude, see magnitude(); zero before
//
// Counts are sums of integers and magnitudes are compared as integers, so the result does not
// depend on the order of the atomics.
#if !defined(ITEMS) || !defined(BLOCK_ROWS) || !defined(BLOCK_COLS) || !defined(ELEMENT_IS_DOUBLE)
#error "ITEMS, BLOCK_ROWS, BLOCK_COLS, ELEMENT_IS_DOUBLE: see src/spy/bin.rs"
#endif

#define AREA (BLOCK_ROWS * BLOCK_COLS)

// Returns 32 bits that have the order of magnitudes, and are 0 only for zero. The result is the
// bits of a float without its sign (an integer is rounded to a float), or the upper half of a
// double's bits. A double is not rounded to a float, because 1e-50 would become a zero. Any NaN
// becomes the NaN whose bits are next above those of infinity.
uint magnitude(ARITHMETIC value)
{
#if ELEMENT_IS_DOUBLE
    const ulong bits = as_ulong(value) & 0x7fffffffffffffffUL;
    if (bits > 0x7ff0000000000000UL)
        return 0x7ff80000u;
    return max((uint)(bits >> 32), (uint)(bits != 0));
#else
    const uint bits = as_uint((float)value) & 0x7fffffffu;
    return bits > 0x7f800000u ? 0x7fc00000u : bits;
#endif
}

// A division of 64 bits takes several times as long as a division of 32 bits, which suffices for
// nearly all matrices.
ulong cell_of(ulong line, ulong per_cell)
{
    return (line | per_cell) >> 32 == 0 ? (uint)line / (uint)per_cell : line / per_cell;
}

void add(global uint* counts, global uint* largest, ulong cell, uint count, uint most)
{
    if (count > 0)
        atomic_add(&counts[cell], count);
    if (most > 0)
        atomic_max(&largest[cell], most);
}

// A cell has rows_per_cell x cols_per_cell scalars. The distance in cells[] to the next cell below
// is row_step, and to the next cell on the right col_step. If whole_blocks is true, only the first
// element of each block is counted, otherwise every element.
KERNEL bin(global const uint* col_ptr, global const uint* row_idx, global const ELEMENT* values, global uint* counts,
           global uint* largest, uint ncols, uint nnz, uint stride, ulong rows_per_cell, ulong cols_per_cell, ulong row_step,
           ulong col_step, uint whole_blocks)
{
    const ulong elements = (ulong)nnz * AREA;
    const ulong begin = min((ulong)get_global_id(0) * ITEMS, elements), end = min(begin + ITEMS, elements);
    // Neighbouring elements mostly belong to one cell. A work-item adds all neighbouring elements
    // of one cell to the cell by one pair of atomic operations.
    ulong cell = 0;
    uint count = 0, most = 0;
    uint col = 0, col_end = 0;
    ulong last_col = 0, col_cell = 0;
    for (ulong element = begin; element < end; ++element) {
        const uint entry = (uint)(element / AREA), within = (uint)(element % AREA);
        if (entry >= col_end) {
            col = column_of(col_ptr, ncols, entry);
            col_end = col_ptr[col + 1];
        }
        const ulong scalar_row = (ulong)row_idx[entry] * BLOCK_ROWS + within % BLOCK_ROWS;
        const ulong scalar_col = (ulong)col * BLOCK_COLS + within / BLOCK_ROWS;
        if (scalar_col != last_col) {
            last_col = scalar_col;
            col_cell = cell_of(scalar_col, cols_per_cell) * col_step;
        }
        const ulong here = col_cell + cell_of(scalar_row, rows_per_cell) * row_step;
        if (here != cell) {
            add(counts, largest, cell, count, most);
            cell = here;
            count = most = 0;
        }
        count += !whole_blocks || within == 0;
        most = max(most, magnitude(LOAD(values, (ulong)entry * stride + within)));
    }
    add(counts, largest, cell, count, most);
}
