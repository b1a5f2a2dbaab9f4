// ranges setup: counts the products of each column of C, and cuts the columns into ranges with
// equal numbers of products.
// Host: src/product/cpu/ranges/kernels.rs
//
//   range_products   one work-item per part: an equal share of the columns
//   range_cuts       the same
//
//   in   a_col_ptr[a_cols + 1]  b_col_ptr[cols + 1]  b_row_idx[b_nnz]
//   out  products[cols]          number of products of each column, at most 2^32 - 1
//   out  record[parts * RECORD]  for each part: products; most products of a column; columns that
//                                have products; if DIRECT, columns of one entry of B, and their
//                                products; most entries of a column of B
//   out  begin[ranges + 1]       the first column of each range, and the end of the last range. At
//                                least r / ranges of all products come before range r
//   out  bound[ranges + 1]       number of products before each range, and of all products
//   out  taken[PHASES]           zeros: the number of ranges that later kernels have taken
#if !defined(RECORD) || !defined(DIRECT) || !defined(PHASES)
#error "RECORD, DIRECT, PHASES: see src/product/cpu/ranges/kernels.rs"
#endif

// Returns the first column of a part.
uint first_of(uint part, uint parts, uint cols)
{
    return (uint)((ulong)part * cols / parts);
}

KERNEL range_products(global const uint* a_col_ptr, global const uint* a_row_idx, global const uint* b_col_ptr,
                      global const uint* b_row_idx, global uint* products, global ulong* record, uint cols, uint parts)
{
    const uint part = get_group_id(0), end = first_of(part + 1, parts, cols);
    ulong all = 0, longest = 0, columns = 0, direct = 0, of_direct = 0, longest_b = 0;
    for (uint col = first_of(part, parts, cols); col < end; ++col) {
        const uint first = b_col_ptr[col], last = b_col_ptr[col + 1];
        ulong count = 0;
        for (uint entry = first; entry < last; ++entry) {
            const uint k = b_row_idx[entry];
            count += a_col_ptr[k + 1] - a_col_ptr[k];
        }
        products[col] = (uint)min(count, (ulong)0xffffffffu);
        all += count;
        longest = max(longest, count);
        columns += count > 0;
        longest_b = max(longest_b, (ulong)(last - first));
#if DIRECT
        if (last - first == 1 && count > 0) {
            ++direct;
            of_direct += count;
        }
#endif
    }
    global ulong* const to = record + part * RECORD;
    to[0] = all;
    to[1] = longest;
    to[2] = columns;
    to[3] = direct;
    to[4] = of_direct;
    to[5] = longest_b;
}

KERNEL range_cuts(global const uint* products, global const ulong* record, global uint* begin, global uint* bound,
                  global uint* taken, uint cols, uint parts, uint ranges)
{
    const uint part = get_group_id(0), first = first_of(part, parts, cols), end = first_of(part + 1, parts, cols);
    ulong all = 0, before = 0;
    for (uint other = 0; other < parts; ++other) {
        const ulong of_other = record[other * RECORD];
        all += of_other;
        before += other < part ? of_other : 0;
    }
    // `next` is the next range to begin. Range `next` begins with the first column that has at
    // least next / ranges of all products before it. If there are no products, all ranges begin
    // with the first column.
    uint next = first > 0 ? ranges : 0;
    if (first > 0 && all > 0)
        next = (uint)min((before - products[first - 1]) * ranges / all + 1, (ulong)ranges);
    for (uint col = first; col < end; ++col) {
        for (; next < ranges && next * all <= before * ranges; ++next) {
            begin[next] = col;
            bound[next] = (uint)before;
        }
        before += products[col];
    }
    if (part == parts - 1) {
        for (; next <= ranges; ++next) {
            begin[next] = cols;
            bound[next] = (uint)all;
        }
        for (uint phase = 0; phase < PHASES; ++phase)
            taken[phase] = 0;
    }
}
