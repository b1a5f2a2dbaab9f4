// analysis: counts the products of the entries of B, and finds the segments of the expansion.
// Host: src/product/esc/analysis.rs
//
//   setup_entries   one work-group per tile of GROUP_SIZE * ITEMS entries of B, plus one more
//                   entry, which the scan needs
//   setup_segments  columns + 1 work-items in a stride over the columns of a band. Each work-group
//                   writes a partial record
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]
//   out  b_prods[b_nnz + 1]           products of each entry; after an exclusive scan, number of
//                                     products of all entries before it
//   out  tile_prods[tiles]            products of each tile
//   out  segment_ptr[columns + 1]     the position in the band's expansion at which each column's
//                                     products begin
//   out  chunk_ptr[columns + 1]       number of chunks into which the sort cuts each segment, 0 for
//                                     a short segment; to be scanned
//   out  record[groups * RECORD]      for the columns of a work-group: the number of chunks, the
//                                     number of short segments, the products of segments of more
//                                     than one chunk, the longest segment, the expansion size (from
//                                     the last column), the longest short segment, and the shortest
//                                     long segment, or 0 if there is none
#if !defined(SHORT_MAX) || !defined(CHUNK) || !defined(ITEMS) || !defined(RECORD)
#error "see src/product/esc/analysis.rs"
#endif

// Number of entries that an item looks up together, before it writes the results.
#define AHEAD (ITEMS % 8 == 0 ? 8 : 1)

#define PLUS(x, y) ((x) + (y))
GROUP_SCAN(group_sum, ulong, PLUS)

// The parts of C: all entries, the entries on and below the diagonal, and those on and above it.
#define FULL 0
#define LOWER 1

// Returns the number of products of entry (k, col) of B. The entry is multiplied by all entries of
// column k of A, by those from row col on (lower), or by those up to row col (upper).
uint products_of(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                 global const uint* b_row_idx, uint b_cols, uint entry, uint part)
{
    const uint row = b_row_idx[entry], begin = a_col_ptr[row], end = a_col_ptr[row + 1];
    if (part == FULL)
        return end - begin;
    const uint col = column_of(b_col_ptr, b_cols, entry);
    const uint first = lower_bound(a_row_idx, begin, end, part == LOWER ? col : col + 1);
    return part == LOWER ? end - first : first - begin;
}

KERNEL setup_entries(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                     global const uint* b_row_idx, global ulong* b_prods, global ulong* tile_prods, uint b_cols, uint b_nnz,
                     uint part)
{
    local ulong shared[GROUP_SIZE];
    const ulong start = (ulong)get_group_id(0) * GROUP_SIZE * ITEMS + get_local_id(0);
    ulong sum = 0, total;
    for (uint i = 0; i < ITEMS; i += AHEAD) {
        uint prods[AHEAD];
        for (uint q = 0; q < AHEAD; ++q) {
            const ulong entry = start + (i + q) * GROUP_SIZE;
            prods[q] = entry < b_nnz ? products_of(a_col_ptr, a_row_idx, b_col_ptr, b_row_idx, b_cols, (uint)entry, part) : 0;
        }
        for (uint q = 0; q < AHEAD; ++q) {
            const ulong entry = start + (i + q) * GROUP_SIZE;
            if (entry <= b_nnz)
                b_prods[entry] = prods[q]; // 0 at the end, where the scan writes the expansion size
            sum += prods[q];
        }
    }
    group_sum(sum, shared, &total);
    if (get_local_id(0) == 0)
        tile_prods[get_group_id(0)] = total;
}

KERNEL setup_segments(global const uint* b_col_ptr, global const ulong* b_prods, global uint* segment_ptr,
                      global uint* chunk_ptr, global ulong* record, ulong first_product, uint first_col, uint cols)
{
    local ulong shared[RECORD][GROUP_SIZE];
    const uint item = get_local_id(0);
    ulong longest = 0, chunks = 0, shorts = 0, last = 0, in_chunks = 0, longest_short = 0, shorter_long = 0;
    for (ulong i = get_global_id(0); i <= cols; i += get_global_size(0)) {
        const ulong start = b_prods[b_col_ptr[first_col + i]];
        ulong chunk_count = 0;
        if (i < cols) {
            const ulong length = b_prods[b_col_ptr[first_col + i + 1]] - start;
            longest = max(longest, length);
            chunk_count = length > SHORT_MAX ? (length + CHUNK - 1) / CHUNK : 0;
            chunks += chunk_count;
            shorts += length > 0 && length <= SHORT_MAX;
            in_chunks += length > CHUNK ? length : 0;
            longest_short = max(longest_short, length <= SHORT_MAX ? length : 0);
            shorter_long = max(shorter_long, length <= SHORT_MAX ? 0 : ~length);
        } else
            last = start;
        // The difference fits 32 bits, because the host uses segment_ptr only if the band's
        // expansion fits.
        segment_ptr[i] = (uint)(start - first_product);
        chunk_ptr[i] = (uint)chunk_count;
    }
    // All numbers are combined in one tree. The first three numbers are sums, and the numbers after
    // them are maxima.
    const ulong own[RECORD] = {chunks, shorts, in_chunks, longest, last, longest_short, shorter_long};
    for (uint i = 0; i < RECORD; ++i)
        shared[i][item] = own[i];
    for (uint half_group = GROUP_SIZE / 2; half_group > 0; half_group /= 2) {
        GROUP_BARRIER;
        if (item < half_group)
            for (uint i = 0; i < RECORD; ++i) {
                const ulong one = shared[i][item], other = shared[i][item + half_group];
                shared[i][item] = i < 3 ? one + other : max(one, other);
            }
    }
    if (item == 0) {
        global ulong* to = record + RECORD * get_group_id(0);
        for (uint i = 0; i < RECORD; ++i)
            to[i] = shared[i][0];
        to[RECORD - 1] = shared[RECORD - 1][0] > 0 ? ~shared[RECORD - 1][0] : 0;
    }
}
