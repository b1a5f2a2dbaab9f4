// radix_sort_serial: the kernels of radix_sort.cl for CPUs, with the same names, arguments and
// results. A work-group is one work-item, and a tile is a stretch of `tile` elements.
// Host: src/primitives/radix_sort.rs
#if !defined(DIGIT_BITS) || !defined(COLUMNS)
#error "DIGIT_BITS, COLUMNS: see src/primitives/radix_sort.rs"
#endif

#define DIGIT(key) ((key) >> shift & (digits - 1))

void count_tile(global const uint* key, uint* count, uint start, uint end, uint shift, uint digits)
{
    for (uint digit = 0; digit < digits; ++digit)
        count[digit] = 0;
    for (uint e = start; e < end; ++e)
        ++count[DIGIT(key[e])];
}

KERNEL count_digits(global const uint* restrict key, global uint* restrict counts, uint n, uint tile, uint shift, uint digits)
{
    const uint group = get_group_id(0), tiles = get_num_groups(0), start = group * tile;
    uint count[1 << DIGIT_BITS];
    count_tile(key, count, start, min(start + tile, n), shift, digits);
    for (uint digit = 0; digit < digits; ++digit)
        counts[digit * tiles + group] = count[digit];
}

KERNEL deal_digits(global const uint* restrict key_in, global const uint* restrict order_in, global const uint* restrict column_in,
                   global const uint* restrict col_ptr, global const uint* restrict starts, global uint* restrict key_out,
                   global uint* restrict order_out, global uint* restrict column_out, uint n, uint tile, uint ncols, uint shift,
                   uint digits, uint fresh)
{
    const uint group = get_group_id(0), tiles = get_num_groups(0), start = group * tile, end = min(start + tile, n);
    uint place[1 << DIGIT_BITS];
    if (tiles > 1) {
        for (uint digit = 0; digit < digits; ++digit)
            place[digit] = starts[digit * tiles + group];
    } else {
        count_tile(key_in, place, start, end, shift, digits);
        for (uint digit = 0, next = 0; digit < digits; ++digit) {
            const uint count = place[digit];
            place[digit] = next;
            next += count;
        }
    }
#if COLUMNS
    uint column = fresh ? column_of(col_ptr, ncols, start) : 0;
#endif
    for (uint e = start; e < end; ++e) {
        const uint key = key_in[e], to = place[DIGIT(key)]++;
        key_out[to] = key;
        order_out[to] = fresh ? e : order_in[e];
#if COLUMNS
        if (fresh)
            while (col_ptr[column + 1] <= e)
                ++column;
        else
            column = column_in[e];
        column_out[to] = column;
#endif
    }
}
