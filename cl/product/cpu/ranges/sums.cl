// ranges sums: computes the rows and values of columns of C range by range, for scalars.
// Host: src/product/cpu/ranges/scalars.rs
//
//   range_sums   work-groups of one work-item, which take one range after another
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  a_values[a_nnz]
//   in   b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]  b_values[b_nnz]
//   in   begin[ranges + 1]          see cl/product/cpu/ranges/setup.cl
//   in   from[ranges + 1]           the position at which the entries of each range begin
//   i/o  taken[phase]               number of ranges that were taken
//   i/o  words[]  lines[]           bitmaps, see cl/product/cpu/ranges/bitmap.cl
//   i/o  sum[]                      for each work-group and row: the sum of the row's products
//   i/o  done[]  terms[]            the same if a column of B has more than RUN_PIECE entries: the
//                                    sum of the pieces before the last, and the number of products
//                                    of the row
//   out  c_col_ptr[cols + 1]        for the columns from first_col on
//   out  c_row_idx[]  c_values[]    the entries of a range begin at from[range]
//   out  entries[ranges]            number of entries of each range
//
// The entries of B's column are taken one after another, so that the products of a row are added in
// the order of these entries.
//
// The first product of a row is not added to the row's sum, which is undefined then, but to the
// identity, which is stored after the sums of all rows. The index of the summand, of the sum or of
// the identity, is computed without a branch. A branch is mispredicted so often that the square of
// an R-MAT graph takes 1.7 times as long.
#if !defined(DIRECT) || !defined(RUN_PIECE)
#error "DIRECT, RUN_PIECE: see src/product/cpu/ranges/kernels.rs"
#endif
#define ROWS(nrows) (((ulong)(nrows) / 16 + 1) * 16)

// Prefetches the column of A that belongs to entry `entry` of B.
void ask_for_column(global const uint* a_col_ptr, global const uint* a_row_idx, global const ELEMENT* a_values,
                    global const uint* b_row_idx, uint entry)
{
    const uint first = a_col_ptr[b_row_idx[entry]];
    ASK(a_row_idx + first);
    ASK(a_values + first);
    ASK(a_values + first + 8);
}

// Adds the products of the entries first..last of B, and sets the bits of their rows. No row has
// more than RUN_PIECE products. Returns the least and the greatest row. Entries before `end_of_b`
// are prefetched.
uint2 add_products(global const uint* restrict a_col_ptr, global const uint* restrict a_row_idx,
                   global const ELEMENT* restrict a_values, global const uint* restrict b_row_idx,
                   global const ELEMENT* restrict b_values, uint first, uint last, uint end_of_b, uint nrows,
                   global ulong* restrict words, global ulong* restrict lines, global ulong* restrict tops,
                   global ARITHMETIC* restrict sum, bool sparse)
{
    uint low = 0xffffffffu, high = 0;
    for (uint entry = first; entry < last; ++entry) {
        const uint k = b_row_idx[entry], of_a = a_col_ptr[k], end = a_col_ptr[k + 1];
        if (AHEAD > 0 && entry + AHEAD < end_of_b)
            ask_for_column(a_col_ptr, a_row_idx, a_values, b_row_idx, entry + AHEAD);
        if (of_a == end)
            continue;
        const ARITHMETIC factor = LOAD(b_values, entry);
        const uint first_row = a_row_idx[of_a];
        low = min(low, first_row);
        high = max(high, a_row_idx[end - 1]);
        if (of_a + 1 < end && a_row_idx[of_a + 1] == first_row + 1) {
            // Rows of meshes are neighbours, so a word is kept in a register while rows are in it.
            uint word = first_row / 64;
            ulong bits = words[word];
            if (bits == 0)
                mark_word(lines, tops, word, sparse);
            IN_ORDER
            for (uint i = of_a; i < end; ++i) {
                const uint row = a_row_idx[i];
                const ARITHMETIC product = MULTIPLY(LOAD(a_values, i), factor);
                if (row / 64 != word) {
                    words[word] = bits;
                    word = row / 64;
                    bits = words[word];
                    if (bits == 0)
                        mark_word(lines, tops, word, sparse);
                }
                const ulong bit = (ulong)1 << row % 64;
                const uint before = bits & bit ? row : nrows;
                sum[row] = ADD(sum[before], product);
                bits |= bit;
            }
            words[word] = bits;
            continue;
        }
        IN_ORDER
        for (uint i = of_a; i < end; ++i) {
            const uint row = a_row_idx[i], word = row / 64;
            const ARITHMETIC product = MULTIPLY(LOAD(a_values, i), factor);
            const ulong bits = words[word], bit = (ulong)1 << row % 64;
            const uint before = bits & bit ? row : nrows;
            sum[row] = ADD(sum[before], product);
            words[word] = bits | bit;
            if (bits == 0)
                mark_word(lines, tops, word, sparse);
        }
    }
    return (uint2)(low, high);
}

// Does the same as add_products if a row may have more than RUN_PIECE products.
uint2 add_in_pieces(global const uint* restrict a_col_ptr, global const uint* restrict a_row_idx,
                    global const ELEMENT* restrict a_values, global const uint* restrict b_row_idx,
                    global const ELEMENT* restrict b_values, uint first, uint last, uint end_of_b,
                    global ulong* restrict words, global ulong* restrict lines, global ulong* restrict tops,
                    global ARITHMETIC* restrict sum, global ARITHMETIC* restrict done, global uint* restrict terms,
                    bool sparse)
{
    uint low = 0xffffffffu, high = 0;
    for (uint entry = first; entry < last; ++entry) {
        const uint k = b_row_idx[entry], of_a = a_col_ptr[k], end = a_col_ptr[k + 1];
        if (AHEAD > 0 && entry + AHEAD < end_of_b)
            ask_for_column(a_col_ptr, a_row_idx, a_values, b_row_idx, entry + AHEAD);
        if (of_a == end)
            continue;
        const ARITHMETIC factor = LOAD(b_values, entry);
        low = min(low, a_row_idx[of_a]);
        high = max(high, a_row_idx[end - 1]);
        IN_ORDER
        for (uint i = of_a; i < end; ++i) {
            const uint row = a_row_idx[i], word = row / 64;
            const ARITHMETIC product = MULTIPLY(LOAD(a_values, i), factor);
            const ulong bits = words[word], bit = (ulong)1 << row % 64;
            const uint before = bits & bit ? terms[row] : 0;
            if (before % RUN_PIECE != 0) {
                sum[row] = ADD(sum[row], product);
            } else {
                // A piece is complete.
                if (before == RUN_PIECE)
                    done[row] = sum[row];
                else if (before > RUN_PIECE)
                    done[row] = ADD(done[row], sum[row]);
                sum[row] = product;
            }
            terms[row] = before + 1;
            words[word] = bits | bit;
            if (bits == 0)
                mark_word(lines, tops, word, sparse);
        }
    }
    return (uint2)(low, high);
}

KERNEL range_sums(global const uint* restrict a_col_ptr, global const uint* restrict a_row_idx,
                  global const ELEMENT* restrict a_values, global const uint* restrict b_col_ptr,
                  global const uint* restrict b_row_idx, global const ELEMENT* restrict b_values,
                  global const uint* restrict begin, global const uint* restrict from, global uint* taken, global ulong* words,
                  global ulong* lines, global ARITHMETIC* sum, global ARITHMETIC* done, global uint* terms,
                  global uint* restrict c_col_ptr, global uint* restrict c_row_idx, global ELEMENT* restrict c_values,
                  global ulong* restrict entries, uint nrows, uint first_col, uint ranges, uint phase)
{
    const ulong group = get_group_id(0);
    global ulong* restrict const own_words = words + group * WORDS(nrows);
    global ulong* restrict const own_lines = OWN_LINES(lines, nrows);
    global ulong* restrict const own_tops = OWN_TOPS(lines, nrows);
    global ARITHMETIC* restrict const own_sum = sum + group * ROWS(nrows);
    clear_bitmap(own_words, own_lines, nrows);
    own_sum[nrows] = IDENTITY;
    for (uint range = atomic_inc(taken + phase); range < ranges; range = atomic_inc(taken + phase)) {
        uint to = from[range];
        const uint end_of_b = b_col_ptr[begin[range + 1]];
        const bool sparse = are_sparse(begin[range + 1] - begin[range], from[range + 1] - from[range], nrows);
        for (uint col = begin[range]; col < begin[range + 1]; ++col) {
            const uint first = b_col_ptr[col], last = b_col_ptr[col + 1];
            c_col_ptr[col - first_col] = to;
            if (DIRECT && last - first == 1) {
                const uint k = b_row_idx[first];
                const ARITHMETIC factor = LOAD(b_values, first);
                for (uint i = a_col_ptr[k]; i < a_col_ptr[k + 1]; ++i, ++to) {
                    c_row_idx[to] = a_row_idx[i];
                    STORE(MULTIPLY(LOAD(a_values, i), factor), c_values, to);
                }
                continue;
            }
            const bool cut = last - first > RUN_PIECE;
            uint2 rows;
            if (cut)
                rows = add_in_pieces(a_col_ptr, a_row_idx, a_values, b_row_idx, b_values, first, last, end_of_b, own_words,
                                     own_lines, own_tops, own_sum, done + group * ROWS(nrows), terms + group * ROWS(nrows), sparse);
            else
                rows = add_products(a_col_ptr, a_row_idx, a_values, b_row_idx, b_values, first, last, end_of_b, nrows,
                                    own_words, own_lines, own_tops, own_sum, sparse);
            if (rows.x > rows.y)
                continue;
            const uint first_line = rows.x / ROWS_OF_LINE, last_line = rows.y / ROWS_OF_LINE;
            for (uint line = first_line; (line = next_line(own_tops, line, last_line, sparse)) <= last_line; ++line) {
                ulong filled = own_lines[line];
                own_lines[line] = 0;
                for (; filled != 0; filled &= filled - 1) {
                    const uint word = line * 64 + lowest(filled);
                    ulong bits = own_words[word];
                    own_words[word] = 0;
                    for (; bits != 0; bits &= bits - 1, ++to) {
                        const uint row = word * 64 + lowest(bits);
                        ARITHMETIC value = own_sum[row];
                        if (cut && terms[group * ROWS(nrows) + row] > RUN_PIECE)
                            value = ADD(done[group * ROWS(nrows) + row], value);
                        c_row_idx[to] = row;
                        STORE(value, c_values, to);
                    }
                }
            }
            clear_tops(own_tops, first_line, last_line, sparse);
        }
        entries[range] = to - from[range];
        if (range == ranges - 1)
            c_col_ptr[begin[ranges] - first_col] = to;
    }
}
