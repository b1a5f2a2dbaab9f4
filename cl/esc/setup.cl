// setup: the columns and the work of the entries of B, and the segments of the expansion.       host: src/esc/setup.rs
//
//   setup_entries   one work-item per entry of B, and one more
//   setup_columns   one work-item per column of B
//   setup_part      one work-item per entry of B, where only a triangle of C is made
//   setup_segments  items in a stride over the columns of a band, and one more; one partial record per work-group
//   setup_record    one work-group
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]
//   out  b_prods[b_nnz + 1]           products of each entry; after an exclusive scan, of all entries before it
//   out  b_cols[b_nnz]                column where its first entry is; after an inclusive maximum, of every entry
//   out  segment_ptr[columns + 1]     where each column's products begin in the expansion of the band
//   out  chunk_ptr[columns + 1]       chunks the sort cuts each segment into, 0 for a short one; to be scanned
//   out  partials[groups * 3]         largest and sums of a group's columns
//   out  record[4]                    expansion size, longest segment, chunks, short segments
#if !defined(SHORT_MAX) || !defined(CHUNK)
#error "SHORT_MAX, CHUNK: see src/primitives/segmented_sort.rs"
#endif

KERNEL setup_entries(global const uint* a_col_ptr, global const uint* b_row_idx, global ulong* b_prods,
                     global uint* b_cols, uint b_nnz)
{
    const uint entry = get_global_id(0);
    if (entry < b_nnz) {
        const uint row = b_row_idx[entry];
        b_prods[entry] = a_col_ptr[row + 1] - a_col_ptr[row];
        b_cols[entry] = 0;
    } else if (entry == b_nnz)
        b_prods[entry] = 0; // becomes the expansion size
}

// Empty columns write nothing: whatever their number and place, the maximum over the first entries passes over them.
KERNEL setup_columns(global const uint* b_col_ptr, global uint* b_cols, uint cols)
{
    const uint col = get_global_id(0);
    if (col < cols && b_col_ptr[col] < b_col_ptr[col + 1])
        b_cols[b_col_ptr[col]] = col;
}

// Of column k of A the entry (k, j) of B meets those from row j on (lower), or those up to row j (upper).
KERNEL setup_part(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_row_idx,
                  global const uint* b_cols, global ulong* b_prods, uint b_nnz, uint lower)
{
    const uint entry = get_global_id(0);
    if (entry >= b_nnz)
        return;
    const uint col = b_cols[entry], begin = a_col_ptr[b_row_idx[entry]], end = a_col_ptr[b_row_idx[entry] + 1];
    uint first = begin, last = end; // of the first entry from row col on (lower), behind row col (upper)
    while (first < last) {
        const uint middle = first + (last - first) / 2;
        if (a_row_idx[middle] < col || (!lower && a_row_idx[middle] == col))
            first = middle + 1;
        else
            last = middle;
    }
    b_prods[entry] = lower ? end - first : first - begin;
}

#define LARGER(x, y) max(x, y)
#define PLUS(x, y) ((x) + (y))
GROUP_SCAN(group_max, ulong, LARGER)
GROUP_SCAN(group_sum, ulong, PLUS)

void reduce_record(ulong longest, ulong chunks, ulong shorts, local ulong* shared, global ulong* out)
{
    ulong total[3];
    group_max(longest, shared, &total[0]);
    group_sum(chunks, shared, &total[1]);
    group_sum(shorts, shared, &total[2]);
    if (get_local_id(0) == 0)
        for (uint i = 0; i < 3; ++i)
            out[i] = total[i];
}

KERNEL setup_segments(global const uint* b_col_ptr, global const ulong* b_prods, global uint* segment_ptr,
                      global uint* chunk_ptr, global ulong* partials, ulong first_product, uint first_col, uint cols)
{
    local ulong shared[GROUP_SIZE];
    ulong longest = 0, chunks = 0, shorts = 0;
    for (ulong i = get_global_id(0); i <= cols; i += get_global_size(0)) {
        const ulong start = b_prods[b_col_ptr[first_col + i]];
        ulong chunk_count = 0;
        if (i < cols) {
            const ulong length = b_prods[b_col_ptr[first_col + i + 1]] - start;
            longest = max(longest, length);
            chunk_count = length > SHORT_MAX ? (length + CHUNK - 1) / CHUNK : 0;
            chunks += chunk_count;
            shorts += length > 0 && length <= SHORT_MAX;
        }
        segment_ptr[i] = (uint)(start - first_product); // fits: the host uses it only where the band's expansion does
        chunk_ptr[i] = (uint)chunk_count;
    }
    reduce_record(longest, chunks, shorts, shared, partials + 3 * get_group_id(0));
}

KERNEL setup_record(global const ulong* partials, global const ulong* b_prods, global ulong* record, uint groups,
                    uint b_nnz)
{
    local ulong shared[GROUP_SIZE];
    ulong longest = 0, chunks = 0, shorts = 0;
    for (uint g = get_local_id(0); g < groups; g += GROUP_SIZE) {
        longest = max(longest, partials[3 * g]);
        chunks += partials[3 * g + 1];
        shorts += partials[3 * g + 2];
    }
    if (get_local_id(0) == 0)
        record[0] = b_prods[b_nnz];
    reduce_record(longest, chunks, shorts, shared, record + 1);
}
