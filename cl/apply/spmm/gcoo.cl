// gcoo: sorts the entries of each group of lines (rows or columns) by `other`, their index within a
// line (Shi, Wang, Chu 2020, section III). The index `other` is also called the place. Long lines
// are left out. Entries with equal places are stored in the order of their lines.
// Host: src/apply/spmm/gcoo.rs
//
//   place_entries  one work-item per ITEMS entries, and one per group
//   move_pieces    one work-item per piece of a long line
//
//   in   line_ptr[lines + 1]  other[nnz]  source[nnz]
//                           the lines; source is read only if THROUGH
//   in   piece[pieces]      pieces of the lines with more than LONG entries
//   out  group_len[groups]  entries of each group without its long lines. A group's entries begin
//                           at line_ptr[group * LINES]; the entries of its long lines come last,
//                           line after line
//   out  g_other[nnz]  g_source[nnz]   other and source in the order of groups
//   out  g_line[nnz]        line in its group, with the bit SAME if the entry before it in the
//                           group has the same place
//   out  distinct[1]        number of different places in all groups, without long lines; zero
//                           before
//   out  moved[pieces]      the pieces, with the positions of their entries in the order of groups
//
// An entry comes after the entries before it in its own line. An entry also comes after entries of
// other lines of its group that have a smaller place, or the same place in an earlier line. Lines
// are sorted. So an item searches each other line of the group for the place of its first entry,
// and continues from there for its next entries.
#if !defined(LINES) || !defined(LONG) || !defined(THROUGH) || !defined(ITEMS)
#error "LINES, LONG, THROUGH, ITEMS: see src/apply/spmm/gcoo.rs"
#endif
#define SAME 0x80

#if THROUGH
#define SOURCE(entry) source[entry]
#else
#define SOURCE(entry) (entry)
#endif

// Returns the number of entries in lines `first` to `last`: of long lines if `of_long`, else of
// lines that are not long.
uint entries_of(global const uint* restrict line_ptr, uint first, uint last, bool of_long)
{
    uint entries = 0;
    for (uint line = first; line < last; ++line) {
        const uint of_line = line_ptr[line + 1] - line_ptr[line];
        entries += (of_line > LONG) == of_long ? of_line : 0;
    }
    return entries;
}

// Returns the number of entries of the group that are stored before the entries of its long line
// `line`.
uint before_long(global const uint* restrict line_ptr, uint first, uint line, uint lines)
{
    return entries_of(line_ptr, first, min(first + LINES, lines), false) + entries_of(line_ptr, first, line, true);
}

KERNEL place_entries(global const uint* restrict line_ptr, global const uint* restrict other, global const uint* restrict source,
                     global uint* restrict group_len, global uint* restrict g_other, global uchar* restrict g_line,
                     global uint* restrict g_source, global uint* distinct, uint lines, uint groups, uint nnz)
{
    local uint of_work_group, ends[2];
    if (get_local_id(0) == 0)
        of_work_group = 0;
    // Finds the lines of the work-group's first and last entry. Each item searches between them.
    for (uint i = get_local_id(0); i < 2; i += GROUP_SIZE) {
        const ulong at = (get_group_id(0) + i) * (ulong)GROUP_SIZE * ITEMS - i;
        ends[i] = nnz > 0 ? column_of(line_ptr, lines, (uint)min(at, (ulong)(nnz - 1))) : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint id = get_global_id(0);
    if (id < groups)
        group_len[id] = entries_of(line_ptr, id * LINES, min(id * LINES + LINES, lines), false);
    const uint begin = (uint)min((ulong)id * ITEMS, (ulong)nnz), end = (uint)min((ulong)begin + ITEMS, (ulong)nnz);
    uint line = begin < end ? column_between(line_ptr, ends[0], ends[1], begin) : 0, places = 0, entry = begin;
    while (entry < end) {
        while (line_ptr[line + 1] <= entry)
            ++line;
        const uint first = line / LINES * LINES, own = line - first, line_end = line_ptr[line + 1], stop = min(end, line_end);
        const uint start = line_ptr[first];
        if (line_end - line_ptr[line] > LONG) {
            const uint to = start + before_long(line_ptr, first, line, lines) - line_ptr[line];
            for (; entry < stop; ++entry) {
                g_other[to + entry] = other[entry];
                g_line[to + entry] = (uchar)own;
                g_source[to + entry] = SOURCE(entry);
            }
            continue;
        }
        // at[i] becomes the first entry of line i at or after the place. The search in line i ends
        // at until[i].
        uint at[LINES], until[LINES], before = start + (entry - line_ptr[line]);
        WRITTEN_OUT
        for (uint i = 0; i < LINES; ++i) {
            const uint from = line_ptr[min(first + i, lines)], to = line_ptr[min(first + i + 1, lines)];
            const bool counts = i != own && to - from <= LONG;
            until[i] = counts ? to : from;
            at[i] = lower_bound(other, from, until[i], other[entry]);
            before += at[i] - from;
        }
        for (; entry < stop; ++entry, ++before) {
            const uint place = other[entry];
            uint same = 0;
            WRITTEN_OUT
            for (uint i = 0; i < LINES; ++i) {
                while (at[i] < until[i] && other[at[i]] < place) {
                    ++at[i];
                    ++before;
                }
                same += i < own && at[i] < until[i] && other[at[i]] == place;
            }
            const uint to = before + same;
            g_other[to] = place;
            g_line[to] = (uchar)(own | (same != 0 ? SAME : 0));
            g_source[to] = SOURCE(entry);
            places += same == 0;
        }
    }
    if (places != 0)
        atomic_add(&of_work_group, places);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0 && of_work_group != 0)
        atomic_add(distinct, of_work_group);
}

KERNEL move_pieces(global const uint* restrict line_ptr, global const uint4* restrict piece, global uint4* restrict moved, uint lines,
                   uint pieces)
{
    const uint id = get_global_id(0);
    if (id < pieces) {
        const uint4 from = piece[id];
        const uint first = from.x / LINES * LINES;
        const uint begin = line_ptr[first] + before_long(line_ptr, first, from.x, lines) + (from.y - line_ptr[from.x]);
        moved[id] = (uint4)(from.x, begin, begin + (from.z - from.y), from.w);
    }
}
