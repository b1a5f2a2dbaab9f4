// groups: C = alpha * A * D + beta * C for groups of lines of A (GCOO; Shi, Wang, Chu 2020,
// Algorithm 2), each by one slot of LANES work-items, and each share of the columns of D.
// Host: src/apply/spmm/groups.rs
//
//   in      line_ptr[lines + 1]  group_len[groups]  g_other[nnz]  g_line[nnz]  g_source[nnz]
//                                as in gcoo.cl; g_source is not read unless THROUGH
//   in      values[nnz * stride]
//   in      d[]                  by rows, d_leading apart
//   in out  c[]                  c_leading apart; rows of long lines are left alone
//
// The items of a slot stage the next STAGED entries of their group in local memory, then take each
// of them in turn. A row of D is loaded once for the entries of a group that meet it. An item keeps
// a sum for each line of the group. Entries of a line come in ascending place, so that its sum has
// the bits of the line by itself. Lines of more than LONG entries are in pieces, in staged.cl or
// lines.cl.
#if !defined(LINES) || !defined(STAGED) || !defined(LONG) || !defined(THROUGH)
#error "LINES, STAGED, LONG, THROUGH: see src/apply/spmm/groups.rs"
#endif
#define SAME 0x80
// One more than what a slot stages, so that slots lie in different banks.
#define ROOM (STAGED + 1)
// Stands for a line where a slot has staged past the end of its group: no sum takes it.
#define NO_LINE 0x7f

KERNEL sum_groups(global const uint* restrict line_ptr, global const uint* restrict group_len, global const uint* restrict g_other,
                  global const uchar* restrict g_line, global const uint* restrict g_source,
                  global const ELEMENT* restrict values, global const ELEMENT* restrict d, global ELEMENT* restrict c, uint lines,
                  uint groups, uint column, uint columns, uint share, uint shares_last, uint d_leading, uint c_leading, uint stride,
                  ARITHMETIC alpha, ARITHMETIC beta)
{
    local uint held_other[SLOTS * ROOM];
    local uchar held_line[SLOTS * ROOM];
    local ARITHMETIC held_value[SLOTS * ROOM];

    const uint shares = (columns + share - 1) / share, slot = get_local_id(0) / LANES;
    const uint first_id = get_group_id(0) * SLOTS;
    const uint2 task = task_of(first_id + slot, groups, shares, shares_last);
    const uint group = task.x, from = column + task.y * share, to = min(from + share, column + columns);
    const bool works = group < groups;
    const uint begin = works ? line_ptr[group * LINES] : 0, entries = works ? group_len[group] : 0;
    // All slots go round as often as the longest of their groups.
    uint most = 0;
    for (uint i = 0; i < SLOTS; ++i) {
        const uint of_slot = task_of(first_id + i, groups, shares, shares_last).x;
        most = max(most, of_slot < groups ? group_len[of_slot] : 0);
    }

    for (uint first = from; first < from + share; first += WIDTH) {
        VECTOR sum[LINES * VECTORS], x[(AHEAD + 1) * VECTORS];
        WRITTEN_OUT
        for (uint i = 0; i < LINES * VECTORS; ++i)
            sum[i] = SPREAD(IDENTITY);
        WRITTEN_OUT
        for (uint v = 0; v < VECTORS; ++v)
            x[v] = SPREAD(IDENTITY);
        AS_WRITTEN
        for (uint done = 0; done < most; done += STAGED) {
            GROUP_BARRIER; // every read of the round before
            for (uint i = LANE; i < STAGED; i += LANES) {
                const bool is = done + i < entries;
                const uint entry = begin + done + i;
                held_other[slot * ROOM + i] = is ? g_other[entry] : 0;
                held_line[slot * ROOM + i] = is ? g_line[entry] : (SAME | NO_LINE);
#if THROUGH
                held_value[slot * ROOM + i] = is ? (ARITHMETIC)LOAD(values, (ulong)g_source[entry] * stride) : 0;
#else
                held_value[slot * ROOM + i] = is ? (ARITHMETIC)LOAD(values, (ulong)entry * stride) : 0;
#endif
            }
            GROUP_BARRIER;
            const uint staged = min((uint)STAGED, max(entries, done) - done);
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
        }
        WRITTEN_OUT
        for (uint l = 0; l < LINES; ++l) {
            const uint line = group * LINES + l;
            if (works && line < lines) {
                const uint of_line = line_ptr[line + 1] - line_ptr[line];
                WRITTEN_OUT
                for (uint v = 0; v < VECTORS; ++v) {
                    // Other items have the columns behind the last.
                    if (of_line <= LONG && first + (v * LANES + LANE) * VEC < to)
                        place_vector(of_line > 0 ? sum[l * VECTORS + v] : SPREAD(EMPTY), c, line, COLUMN(v, first, to), c_leading,
                                     alpha, beta);
                }
            }
        }
    }
}
