// slices: rows of one length. The rows of a slice are padded to its longest, and their entries are
// stored one entry of all its rows after the other.
// Host: src/apply/spmv/slices.rs
//
//   count_places  one work-item per slice of HEIGHT rows, and one more
//   place_rows    one work-item per row of a slice of `height` rows, padding rows included
//
//   in      row_ptr[rows + 1]  col[nnz]
//   in      source[nnz]              number of each entry in A's values, if THROUGH; else its own
//   out     places[slices + 1]       places of each slice of HEIGHT rows; 0 after the last
//   out     first_col[slices]        least column of each slice of HEIGHT rows
//   in out  far[1]                   1 if a column of a slice is MOST_NEAR or more beyond its first
//   in      slice_ptr[slices + 1]    places before each slice
//   in      origin[slices]           if BESIDE_DIAGONALS: diagonals.cl places slices with an origin
//   out     slice_col[places]        column of each place, NONE if it has no entry; if NEAR, its
//                                    distance from the slice's first_col
//   out     slice_source[places]     number in A's values of each place, or PADDING
#if !defined(HEIGHT) || !defined(THROUGH) || !defined(NEAR) || !defined(MOST_NEAR) || !defined(BESIDE_DIAGONALS)
#error "HEIGHT, THROUGH, NEAR, MOST_NEAR, BESIDE_DIAGONALS: see src/apply/spmv/slices.rs"
#endif
#define PADDING 0xffffffffu
#if NEAR
#define COLUMN ushort
#define DISTANCE(col, first_col) ((col) - (first_col))
#else
#define COLUMN uint
#define DISTANCE(col, first_col) (col)
#endif
#define NONE ((COLUMN)PADDING)

// The columns of a row ascend.
KERNEL count_places(global const uint* restrict row_ptr, global const uint* restrict col, global ulong* restrict places,
                    global uint* restrict first_col, global uint* restrict far, uint rows, uint slices)
{
    const uint slice = get_global_id(0);
    if (slice > slices)
        return;
    uint longest = 0, first = PADDING, last = 0;
    for (ulong row = (ulong)slice * HEIGHT; row < rows && row < ((ulong)slice + 1) * HEIGHT; ++row) {
        const uint begin = row_ptr[row], end = row_ptr[row + 1];
        if (begin < end) {
            longest = max(longest, end - begin);
            first = min(first, col[begin]);
            last = max(last, col[end - 1]);
        }
    }
    places[slice] = (ulong)longest * HEIGHT;
    if (slice < slices)
        first_col[slice] = longest > 0 ? first : 0;
    if (longest > 0 && last - first >= MOST_NEAR)
        atomic_or(far, 1u);
}

KERNEL place_rows(global const uint* restrict row_ptr, global const uint* restrict col, global const uint* restrict source,
                  global const ulong* restrict slice_ptr, global const uint* restrict first_col, global const uint* restrict origin,
                  global COLUMN* restrict slice_col, global uint* restrict slice_source, uint rows, ulong padded_rows, uint height)
{
    const uint row = get_global_id(0);
    if (row >= padded_rows)
        return;
    const uint slice = row / height, begin = row < rows ? row_ptr[row] : 0, end = row < rows ? row_ptr[row + 1] : 0;
#if BESIDE_DIAGONALS
    if (origin[slice] != PADDING)
        return;
#endif
#if NEAR
    const uint first = row < rows ? first_col[row / HEIGHT] : 0;
#endif
    uint entry = begin;
    for (ulong place = slice_ptr[slice] + row % height; place < slice_ptr[slice + 1]; place += height) {
        const bool is_padding = entry == end;
#if THROUGH
        const uint number = is_padding ? PADDING : source[entry];
#else
        const uint number = is_padding ? PADDING : entry;
#endif
        slice_col[place] = is_padding ? NONE : (COLUMN)DISTANCE(col[entry], first);
        slice_source[place] = number;
        entry += !is_padding;
    }
}
