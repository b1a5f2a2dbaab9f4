// groups: C = alpha * A * D + beta * C for groups of lines of A (GCOO; Shi, Wang, Chu 2020,
// Algorithm 2). One slot of LANES work-items takes a group and a share of the columns of D. Lines
// are lines of scalars, or of blocks with SIDE scalar lines.
// Host: src/apply/spmm/groups.rs
//
//   in      line_ptr[lines + 1]  group_len[groups]  g_other[nnz]  g_line[nnz]  g_source[nnz]
//                                as in gcoo.cl; g_source is read only if THROUGH
//   in      values[nnz * stride] blocks of SIDE lines with DEPTH elements each
//   in      d[]                  by rows, rows d_leading apart
//   in out  c[]                  rows or columns c_leading apart; rows of long lines are not
//                                changed
//
// The items of a slot stage the next STAGED entries of their group in local memory, and then
// multiply them one after another. Each row of D is loaded once for all entries of the group that
// are multiplied by it. If DEPTH is more than AHEAD, the rows of D are loaded again for each entry.
// An item keeps a sum for each line of the group; for blocks it keeps HELD of the lines of each
// block at once. The entries of a line are added in ascending order, and so are the elements of a
// block. So the sum of a line has the same bits as if the line was computed alone. Lines of more
// than LONG entries are cut into pieces, which staged.cl or lines.cl adds.
#if !defined(LINES) || !defined(STAGED) || !defined(VALUES_STAGED) || !defined(LONG) || !defined(THROUGH) || !defined(SIDE) || \
    !defined(DEPTH) || !defined(ACROSS) || !defined(HELD)
#error "LINES, STAGED, VALUES_STAGED, LONG, THROUGH, SIDE, DEPTH, ACROSS, HELD: see src/apply/spmm/groups.rs"
#endif
#define SAME 0x80
// A slot's staged entries take one place more than STAGED, so that slots begin in different banks.
#define ROOM (STAGED + 1)
// NO_LINE is the line of staged entries after the end of the group. Entries of NO_LINE are added to
// no sum.
#define NO_LINE 0x7f
#define AREA (SIDE * DEPTH)

// NUMBER_OF is the index of an entry's block. AT is the place, in a block, of element number k of a
// line.
#if THROUGH
#define NUMBER_OF(entry) g_source[entry]
#else
#define NUMBER_OF(entry) (entry)
#endif
#define AT(line, k) (ACROSS ? (k)*SIDE + (line) : (line)*DEPTH + (k))

// VALUE is element k of a line of the entry that is staged at `at`.
#if VALUES_STAGED
#define VALUE(at, line, k) held_value[(at)*AREA + AT(line, k)]
#else
#define VALUE(at, line, k) LOAD(values, (ulong)held_number[at] * stride + AT(line, k))
#endif

KERNEL sum_groups(global const uint* restrict line_ptr, global const uint* restrict group_len, global const uint* restrict g_other,
                  global const uchar* restrict g_line, global const uint* restrict g_source, OPERANDS_OF, C_OF, uint lines,
                  uint groups, uint column, uint columns, uint share, uint shares_last)
{
    local uint held_other[SLOTS * ROOM];
    local uchar held_line[SLOTS * ROOM];
#if VALUES_STAGED
    local ARITHMETIC held_value[SLOTS * ROOM * AREA];
#else
    local uint held_number[SLOTS * ROOM];
#endif

    const uint shares = (columns + share - 1) / share, slot = get_local_id(0) / LANES;
    const uint first_id = get_group_id(0) * SLOTS;
    const uint2 task = task_of(first_id + slot, groups, shares, shares_last);
    const uint group = task.x, from = column + task.y * share, to = min(from + share, column + columns);
    const bool works = group < groups;
    const uint begin = works ? line_ptr[group * LINES] : 0, entries = works ? group_len[group] : 0;
    // All slots take as many rounds as the slot with the longest group.
    uint most = 0;
    for (uint i = 0; i < SLOTS; ++i) {
        const uint of_slot = task_of(first_id + i, groups, shares, shares_last).x;
        most = max(most, of_slot < groups ? group_len[of_slot] : 0);
    }

    AS_WRITTEN
    for (uint round = 0; round < (share + WIDTH - 1) / WIDTH * ((SIDE + HELD - 1) / HELD); ++round) {
        const uint first = from + round / ((SIDE + HELD - 1) / HELD) * WIDTH, number = round % ((SIDE + HELD - 1) / HELD) * HELD;
        VECTOR sum[LINES * HELD * VECTORS];
        WRITTEN_OUT
        for (uint i = 0; i < LINES * HELD * VECTORS; ++i)
            sum[i] = SPREAD(IDENTITY);
#if AREA == 1
        VECTOR x[(AHEAD + 1) * VECTORS];
        WRITTEN_OUT
        for (uint v = 0; v < VECTORS; ++v)
            x[v] = SPREAD(IDENTITY);
#else
        VECTOR x[PANEL * VECTORS];
        WRITTEN_OUT
        for (uint i = 0; i < PANEL * VECTORS; ++i)
            x[i] = SPREAD(IDENTITY);
#endif
        AS_WRITTEN
        for (uint done = 0; done < most; done += STAGED) {
            GROUP_BARRIER; // the staged arrays are read before the next round overwrites them
            for (uint i = LANE; i < STAGED; i += LANES) {
                const bool is = done + i < entries;
                const uint entry = begin + done + i;
                held_other[slot * ROOM + i] = is ? g_other[entry] : 0;
                held_line[slot * ROOM + i] = is ? g_line[entry] : (SAME | NO_LINE);
#if !VALUES_STAGED
                held_number[slot * ROOM + i] = is ? NUMBER_OF(entry) : 0;
#endif
            }
#if VALUES_STAGED
            for (uint i = LANE; i < STAGED * AREA; i += LANES) {
                const bool is = done + i / AREA < entries;
                const uint entry = begin + done + i / AREA;
                held_value[slot * ROOM * AREA + i] = is ? (ARITHMETIC)LOAD(values, (ulong)NUMBER_OF(entry) * stride + i % AREA) : 0;
            }
#endif
            GROUP_BARRIER;
            const uint staged = min((uint)STAGED, max(entries, done) - done);
#if AREA == 1
            AS_WRITTEN
            for (uint next = 0; next < staged; next += AHEAD) {
                local const uint* other = held_other + slot * ROOM + next;
                local const uchar* line = held_line + slot * ROOM + next;
                local const ARITHMETIC* value = held_value + slot * ROOM + next;
                WRITTEN_OUT
                for (uint i = 0; i < AHEAD; ++i) {
                    const ulong row = (ulong)other[i] * d_leading;
                    WRITTEN_OUT
                    for (uint v = 0; v < VECTORS; ++v) {
                        x[(i + 1) * VECTORS + v] = x[i * VECTORS + v];
                        if (!(line[i] & SAME))
                            x[(i + 1) * VECTORS + v] = LOAD_VECTOR(d, row + COLUMN(v, first, to));
                    }
                }
                WRITTEN_OUT
                for (uint i = 0; i < AHEAD; ++i) {
                    const uint of_line = line[i] & NO_LINE;
                    WRITTEN_OUT
                    for (uint v = 0; v < VECTORS; ++v) {
                        const VECTOR term = MULTIPLY(SPREAD(value[i]), x[(i + 1) * VECTORS + v]);
                        WRITTEN_OUT
                        for (uint l = 0; l < LINES; ++l)
                            if (of_line == l)
                                sum[l * VECTORS + v] = ADD(sum[l * VECTORS + v], term);
                    }
                }
                WRITTEN_OUT
                for (uint v = 0; v < VECTORS; ++v)
                    x[v] = x[AHEAD * VECTORS + v];
            }
#else
            AS_WRITTEN
            for (uint next = 0; next < staged; ++next) {
                const uint at = slot * ROOM + next, of_line = held_line[at] & NO_LINE;
                const bool same = PANELS == 1 && (held_line[at] & SAME);
                const ulong row = (ulong)held_other[at] * DEPTH;
                AS_WRITTEN
                for (uint k = 0; k < DEPTH; k += PANEL) {
                    if (!same) {
                        LOAD_PANEL(x, row, k, first, to)
                    }
                    WRITTEN_OUT
                    for (uint l = 0; l < LINES; ++l) {
                        if (of_line == l) {
                            WRITTEN_OUT
                            for (uint i = 0; i < PANEL; ++i) {
                                if (DEPTH % PANEL == 0 || k + i < DEPTH) {
                                    WRITTEN_OUT
                                    for (uint h = 0; h < HELD; ++h) {
                                        const ARITHMETIC value = VALUE(at, min(number + h, (uint)SIDE - 1), k + i);
                                        WRITTEN_OUT
                                        for (uint v = 0; v < VECTORS; ++v)
                                            sum[(l * HELD + h) * VECTORS + v] = ADD(sum[(l * HELD + h) * VECTORS + v],
                                                                                    MULTIPLY(SPREAD(value), x[i * VECTORS + v]));
                                    }
                                }
                            }
                        }
                    }
                }
            }
#endif
        }
        WRITTEN_OUT
        for (uint l = 0; l < LINES; ++l) {
            const uint line = group * LINES + l;
            const uint of_line = works && line < lines ? line_ptr[line + 1] - line_ptr[line] : LONG + 1;
            WRITTEN_OUT
            for (uint h = 0; h < HELD; ++h) {
                WRITTEN_OUT
                for (uint v = 0; v < VECTORS; ++v) {
                    // The vectors of the other items lie beyond the last column.
                    if (of_line <= LONG && number + h < SIDE && first + (v * LANES + LANE) * VEC < to)
                        place_vector(of_line > 0 ? sum[(l * HELD + h) * VECTORS + v] : SPREAD(EMPTY),
                                     line * SIDE + number + h, COLUMN(v, first, to), alpha, beta, C);
                }
            }
        }
    }
}
