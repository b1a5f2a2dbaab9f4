// bitmap: the rows of a column of C, as bits. It comes before the kernels of ranges, whose
// work-groups are single items with a bitmap each.
// Host: src/product/ranges/kernels.rs
//
// A bitmap has two levels: words of 64 rows, and lines of 64 words. A bit of a line is set if its
// word is not zero, so that rows are found in ascending order without looking at empty words. All
// bits are zero between two columns.
//
// Columns of A are read in the order of B's entries, which is any. A column is asked for AHEAD
// entries before it is read, so that several are on their way from memory; not at all if AHEAD is
// 0.
#if !defined(AHEAD)
#error "AHEAD: see src/product/ranges/kernels.rs"
#endif
#define WORDS(nrows) ((((ulong)(nrows) + 63) / 64 + 7) / 8 * 8)
#define LINES(nrows) (((WORDS(nrows) + 63) / 64 + 7) / 8 * 8)

// The number of the lowest bit that is set.
uint lowest(ulong bits)
{
    return (uint)popcount(~bits & (bits - 1));
}

// Zeros a bitmap.
void clear_bitmap(global ulong* words, global ulong* lines, uint nrows)
{
    for (ulong word = 0; word < WORDS(nrows); ++word)
        words[word] = 0;
    for (ulong line = 0; line < LINES(nrows); ++line)
        lines[line] = 0;
}

// Sets the bits of the rows of a column of C: those of the columns of A that the entries
// first..last of B meet. Counts them, and zeros them again. The entries up to `end_of_b` are those
// that are asked for ahead.
uint count_rows(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_row_idx, uint first, uint last,
                uint end_of_b, global ulong* restrict words, global ulong* restrict lines)
{
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
            words[word] = bits | (ulong)1 << row % 64;
            if (bits == 0)
                lines[word / 64] |= (ulong)1 << word % 64;
        }
    }
    uint count = 0;
    for (uint line = low / 4096; low <= high && line <= high / 4096; ++line) {
        ulong filled = lines[line];
        lines[line] = 0;
        for (; filled != 0; filled &= filled - 1) {
            const uint word = line * 64 + lowest(filled);
            count += (uint)popcount(words[word]);
            words[word] = 0;
        }
    }
    return count;
}
