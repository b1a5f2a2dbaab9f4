// ranges pairs: finds the runs of columns of C: their rows, and the operands of their products.
// This file also comes before the kernels of blocks.cl.
// Host: src/product/cpu/ranges/blocks.rs
//
//   range_pairs   work-groups of one work-item, which take one range after another
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[cols + 1]  b_row_idx[b_nnz]
//   in   begin[ranges + 1]          see cl/product/cpu/ranges/setup.cl
//   in   from[ranges + 1]           the position at which the products and the entries of each
//                                   range begin
//   i/o  taken[phase]               number of ranges that were taken
//   i/o  words[]  lines[]           bitmaps, see cl/product/cpu/ranges/bitmap.cl
//   i/o  next[]                     for each work-group and row: the number of products of the row,
//                                   then the place of the next of them in pair; zeros between two
//                                   columns
//   out  c_col_ptr[cols + 1]        the position in row at which the entries of each column begin
//   out  row[products]              rows of entries; those of a range begin at from[range]
//   out  run_end[products]          the end of each run in pair
//   out  pair[products]             the operands of products, run by run
//   out  entries[ranges]            entries of each range
//
// The entries of B's column are taken one after another, so that the pairs of a row are in the
// order of these entries.
#if !defined(DIRECT)
#error "DIRECT: see src/product/cpu/ranges/kernels.rs"
#endif
#define PLACES(nrows) (((ulong)(nrows) / 16 + 1) * 16)

// Finds the runs of the column of C that belongs to the entries first..last of B. Writes the rows
// of the column, ascending, and the pairs of its products. next[row] becomes the end of the row's
// run. Returns the number of rows. Entries before `end_of_b` are prefetched.
uint find_runs(global const uint* restrict a_col_ptr, global const uint* restrict a_row_idx,
               global const uint* restrict b_row_idx, uint first, uint last, uint end_of_b,
               global ulong* restrict words, global ulong* restrict lines, global ulong* restrict tops,
               global uint* restrict next, global uint* restrict rows, global uint2* restrict pair, bool sparse)
{
    if (DIRECT && last - first == 1) {
        const uint k = b_row_idx[first], of_a = a_col_ptr[k], count = a_col_ptr[k + 1] - of_a;
        for (uint i = 0; i < count; ++i) {
            const uint row = a_row_idx[of_a + i];
            rows[i] = row;
            pair[i] = (uint2)(of_a + i, first);
            next[row] = i + 1;
        }
        return count;
    }
    uint low = 0xffffffffu, high = 0;
    for (uint entry = first; entry < last; ++entry) {
        const uint k = b_row_idx[entry], of_a = a_col_ptr[k], end = a_col_ptr[k + 1];
        if (AHEAD > 0 && entry + AHEAD < end_of_b)
            ASK(a_row_idx + a_col_ptr[b_row_idx[entry + AHEAD]]);
        if (of_a == end)
            continue;
        low = min(low, a_row_idx[of_a]);
        high = max(high, a_row_idx[end - 1]);
        for (uint i = of_a; i < end; ++i) {
            const uint row = a_row_idx[i], word = row / 64;
            const ulong bits = words[word];
            ++next[row];
            words[word] = bits | (ulong)1 << row % 64;
            if (bits == 0)
                mark_word(lines, tops, word, sparse);
        }
    }
    if (low > high)
        return 0;
    uint count = 0, products = 0;
    const uint first_line = low / ROWS_OF_LINE, last_line = high / ROWS_OF_LINE;
    for (uint line = first_line; (line = next_line(tops, line, last_line, sparse)) <= last_line; ++line) {
        ulong filled = lines[line];
        lines[line] = 0;
        for (; filled != 0; filled &= filled - 1) {
            const uint word = line * 64 + lowest(filled);
            ulong bits = words[word];
            words[word] = 0;
            for (; bits != 0; bits &= bits - 1, ++count) {
                const uint row = word * 64 + lowest(bits), of_row = next[row];
                rows[count] = row;
                next[row] = products;
                products += of_row;
            }
        }
    }
    clear_tops(tops, first_line, last_line, sparse);
    for (uint entry = first; entry < last; ++entry) {
        const uint k = b_row_idx[entry], end = a_col_ptr[k + 1];
        for (uint i = a_col_ptr[k]; i < end; ++i)
            pair[next[a_row_idx[i]]++] = (uint2)(i, entry);
    }
    return count;
}

KERNEL range_pairs(global const uint* restrict a_col_ptr, global const uint* restrict a_row_idx,
                   global const uint* restrict b_col_ptr, global const uint* restrict b_row_idx,
                   global const uint* restrict begin, global const uint* restrict from, global uint* taken, global ulong* words,
                   global ulong* lines, global uint* next, global uint* restrict c_col_ptr, global uint* restrict row,
                   global uint* restrict run_end, global uint2* restrict pair, global ulong* restrict entries, uint nrows,
                   uint ranges, uint phase)
{
    const ulong group = get_group_id(0);
    global ulong* restrict const own_words = words + group * WORDS(nrows);
    global ulong* restrict const own_lines = OWN_LINES(lines, nrows);
    global ulong* restrict const own_tops = OWN_TOPS(lines, nrows);
    global uint* restrict const own_next = next + group * PLACES(nrows);
    clear_bitmap(own_words, own_lines, nrows);
    for (uint i = 0; i < nrows; ++i)
        own_next[i] = 0;
    for (uint range = atomic_inc(taken + phase); range < ranges; range = atomic_inc(taken + phase)) {
        uint to = from[range], before = to;
        const uint end_of_b = b_col_ptr[begin[range + 1]];
        const bool sparse = are_sparse(begin[range + 1] - begin[range], from[range + 1] - from[range], nrows);
        for (uint col = begin[range]; col < begin[range + 1]; ++col) {
            c_col_ptr[col] = to;
            const uint end = to + find_runs(a_col_ptr, a_row_idx, b_row_idx, b_col_ptr[col], b_col_ptr[col + 1], end_of_b,
                                            own_words, own_lines, own_tops, own_next, row + to, pair + before, sparse);
            uint products = 0;
            for (; to < end; ++to) {
                products = own_next[row[to]];
                run_end[to] = before + products;
                own_next[row[to]] = 0;
            }
            before += products;
        }
        entries[range] = to - from[range];
        if (range == ranges - 1)
            c_col_ptr[begin[ranges]] = to;
    }
}
