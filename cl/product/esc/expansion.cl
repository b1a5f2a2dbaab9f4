// expansion: computes the row of each product, and its value or the pair of its operands.
// Host: src/product/esc/expansion.rs
//
//   One work-group per TILE products, whatever columns they belong to. So all work-groups have
//   equal work.
//
//   in   a_col_ptr[a_cols + 1]  a_row_idx[a_nnz]  b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]
//   in   a_operand[a_nnz]  b_operand[b_nnz]      see cl/product/terms/payload.cl
//   in   b_prods[b_nnz + 1]
//   out  row[products]  payload[products]
//   out  tile_segment[tiles + 1]     segment of the first product of each tile, and of the last
//                                    product of all
#ifndef TILE
#error "TILE: products of a work-group, see src/product/tuning.rs"
#endif

// Returns the last entry e in first <= e < end with b_prods[e] <= product. The caller guarantees
// b_prods[first] <= product < b_prods[end].
//
// The search is by interpolation (Polok 2015, Expansion Stage; Perl 1978). Entries with equal
// b_prods, except the last of them, belong to empty columns of A. After eight steps the search
// bisects: interpolation alone takes thousands of steps if there are a few huge columns.
uint entry_of(global const ulong* b_prods, uint first, uint end, ulong product)
{
    ulong at_first = b_prods[first], at_end = b_prods[end];
    for (uint step = 0; end - first > 1; ++step) {
        uint pivot = first + (end - first) / 2;
        if (step < 8) {
            // 64 bits hold the operands of the division, because the two ends are less than 2^32
            // apart in one band.
            const ulong guess = first + (ulong)(end - first) * (product - at_first) / (at_end - at_first);
            pivot = (uint)clamp(guess, (ulong)first + 1, (ulong)end - 1);
        }
        const ulong at_pivot = b_prods[pivot];
        if (at_pivot <= product) {
            first = pivot;
            at_first = at_pivot;
        } else {
            end = pivot;
            at_end = at_pivot;
        }
    }
    return first;
}

// Finds the entries of B to which the products of a tile belong. bounds[0] is the first entry, and
// bounds[1] the end.
void tile_entries(global const ulong* b_prods, global const uint* b_col_ptr, global uint* tile_segment, local uint* bounds,
                  ulong first_product, uint start, uint count, uint first_col, uint cols)
{
    const uint item = get_local_id(0);
    const uint tile = get_group_id(0);
    const uint first_entry = b_col_ptr[first_col], end_entry = b_col_ptr[first_col + cols];
    if (item == 0) {
        const uint entry = entry_of(b_prods, first_entry, end_entry, first_product + start);
        bounds[0] = entry;
        tile_segment[tile] = column_between(b_col_ptr, first_col, first_col + cols - 1, entry) - first_col;
    }
    if (item == GROUP_SIZE - 1) {
        const uint entry = entry_of(b_prods, first_entry, end_entry, first_product + start + count - 1);
        bounds[1] = entry + 1;
        if (tile == get_num_groups(0) - 1)
            tile_segment[tile + 1] = column_between(b_col_ptr, first_col, first_col + cols - 1, entry) - first_col;
    }
    GROUP_BARRIER;
}

// Returns the entry of the next product of an item. The entry is mostly that of the product before,
// or the entry after it.
uint next_entry(global const ulong* b_prods, uint entry, uint end, ulong product)
{
    if (product < b_prods[entry + 1])
        return entry;
    if (product < b_prods[entry + 2 < end ? entry + 2 : end])
        return entry + 1;
    return entry_of(b_prods, entry + 1, end, product);
}

KERNEL expand(global const uint* a_col_ptr, global const uint* a_row_idx, global const OPERAND* a_operand,
              global const uint* b_col_ptr, global const uint* b_row_idx, global const OPERAND* b_operand,
              global const ulong* b_prods, global uint* row, global PAYLOAD* payload, global uint* tile_segment,
              ulong first_product, uint products, uint first_col, uint cols, uint from_end)
{
    local uint bounds[2];
    const uint start = get_group_id(0) * TILE;
    const uint count = min((uint)TILE, products - start);
    tile_entries(b_prods, b_col_ptr, tile_segment, bounds, first_product, start, count, first_col, cols);
    uint b_entry = bounds[0];
    for (uint i = get_local_id(0); i < count; i += GROUP_SIZE) {
        const ulong product = first_product + start + i;
        b_entry = next_entry(b_prods, b_entry, bounds[1], product);
        // Entry b_entry of B is multiplied by the first entries of its column of A, or by the last
        // ones (lower triangle). The difference from the last one is negative, modulo 2^32.
        const uint a_entry = a_col_ptr[b_row_idx[b_entry] + from_end] + (uint)(product - b_prods[b_entry + from_end]);
        row[start + i] = a_row_idx[a_entry];
        payload[start + i] = MAKE(a_entry, b_entry);
    }
}
