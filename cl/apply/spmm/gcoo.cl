// gcoo: the entries of groups of lines, in ascending place across the lines (Shi, Wang, Chu 2020,
// section III). Of equal places the entries follow one another, in the order of their lines.
// Host: src/apply/spmm/gcoo.rs
//
//   merge_lines  one work-item per group of LINES lines
//   move_pieces  one work-group per piece of a long line
//
//   in   line_ptr[lines + 1]  other[nnz]  source[nnz]
//                           the lines; source is not read unless THROUGH
//   in   piece[pieces]      pieces of the lines with more than LONG entries
//   out  group_len[groups]  entries of the other lines of each group, which begin at
//                           line_ptr[group * LINES]; those of its long lines are behind them, line
//                           after line
//   out  g_other[nnz]  g_source[nnz]   as other and source, in the order of groups
//   out  g_line[nnz]        line in its group, and SAME if the entry before it in the group has the
//                           same place
//   out  distinct[1]        different places of all groups, without long lines; zero before
//   out  moved[pieces]      the pieces, with the places of their entries in the order of groups
#if !defined(LINES) || !defined(LONG) || !defined(THROUGH)
#error "LINES, LONG, THROUGH: see src/apply/spmm/gcoo.rs"
#endif
#define SAME 0x80
#define NONE 0xffffffffu

#if THROUGH
#define SOURCE(entry) source[entry]
#else
#define SOURCE(entry) (entry)
#endif

KERNEL merge_lines(global const uint* restrict line_ptr, global const uint* restrict other, global const uint* restrict source,
                   global uint* restrict group_len, global uint* restrict g_other, global uchar* restrict g_line,
                   global uint* restrict g_source, global uint* distinct, uint lines, uint groups)
{
    local uint of_work_group;
    if (get_local_id(0) == 0)
        of_work_group = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint group = get_global_id(0);
    uint places = 0;
    if (group < groups) {
        uint at[LINES], end[LINES], head[LINES];
        const uint first = group * LINES, start = line_ptr[first];
        for (uint i = 0; i < LINES; ++i) {
            const uint begin = line_ptr[min(first + i, lines)];
            end[i] = line_ptr[min(first + i + 1, lines)];
            at[i] = end[i] - begin > LONG ? end[i] : begin;
            head[i] = at[i] < end[i] ? other[at[i]] : NONE;
        }
        uint to = start, place = 0;
        while (place != NONE) {
            place = NONE;
            for (uint i = 0; i < LINES; ++i)
                place = min(place, head[i]);
            uint same = 0;
            for (uint i = 0; i < LINES; ++i) {
                if (place != NONE && head[i] == place) {
                    g_other[to] = place;
                    g_line[to] = (uchar)(i | same);
                    g_source[to] = SOURCE(at[i]);
                    ++to;
                    ++at[i];
                    head[i] = at[i] < end[i] ? other[at[i]] : NONE;
                    same = SAME;
                }
            }
            places += place != NONE;
        }
        group_len[group] = to - start;
    }
    if (places != 0)
        atomic_add(&of_work_group, places);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0 && of_work_group != 0)
        atomic_add(distinct, of_work_group);
}

KERNEL move_pieces(global const uint* restrict line_ptr, global const uint* restrict other, global const uint* restrict source,
                   global const uint* restrict group_len, global const uint4* restrict piece, global uint* restrict g_other,
                   global uchar* restrict g_line, global uint* restrict g_source, global uint4* restrict moved, uint lines)
{
    const uint4 from = piece[get_group_id(0)];
    const uint first = from.x / LINES * LINES;
    uint start = line_ptr[first] + group_len[from.x / LINES];
    for (uint line = first; line < from.x; ++line) {
        const uint entries = line_ptr[line + 1] - line_ptr[line];
        start += entries > LONG ? entries : 0;
    }
    const uint begin = start + (from.y - line_ptr[from.x]);
    for (uint i = get_local_id(0); i < from.z - from.y; i += GROUP_SIZE) {
        g_other[begin + i] = other[from.y + i];
        g_line[begin + i] = (uchar)(from.x - first);
        g_source[begin + i] = SOURCE(from.y + i);
    }
    if (get_local_id(0) == 0)
        moved[get_group_id(0)] = (uint4)(from.x, begin, begin + (from.z - from.y), from.w);
}
