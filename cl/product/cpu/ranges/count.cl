// ranges count: counts the entries of columns of C, by bitmaps alone.
// Host: src/product/cpu/ranges/kernels.rs
//
//   range_sample   work-groups of one work-item: an equal share of evenly spaced columns
//   range_count    work-groups of one work-item, which take one range after another
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[cols + 1]  b_row_idx[b_nnz]
//   in   products[cols]             products of each column
//   in   begin[ranges + 1]          see cl/product/cpu/ranges/setup.cl
//   i/o  taken[phase]               number of ranges that were taken
//   i/o  words[]  lines[]           bitmaps, see cl/product/cpu/ranges/bitmap.cl
//   out  record[sampled + groups * 2]    entries and products of the columns of each work-group
//   out  lengths[cols]              entries of each column of C
//   out  entries[ranges]            entries of each range
#if !defined(DIRECT)
#error "DIRECT: see src/product/cpu/ranges/kernels.rs"
#endif

KERNEL range_sample(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                    global const uint* b_row_idx, global const uint* products, global ulong* words, global ulong* lines,
                    global ulong* record, uint nrows, uint cols, uint samples, uint sampled)
{
    const ulong group = get_group_id(0), groups = get_num_groups(0);
    global ulong* const own_words = words + group * WORDS(nrows);
    global ulong* const own_lines = OWN_LINES(lines, nrows);
    clear_bitmap(own_words, own_lines, nrows);
    ulong entries = 0, of_products = 0;
    for (ulong sample = group; sample < samples; sample += groups) {
        const uint col = (uint)(sample * cols / samples), first = b_col_ptr[col], last = b_col_ptr[col + 1];
        entries += count_rows(a_col_ptr, a_row_idx, b_row_idx, first, last, last, own_words, own_lines);
        of_products += products[col];
    }
    record[sampled + group * 2] = entries;
    record[sampled + group * 2 + 1] = of_products;
}

KERNEL range_count(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                   global const uint* b_row_idx, global const uint* begin, global uint* taken, global ulong* words,
                   global ulong* lines, global uint* lengths, global ulong* entries, uint nrows, uint ranges, uint phase)
{
    const ulong group = get_group_id(0);
    global ulong* const own_words = words + group * WORDS(nrows);
    global ulong* const own_lines = OWN_LINES(lines, nrows);
    clear_bitmap(own_words, own_lines, nrows);
    for (uint range = atomic_inc(taken + phase); range < ranges; range = atomic_inc(taken + phase)) {
        const uint end_of_b = b_col_ptr[begin[range + 1]];
        ulong all = 0;
        for (uint col = begin[range]; col < begin[range + 1]; ++col) {
            const uint first = b_col_ptr[col], last = b_col_ptr[col + 1];
            uint count;
            if (DIRECT && last - first == 1) {
                const uint k = b_row_idx[first];
                count = a_col_ptr[k + 1] - a_col_ptr[k];
            } else {
                count = count_rows(a_col_ptr, a_row_idx, b_row_idx, first, last, end_of_b, own_words, own_lines);
            }
            lengths[col] = count;
            all += count;
        }
        entries[range] = all;
    }
}
