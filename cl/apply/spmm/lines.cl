// lines: C = alpha * A * D + beta * C. One slot adds each line of A. A line is a row of op(A), or a
// row of blocks.
// Host: src/apply/spmm/lines.rs, block_tiles.rs
//
//   sum_lines  one slot of LANES work-items per task and share of the columns of D. A task is a
//              piece of a long line, or a tile of lines
//   sum_block_tiles  one work-group per tile of SLOTS lines of blocks and share of the columns.
//              Long lines are left out. C is stored by columns, and neighbouring items write
//              neighbouring elements of a column
//   add_parts  one work-item per column and scalar line of each line that is cut
//
//   in      line_ptr[lines + 1]  tile_line[tiles + 1]  piece[pieces]  cut[cuts]
//                                  as in cl/vector/lines.cl; lines of more than LONG entries are
//                                  cut into pieces
//   in      other[nnz]             the row of blocks of D by which an entry is multiplied
//   in      source[nnz]            index of each entry in the values; read only if THROUGH
//   in      values[nnz * stride]   blocks of SIDE lines with DEPTH elements each
//   in      d[]                    by rows, rows d_leading apart
//   in out  parts[parts * SIDE * columns]   sums of the pieces of lines that are cut
//   in out  c[]                    rows or columns c_leading apart
//
// The terms of a line are added in the order of its entries, and the terms of a block in ascending
// order. So each column has the same bits as A times that column of D alone. An item adds HELD
// lines of a block at once. An item loads AHEAD rows of D, for several entries or for one block,
// before it adds their terms. On a GPU staged.cl adds lines of scalars.
#if !defined(THROUGH) || !defined(LONG) || !defined(SIDE) || !defined(DEPTH) || !defined(ACROSS) || !defined(HELD) || !defined(TILED) || \
    !defined(KEPT_ROWS)
#error "THROUGH, LONG, SIDE, DEPTH, ACROSS, HELD, TILED, KEPT_ROWS: see src/apply/spmm/lines.rs"
#endif
#define WHOLE 0xffffffffu

// BLOCK_OF is the first element of an entry's block. AT is the place, in a block, of element number
// k of a line.
#if !THROUGH
#define BLOCK_OF(place) ((ulong)(place)*stride)
#else
#define BLOCK_OF(place) ((ulong)source[place] * stride)
#endif
#define AT(line, k) (ACROSS ? (k)*SIDE + (line) : (line)*DEPTH + (k))

// Computes the sums of HELD lines of a block, from line `number` on, over the entries begin to
// end. Numbers beyond the block's last line compute that line again.
void sum_terms(VECTOR* sum, uint begin, uint end, uint number, uint first, uint column_end, ENTRIES_OF, OPERANDS_OF)
{
    WRITTEN_OUT
    for (uint i = 0; i < HELD * VECTORS; ++i)
        sum[i] = SPREAD(begin < end ? IDENTITY : EMPTY);
#if SIDE == 1 && DEPTH == 1
    // Entries are counted from the first one, because the index of an entry after the last may not
    // fit 32 bits.
    const uint count = end - begin;
    AS_WRITTEN
    for (uint done = 0; done < count; done += AHEAD) {
        ARITHMETIC value[AHEAD];
        VECTOR x[AHEAD * VECTORS];
        WRITTEN_OUT
        for (uint i = 0; i < AHEAD; ++i) {
            if (done + i < count) {
                const ulong row = (ulong)other[begin + done + i] * d_leading;
                value[i] = LOAD(values, BLOCK_OF(begin + done + i));
                WRITTEN_OUT
                for (uint v = 0; v < VECTORS; ++v)
                    x[i * VECTORS + v] = LOAD_VECTOR(d, row + COLUMN(v, first, column_end));
            }
        }
        WRITTEN_OUT
        for (uint i = 0; i < AHEAD; ++i) {
            if (done + i < count) {
                WRITTEN_OUT
                for (uint v = 0; v < VECTORS; ++v)
                    sum[v] = ADD(sum[v], MULTIPLY(SPREAD(value[i]), x[i * VECTORS + v]));
            }
        }
    }
#else
    uint next = begin < end ? other[begin] : 0;
    AS_WRITTEN
    for (uint place = begin; place < end; ++place) {
        const ulong block = BLOCK_OF(place), row = (ulong)next * DEPTH;
        if (place + 1 < end)
            next = other[place + 1];
        AS_WRITTEN
        for (uint from = 0; from < DEPTH; from += PANEL) {
            VECTOR x[PANEL * VECTORS];
            LOAD_PANEL(x, row, from, first, column_end)
            WRITTEN_OUT
            for (uint k = 0; k < PANEL; ++k) {
                if (DEPTH % PANEL == 0 || from + k < DEPTH) {
                    WRITTEN_OUT
                    for (uint h = 0; h < HELD; ++h) {
                        const ARITHMETIC value = LOAD(values, block + AT(min(number + h, (uint)SIDE - 1), from + k));
                        WRITTEN_OUT
                        for (uint v = 0; v < VECTORS; ++v)
                            sum[h * VECTORS + v] = ADD(sum[h * VECTORS + v], MULTIPLY(SPREAD(value), x[k * VECTORS + v]));
                    }
                }
            }
        }
    }
#endif
}

// On a CPU, a C that is stored by columns is written from the sums of several neighbouring lines.
#if GROUP_SIZE == 1 && C_BY_COLUMNS && WIDTH % 8 == 0 && !ELEMENT_IS_HALF
#define HOLDS 1
#define HELD_LINES ((KEPT_ROWS + SIDE - 1) / SIDE)

// Writes the sums of the rows `row` to row_end to the columns from `first` of C.
void place_columns(const ARITHMETIC* held, uint row, uint row_end, uint first, uint past, ARITHMETIC alpha, ARITHMETIC beta, C_OF)
{
    // In the rows `from` to `to`, TURNED elements of a column are written at once.
    const uint from = beta == 0 ? min((row + TURNED - 1) / TURNED * TURNED, row_end) : row_end;
    const uint to = max(row_end / TURNED * TURNED, from);
    const bool passes = past && c_leading % TURNED == 0 && MAY_PASS(c + from);
    for (uint j = 0; j < WIDTH; j += 8) {
        for (uint i = from; i < to; i += TURNED) {
            EIGHT of_rows[TURNED];
            WRITTEN_OUT
            for (uint k = 0; k < TURNED; ++k)
                of_rows[k] = JOIN_3(convert_, ELEMENT, 8)(alpha * vload8(0, held + (i - row + k) * WIDTH + j));
            place_turned(of_rows, c + (ulong)(first + j) * c_leading + i, c_leading, passes);
        }
    }
    for (uint j = 0; j < WIDTH; ++j) {
        for (uint i = row; i < row_end; ++i) {
            if (i < from || i >= to)
                place_sum(held[(i - row) * WIDTH + j], c, (ulong)(first + j) * c_leading + i, alpha, beta);
        }
    }
}

// Adds the lines that are not cut into pieces.
void sum_columns(uint line, uint line_end, uint from, uint to, uint past, ENTRIES_OF, OPERANDS_OF, C_OF)
{
    ARITHMETIC held[HELD_LINES * SIDE * WIDTH];
    while (line < line_end) {
        const uint most = min(line / HELD_LINES * HELD_LINES + HELD_LINES, line_end);
        uint end = line;
        while (end < most && line_ptr[end + 1] - line_ptr[end] <= LONG)
            ++end;
        for (uint first = from; first < to; first += WIDTH) {
            for (uint of = line; of < end; ++of) {
                const uint begin = line_ptr[of], behind = line_ptr[of + 1];
                for (uint number = 0; number < SIDE; number += HELD) {
                    VECTOR sum[HELD * VECTORS];
                    sum_terms(sum, begin, behind, number, first, to, ENTRIES, OPERANDS);
                    WRITTEN_OUT
                    for (uint h = 0; h < HELD; ++h) {
                        if (number + h < SIDE) {
                            WRITTEN_OUT
                            for (uint v = 0; v < VECTORS; ++v)
                                PUT(sum[h * VECTORS + v], held, (((of - line) * SIDE + number + h) * VECTORS + v) * VEC);
                        }
                    }
                }
            }
            place_columns(held, line * SIDE, end * SIDE, first, past, alpha, beta, C);
        }
        line = end < most ? end + 1 : end; // the loop above stopped at a long line: it is in pieces
    }
}
#else
#define HOLDS 0
#endif

KERNEL sum_lines(ENTRIES_OF, OPERANDS_OF, C_OF, global const uint* restrict tile_line, global const uint4* restrict piece,
                 global ARITHMETIC* restrict parts, uint pieces, uint tasks, uint column, uint columns, uint share,
                 uint shares_last, uint part_width, uint past)
{
    const uint shares = (columns + share - 1) / share, id = get_global_id(0) / LANES;
    const uint2 number = task_of(id, tasks, shares, shares_last);
    const uint task = number.x;
    if (task >= tasks)
        return;
    const uint from = column + number.y * share, to = min(from + share, column + columns);
    uint line = 0, line_end = 1, begin = 0, end = 0, part = WHOLE;
    if (task < pieces) {
        const uint4 at = piece[task];
        line = at.x, line_end = line + 1, begin = at.y, end = at.z, part = at.w;
    } else {
        line = tile_line[task - pieces], line_end = tile_line[task - pieces + 1];
        begin = end = line_ptr[line];
#if HOLDS
        sum_columns(line, line_end, from, to, past, ENTRIES, OPERANDS, C);
        return;
#endif
    }
    for (; line < line_end; ++line) {
        if (task >= pieces) {
            begin = end, end = line_ptr[line + 1];
            if (end - begin > LONG)
                continue; // the line is in pieces
        }
        for (uint first = from; first < to; first += WIDTH) {
            for (uint number = 0; number < SIDE; number += HELD) {
                VECTOR sum[HELD * VECTORS];
                sum_terms(sum, begin, end, number, first, to, ENTRIES, OPERANDS);
                WRITTEN_OUT
                for (uint h = 0; h < HELD; ++h) {
                    if (number + h < SIDE) {
                        WRITTEN_OUT
                        for (uint v = 0; v < VECTORS; ++v) {
                            const uint col = COLUMN(v, first, to);
                            const VECTOR one = sum[h * VECTORS + v];
                            if (first + (v * LANES + LANE) * VEC >= to)
                                continue; // another item has this column
                            if (part == WHOLE) {
                                place_vector(one, line * SIDE + number + h, col, alpha, beta, C);
                            } else {
                                PUT(one, parts, ((ulong)part * SIDE + number + h) * part_width + col);
                            }
                        }
                    }
                }
            }
        }
    }
}

#if TILED
KERNEL sum_block_tiles(ENTRIES_OF, OPERANDS_OF, C_OF, uint lines, uint columns, uint shares_last)
{
    // Each column has one unused element at its end, so that neighbouring columns use different
    // banks.
    local ARITHMETIC held[WIDTH * (SLOTS * SIDE + 1)];
    const uint shares = (columns + WIDTH - 1) / WIDTH, slot = get_local_id(0) / LANES;
    const uint2 task = task_of(get_group_id(0), (lines + SLOTS - 1) / SLOTS, shares, shares_last);
    const uint tile = task.x * SLOTS, line = tile + slot;
    const uint first = task.y * WIDTH, to = min(first + WIDTH, columns);
    const uint begin = line_ptr[min(line, lines)], entries = line_ptr[min(line + 1, lines)] - begin;
    const uint end = begin + (entries <= LONG ? entries : 0);
    AS_WRITTEN
    for (uint number = 0; number < SIDE; number += HELD) {
        VECTOR sum[HELD * VECTORS];
        sum_terms(sum, begin, end, number, first, to, ENTRIES, OPERANDS);
        WRITTEN_OUT
        for (uint h = 0; h < HELD; ++h) {
            WRITTEN_OUT
            for (uint v = 0; v < VECTORS; ++v) {
                ARITHMETIC one[VEC];
                PUT(sum[h * VECTORS + v], one, 0);
                WRITTEN_OUT
                for (uint i = 0; i < VEC; ++i) {
                    // Columns after the last are not written to C.
                    if (number + h < SIDE)
                        held[((v * LANES + LANE) * VEC + i) * (SLOTS * SIDE + 1) + slot * SIDE + number + h] = one[i];
                }
            }
        }
    }
    GROUP_BARRIER; // held[] is written before other items read it
    AS_WRITTEN
    for (uint at = get_local_id(0); at < WIDTH * SLOTS * SIDE; at += GROUP_SIZE) {
        const uint in_tile = at % (SLOTS * SIDE), col = at / (SLOTS * SIDE), of_line = tile + in_tile / SIDE;
        if (of_line < lines && first + col < to && line_ptr[of_line + 1] - line_ptr[of_line] <= LONG)
            place_sum(held[col * (SLOTS * SIDE + 1) + in_tile], c, (ulong)(first + col) * c_leading + tile * SIDE + in_tile, alpha,
                      beta);
    }
}
#endif

KERNEL add_parts(global const uint4* restrict cut, global const ARITHMETIC* restrict parts, C_OF, uint cuts, uint columns,
                 ARITHMETIC alpha, ARITHMETIC beta)
{
    const ulong id = get_global_id(0);
    const uint col = id % columns, number = id / columns % SIDE, which = id / columns / SIDE;
    if (which < cuts) {
        const uint4 at = cut[which];
        ARITHMETIC sum = IDENTITY;
        IN_ORDER
        for (uint part = at.y; part < at.z; ++part)
            sum = ADD(sum, parts[((ulong)part * SIDE + number) * columns + col]);
        const ulong row = (ulong)at.x * SIDE + number;
        place_sum(sum, c, C_BY_COLUMNS ? col * (ulong)c_leading + row : row * c_leading + col, alpha, beta);
    }
}
