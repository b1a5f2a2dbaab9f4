// panels: C = alpha * A * D + beta * C for lines of scalars that have entries in many columns. Rows
// of D are staged in local memory, for all lines of a work-group.
// Host: src/apply/spmm/panels.rs
//
//   sum_panels  one work-group per tile of TILE lines and share of the columns of D
//
//   in      line_ptr[lines + 1]
//   in      other[nnz]             the row of D that an entry is multiplied with, ascending in a
//                                    line
//   in      source[nnz]            number of each entry in the values; read if THROUGH
//   in      values[nnz * stride]
//   in      d[]                    by rows, d_leading apart
//   in out  c[]                    c_leading apart
//
// A panel is ROWS rows of D. The first begins at the first place of the tile, and each further one
// at the first place behind the last: panels that no line meets are not loaded. A slot has LINES
// lines, SLOTS apart. Its items keep the sums of all in registers. For each line they add the terms
// of the entries that meet the panel, which follow one another. So the terms of a line are added in
// the order of its entries, and its columns have the bits of A times those of D. AHEAD entries are
// loaded before their terms are added.
//
// If lines can have more than PIECE entries (CUT), the sum begins anew after each PIECE of them.
#if !defined(THROUGH) || !defined(LINES) || !defined(ROWS) || !defined(PIECE) || !defined(CUT)
#error "THROUGH, LINES, ROWS, PIECE, CUT: see src/apply/spmm/panels.rs"
#endif
#define TILE (LINES * SLOTS)
#define NONE 0xffffffffu
// Rows of D that an item loads at once.
#define FETCHED 4

#if THROUGH
#define VALUE_OF(place) ((ARITHMETIC)LOAD(values, (ulong)source[place] * stride))
#else
#define VALUE_OF(place) ((ARITHMETIC)LOAD(values, (ulong)(place) * stride))
#endif

// Where item `lane` has vector `number` of a row of the panel.
#define HELD(row, number) (((row) * VECTORS + (number)) * LANES + LANE)

// The smallest of the numbers of all slots.
uint smallest(local const uint* of_slot)
{
    uint least = NONE;
    for (uint i = 0; i < SLOTS; ++i)
        least = min(least, of_slot[i]);
    return least;
}

// Copies the rows of D from `panel` on. Those behind the last are left out: no entry meets them.
void load_panel(local VECTOR* held, uint panel, uint rows, uint first, uint column_end, global const ELEMENT* restrict d,
                uint d_leading)
{
    AS_WRITTEN
    for (uint from = get_local_id(0) / LANES; from < ROWS; from += FETCHED * SLOTS) {
        VECTOR x[FETCHED * VECTORS];
        WRITTEN_OUT
        for (uint i = 0; i < FETCHED; ++i) {
            const ulong begin = (ulong)min(panel + from + i * SLOTS, rows - 1) * d_leading;
            WRITTEN_OUT
            for (uint v = 0; v < VECTORS; ++v)
                x[i * VECTORS + v] = LOAD_VECTOR(d, begin + COLUMN(v, first, column_end));
        }
        WRITTEN_OUT
        for (uint i = 0; i < FETCHED; ++i) {
            if (from + i * SLOTS < ROWS) {
                WRITTEN_OUT
                for (uint v = 0; v < VECTORS; ++v)
                    held[HELD(from + i * SLOTS, v)] = x[i * VECTORS + v];
            }
        }
    }
}

// Adds the terms of a line's entries that meet the panel, from `at` on: the next entry and its
// place. The result is the first entry behind the panel and its place, NONE behind the last.
uint2 add_terms(VECTOR* sum, volatile VECTOR* total, uint2 at, uint2 bounds, uint panel, local const VECTOR* held,
                global const uint* restrict other, global const uint* restrict source, global const ELEMENT* restrict values,
                uint stride)
{
    AS_WRITTEN
    while (at.y < panel + ROWS) {
        uint place[AHEAD + 1];
        ARITHMETIC value[AHEAD];
        place[0] = at.y;
        WRITTEN_OUT
        for (uint i = 0; i < AHEAD; ++i) {
            place[i + 1] = at.x + i + 1 < bounds.y ? other[at.x + i + 1] : NONE;
            value[i] = VALUE_OF(min(at.x + i, bounds.y - 1));
        }
        uint taken = 0;
        WRITTEN_OUT
        for (uint i = 0; i < AHEAD; ++i) {
            if (place[i] < panel + ROWS) {
                WRITTEN_OUT
                for (uint v = 0; v < VECTORS; ++v)
                    sum[v] = ADD(sum[v], MULTIPLY(SPREAD(value[i]), held[HELD(place[i] - panel, v)]));
#if CUT
                if ((at.x + i + 1 - bounds.x) % PIECE == 0 && place[i + 1] != NONE) {
                    WRITTEN_OUT
                    for (uint v = 0; v < VECTORS; ++v) {
                        const VECTOR before = total[v];
                        total[v] = ADD(before, sum[v]);
                        sum[v] = SPREAD(IDENTITY);
                    }
                }
#endif
                ++taken, at.y = place[i + 1];
            }
        }
        at.x += taken;
    }
    return at;
}

KERNEL sum_panels(global const uint* restrict line_ptr, global const uint* restrict other, global const uint* restrict source,
                  global const ELEMENT* restrict values, global const ELEMENT* restrict d, global ELEMENT* restrict c, uint lines,
                  uint rows, uint columns, uint shares_last, uint d_leading, uint c_leading, uint stride, ARITHMETIC alpha,
                  ARITHMETIC beta)
{
    local VECTOR held[ROWS * LANES * VECTORS];
    // The next entry of each line and its place, by turns before a panel and behind it: items of a
    // slot need not go together.
    local uint2 next[2 * TILE];
    // Begin and end of each line.
    local uint2 bounds[TILE];
    // The first place of the next entries of each slot.
    local uint nearest[SLOTS];

    const uint shares = (columns + WIDTH - 1) / WIDTH, slot = get_local_id(0) / LANES;
    const uint2 task = task_of(get_group_id(0), (lines + TILE - 1) / TILE, shares, shares_last);
    const uint tile = task.x * TILE, first = task.y * WIDTH, to = min(first + WIDTH, columns);

    VECTOR sum[LINES * VECTORS];
    // Those of whole pieces. They are seldom used, and stay out of registers.
    volatile VECTOR total[CUT ? LINES * VECTORS : 1];
    uint least = NONE;
    WRITTEN_OUT
    for (uint l = 0; l < LINES; ++l) {
        const uint in_tile = l * SLOTS + slot, line = tile + in_tile;
        const uint begin = line_ptr[min(line, lines)], end = line_ptr[min(line + 1, lines)];
        const uint2 at = (uint2)(begin, begin < end ? other[begin] : NONE);
        if (LANE == 0) {
            next[in_tile] = at;
            bounds[in_tile] = (uint2)(begin, end);
        }
        least = min(least, at.y);
        WRITTEN_OUT
        for (uint v = 0; v < VECTORS; ++v) {
            sum[l * VECTORS + v] = SPREAD(begin < end ? IDENTITY : EMPTY);
            if (CUT)
                total[l * VECTORS + v] = SPREAD(IDENTITY);
        }
    }
    if (LANE == 0)
        nearest[slot] = least;
    GROUP_BARRIER;
    uint panel = smallest(nearest), turn = 0;
    AS_WRITTEN
    while (panel != NONE) {
        load_panel(held, panel, rows, first, to, d, d_leading);
        GROUP_BARRIER; // the panel, and every read of `nearest`
        least = NONE;
        WRITTEN_OUT
        for (uint l = 0; l < LINES; ++l) {
            const uint in_tile = l * SLOTS + slot;
            uint2 at = next[turn * TILE + in_tile];
            at = add_terms(sum + l * VECTORS, total + (CUT ? l * VECTORS : 0), at, bounds[in_tile], panel, held, other, source,
                           values, stride);
            if (LANE == 0)
                next[(1 - turn) * TILE + in_tile] = at;
            least = min(least, at.y);
        }
        if (LANE == 0)
            nearest[slot] = least;
        turn = 1 - turn;
        GROUP_BARRIER; // every read of the panel, and what is next
        panel = smallest(nearest);
    }

    WRITTEN_OUT
    for (uint l = 0; l < LINES; ++l) {
        const uint in_tile = l * SLOTS + slot, line = tile + in_tile;
        WRITTEN_OUT
        for (uint v = 0; v < VECTORS; ++v) {
            VECTOR all = sum[l * VECTORS + v];
#if CUT
            if (bounds[in_tile].y - bounds[in_tile].x > PIECE) {
                const VECTOR before = total[l * VECTORS + v];
                all = ADD(before, all);
            }
#endif
            const uint col = (v * LANES + LANE) * VEC;
#if C_BY_COLUMNS
            // One more, so that neighbouring columns use different banks.
            ARITHMETIC one[VEC];
            PUT(all, one, 0);
            WRITTEN_OUT
            for (uint i = 0; i < VEC; ++i)
                ((local ARITHMETIC*)held)[(col + i) * (SLOTS + 1) + slot] = one[i];
#else
            if (line < lines && first + col < to) // other items have the columns behind the last
                place_vector(all, c, line, COLUMN(v, first, to), c_leading, alpha, beta);
#endif
        }
#if C_BY_COLUMNS
        GROUP_BARRIER; // the sums of a line of each slot, which are neighbours
        AS_WRITTEN
        for (uint at = get_local_id(0); at < WIDTH * SLOTS; at += GROUP_SIZE) {
            const uint of_slot = at % SLOTS, of_col = at / SLOTS, of_line = tile + l * SLOTS + of_slot;
            if (of_line < lines && first + of_col < to)
                place_sum(((local ARITHMETIC*)held)[of_col * (SLOTS + 1) + of_slot], c,
                          (ulong)(first + of_col) * c_leading + of_line, alpha, beta);
        }
        GROUP_BARRIER; // every read of these sums
#endif
    }
}
