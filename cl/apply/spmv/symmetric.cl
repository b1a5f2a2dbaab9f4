// symmetric: the pattern of a symmetric matrix of which one triangle is stored.
// Host: src/apply/spmv/symmetric.rs
//
//   count_whole  lines + 1 work-items
//   place_whole  one work-item per line
//
// A line is a row together with the column of the same number: the matrix is square.
//
//   in      col_ptr[lines + 1]  row_idx[nnz]           the triangle by columns
//   in      row_ptr[lines + 1]  col_idx[nnz]           the triangle by rows
//   in      source[nnz]                                index by columns of each entry by rows
//   in out  record[4]                                  1 if an entry is below the diagonal; 1 if
//                                                      an entry is above it; number of entries on
//                                                      the diagonal; entries of the longest whole
//                                                      line. Zero before
//   in out  whole_ptr[lines + 1]                       entries of each line; 0 after the last.
//                                                      Scanned between the kernels
//   out     whole_idx[whole]  whole_source[whole]      the whole matrix by rows, and the index of
//                                                      each entry in the triangle by columns. If
//                                                      BLOCKS, the highest bit is set if the line
//                                                      is a row of the stored block, see values.cl
#if !defined(BLOCKS)
#error "BLOCKS: see src/apply/spmv/symmetric.rs"
#endif
#define MIRRORED 0x80000000u

KERNEL count_whole(global const uint* restrict col_ptr, global const uint* restrict row_idx, global const uint* restrict row_ptr,
                   global uint* restrict record, global uint* restrict whole_ptr, uint lines)
{
    local uint longest;
    const uint line = get_global_id(0), item = get_local_id(0);
    if (item == 0)
        longest = 0;
    barrier(CLK_LOCAL_MEM_FENCE); // longest is set to 0 before other items raise it
    uint count = 0;
    if (line < lines) {
        const uint begin = col_ptr[line], end = col_ptr[line + 1];
        count = end - begin + row_ptr[line + 1] - row_ptr[line];
        if (begin < end) {
            const uint first = row_idx[begin], last = row_idx[end - 1];
            const uint at = lower_bound(row_idx, begin, end, line);
            if (last > line)
                atomic_max(&record[0], 1u);
            if (first < line)
                atomic_max(&record[1], 1u);
            if (at < end && row_idx[at] == line) {
                atomic_inc(&record[2]);
                --count;
            }
        }
        atomic_max(&longest, count);
    }
    if (line <= lines)
        whole_ptr[line] = count;
    barrier(CLK_LOCAL_MEM_FENCE); // longest is complete before item 0 reads it
    if (item == 0)
        atomic_max(&record[3], longest);
}

// A whole row has two parts. If the lower triangle is stored, the first part is the triangle's row,
// and the second part is the triangle's column; if the upper triangle is stored, the order is the
// reverse. Both parts of a row contain the diagonal. `of_rows` is 1 if the rows of A are wanted, 0
// for its columns. A block on the diagonal may differ from its transpose in the last bits, so its
// rows or its columns are read.
KERNEL place_whole(global const uint* restrict col_ptr, global const uint* restrict row_idx, global const uint* restrict row_ptr,
                   global const uint* restrict col_idx, global const uint* restrict source, global const uint* restrict whole_ptr,
                   global uint* restrict whole_idx, global uint* restrict whole_source, uint lines, uint lower, uint of_rows)
{
    const uint line = get_global_id(0);
    if (line >= lines)
        return;
    uint place = whole_ptr[line];
    for (uint part = 0; part < 2; ++part) {
        const bool by_rows = (part == 0) == (lower != 0);
        const uint begin = by_rows ? row_ptr[line] : col_ptr[line], end = by_rows ? row_ptr[line + 1] : col_ptr[line + 1];
        for (uint entry = begin; entry < end; ++entry) {
            const uint other = by_rows ? col_idx[entry] : row_idx[entry];
            if (part == 1 && other == line)
                continue;
            whole_idx[place] = other;
            const bool mirrored = BLOCKS && (other == line ? of_rows != 0 : by_rows);
            whole_source[place] = (by_rows ? source[entry] : entry) | (mirrored ? MIRRORED : 0);
            ++place;
        }
    }
}
