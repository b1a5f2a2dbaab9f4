// slices: slices of rows, each padded to its longest row. The first entries of all rows of a slice
// are stored first, then all second entries, and so on.
// Host: src/apply/spmv/slices.rs
//
//   count_places  one work-group per SLICES slices of HEIGHT rows
//   place_rows    one work-item per row of a slice of `height` rows, rows of padding included
//
//   in      row_ptr[rows + 1]  col[nnz]
//   in      source[nnz]              index of each entry in A's values; read only if THROUGH,
//                                    otherwise entry i has value i
//   out     places[slices + 1]       places of each slice of HEIGHT rows; 0 after the last
//   out     first_col[slices]        least column of each slice of HEIGHT rows
//   in out  found[3]                 entries of the longest row; the sum over all slices of the
//                                    entries of their longest rows; 1 if a column of a slice is
//                                    MOST_NEAR or more after its first column. Zero before
//   in      slice_ptr[slices + 1]    places before each slice
//   in      origin[slices]           if BESIDE_DIAGONALS: diagonals.cl places slices with an origin
//   out     slice_col[places]        column of each place, NONE if it has no entry; if NEAR, its
//                                    distance from the slice's first_col
//   out     slice_source[places]     index in A's values of each place, or PADDING
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

// A work-group takes SLICES slices, so that each row has an item if possible.
#define SLICES (GROUP_SIZE > HEIGHT ? GROUP_SIZE / HEIGHT : 1)

// The columns of a row are in ascending order.
KERNEL count_places(global const uint* restrict row_ptr, global const uint* restrict col, global ulong* restrict places,
                    global uint* restrict first_col, global uint* restrict found, uint rows, uint slices)
{
    local uint length[SLICES * HEIGHT], first[SLICES * HEIGHT], last[SLICES * HEIGHT];
    local uint of_group[3];
    const uint item = get_local_id(0), first_slice = get_group_id(0) * SLICES;
    for (uint i = item; i < 3; i += GROUP_SIZE)
        of_group[i] = 0;
    for (uint i = item; i < SLICES * HEIGHT; i += GROUP_SIZE) {
        const ulong row = (ulong)first_slice * HEIGHT + i;
        const uint begin = row < rows ? row_ptr[row] : 0, end = row < rows ? row_ptr[row + 1] : 0;
        length[i] = end - begin;
        first[i] = begin < end ? col[begin] : PADDING;
        last[i] = begin < end ? col[end - 1] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE); // length[], first[], last[] and of_group[] are written before they are read
    for (uint i = item; i < SLICES && first_slice + i <= slices; i += GROUP_SIZE) {
        uint longest = 0, from = PADDING, to = 0;
        for (uint row = i * HEIGHT; row < (i + 1) * HEIGHT; ++row) {
            longest = max(longest, length[row]);
            from = min(from, first[row]);
            to = max(to, last[row]);
        }
        const uint slice = first_slice + i;
        places[slice] = (ulong)longest * HEIGHT;
        if (slice < slices)
            first_col[slice] = longest > 0 ? from : 0;
        atomic_max(&of_group[0], longest);
        atomic_add(&of_group[1], longest);
        atomic_or(&of_group[2], longest > 0 && to - from >= MOST_NEAR);
    }
    barrier(CLK_LOCAL_MEM_FENCE); // of_group[] is complete before item 0 reads it
    if (item == 0) {
        atomic_max(&found[0], of_group[0]);
        atomic_add(&found[1], of_group[1]);
        atomic_or(&found[2], of_group[2]);
    }
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
