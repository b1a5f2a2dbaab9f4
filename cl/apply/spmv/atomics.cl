// atomics: y = alpha * A * x + beta * y with sums that work-items add to in the order in which they
// arrive, as published for COO and HYB (Evtushenko 2019). The bits differ from run to run. This
// file comes after arrival.cl.
// Host: src/apply/spmv/atomics.rs
//
//   list_tails   one work-item per entry of a tail, see tails.cl: lists its row, once for all
//                executions
//   start_sums   one work-item per row
//   add_entries  one work-item per SHARE entries that are listed with their rows
//   add_parts    one work-item per row or per SHARE entries, whichever are more: adds the row's
//                padded head, then the SHARE entries, as in listing 8
//   finish_sums  one work-item per row
//
//   in      row_ptr[rows + 1]  tail_ptr[lines + 1]  tail_row[lines]
//   in      row[entries]  col[places]  source[places]   see values.cl; heads come before entries
//   in      values[..]  x[columns]
//   in out  sums[rows]
//   in out  y[rows]
#if !defined(SHARE)
#error "SHARE: see src/apply/spmv/atomics.rs"
#endif
#define PADDING 0xffffffffu

// Adds the entries of this work-item's share.
#define ADD_SHARE(row, sums, first, entries)                                                          \
    do {                                                                                              \
        const ulong begin = (ulong)get_global_id(0) * SHARE, end = min(begin + SHARE, (ulong)entries); \
        for (ulong entry = begin; entry < end; ++entry)                                               \
            add_on_arrival(&sums[row[entry]], TERM(first + entry));                                   \
    } while (0)

KERNEL list_tails(global const uint* restrict tail_ptr, global const uint* restrict tail_row, global uint* restrict row, uint lines,
                  uint entries)
{
    const uint entry = get_global_id(0);
    if (entry < entries)
        row[entry] = tail_row[column_of(tail_ptr, lines, entry)];
}

KERNEL start_sums(global ARITHMETIC* restrict sums, uint rows)
{
    const uint row = get_global_id(0);
    if (row < rows)
        sums[row] = IDENTITY;
}

KERNEL add_entries(global const uint* restrict row, TERMS_OF(uint), global ARITHMETIC* sums, uint entries)
{
    ADD_SHARE(row, sums, 0, entries);
}

KERNEL add_parts(global const uint* restrict row, TERMS_OF(uint), global ARITHMETIC* sums, uint rows, uint width, uint entries)
{
    const ulong heads = (ulong)rows * width;
    const uint item = get_global_id(0);
    if (item < rows) {
        ARITHMETIC sum = IDENTITY;
        for (ulong place = item; place < heads && col[place] != PADDING; place += rows)
            sum = ADD(sum, TERM(place));
        add_on_arrival(&sums[item], sum);
    }
    ADD_SHARE(row, sums, heads, entries);
}

KERNEL finish_sums(global const uint* restrict row_ptr, global const ARITHMETIC* restrict sums, global ELEMENT* restrict y,
                   ARITHMETIC alpha, ARITHMETIC beta, uint rows)
{
    const uint row = get_global_id(0);
    if (row < rows)
        place_sum(row_ptr[row] < row_ptr[row + 1] ? sums[row] : EMPTY, y, row, alpha, beta);
}
