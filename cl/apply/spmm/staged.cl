// staged: C = alpha * A * D + beta * C for lines of scalars on a GPU, each by one slot. The items
// of a slot stage the entries of its line in local memory, so that rows of D are loaded without
// waiting for their numbers.
// Host: src/apply/spmm/staged.rs
//
//   sum_tiles   one work-group per tile of `taken` lines for each of its slots, and share of the
//               columns of D
//   sum_pieces  one slot per piece of a long line, and share of the columns of D
//
//   in      line_ptr[lines + 1]  piece[pieces]   as in cl/vector/lines.cl; lines of more than LONG
//                                  entries are in pieces
//   in      other[nnz]             the row of D that an entry is multiplied with
//   in      source[nnz]            number of each entry in the values; read if THROUGH
//   in      values[nnz * stride]
//   in      d[]                    by rows, d_leading apart
//   in out  parts[parts * part_width]   sums of the pieces of lines that are cut
//   in out  c[]                    c_leading apart
//
// The slots of a warp, or of a group if there are no WARPS, go round together: as often as the
// longest of their lines needs. While items add the terms of STAGED entries, they load the next.
// AHEAD rows of D are loaded before their terms are added. The terms of a line are added in the
// order of its entries, so that each column has the bits of A times that column of D. If C is by
// columns, the sums of a tile go through local memory, and neighbours write down a column.
#if !defined(THROUGH) || !defined(LONG) || !defined(STAGED) || !defined(WARPS)
#error "THROUGH, LONG, STAGED, WARPS: see src/apply/spmm/staged.rs"
#endif
#define WHOLE 0xffffffffu

#if WARPS && GROUP_SIZE >= 32 && LANES <= 32
#define STEP 32
#define STEP_BARRIER WARP_BARRIER
#else
#define STEP GROUP_SIZE
#define STEP_BARRIER GROUP_BARRIER
#endif
#define STEP_SLOTS (STEP / LANES)
// A multiple of 16 bytes, so that neighbours are read at once, and slots begin in different banks.
#define ROOM ((STAGED + 3) / 4 * 4 + 4)
// Entries that an item loads for a round.
#define FETCHED ((STAGED + LANES - 1) / LANES)

#if THROUGH
#define VALUE_OF(place) ((ARITHMETIC)LOAD(values, (ulong)source[place] * stride))
#else
#define VALUE_OF(place) ((ARITHMETIC)LOAD(values, (ulong)(place) * stride))
#endif

// Loads this item's part of the entries from `done`.
void fetch(uint* row, ARITHMETIC* value, uint begin, uint entries, uint done, global const uint* restrict other,
           global const uint* restrict source, global const ELEMENT* restrict values, uint stride)
{
    WRITTEN_OUT
    for (uint i = 0; i < FETCHED; ++i) {
        const uint at = done + i * LANES + LANE;
        row[i] = 0, value[i] = 0;
        if (at < entries) {
            row[i] = other[begin + at];
            value[i] = VALUE_OF(begin + at);
        }
    }
}

// Adds the terms of the first `count` of AHEAD staged entries.
void add_staged(VECTOR* sum, uint count, uint first, uint column_end, local const uint* row, local const ARITHMETIC* value,
                global const ELEMENT* restrict d, uint d_leading)
{
    VECTOR x[AHEAD * VECTORS];
    WRITTEN_OUT
    for (uint i = 0; i < AHEAD; ++i) {
        const ulong begin = (ulong)row[i] * d_leading;
        if (i < count) {
            WRITTEN_OUT
            for (uint v = 0; v < VECTORS; ++v)
                x[i * VECTORS + v] = LOAD_VECTOR(d, begin + COLUMN(v, first, column_end));
        }
    }
    WRITTEN_OUT
    for (uint i = 0; i < AHEAD; ++i) {
        const ARITHMETIC factor = value[i];
        if (i < count) {
            WRITTEN_OUT
            for (uint v = 0; v < VECTORS; ++v)
                sum[v] = ADD(sum[v], MULTIPLY(SPREAD(factor), x[i * VECTORS + v]));
        }
    }
}

// Adds the terms of `entries` entries from `begin` to the sums. `most` is the same for all slots
// that go together, and no entry is behind it.
void add_terms(VECTOR* sum, uint begin, uint entries, uint most, uint first, uint column_end, local uint* held_row,
               local ARITHMETIC* held_value, global const uint* restrict other, global const uint* restrict source,
               global const ELEMENT* restrict values, global const ELEMENT* restrict d, uint d_leading, uint stride)
{
    uint next_row[FETCHED];
    ARITHMETIC next_value[FETCHED];
    fetch(next_row, next_value, begin, entries, 0, other, source, values, stride);
    AS_WRITTEN
    for (uint done = 0; done < most; done += STAGED) {
        STEP_BARRIER; // every read of the round before
        WRITTEN_OUT
        for (uint i = 0; i < FETCHED; ++i) {
            if (i * LANES + LANE < STAGED) {
                held_row[i * LANES + LANE] = next_row[i];
                held_value[i * LANES + LANE] = next_value[i];
            }
        }
        STEP_BARRIER;
        fetch(next_row, next_value, begin, entries, done + STAGED, other, source, values, stride);
        const uint staged = min((uint)STAGED, max(entries, done) - done);
        AS_WRITTEN
        for (uint next = 0; next < staged; next += AHEAD) {
            // Without conditions where there are none, so that loads follow one another.
            if (next + AHEAD <= staged)
                add_staged(sum, AHEAD, first, column_end, held_row + next, held_value + next, d, d_leading);
            else
                add_staged(sum, staged - next, first, column_end, held_row + next, held_value + next, d, d_leading);
        }
    }
}

KERNEL sum_tiles(global const uint* restrict line_ptr, global const uint* restrict other, global const uint* restrict source,
                 global const ELEMENT* restrict values, global const ELEMENT* restrict d, global ELEMENT* restrict c, uint lines,
                 uint taken, uint columns, uint shares_last, uint d_leading, uint c_leading, uint stride, ARITHMETIC alpha,
                 ARITHMETIC beta)
{
    local uint held_row[SLOTS * ROOM] __attribute__((aligned(16)));
    local ARITHMETIC held_value[SLOTS * ROOM] __attribute__((aligned(16)));
#if C_BY_COLUMNS
    // One more, so that neighbouring columns use different banks.
    local ARITHMETIC held_sum[WIDTH * (TILE + 1)];
#endif
    const uint shares = (columns + WIDTH - 1) / WIDTH, slot = get_local_id(0) / LANES, of_tile = taken * SLOTS;
    const uint2 task = task_of(get_group_id(0), (lines + of_tile - 1) / of_tile, shares, shares_last);
    const uint tile = task.x * of_tile, of_step = slot / STEP_SLOTS * STEP_SLOTS * taken;
    const uint first = task.y * WIDTH, to = min(first + WIDTH, columns);
    AS_WRITTEN
    for (uint round = 0; round < taken; ++round) {
        const uint in_tile = of_step + round * STEP_SLOTS, line = tile + in_tile + slot % STEP_SLOTS;
        const uint begin = line_ptr[min(line, lines)], entries = line_ptr[min(line + 1, lines)] - begin;
        const bool works = line < lines && entries <= LONG;
        const uint mine = works ? entries : 0;
        uint most = mine;
#if STEP == 32 && WARPS
        WRITTEN_OUT
        for (uint bit = LANES; bit < 32; bit *= 2)
            most = max(most, warp_across(most, bit));
#else
        for (uint i = 0; i < STEP_SLOTS; ++i) {
            const uint of_slot = min(tile + in_tile + i, lines), length = line_ptr[min(of_slot + 1, lines)] - line_ptr[of_slot];
            most = max(most, length <= LONG ? length : 0);
        }
#endif
        VECTOR sum[VECTORS];
        WRITTEN_OUT
        for (uint v = 0; v < VECTORS; ++v)
            sum[v] = SPREAD(mine > 0 ? IDENTITY : EMPTY);
        add_terms(sum, begin, mine, most, first, to, held_row + slot * ROOM, held_value + slot * ROOM, other, source, values, d,
                  d_leading, stride);
        WRITTEN_OUT
        for (uint v = 0; v < VECTORS; ++v) {
            const uint col = (v * LANES + LANE) * VEC;
            if (works && first + col < to) { // other items have the columns behind the last
#if C_BY_COLUMNS
                ARITHMETIC one[VEC];
                PUT(sum[v], one, 0);
                WRITTEN_OUT
                for (uint i = 0; i < VEC; ++i)
                    held_sum[(col + i) * (TILE + 1) + in_tile + slot % STEP_SLOTS] = one[i];
#else
                place_vector(sum[v], c, line, COLUMN(v, first, to), c_leading, alpha, beta);
#endif
            }
        }
    }
#if C_BY_COLUMNS
    GROUP_BARRIER; // the sums of all slots
    AS_WRITTEN
    for (uint at = get_local_id(0); at < WIDTH * TILE; at += GROUP_SIZE) {
        const uint in_tile = at % TILE, col = at / TILE, line = tile + in_tile;
        if (line < lines && first + col < to && line_ptr[line + 1] - line_ptr[line] <= LONG)
            place_sum(held_sum[col * (TILE + 1) + in_tile], c, (ulong)(first + col) * c_leading + line, alpha, beta);
    }
#endif
}

KERNEL sum_pieces(global const uint4* restrict piece, global const uint* restrict other, global const uint* restrict source,
                  global const ELEMENT* restrict values, global const ELEMENT* restrict d, global ARITHMETIC* restrict parts,
                  global ELEMENT* restrict c, uint pieces, uint columns, uint shares_last, uint d_leading, uint c_leading, uint stride,
                  ARITHMETIC alpha, ARITHMETIC beta)
{
    local uint held_row[SLOTS * ROOM] __attribute__((aligned(16)));
    local ARITHMETIC held_value[SLOTS * ROOM] __attribute__((aligned(16)));
    const uint shares = (columns + WIDTH - 1) / WIDTH, slot = get_local_id(0) / LANES;
    const uint first_id = get_group_id(0) * SLOTS;
    const uint2 task = task_of(first_id + slot, pieces, shares, shares_last);
    const bool works = task.x < pieces;
    const uint4 at = piece[min(task.x, pieces - 1)];
    const uint first = task.y * WIDTH, to = min(first + WIDTH, columns), mine = works ? at.z - at.y : 0;
    uint most = mine;
#if STEP == 32 && WARPS
    WRITTEN_OUT
    for (uint bit = LANES; bit < 32; bit *= 2)
        most = max(most, warp_across(most, bit));
#else
    for (uint i = 0; i < SLOTS; ++i) {
        const uint4 other_piece = piece[min(task_of(first_id + i, pieces, shares, shares_last).x, pieces - 1)];
        most = max(most, other_piece.z - other_piece.y);
    }
#endif
    VECTOR sum[VECTORS];
    WRITTEN_OUT
    for (uint v = 0; v < VECTORS; ++v)
        sum[v] = SPREAD(IDENTITY);
    add_terms(sum, at.y, mine, most, first, to, held_row + slot * ROOM, held_value + slot * ROOM, other, source, values, d,
              d_leading, stride);
    WRITTEN_OUT
    for (uint v = 0; v < VECTORS; ++v) {
        const uint col = first + (v * LANES + LANE) * VEC;
        if (works && col < to) {
            if (at.w == WHOLE)
                place_vector(sum[v], c, at.x, col, c_leading, alpha, beta);
            else
                PUT(sum[v], parts, (ulong)at.w * columns + col);
        }
    }
}
