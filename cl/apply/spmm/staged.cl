// staged: C = alpha * A * D + beta * C for lines of scalars on a GPU. One slot computes each line.
// The items of a slot stage the entries of its line in local memory, so that rows of D are loaded
// without waiting for their indices.
// Host: src/apply/spmm/staged.rs
//
//   sum_staged  If PIECES, the first `piece_groups` work-groups compute pieces of long lines, with
//               one slot of PIECE_LANES items per piece and share of the columns of D. After them,
//               one work-group per tile and share computes `taken` lines for each slot
//
//   in      line_ptr[lines + 1]  piece[pieces]   as in cl/vector/lines.cl; lines of more than LONG
//                                  entries are in pieces
//   in      other[nnz]             the row of D by which an entry is multiplied
//   in      source[nnz]            index of each entry in the values; read only if THROUGH
//   in      values[nnz * stride]
//   in      d[]                    by rows, rows d_leading apart
//   in out  parts[parts * columns]   sums of the pieces of lines that are cut
//   in out  c[]                    rows or columns c_leading apart
//
// Pieces are computed first, so that no piece runs alone at the end. All slots of a warp take as
// many rounds as the longest line of these slots needs. Without WARPS all slots of the work-group
// take as many rounds as their longest line needs. While items add the terms of staged entries,
// they load the next entries. AHEAD rows of D, or PIECE_AHEAD for a piece, are loaded before their
// terms are added. The terms of a line are added in the order of its entries, so that each column
// has the same bits as A times that column of D alone. If C is stored by columns, the sums of a
// tile go through local memory, and neighbouring items write neighbouring elements of a column.
#if !defined(THROUGH) || !defined(LONG) || !defined(STAGED) || !defined(PIECES) || !defined(WARPS)
#error "THROUGH, LONG, STAGED, PIECES, WARPS: see src/apply/spmm/staged.rs"
#endif
#if !defined(PIECE_LANES) || !defined(PIECE_AHEAD) || !defined(PIECE_STAGED)
#error "PIECE_LANES, PIECE_AHEAD, PIECE_STAGED: see src/apply/spmm/staged.rs"
#endif
#define WHOLE 0xffffffffu

#if WARPS && GROUP_SIZE >= 32 && LANES <= 32 && PIECE_LANES <= 32
#define STEP 32
#define STEP_BARRIER WARP_BARRIER
#else
#define STEP GROUP_SIZE
#define STEP_BARRIER GROUP_BARRIER
#endif
#define STEP_SLOTS (STEP / LANES)
// The staged entries of a slot take a multiple of 16 bytes, so that several are read at once.
// Staged entries take at least one place more than needed, so that slots begin in different banks.
#define ROOM_OF(staged) (((staged) + 3) / 4 * 4 + 4)
#define ROOM ROOM_OF(STAGED)
#define PIECE_ROOM ROOM_OF(PIECE_STAGED)
#define PIECE_SLOTS (GROUP_SIZE / PIECE_LANES)
#if PIECES && PIECE_SLOTS * PIECE_ROOM > SLOTS * ROOM
#define HELD_ENTRIES (PIECE_SLOTS * PIECE_ROOM)
#else
#define HELD_ENTRIES (SLOTS * ROOM)
#endif

#if THROUGH
#define VALUE_OF(place) ((ARITHMETIC)LOAD(values, (ulong)source[place] * stride))
#else
#define VALUE_OF(place) ((ARITHMETIC)LOAD(values, (ulong)(place) * stride))
#endif

// Loads this item's share of `staged` entries from entry `done` on. The entries are dealt to
// `lanes` items in turn. `staged` and `lanes` are constants.
void fetch(uint* row, ARITHMETIC* value, uint staged, uint lanes, uint begin, uint entries, uint done,
           ENTRIES_OF, OPERANDS_OF)
{
    WRITTEN_OUT
    for (uint i = 0; i < (staged + lanes - 1) / lanes; ++i) {
        const uint at = done + i * lanes + get_local_id(0) % lanes;
        row[i] = 0, value[i] = 0;
        if (at < entries) {
            row[i] = other[begin + at];
            value[i] = VALUE_OF(begin + at);
        }
    }
}

// Writes the entries that `fetch` has loaded into registers to local memory.
void hold(const uint* row, const ARITHMETIC* value, uint staged, uint lanes, local uint* held_row, local ARITHMETIC* held_value)
{
    STEP_BARRIER; // the staged arrays are read before they are overwritten
    WRITTEN_OUT
    for (uint i = 0; i < (staged + lanes - 1) / lanes; ++i) {
        const uint at = i * lanes + get_local_id(0) % lanes;
        if (at < staged) {
            held_row[at] = row[i];
            held_value[at] = value[i];
        }
    }
    STEP_BARRIER;
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

// Adds the terms of `entries` entries from `begin` on to the sums. `most` is at least `entries`,
// and equal for all slots that take rounds together.
void add_terms(VECTOR* sum, uint begin, uint entries, uint most, uint first, uint column_end, local uint* held_row,
               local ARITHMETIC* held_value, ENTRIES_OF, OPERANDS_OF)
{
    uint next_row[(STAGED + LANES - 1) / LANES];
    ARITHMETIC next_value[(STAGED + LANES - 1) / LANES];
    fetch(next_row, next_value, STAGED, LANES, begin, entries, 0, ENTRIES, OPERANDS);
    AS_WRITTEN
    for (uint done = 0; done < most; done += STAGED) {
        hold(next_row, next_value, STAGED, LANES, held_row, held_value);
        fetch(next_row, next_value, STAGED, LANES, begin, entries, done + STAGED, ENTRIES, OPERANDS);
        const uint staged = min((uint)STAGED, max(entries, done) - done);
        AS_WRITTEN
        for (uint next = 0; next < staged; next += AHEAD) {
            // With the constant AHEAD the call has no conditions, so that its loads are issued one
            // after another.
            if (next + AHEAD <= staged)
                add_staged(sum, AHEAD, first, column_end, held_row + next, held_value + next, d, d_leading);
            else
                add_staged(sum, staged - next, first, column_end, held_row + next, held_value + next, d, d_leading);
        }
    }
}

// Adds the lines of tile and share `number`. `held_sum` is used only if C is stored by columns.
void sum_tile(uint number, uint lines, uint taken, uint columns, uint shares_last, local uint* held_row,
              local ARITHMETIC* held_value, local ARITHMETIC* held_sum, ENTRIES_OF, OPERANDS_OF, C_OF)
{
    const uint shares = (columns + WIDTH - 1) / WIDTH, slot = get_local_id(0) / LANES, of_tile = taken * SLOTS;
    const uint2 task = task_of(number, (lines + of_tile - 1) / of_tile, shares, shares_last);
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
        add_terms(sum, begin, mine, most, first, to, held_row, held_value, ENTRIES, OPERANDS);
        WRITTEN_OUT
        for (uint v = 0; v < VECTORS; ++v) {
            const uint col = (v * LANES + LANE) * VEC;
            if (works && first + col < to) { // the other items' vectors lie beyond the last column
#if C_BY_COLUMNS
                ARITHMETIC one[VEC];
                PUT(sum[v], one, 0);
                WRITTEN_OUT
                for (uint i = 0; i < VEC; ++i)
                    held_sum[(col + i) * (TILE + 1) + in_tile + slot % STEP_SLOTS] = one[i];
#else
                place_vector(sum[v], line, COLUMN(v, first, to), alpha, beta, C);
#endif
            }
        }
    }
#if C_BY_COLUMNS
    GROUP_BARRIER; // held_sum[] is written before other items read it
    AS_WRITTEN
    for (uint at = get_local_id(0); at < WIDTH * TILE; at += GROUP_SIZE) {
        const uint in_tile = at % TILE, col = at / TILE, line = tile + in_tile;
        if (line < lines && first + col < to && line_ptr[line + 1] - line_ptr[line] <= LONG)
            place_sum(held_sum[col * (TILE + 1) + in_tile], c, (ulong)(first + col) * c_leading + line, alpha, beta);
    }
#endif
}

#if PIECES
// Adds the terms of the first `count` of PIECE_AHEAD staged entries to the sum of column `col`.
void add_ahead(ARITHMETIC* sum, uint count, uint col, local const uint* row, local const ARITHMETIC* value,
               global const ELEMENT* restrict d, uint d_leading)
{
    ARITHMETIC x[PIECE_AHEAD];
    WRITTEN_OUT
    for (uint i = 0; i < PIECE_AHEAD; ++i) {
        const ulong begin = (ulong)row[i] * d_leading;
        if (i < count)
            x[i] = LOAD(d, begin + col);
    }
    WRITTEN_OUT
    for (uint i = 0; i < PIECE_AHEAD; ++i) {
        if (i < count)
            *sum = ADD(*sum, MULTIPLY(value[i], x[i]));
    }
}

// Adds the pieces of a work-group. An item of a slot has one column only, because the longest piece
// determines the time.
void sum_pieces(global const uint4* restrict piece, global ARITHMETIC* restrict parts, uint pieces, uint columns, uint shares_last,
                local uint* held_row, local ARITHMETIC* held_value, ENTRIES_OF, OPERANDS_OF, C_OF)
{
    const uint shares = (columns + PIECE_LANES - 1) / PIECE_LANES, first_id = get_group_id(0) * PIECE_SLOTS;
    const uint2 task = task_of(first_id + get_local_id(0) / PIECE_LANES, pieces, shares, shares_last);
    const bool works = task.x < pieces;
    const uint4 at = piece[min(task.x, pieces - 1)];
    const uint of_item = task.y * PIECE_LANES + get_local_id(0) % PIECE_LANES, col = min(of_item, columns - 1);
    const uint begin = at.y, entries = works ? at.z - at.y : 0;
    uint most = entries;
#if STEP == 32 && WARPS
    WRITTEN_OUT
    for (uint bit = PIECE_LANES; bit < 32; bit *= 2)
        most = max(most, warp_across(most, bit));
#else
    for (uint i = 0; i < PIECE_SLOTS; ++i) {
        const uint4 other_piece = piece[min(task_of(first_id + i, pieces, shares, shares_last).x, pieces - 1)];
        most = max(most, other_piece.z - other_piece.y);
    }
#endif
    ARITHMETIC sum = IDENTITY;
    uint next_row[(PIECE_STAGED + PIECE_LANES - 1) / PIECE_LANES];
    ARITHMETIC next_value[(PIECE_STAGED + PIECE_LANES - 1) / PIECE_LANES];
    fetch(next_row, next_value, PIECE_STAGED, PIECE_LANES, begin, entries, 0, ENTRIES, OPERANDS);
    AS_WRITTEN
    for (uint done = 0; done < most; done += PIECE_STAGED) {
        hold(next_row, next_value, PIECE_STAGED, PIECE_LANES, held_row, held_value);
        fetch(next_row, next_value, PIECE_STAGED, PIECE_LANES, begin, entries, done + PIECE_STAGED, ENTRIES, OPERANDS);
        const uint staged = min((uint)PIECE_STAGED, max(entries, done) - done);
        AS_WRITTEN
        for (uint next = 0; next < staged; next += PIECE_AHEAD) {
            if (next + PIECE_AHEAD <= staged)
                add_ahead(&sum, PIECE_AHEAD, col, held_row + next, held_value + next, d, d_leading);
            else
                add_ahead(&sum, staged - next, col, held_row + next, held_value + next, d, d_leading);
        }
    }
    if (works && of_item < columns) {
        if (at.w == WHOLE)
            place_sum(sum, c, C_BY_COLUMNS ? (ulong)col * c_leading + at.x : (ulong)at.x * c_leading + col, alpha, beta);
        else
            parts[(ulong)at.w * columns + col] = sum;
    }
}
#endif

KERNEL sum_staged(ENTRIES_OF, OPERANDS_OF, C_OF, global const uint4* restrict piece, global ARITHMETIC* restrict parts,
                  uint lines, uint taken, uint pieces, uint piece_groups, uint columns, uint shares_last, uint piece_shares_last)
{
    local uint held_row[HELD_ENTRIES] __attribute__((aligned(16)));
    local ARITHMETIC held_value[HELD_ENTRIES] __attribute__((aligned(16)));
#if C_BY_COLUMNS
    // Each column has one unused element at its end, so that neighbouring columns use different
    // banks.
    local ARITHMETIC held_sum[WIDTH * (TILE + 1)];
#else
    local ARITHMETIC* held_sum = held_value;
#endif
    const uint slot = get_local_id(0) / LANES;
#if PIECES
    if (get_group_id(0) < piece_groups) {
        const uint of_piece = get_local_id(0) / PIECE_LANES * PIECE_ROOM;
        sum_pieces(piece, parts, pieces, columns, piece_shares_last, held_row + of_piece, held_value + of_piece, ENTRIES,
                   OPERANDS, C);
    } else
#endif
        sum_tile(get_group_id(0) - piece_groups, lines, taken, columns, shares_last, held_row + slot * ROOM,
                 held_value + slot * ROOM, held_sum, ENTRIES, OPERANDS, C);
}
