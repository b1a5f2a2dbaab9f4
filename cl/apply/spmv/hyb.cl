// hyb: y = alpha * A * x + beta * y of padded heads of rows and their tails, see tails.cl.
// Host: src/apply/spmv/hyb.rs
//
//   sum_heads        one work-item per row: the sum of a row without a tail, else that of its head
//   sum_tails        one work-group per tile of whole tails
//   sum_tail_pieces  one work-group per piece of a tail too long for a tile
//   add_tail_parts   one work-group per tail that is cut: adds the sums of its pieces
//
//   in      col[places]  source[places]            see values.cl; tails begin at place rows * width
//   in      line_before[rows + 1]  tail_ptr[lines + 1]  tail_row[lines]      as in tails.cl
//   in      tile_line[tiles + 1]  piece[pieces]  cut[cuts]   as in lines.cl, of the tails as lines
//   in      values[..]  x[columns]
//   in out  head[lines]    the sum of the head of each row that has a tail
//   in out  parts[parts]   the sums of the pieces of tails that are cut
//   in out  y[rows]
//
// The terms of a row are added in ascending place: its tail goes on from the sum of its head. After
// every PIECE terms of the row a new sum begins, and the sums are added left to right. A head is
// shorter than PIECE. Padding is never multiplied, since x may hold infinities.
#if !defined(PIECE) || !defined(TILE)
#error "PIECE, TILE: see src/apply/spmv/hyb.rs"
#endif
#define PADDING 0xffffffffu
#define WHOLE 0xffffffffu

KERNEL sum_heads(global const uint* restrict col, global const uint* restrict source, global const uint* restrict line_before,
                 global const ELEMENT* restrict values, global const ELEMENT* restrict x, global ARITHMETIC* restrict head,
                 global ELEMENT* restrict y, uint rows, uint width, uint stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint row = get_global_id(0);
    if (row >= rows)
        return;
    const uint line = line_before[row];
    const bool has_tail = line_before[row + 1] != line;
    const ulong end = (ulong)rows * width;
    ulong place = row;
    ARITHMETIC sum = place < end && col[place] != PADDING ? IDENTITY : EMPTY;
    if (has_tail)
        sum = IDENTITY; // also of a head of width 0
    IN_ORDER
    for (; place < end && col[place] != PADDING; place += rows)
        sum = ADD(sum, TERM(place));
    if (has_tail)
        head[line] = sum;
    else
        place_sum(sum, y, row, alpha, beta);
}

KERNEL sum_tails(global const uint* restrict tail_ptr, global const uint* restrict tile_line, global const uint* restrict tail_row,
                 global const uint* restrict col, global const uint* restrict source, global const ELEMENT* restrict values,
                 global const ELEMENT* restrict x, global const ARITHMETIC* restrict head, global ELEMENT* restrict y, ulong heads,
                 uint tile, uint stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    // Starts of tails are less than `tile` entries apart, and the last has up to `tile` entries.
    local ARITHMETIC term[2 * TILE];
    const uint number = get_group_id(0), first = tile_line[number];
    uint end = tile_line[number + 1];
    if (end > first && tail_ptr[end] - tail_ptr[end - 1] > tile)
        --end; // the last tail is in pieces
    const uint begin = tail_ptr[first], count = tail_ptr[end] - begin;
    for (uint i = get_local_id(0); i < count; i += GROUP_SIZE)
        term[i] = TERM(heads + begin + i);
    GROUP_BARRIER;
    for (uint line = first + get_local_id(0); line < end; line += GROUP_SIZE) {
        ARITHMETIC sum = head[line];
        IN_ORDER
        for (uint i = tail_ptr[line] - begin; i < tail_ptr[line + 1] - begin; ++i)
            sum = ADD(sum, term[i]);
        place_sum(sum, y, tail_row[line], alpha, beta);
    }
}

KERNEL sum_tail_pieces(global const uint4* restrict piece, global const uint* restrict tail_ptr, global const uint* restrict tail_row,
                       global const uint* restrict col, global const uint* restrict source, global const ELEMENT* restrict values,
                       global const ELEMENT* restrict x, global const ARITHMETIC* restrict head, global ARITHMETIC* restrict parts,
                       global ELEMENT* restrict y, ulong heads, uint stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    local ARITHMETIC term[PIECE];
    const uint4 at = piece[get_group_id(0)];
    const uint count = at.z - at.y;
    for (uint i = get_local_id(0); i < count; i += GROUP_SIZE)
        term[i] = TERM(heads + at.y + i);
    GROUP_BARRIER;
    if (get_local_id(0) == 0) {
        ARITHMETIC sum = at.y == tail_ptr[at.x] ? head[at.x] : IDENTITY;
        IN_ORDER
        for (uint i = 0; i < count; ++i)
            sum = ADD(sum, term[i]);
        if (at.w == WHOLE)
            place_sum(sum, y, tail_row[at.x], alpha, beta);
        else
            parts[at.w] = sum;
    }
}

KERNEL add_tail_parts(global const uint4* restrict cut, global const uint* restrict tail_row, global const ARITHMETIC* restrict parts,
                      global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta)
{
    local ARITHMETIC term[TILE];
    const uint4 at = cut[get_group_id(0)];
    ARITHMETIC sum = IDENTITY;
    for (uint part = at.y; part < at.z; part += TILE) {
        const uint count = min((uint)TILE, at.z - part);
        for (uint i = get_local_id(0); i < count; i += GROUP_SIZE)
            term[i] = parts[part + i];
        GROUP_BARRIER;
        if (get_local_id(0) == 0) {
            IN_ORDER
            for (uint i = 0; i < count; ++i)
                sum = ADD(sum, term[i]);
        }
        GROUP_BARRIER; // every read, before the next round writes
    }
    if (get_local_id(0) == 0)
        place_sum(sum, y, tail_row[at.x], alpha, beta);
}
