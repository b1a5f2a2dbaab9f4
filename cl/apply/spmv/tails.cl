// tails: rows cut at a width. The first `width` entries of a row are its head, padded to `width`
// places. The first entries of all heads are stored first, then all second entries, and so on. The
// entries beyond the width are the row's tail. The tails follow the heads, row after row.
// Host: src/apply/spmv/tails.rs
//
//   count_lengths  one work-item per row
//   count_tails    rows + 1 work-items
//   place_heads    rows + 1 work-items
//
//   in      row_ptr[rows + 1]  col[nnz]
//   in      source[nnz]              index of each entry in A's values; read only if THROUGH,
//                                    otherwise entry i has value i
//   in out  lengths[WIDEST + 3]      number of rows of each length up to WIDEST, number of longer
//                                    rows, and the longest length; zero before
//   out     tail_before[rows + 1]    entries of each row's tail; 0 after the last. Scanned after
//                                    this kernel
//   out     line_before[rows + 1]    1 for rows with a tail, else 0. Scanned after this kernel
//   out     place_col[rows * width + tails]      column of each place, PADDING if it has no entry
//   out     place_source[rows * width + tails]   index in A's values of each place, or PADDING
//   out     tail_ptr[lines + 1]      the start of each tail, and the end of the last
//   out     tail_row[lines]          the row of each tail
#if !defined(WIDEST) || !defined(THROUGH)
#error "WIDEST, THROUGH: see src/apply/spmv/tails.rs"
#endif
#define PADDING 0xffffffffu

KERNEL count_lengths(global const uint* restrict row_ptr, global uint* restrict lengths, uint rows)
{
    const uint row = get_global_id(0);
    if (row >= rows)
        return;
    const uint length = row_ptr[row + 1] - row_ptr[row];
    atomic_inc(&lengths[min(length, (uint)WIDEST + 1)]);
    atomic_max(&lengths[WIDEST + 2], length);
}

KERNEL count_tails(global const uint* restrict row_ptr, global uint* restrict tail_before, global uint* restrict line_before, uint rows,
                   uint width)
{
    const uint row = get_global_id(0);
    if (row > rows)
        return;
    const uint length = row < rows ? row_ptr[row + 1] - row_ptr[row] : 0;
    tail_before[row] = length > width ? length - width : 0;
    line_before[row] = length > width;
}

KERNEL place_heads(global const uint* restrict row_ptr, global const uint* restrict col, global const uint* restrict source,
                   global const uint* restrict tail_before, global const uint* restrict line_before,
                   global uint* restrict place_col, global uint* restrict place_source, global uint* restrict tail_ptr,
                   global uint* restrict tail_row, uint rows, uint width)
{
    const uint row = get_global_id(0);
    if (row == rows)
        tail_ptr[line_before[rows]] = tail_before[rows];
    if (row >= rows)
        return;
    const uint begin = row_ptr[row], length = row_ptr[row + 1] - begin;
    if (length > width) {
        tail_ptr[line_before[row]] = tail_before[row];
        tail_row[line_before[row]] = row;
    }
    for (uint k = 0; k < max(length, width); ++k) {
        const ulong place = k < width ? (ulong)k * rows + row : (ulong)width * rows + tail_before[row] + (k - width);
        const uint entry = begin + k;
#if THROUGH
        place_source[place] = k < length ? source[entry] : PADDING;
#else
        place_source[place] = k < length ? entry : PADDING;
#endif
        place_col[place] = k < length ? col[entry] : PADDING;
    }
}
