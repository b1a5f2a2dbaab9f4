// segmented_scan: y = alpha * A * x + beta * y for entries that are listed with their rows, by a
// segmented scan (Garland 2008).
// Host: src/apply/spmv/segmented_scan.rs
//
//   scan_tiles    one work-group per tile of TILE entries
//   scan_parts    one work-group per TILE parts: adds rows that are in several tiles
//   scan_carries  one work-group: adds rows that are in several groups of scan_parts
//
//   in      row[nnz]  col[nnz]  source[nnz]   see listed.cl, values.cl
//   in      values[nnz * stride]  x[columns]
//   in out  y[rows]
//   out     parts[2 * tiles]      the sum of a tile's first row if that row begins before the tile,
//                                 and the sum of its last row if that row begins in the tile and
//                                 continues; otherwise IDENTITY
//   out     part_row[2 * tiles]   the rows of the parts, or NONE; a part that is IDENTITY between
//                                 two parts of a row has that row, too
//   out     carries[2 * groups]  carry_row[2 * groups]   the same as parts and part_row, for the
//                                 work-groups of scan_parts
//
// A tile has CHUNKS chunks of CHUNK terms. The terms of a row in a chunk are added from left to
// right. For a row in several chunks of the tile, the sums of all its chunks except the last are
// added by doubling distances: each chunk adds the sum of the chunk 1 before it, then 2, 4, and so
// on. The sum of the row's last chunk is added at the end. The array of parts is added in the same
// way as an array of terms, in tiles. The tiles of parts are added from left to right. So a
// work-group takes as long for one long row as for many short rows.
#if !defined(TILE) || !defined(CHUNK)
#error "TILE, CHUNK: see src/apply/spmv/segmented_scan.rs"
#endif
#define CHUNKS (TILE / CHUNK)
#if GROUP_SIZE != 1 && GROUP_SIZE != CHUNKS
#error "a group has an item for each chunk, or one for all"
#endif
#define NONE 0xffffffffu
// PLACE is the position of a term and its row in local memory. One unused place separates chunks.
// Without the unused place, items that read one chunk each would read from the same banks.
#define PLACE(i) ((i) + (GROUP_SIZE == 1 ? 0 : (i) / CHUNK))
#define PLACES (GROUP_SIZE == 1 ? TILE : TILE + CHUNKS)

// Adds the terms of each row. The sum replaces the row's last term. tail and headed each hold
// CHUNKS words.
void scan_rows(local ARITHMETIC* term, local const uint* row, uint count, local ARITHMETIC* tail, local uint* headed)
{
    for (uint chunk = get_local_id(0); chunk < CHUNKS; chunk += GROUP_SIZE) {
        const uint begin = chunk * CHUNK, end = min(begin + CHUNK, count);
        ARITHMETIC sum = IDENTITY;
        uint heads = begin >= count;
        IN_ORDER
        for (uint i = begin; i < end; ++i) {
            if (i == 0 || row[PLACE(i - 1)] != row[PLACE(i)]) {
                sum = IDENTITY;
                heads = 1;
            }
            sum = ADD(sum, term[PLACE(i)]);
            if (i + 1 == count || row[PLACE(i + 1)] != row[PLACE(i)])
                term[PLACE(i)] = sum;
        }
        tail[chunk] = sum;
        headed[chunk] = heads;
    }
    GROUP_BARRIER;
    for (uint distance = 1; distance < CHUNKS; distance *= 2) {
#if GROUP_SIZE == 1
        // The loop goes downwards, so that a step reads the old value of chunk - distance.
        for (uint chunk = CHUNKS - 1; chunk >= distance; --chunk) {
            if (!headed[chunk]) {
                tail[chunk] = ADD(tail[chunk - distance], tail[chunk]);
                headed[chunk] = headed[chunk - distance];
            }
        }
#else
        const uint chunk = get_local_id(0);
        const bool takes = chunk >= distance && !headed[chunk];
        const uint from = takes ? chunk - distance : chunk;
        const ARITHMETIC before = tail[from];
        const uint headed_before = headed[from];
        GROUP_BARRIER; // tail[] and headed[] are read before they are overwritten
        if (takes) {
            tail[chunk] = ADD(before, tail[chunk]);
            headed[chunk] = headed_before;
        }
        GROUP_BARRIER;
#endif
    }
    for (uint chunk = get_local_id(0); chunk < CHUNKS; chunk += GROUP_SIZE) {
        const uint begin = chunk * CHUNK, end = min(begin + CHUNK, count);
        if (begin == 0 || begin >= count || row[PLACE(begin - 1)] != row[PLACE(begin)])
            continue;
        uint i = begin;
        while (i < end && i + 1 < count && row[PLACE(i + 1)] == row[PLACE(begin)])
            ++i;
        if (i < end)
            term[PLACE(i)] = ADD(tail[chunk - 1], term[PLACE(i)]);
    }
    GROUP_BARRIER;
}

// Writes the sums of the rows that are complete in a tile. The complete rows come after row_before
// and before row_after. The sums of the tile's first and last row, if incomplete, are written to
// two places of parts.
void place_rows(local const ARITHMETIC* term, local const uint* row, uint count, uint row_before, uint row_after,
                global ELEMENT* restrict y, global ARITHMETIC* restrict parts, global uint* restrict part_row, ARITHMETIC alpha,
                ARITHMETIC beta)
{
    for (uint i = get_local_id(0); i < count; i += GROUP_SIZE) {
        const uint of_row = row[PLACE(i)];
        const bool is_last = i + 1 == count;
        if (!is_last && row[PLACE(i + 1)] == of_row)
            continue;
        const bool is_first = row[0] == of_row, is_row = of_row != NONE;
        const bool from_before = is_row && is_first && row_before == of_row, goes_on = is_row && is_last && row_after == of_row;
        const ARITHMETIC sum = term[PLACE(i)];
        if (is_first) {
            parts[0] = from_before ? sum : IDENTITY;
            part_row[0] = from_before ? of_row : NONE;
        }
        if (is_last) {
            parts[1] = goes_on && !from_before ? sum : IDENTITY;
            part_row[1] = goes_on ? of_row : NONE;
        }
        if (is_row && !from_before && !goes_on)
            place_sum(sum, y, of_row, alpha, beta);
    }
}

KERNEL scan_tiles(global const uint* restrict row, TERMS_OF(uint), global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta,
                  global ARITHMETIC* restrict parts, global uint* restrict part_row, uint nnz)
{
    local ARITHMETIC term[PLACES], tail[CHUNKS];
    local uint term_row[PLACES], headed[CHUNKS];
    const uint tile = get_group_id(0), begin = tile * TILE, count = min((uint)TILE, nnz - begin);
    for (uint i = get_local_id(0); i < count; i += GROUP_SIZE) {
        term[PLACE(i)] = TERM(begin + i);
        term_row[PLACE(i)] = row[begin + i];
    }
    GROUP_BARRIER;
    scan_rows(term, term_row, count, tail, headed);
    const uint before = begin > 0 ? row[begin - 1] : NONE, after = nnz - begin > count ? row[begin + count] : NONE;
    const ulong part = 2 * (ulong)tile;
    place_rows(term, term_row, count, before, after, y, parts + part, part_row + part, alpha, beta);
}

KERNEL scan_parts(global const ARITHMETIC* restrict parts, global const uint* restrict part_row, global ELEMENT* restrict y,
                  ARITHMETIC alpha, ARITHMETIC beta, global ARITHMETIC* restrict carries, global uint* restrict carry_row,
                  uint tiles)
{
    local ARITHMETIC term[PLACES], tail[CHUNKS];
    local uint term_row[PLACES], headed[CHUNKS];
    const ulong group = get_group_id(0), all = 2 * (ulong)tiles, begin = group * TILE;
    const uint count = min((ulong)TILE, all - begin);
    for (uint i = get_local_id(0); i < count; i += GROUP_SIZE) {
        term[PLACE(i)] = parts[begin + i];
        term_row[PLACE(i)] = part_row[begin + i];
    }
    GROUP_BARRIER;
    scan_rows(term, term_row, count, tail, headed);
    const uint before = begin > 0 ? part_row[begin - 1] : NONE, after = all - begin > count ? part_row[begin + count] : NONE;
    place_rows(term, term_row, count, before, after, y, carries + 2 * group, carry_row + 2 * group, alpha, beta);
}

KERNEL scan_carries(global const ARITHMETIC* restrict carries, global const uint* restrict carry_row, global ELEMENT* restrict y,
                    ARITHMETIC alpha, ARITHMETIC beta, uint groups)
{
    local ARITHMETIC part[TILE];
    local uint part_row[TILE];
    ARITHMETIC sum = IDENTITY;
    const ulong all = 2 * (ulong)groups;
    for (ulong begin = 0; begin < all; begin += TILE) {
        const uint count = min((ulong)TILE, all - begin);
        for (uint i = get_local_id(0); i < count; i += GROUP_SIZE) {
            part[i] = carries[begin + i];
            part_row[i] = carry_row[begin + i];
        }
        GROUP_BARRIER;
        if (get_local_id(0) == 0) {
            IN_ORDER
            for (uint i = 0; i < count; i += 2) {
                const uint first = part_row[i], last = part_row[i + 1];
                if (first != NONE) {
                    sum = ADD(sum, part[i]);
                    if (last != first)
                        place_sum(sum, y, first, alpha, beta);
                }
                if (last != NONE && last != first)
                    sum = part[i + 1];
            }
        }
        GROUP_BARRIER;
    }
}
