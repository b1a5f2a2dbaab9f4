// bitmap: the rows of a column of C, as bits. This file comes before the kernels of ranges, whose
// work-groups are single items. Each item has a bitmap.
// Host: src/product/cpu/ranges/kernels.rs
//
// A bitmap has two levels: words of 64 rows, and lines of 64 words. A bit of a line is set if its
// word is not zero, so that rows are found in ascending order without reading empty words. Columns
// that have far fewer products than there are lines are *sparse*. Sparse columns also have tops,
// each of 64 lines, which are stored after the lines. Columns that are not sparse have no tops,
// because a branch on whether a line is empty would be mispredicted too often. All bits are zero
// between two columns.
//
// Columns of A are read in the order of B's entries, so they lie anywhere in memory. A column is
// prefetched AHEAD entries before it is read, so that several are loaded at the same time. If AHEAD
// is 0, nothing is prefetched.
#if !defined(AHEAD)
#error "AHEAD: see src/product/cpu/ranges/kernels.rs"
#endif
#define WORDS(nrows) ((((ulong)(nrows) + 63) / 64 + 7) / 8 * 8)
#define LINES(nrows) (((WORDS(nrows) + 63) / 64 + 7) / 8 * 8)
#define TOPS(nrows) (((LINES(nrows) + 63) / 64 + 7) / 8 * 8)
// The lines and tops of a work-group.
#define OWN_LINES(lines, nrows) ((lines) + get_group_id(0) * (LINES(nrows) + TOPS(nrows)))
#define OWN_TOPS(lines, nrows) (OWN_LINES(lines, nrows) + LINES(nrows))
#define ROWS_OF_LINE (64 * 64)
// A column is sparse if there are at least SPARSE lines for each of its products.
#define SPARSE 2

// Returns the number of the lowest bit that is set.
uint lowest(ulong bits)
{
    return (uint)popcount(~bits & (bits - 1));
}

// Whether `columns` columns with `products` products in all are sparse.
bool are_sparse(uint columns, uint products, uint nrows)
{
    return (ulong)products * SPARSE < (ulong)columns * (nrows / ROWS_OF_LINE);
}

// Sets the bits of a word, which was zero, in its line and its top.
void mark_word(global ulong* restrict lines, global ulong* restrict tops, uint word, bool sparse)
{
    const uint line = word / 64;
    const ulong marked = lines[line];
    if (sparse && marked == 0)
        tops[line / 64] |= (ulong)1 << line % 64;
    lines[line] = marked | (ulong)1 << word % 64;
}

// Returns the first line from `line` to `last` that may have rows. The result is above `last` if
// there is none.
uint next_line(global const ulong* tops, uint line, uint last, bool sparse)
{
    while (sparse && line <= last) {
        const ulong marked = tops[line / 64] >> line % 64;
        if (marked != 0)
            return line + lowest(marked);
        line = (line / 64 + 1) * 64;
    }
    return line;
}

// Sets the tops of the lines first..=last of a sparse column to zero.
void clear_tops(global ulong* tops, uint first, uint last, bool sparse)
{
    for (uint top = first / 64; sparse && top <= last / 64; ++top)
        tops[top] = 0;
}

// Sets a bitmap to zero, with the tops that are stored after its lines.
void clear_bitmap(global ulong* words, global ulong* lines, uint nrows)
{
    for (ulong word = 0; word < WORDS(nrows); ++word)
        words[word] = 0;
    for (ulong line = 0; line < LINES(nrows) + TOPS(nrows); ++line)
        lines[line] = 0;
}

// Sets the bits of the rows of a column of C, which are the rows of the columns of A that belong to
// the entries first..last of B. Counts the bits, and clears them. Entries before `end_of_b` are
// prefetched.
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
    for (uint line = low / ROWS_OF_LINE; low <= high && line <= high / ROWS_OF_LINE; ++line) {
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
