// pairs: finds the products that fall on a mask, place by place, and for each place by ascending
// inner index. Work-groups of one work-item take one column after another.
// Host: src/product/masked/pairs.rs
//
//   column_hits    work-groups that take one range after another
//   column_record  one work-item per place of the band
//   column_pairs   as column_hits, for the places of the band
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[cols + 1]  b_row_idx[b_nnz]
//   in   a_operand[a_nnz]  b_operand[b_nnz]       see cl/product/terms/payload.cl
//   in   mask_col_ptr[cols + 1]  mask_row_idx[nnz]
//   in   steps[cols]  record[parts * RECORD]      see steps.cl; a range has `share` steps
//   i/o  taken[1]                number of ranges that were taken
//   i/o  words[]                 for each work-group the bits of the mask's rows; zeros between
//                                columns
//   i/o  next[]                  for each work-group and row of the mask: the number of hits of its
//                                place so far, or the position of the next hit
//   i/o  list[]                  for each work-group, see hits.cl
//   out  hit_ptr[nnz + 1]        number of hits of each place, 0 at the end; to be scanned
//   out  payload[hits]           the products of the band, place after place
//   out  run_end[places]         last hit up to the end of each place; 0xffffffff if there is none

// Does BEGIN for each of the places of a column, WITH for each hit, and END for each place. BEGIN
// and END can use `place` and `row`; WITH can use `row` and the entries of A and B.
#define FOR_COLUMNS(BEGIN, WITH, END)                                                                                 \
    const ulong group = get_group_id(0), own = group * places_of_rows;                                                \
    global ulong* restrict const own_words = words + own / 64;                                                        \
    global uint* restrict const own_next = next + own;                                                                \
    global uint* restrict const own_list = list + own;                                                                \
    for (uint word = 0; word < places_of_rows / 64; ++word)                                                           \
        own_words[word] = 0;                                                                                          \
    for (uint range = atomic_inc(taken); range < ranges; range = atomic_inc(taken)) {                                 \
        const uint first_col = range_begin(steps, record, range, ranges, share, parts, cols);                         \
        const uint end_col = range_begin(steps, record, range + 1, ranges, share, parts, cols);                       \
        const uint end_of_b = b_col_ptr[end_col];                                                                     \
        for (uint col = first_col; col < end_col; ++col) {                                                            \
            const uint begin = max(mask_col_ptr[col], first_place);                                                   \
            const uint end = min(mask_col_ptr[col + 1], first_place + places);                                        \
            if (begin >= end)                                                                                         \
                continue;                                                                                             \
            for (uint place = begin; place < end; ++place) {                                                          \
                const uint row = mask_row_idx[place];                                                                 \
                own_words[row / 64] |= (ulong)1 << row % 64;                                                          \
                BEGIN;                                                                                                \
            }                                                                                                         \
            const uint lookup = lookup_steps(end - begin);                                                            \
            for (uint b_entry = b_col_ptr[col]; b_entry < b_col_ptr[col + 1]; ++b_entry) {                            \
                const uint k = b_row_idx[b_entry], of_a = a_col_ptr[k], end_of_a = a_col_ptr[k + 1];                  \
                if (AHEAD > 0 && b_entry + AHEAD < end_of_b)                                                          \
                    ASK(a_row_idx + a_col_ptr[b_row_idx[b_entry + AHEAD]]);                                           \
                if (of_a == end_of_a)                                                                                 \
                    continue;                                                                                         \
                const uint count =                                                                                    \
                    list_hits(a_row_idx, of_a, end_of_a, mask_row_idx, begin, end, lookup, own_words, own_list);      \
                for (uint hit = 0; hit < count; ++hit) {                                                              \
                    const uint a_entry = own_list[hit], row = a_row_idx[a_entry];                                     \
                    WITH;                                                                                             \
                }                                                                                                     \
            }                                                                                                         \
            for (uint place = begin; place < end; ++place) {                                                          \
                const uint row = mask_row_idx[place];                                                                 \
                own_words[row / 64] = 0;                                                                              \
                END;                                                                                                  \
            }                                                                                                         \
        }                                                                                                             \
    }

KERNEL column_hits(global const uint* restrict a_col_ptr, global const uint* restrict a_row_idx,
                   global const uint* restrict b_col_ptr, global const uint* restrict b_row_idx,
                   global const uint* restrict mask_col_ptr, global const uint* restrict mask_row_idx,
                   global const ulong* restrict steps, global const ulong* restrict record, global uint* taken,
                   global ulong* words, global uint* next, global uint* list, global ulong* restrict hit_ptr, ulong share,
                   uint places_of_rows, uint cols, uint parts, uint ranges, uint places)
{
    const uint first_place = 0;
    FOR_COLUMNS(own_next[row] = 0, ++own_next[row], hit_ptr[place] = own_next[row])
    if (group == 0)
        hit_ptr[places] = 0; // the scan writes the number of hits here
}

KERNEL column_pairs(global const uint* restrict a_col_ptr, global const uint* restrict a_row_idx,
                    global const OPERAND* restrict a_operand, global const uint* restrict b_col_ptr,
                    global const uint* restrict b_row_idx, global const OPERAND* restrict b_operand,
                    global const uint* restrict mask_col_ptr, global const uint* restrict mask_row_idx,
                    global const ulong* restrict steps, global const ulong* restrict record, global uint* taken,
                    global ulong* words, global uint* next, global uint* list, global const ulong* restrict hit_ptr,
                    global PAYLOAD* restrict payload, global uint* restrict run_end, ulong share, uint places_of_rows,
                    uint cols, uint parts, uint ranges, uint first_place, uint places)
{
    const ulong first_hit = hit_ptr[first_place];
    FOR_COLUMNS(own_next[row] = (uint)(hit_ptr[place] - first_hit),
                payload[own_next[row]++] = MAKE(a_entry, b_entry),
                run_end[place - first_place] = own_next[row] - 1)
}
