// segmented_scan: y = alpha * A * x + beta * y of entries that are listed with their rows, by a
// segmented scan (Garland 2008).
// Host: src/apply/spmv/segmented_scan.rs
//
//   scan_tiles  one work-group per tile of TILE entries
//   scan_parts  one work-group in all: the rows that are in several tiles
//
//   in      row[nnz]  col[nnz]  source[nnz]   see listed.cl, values.cl
//   in      values[nnz * stride]  x[columns]
//   in out  y[rows]
//   out     parts[2 * tiles]      the sum of a tile's first row, if it begins before the tile; that
//                                 of its last, if it begins in the tile and goes on; IDENTITY
//   out     part_row[2 * tiles]   their rows, or NONE; the row of an IDENTITY amid a row's parts
//
// A tile is CHUNKS chunks of CHUNK terms. The terms of a row in a chunk are added from left to
// right. The sums of all its chunks in the tile but the last are added by doubling distances: each
// chunk adds what the chunk 1 before it has, then 2, 4, and so on. The last one is added to that.
// The parts of a row are added in the same way, as terms at the places where they stand, and tiles
// of parts from left to right. So a group takes as long for one long row as for many short ones.
#if !defined(TILE) || !defined(CHUNK)
#error "TILE, CHUNK: see src/apply/spmv/segmented_scan.rs"
#endif
#define CHUNKS (TILE / CHUNK)
#if GROUP_SIZE != 1 && GROUP_SIZE != CHUNKS
#error "a group has an item for each chunk, or one for all"
#endif
#define NONE 0xffffffffu

// Adds the terms of each row. The sum is left at the row's last term. tail and headed hold CHUNKS
// words each.
void scan_rows(local ARITHMETIC* term, local const uint* row, uint count, local ARITHMETIC* tail, local uint* headed)
{
    for (uint chunk = get_local_id(0); chunk < CHUNKS; chunk += GROUP_SIZE) {
        const uint begin = chunk * CHUNK, end = min(begin + CHUNK, count);
        ARITHMETIC sum = IDENTITY;
        uint heads = begin >= count;
        IN_ORDER
        for (uint i = begin; i < end; ++i) {
            if (i == 0 || row[i - 1] != row[i]) {
                sum = IDENTITY;
                heads = 1;
            }
            sum = ADD(sum, term[i]);
            if (i + 1 == count || row[i + 1] != row[i])
                term[i] = sum;
        }
        tail[chunk] = sum;
        headed[chunk] = heads;
    }
    GROUP_BARRIER;
    for (uint distance = 1; distance < CHUNKS; distance *= 2) {
#if GROUP_SIZE == 1
        // Downwards, so that the chunk before has not taken this step yet.
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
        GROUP_BARRIER; // the reads above, before the writes below
        if (takes) {
            tail[chunk] = ADD(before, tail[chunk]);
            headed[chunk] = headed_before;
        }
        GROUP_BARRIER;
#endif
    }
    for (uint chunk = get_local_id(0); chunk < CHUNKS; chunk += GROUP_SIZE) {
        const uint begin = chunk * CHUNK, end = min(begin + CHUNK, count);
        if (begin == 0 || begin >= count || row[begin - 1] != row[begin])
            continue;
        uint i = begin;
        while (i < end && i + 1 < count && row[i + 1] == row[begin])
            ++i;
        if (i < end)
            term[i] = ADD(tail[chunk - 1], term[i]);
    }
    GROUP_BARRIER;
}

KERNEL scan_tiles(global const uint* restrict row, global const uint* restrict col, global const uint* restrict source,
                  global const VALUE* restrict values, global const ELEMENT* restrict x, global ELEMENT* restrict y,
                  global ARITHMETIC* restrict parts, global uint* restrict part_row, uint nnz, uint stride, ARITHMETIC alpha,
                  ARITHMETIC beta)
{
    local ARITHMETIC term[TILE], tail[CHUNKS];
    local uint term_row[TILE], headed[CHUNKS];
    const uint tile = get_group_id(0), begin = tile * TILE, count = min((uint)TILE, nnz - begin);
    for (uint i = get_local_id(0); i < count; i += GROUP_SIZE) {
        term[i] = TERM(begin + i);
        term_row[i] = row[begin + i];
    }
    GROUP_BARRIER;
    scan_rows(term, term_row, count, tail, headed);
    for (uint i = get_local_id(0); i < count; i += GROUP_SIZE) {
        const uint of_row = term_row[i];
        const bool is_last = i + 1 == count;
        if (!is_last && term_row[i + 1] == of_row)
            continue;
        const bool is_first = term_row[0] == of_row, from_before = is_first && begin > 0 && row[begin - 1] == of_row;
        const bool goes_on = is_last && nnz - begin > count && row[begin + count] == of_row;
        const ulong part = 2 * (ulong)tile;
        if (is_first) {
            parts[part] = from_before ? term[i] : IDENTITY;
            part_row[part] = from_before ? of_row : NONE;
        }
        if (is_last) {
            parts[part + 1] = goes_on && !from_before ? term[i] : IDENTITY;
            part_row[part + 1] = goes_on ? of_row : NONE;
        }
        if (!from_before && !goes_on)
            place_sum(term[i], y, of_row, alpha, beta);
    }
}

KERNEL scan_parts(global const ARITHMETIC* restrict parts, global const uint* restrict part_row, global ELEMENT* restrict y, uint tiles,
                  ARITHMETIC alpha, ARITHMETIC beta)
{
    local ARITHMETIC term[TILE], tail[CHUNKS], carry[1];
    local uint term_row[TILE], headed[CHUNKS];
    const ulong all = 2 * (ulong)tiles;
    for (ulong begin = 0; begin < all; begin += TILE) {
        const uint count = min((ulong)TILE, all - begin);
        for (uint i = get_local_id(0); i < count; i += GROUP_SIZE) {
            term[i] = parts[begin + i];
            term_row[i] = part_row[begin + i];
        }
        GROUP_BARRIER;
        scan_rows(term, term_row, count, tail, headed);
        for (uint i = get_local_id(0); i < count; i += GROUP_SIZE) {
            const uint of_row = term_row[i];
            const bool is_last = i + 1 == count;
            if (of_row == NONE || (!is_last && term_row[i + 1] == of_row))
                continue;
            const bool from_before = term_row[0] == of_row && begin > 0 && part_row[begin - 1] == of_row;
            const ARITHMETIC sum = from_before ? ADD(carry[0], term[i]) : term[i];
            if (is_last && all - begin > count && part_row[begin + count] == of_row)
                term[i] = sum;
            else
                place_sum(sum, y, of_row, alpha, beta);
        }
        GROUP_BARRIER; // the reads of the last carry, before the next
        if (get_local_id(0) == 0)
            carry[0] = term[count - 1];
        GROUP_BARRIER;
    }
}
