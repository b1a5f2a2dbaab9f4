// mask_sums: computes the values of C on a mask, for scalars. Work-groups of one work-item take one
// range of columns after another.
// Host: src/product/masked/sums.rs
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  a_values[a_nnz]
//   in   b_col_ptr[cols + 1]  b_row_idx[b_nnz]  b_values[b_nnz]
//   in   mask_col_ptr[cols + 1]  mask_row_idx[nnz]
//   in   steps[cols]  record[parts * RECORD]   see steps.cl; a range has `share` steps
//   i/o  taken[1]                number of ranges that were taken
//   i/o  words[]                 for each work-group the bits of the mask's rows; zeros between
//                                columns
//   i/o  sum[]  terms[]          for each work-group and row: the sum of the row's products, and
//                                their number
//   i/o  done[]                  if a column of B has more than RUN_PIECE entries, the sum of the
//                                pieces before the last
//   i/o  list[]                  for each work-group, see hits.cl
//   out  c_values[nnz]
//   out  counted[2 * groups]     for each work-group: its hits; those of its longest run
//
// If many rows of a range are on the mask, all products are added, also those outside of the mask.
// The sums outside of the mask are undefined and never read.
#if !defined(RUN_PIECE) || !defined(HIT_PRODUCTS)
#error "RUN_PIECE, HIT_PRODUCTS: see src/product/masked/sums.rs"
#endif

// Adds the products of the entries first..end of A.
void add_all(global const uint* restrict a_row_idx, global const ELEMENT* restrict a_values, uint first, uint end,
             ARITHMETIC factor, global ARITHMETIC* restrict sum, global uint* restrict terms)
{
    IN_ORDER
    for (uint i = first; i < end; ++i) {
        const uint row = a_row_idx[i];
        sum[row] = ADD(sum[row], MULTIPLY(LOAD(a_values, i), factor));
        ++terms[row];
    }
}

// Adds the products of `count` entries of A that are in `list`.
void add_hits(global const uint* restrict a_row_idx, global const ELEMENT* restrict a_values,
              global const uint* restrict list, uint count, ARITHMETIC factor, global ARITHMETIC* restrict sum,
              global uint* restrict terms)
{
    IN_ORDER
    for (uint hit = 0; hit < count; ++hit) {
        const uint i = list[hit], row = a_row_idx[i];
        sum[row] = ADD(sum[row], MULTIPLY(LOAD(a_values, i), factor));
        ++terms[row];
    }
}

// Does the same as add_hits if a row may have more than RUN_PIECE products.
void add_in_pieces(global const uint* restrict a_row_idx, global const ELEMENT* restrict a_values,
                   global const uint* restrict list, uint count, ARITHMETIC factor, global ARITHMETIC* restrict sum,
                   global ARITHMETIC* restrict done, global uint* restrict terms)
{
    IN_ORDER
    for (uint hit = 0; hit < count; ++hit) {
        const uint i = list[hit], row = a_row_idx[i], before = terms[row];
        const ARITHMETIC product = MULTIPLY(LOAD(a_values, i), factor);
        if (before > 0 && before % RUN_PIECE == 0) {
            // A piece is complete.
            done[row] = before == RUN_PIECE ? sum[row] : ADD(done[row], sum[row]);
            sum[row] = product;
        } else {
            sum[row] = ADD(sum[row], product);
        }
        terms[row] = before + 1;
    }
}

KERNEL mask_sums(global const uint* restrict a_col_ptr, global const uint* restrict a_row_idx,
                 global const ELEMENT* restrict a_values, global const uint* restrict b_col_ptr,
                 global const uint* restrict b_row_idx, global const ELEMENT* restrict b_values,
                 global const uint* restrict mask_col_ptr, global const uint* restrict mask_row_idx,
                 global const ulong* restrict steps, global const ulong* restrict record, global uint* taken,
                 global ulong* words, global ARITHMETIC* sum, global ARITHMETIC* done, global uint* terms, global uint* list,
                 global ELEMENT* restrict c_values, global ulong* restrict counted, ulong share, uint places_of_rows,
                 uint cols, uint parts, uint ranges)
{
    const ulong group = get_group_id(0), own = group * places_of_rows;
    global ulong* restrict const own_words = words + own / 64;
    global ARITHMETIC* restrict const own_sum = sum + own;
    global uint* restrict const own_terms = terms + own;
    global uint* restrict const own_list = list + own;
    for (uint word = 0; word < places_of_rows / 64; ++word)
        own_words[word] = 0;
    ulong hits = 0;
    uint longest = 0;
    for (uint range = atomic_inc(taken); range < ranges; range = atomic_inc(taken)) {
        const uint begin = range_begin(steps, record, range, ranges, share, parts, cols);
        const uint end = range_begin(steps, record, range + 1, ranges, share, parts, cols), end_of_b = b_col_ptr[end];
        ulong of_range = 0, products = 0;
        for (uint col = begin; col < end; ++col) {
            const uint first_place = mask_col_ptr[col], end_place = mask_col_ptr[col + 1];
            if (first_place == end_place)
                continue;
            const uint lookup = lookup_steps(end_place - first_place);
            for (uint place = first_place; place < end_place; ++place) {
                const uint row = mask_row_idx[place];
                own_words[row / 64] |= (ulong)1 << row % 64;
                own_sum[row] = IDENTITY;
                own_terms[row] = 0;
            }
            const uint first = b_col_ptr[col], last = b_col_ptr[col + 1];
            const bool cut = last - first > RUN_PIECE, many = !cut && of_range * HIT_PRODUCTS > products;
            for (uint entry = first; entry < last; ++entry) {
                const uint k = b_row_idx[entry], of_a = a_col_ptr[k], end_of_a = a_col_ptr[k + 1], length = end_of_a - of_a;
                if (AHEAD > 0 && entry + AHEAD < end_of_b)
                    ASK(a_row_idx + a_col_ptr[b_row_idx[entry + AHEAD]]);
                if (length == 0)
                    continue;
                products += length;
                const ARITHMETIC factor = LOAD(b_values, entry);
                if (many && !looked_up(lookup, length)) {
                    add_all(a_row_idx, a_values, of_a, end_of_a, factor, own_sum, own_terms);
                    continue;
                }
                const uint count =
                    list_hits(a_row_idx, of_a, end_of_a, mask_row_idx, first_place, end_place, lookup, own_words, own_list);
                if (cut)
                    add_in_pieces(a_row_idx, a_values, own_list, count, factor, own_sum, done + own, own_terms);
                else
                    add_hits(a_row_idx, a_values, own_list, count, factor, own_sum, own_terms);
            }
            for (uint place = first_place; place < end_place; ++place) {
                const uint row = mask_row_idx[place], of_row = own_terms[row];
                ARITHMETIC value = own_sum[row];
                if (of_row > RUN_PIECE)
                    value = ADD(done[own + row], value);
                if (of_row == 0)
                    value = EMPTY;
                STORE(value, c_values, place);
                own_words[row / 64] = 0;
                of_range += of_row;
                longest = max(longest, of_row);
            }
        }
        hits += of_range;
    }
    counted[2 * group] = hits;
    counted[2 * group + 1] = longest;
}
