// hyb: y = alpha * A * x + beta * y for rows that are cut into padded heads and tails, see
// tails.cl.
// Host: src/apply/spmv/hyb.rs
//
//   sum_heads        one work-item per scalar row: sums the whole row if it has no tail, otherwise
//                    its head
//   sum_tails        one work-group per tile of whole tails
//   sum_tail_pieces  one work-group per piece of a tail that is too long for a tile
//   add_tail_parts   one work-group per tail that is cut: adds the sums of its pieces
//
//   in      col[places]  source[places]            see values.cl; tails begin at place rows * width
//   in      line_before[rows + 1]  tail_ptr[lines + 1]  tail_row[lines]      as in tails.cl
//   in      tile_line[tiles + 1]  piece[pieces]  cut[cuts]   as in lines.cl; the lines are tails
//   in      values[..]  x[columns * DEPTH]
//   in out  head[lines * SUMS]    the sums of the heads of rows that have a tail
//   in out  parts[parts * SUMS]   the sums of the pieces of tails that are cut
//   in out  y[rows * SUMS]
//
// The terms of a row are added in ascending order: the sum of its head is the start of the sum of
// its tail. After every PIECE entries of the row a new sum begins, and the sums are added left to
// right. A head is shorter than PIECE. This file comes after row.cl.
#if !defined(TILE)
#error "TILE: see src/apply/spmv/hyb.rs"
#endif
#define WHOLE 0xffffffffu
// If a work-group has one tail, each item has at most OWN sums.
#define OWN ((SUMS + GROUP_SIZE - 1) / GROUP_SIZE)

KERNEL sum_heads(TERMS_OF(uint), global const uint* restrict line_before, global ARITHMETIC* restrict head,
                 global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta, uint rows, uint width)
{
    const ulong item = get_global_id(0);
    if (item >= (ulong)rows * SUMS)
        return;
    const uint row = item / SUMS, number = item % SUMS, line = line_before[row];
    const bool has_tail = line_before[row + 1] != line;
    const ARITHMETIC sum = sum_entries(0, (PLACE)rows * width, rows, row, number, 0, TERMS);
    if (has_tail)
        head[(ulong)line * SUMS + number] = width > 0 ? sum : IDENTITY;
    else
        place_sum(sum, y, item, alpha, beta);
}

// Loads the products of all elements of the blocks of `count` places, block after block.
void load_terms(local ARITHMETIC* term, ulong begin, uint count, TERMS_OF(uint))
{
    for (uint i = get_local_id(0); i < count * AREA; i += GROUP_SIZE) {
        const ulong place = begin + i / AREA;
        const uint k = i % AREA / SUMS, sum = i % SUMS;
        const ARITHMETIC value = LOAD_VALUE(values, BEGIN(place, sum) + k * STEP(place));
        term[i] = MULTIPLY(value, LOAD(x, (ulong)col[place] * DEPTH + k));
    }
}

// Adds the terms of row `number` of `count` blocks to one sum.
ARITHMETIC add_loaded(ARITHMETIC sum, local const ARITHMETIC* term, uint count, uint number)
{
    IN_ORDER
    for (uint i = 0; i < count * DEPTH; ++i)
        sum = ADD(sum, term[i * SUMS + number]);
    return sum;
}

KERNEL sum_tails(global const uint* restrict tail_ptr, global const uint* restrict tile_line,
                 global const uint* restrict tail_row, TERMS_OF(uint), global const ARITHMETIC* restrict head,
                 global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta, ulong heads, uint tile)
{
    // All tails of a tile begin within `tile` entries, and the last has up to `tile` entries.
    local ARITHMETIC term[2 * TILE * AREA];
    const uint tile_number = get_group_id(0), first = tile_line[tile_number];
    uint end = tile_line[tile_number + 1];
    if (end > first && tail_ptr[end] - tail_ptr[end - 1] > tile)
        --end; // the last tail is cut into pieces
    const uint begin = tail_ptr[first];
    load_terms(term, heads + begin, tail_ptr[end] - begin, TERMS);
    GROUP_BARRIER;
    for (uint i = get_local_id(0); i < (end - first) * SUMS; i += GROUP_SIZE) {
        const uint line = first + i / SUMS, number = i % SUMS, from = tail_ptr[line];
        const ARITHMETIC sum = head[(ulong)line * SUMS + number];
        place_sum(add_loaded(sum, term + (from - begin) * AREA, tail_ptr[line + 1] - from, number), y,
                  (ulong)tail_row[line] * SUMS + number, alpha, beta);
    }
}

KERNEL sum_tail_pieces(global const uint4* restrict piece, global const uint* restrict tail_ptr,
                       global const uint* restrict tail_row, TERMS_OF(uint), global const ARITHMETIC* restrict head,
                       global ARITHMETIC* restrict parts, global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta,
                       ulong heads)
{
    local ARITHMETIC term[TILE * AREA];
    const uint4 at = piece[get_group_id(0)];
    ARITHMETIC sum[OWN];
    for (uint own = 0, number = get_local_id(0); number < SUMS; ++own, number += GROUP_SIZE)
        sum[own] = at.y == tail_ptr[at.x] ? head[(ulong)at.x * SUMS + number] : IDENTITY;
    const uint entries = at.z - at.y;
    for (uint done = 0; done < entries; done += TILE) {
        const uint count = min((uint)TILE, entries - done);
        load_terms(term, heads + at.y + done, count, TERMS);
        GROUP_BARRIER;
        for (uint own = 0, number = get_local_id(0); number < SUMS; ++own, number += GROUP_SIZE)
            sum[own] = add_loaded(sum[own], term, count, number);
        GROUP_BARRIER; // term[] is read before the next round overwrites it
    }
    for (uint own = 0, number = get_local_id(0); number < SUMS; ++own, number += GROUP_SIZE) {
        if (at.w == WHOLE)
            place_sum(sum[own], y, (ulong)tail_row[at.x] * SUMS + number, alpha, beta);
        else
            parts[(ulong)at.w * SUMS + number] = sum[own];
    }
}

KERNEL add_tail_parts(global const uint4* restrict cut, global const uint* restrict tail_row, global const ARITHMETIC* restrict parts,
                      global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta)
{
    local ARITHMETIC term[TILE * AREA];
    const uint depth = TILE * DEPTH;
    const uint4 at = cut[get_group_id(0)];
    ARITHMETIC sum[OWN];
    for (uint own = 0; own < OWN; ++own)
        sum[own] = IDENTITY;
    for (uint part = at.y; part < at.z; part += depth) {
        const uint count = min(depth, at.z - part);
        for (uint i = get_local_id(0); i < count * SUMS; i += GROUP_SIZE)
            term[i] = parts[(ulong)part * SUMS + i];
        GROUP_BARRIER;
        for (uint own = 0, number = get_local_id(0); number < SUMS; ++own, number += GROUP_SIZE) {
            IN_ORDER
            for (uint i = 0; i < count; ++i)
                sum[own] = ADD(sum[own], term[i * SUMS + number]);
        }
        GROUP_BARRIER; // term[] is read before the next round overwrites it
    }
    for (uint own = 0, number = get_local_id(0); number < SUMS; ++own, number += GROUP_SIZE)
        place_sum(sum[own], y, (ulong)tail_row[at.x] * SUMS + number, alpha, beta);
}
