// ranges blocks: computes the rows and values of columns of C range by range, for blocks.
// Host: src/product/cpu/ranges/blocks.rs
//
//   range_blocks   work-groups of one work-item, which take one range after another
//   range_runs     the same, for runs that range_pairs has found
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  a_values[a_nnz * a_stride]
//   in   b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]  b_values[b_nnz * b_stride]
//   in   begin[ranges + 1]          see cl/product/cpu/ranges/setup.cl
//   in   from[ranges + 1]           the position at which the entries of each range begin
//   i/o  taken[phase]               number of ranges that were taken
//   i/o  words[]  lines[]  next[]   see cl/product/cpu/ranges/pairs.cl
//   i/o  pair[groups * room]        for each work-group: the operands of a column's products, run
//                                   by run
//   out  c_col_ptr[cols + 1]        for the columns from first_col on
//   out  c_row_idx[]                the entries of a range begin at from[range]
//   out  c_values[entries * c_stride]   the same; zeros after each block
//   out  entries[ranges]            number of entries of each range
#if !defined(RUN_PIECE)
#error "RUN_PIECE: see src/product/esc/blocks/mod.rs"
#endif

// Writes the sum of the products begin to end to a block of C. A run of more than RUN_PIECE
// products is cut into pieces, which are added from left to right.
void place_run(global const uint2* restrict pair, global const ELEMENT* restrict a_values,
               global const ELEMENT* restrict b_values, global ELEMENT* restrict block, uint begin, uint end, uint last,
               uint a_stride, uint b_stride, uint c_stride, uint rows, uint inner, uint cols)
{
#ifdef ROWS
    ARITHMETIC sums[AREA], done[AREA];
    for (uint from = begin; from < end; from += RUN_PIECE) {
        sum_run(pair, a_values, b_values, from, min(end, from + RUN_PIECE), last, a_stride, b_stride, sums);
        if (from > begin)
            for (uint element = 0; element < AREA; ++element)
                sums[element] = ADD(done[element], sums[element]);
        if (end - from > RUN_PIECE)
            for (uint element = 0; element < AREA; ++element)
                done[element] = sums[element];
    }
    for (uint element = 0; element < AREA; ++element)
        STORE(sums[element], block, element);
#else
    for (uint element = 0; element < rows * cols; ++element) {
        ARITHMETIC sum = IDENTITY;
        for (uint from = begin; from < end; from += RUN_PIECE) {
            const ARITHMETIC piece = sum_products(pair, a_values, b_values, from, min(end, from + RUN_PIECE), element, rows,
                                                  inner, cols, a_stride, b_stride);
            sum = ADD(sum, piece);
        }
        STORE(sum, block, element);
    }
#endif
    for (uint element = rows * cols; element < c_stride; ++element)
        STORE((ARITHMETIC)0, block, element);
}

KERNEL range_blocks(global const uint* restrict a_col_ptr, global const uint* restrict a_row_idx,
                    global const ELEMENT* restrict a_values, global const uint* restrict b_col_ptr,
                    global const uint* restrict b_row_idx, global const ELEMENT* restrict b_values,
                    global const uint* restrict begin, global const uint* restrict from, global uint* taken,
                    global ulong* words, global ulong* lines, global uint* next, global uint2* pair,
                    global uint* restrict c_col_ptr, global uint* restrict c_row_idx, global ELEMENT* restrict c_values,
                    global ulong* restrict entries, uint nrows, uint first_col, uint ranges, uint phase, uint room,
                    uint a_stride, uint b_stride, uint c_stride, uint rows, uint inner, uint cols)
{
    const ulong group = get_group_id(0);
    global ulong* restrict const own_words = words + group * WORDS(nrows);
    global ulong* restrict const own_lines = OWN_LINES(lines, nrows);
    global ulong* restrict const own_tops = OWN_TOPS(lines, nrows);
    global uint* restrict const own_next = next + group * PLACES(nrows);
    global uint2* restrict const own_pair = pair + group * room;
    clear_bitmap(own_words, own_lines, nrows);
    for (uint row = 0; row < nrows; ++row)
        own_next[row] = 0;
    for (uint range = atomic_inc(taken + phase); range < ranges; range = atomic_inc(taken + phase)) {
        uint to = from[range];
        const uint end_of_b = b_col_ptr[begin[range + 1]];
        const bool sparse = are_sparse(begin[range + 1] - begin[range], from[range + 1] - from[range], nrows);
        for (uint col = begin[range]; col < begin[range + 1]; ++col) {
            c_col_ptr[col - first_col] = to;
            const uint count = find_runs(a_col_ptr, a_row_idx, b_row_idx, b_col_ptr[col], b_col_ptr[col + 1], end_of_b,
                                         own_words, own_lines, own_tops, own_next, c_row_idx + to, own_pair, sparse);
            if (count == 0)
                continue;
            const uint last = own_next[c_row_idx[to + count - 1]] - 1;
            uint run = 0;
            for (const uint end_of_c = to + count; to < end_of_c; ++to) {
                const uint row = c_row_idx[to], end = own_next[row];
                own_next[row] = 0;
                place_run(own_pair, a_values, b_values, c_values + (ulong)to * c_stride, run, end, last, a_stride, b_stride,
                          c_stride, rows, inner, cols);
                run = end;
            }
        }
        entries[range] = to - from[range];
        if (range == ranges - 1)
            c_col_ptr[begin[ranges] - first_col] = to;
    }
}

// from, row, run_end and pair are as range_pairs left them. to[ranges + 1] is the position in C of
// the entries of each range, and their end. c_col_ptr contains the position in row at which each
// column begins. The kernel replaces that position by the position in C.
KERNEL range_runs(global const uint* restrict begin, global const uint* restrict from, global const uint* restrict to,
                  global uint* taken, global const uint* restrict row, global const uint* restrict run_end,
                  global const uint2* restrict pair, global const ELEMENT* restrict a_values,
                  global const ELEMENT* restrict b_values, global uint* restrict c_col_ptr, global uint* restrict c_row_idx,
                  global ELEMENT* restrict c_values, uint ranges, uint phase, uint a_stride, uint b_stride, uint c_stride,
                  uint rows, uint inner, uint cols)
{
    for (uint range = atomic_inc(taken + phase); range < ranges; range = atomic_inc(taken + phase)) {
        const uint first = from[range], place = to[range], count = to[range + 1] - place, last = from[range + 1] - 1;
        uint run = first;
        for (uint i = 0; i < count; ++i) {
            const uint end = run_end[first + i];
            c_row_idx[place + i] = row[first + i];
            place_run(pair, a_values, b_values, c_values + (ulong)(place + i) * c_stride, run, end, last, a_stride, b_stride,
                      c_stride, rows, inner, cols);
            run = end;
        }
        const uint end = begin[range + 1] + (range == ranges - 1);
        for (uint col = begin[range]; col < end; ++col)
            c_col_ptr[col] -= first - place;
    }
}
