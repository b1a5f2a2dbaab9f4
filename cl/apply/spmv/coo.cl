// coo: y = alpha * A * x + beta * y for entries that are listed with their rows, sorted by row.
// Host: src/apply/spmv/coo.rs
//
//   sum_tiles   one work-group per tile of TILE entries
//   join_tiles  one work-item per tile: completes the row that begins in it and continues in the
//               next
//
//   in      row[nnz]  col[nnz]  source[nnz]   see listed.cl, values.cl
//   in      values[nnz * stride]  x[columns]
//   in out  y[rows]
//   out     parts[2 * tiles]  the sum of a tile's first row if that row begins before the tile, and
//                             the sum of its last row if that row begins in the tile and continues
//
// In a tile the terms of a row are added in ascending order. The sums of the tiles are then added
// from left to right. Tiles begin at multiples of TILE entries on every device.
#if !defined(TILE)
#error "TILE: see src/apply/spmv/coo.rs"
#endif

KERNEL sum_tiles(global const uint* restrict row, TERMS_OF(uint), global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta,
                 global ARITHMETIC* restrict parts, uint nnz)
{
    local ARITHMETIC term[TILE];
    local uint term_row[TILE];
    const uint tile = get_group_id(0), begin = tile * TILE, count = min((uint)TILE, nnz - begin);
    for (uint i = get_local_id(0); i < count; i += GROUP_SIZE) {
        term[i] = TERM(begin + i);
        term_row[i] = row[begin + i];
    }
    GROUP_BARRIER;
    for (uint first = get_local_id(0); first < count; first += GROUP_SIZE) {
        const uint of_row = term_row[first];
        if (first > 0 && term_row[first - 1] == of_row)
            continue;
        ARITHMETIC sum = term[first];
        uint next = first + 1;
        IN_ORDER
        for (; next < count && term_row[next] == of_row; ++next)
            sum = ADD(sum, term[next]);
        const bool from_before = first == 0 && begin > 0 && row[begin - 1] == of_row;
        const bool goes_on = next == count && nnz - begin > count && row[begin + count] == of_row;
        if (from_before)
            parts[2 * (ulong)tile] = sum;
        else if (goes_on)
            parts[2 * (ulong)tile + 1] = sum;
        else
            place_sum(sum, y, of_row, alpha, beta);
    }
}

KERNEL join_tiles(global const uint* restrict row, global const ARITHMETIC* restrict parts, global ELEMENT* restrict y,
                  ARITHMETIC alpha, ARITHMETIC beta, uint tiles)
{
    const uint tile = get_global_id(0);
    if (tile + 1 >= tiles)
        return;
    const uint begin = tile * TILE, end = begin + TILE, of_row = row[end - 1];
    const bool from_before = begin > 0 && row[begin - 1] == of_row;
    if (from_before || row[end] != of_row)
        return;
    ARITHMETIC sum = parts[2 * (ulong)tile + 1];
    IN_ORDER
    for (uint next = tile + 1; next < tiles && row[next * TILE] == of_row; ++next)
        sum = ADD(sum, parts[2 * (ulong)next]);
    place_sum(sum, y, of_row, alpha, beta);
}
