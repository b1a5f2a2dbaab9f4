// coordinates: dense matrices, compressed lines and coordinates to and from groups (GCOO).
// Host: src/apply/spmm/stored.rs
//
//   count_dense  one work-item per group of LINES lines and chunk of CHUNK places across them
//   fill_dense   the same
//   split        one work-item per entry
//   gather       one work-item per entry
//
//   in   d[]                      element (line, place) at line * d_line + place * d_place
//   out  counts[groups * chunks + 1]   elements of each chunk that are not 0; then, scanned, those
//                                 of the chunks before it
//   out  group_ptr[groups + 1]    entries of the groups before each
//   out  g_other[nnz]  g_line[nnz]   as in gcoo.cl
//   out  values[nnz]
//   out  line_of[nnz]             line of each entry
//   in   entry_idx[nnz]           the number of each sorted entry
//   out  other[nnz]               partner and value of each sorted entry
#if !defined(LINES) || !defined(CHUNK)
#error "LINES, CHUNK: see src/apply/spmm/stored.rs"
#endif
#define SAME 0x80

KERNEL count_dense(global const ELEMENT* restrict d, global ulong* restrict counts, uint lines, uint across, ulong d_line,
                   ulong d_place, uint groups)
{
    const ulong chunks = (across + CHUNK - 1) / CHUNK, id = get_global_id(0);
    if (id <= groups * chunks) {
        const uint first = (uint)(id / max(chunks, (ulong)1)) * LINES, begin = (uint)(id % max(chunks, (ulong)1)) * CHUNK;
        ulong count = 0;
        if (id < groups * chunks)
            for (uint place = begin; place < min(begin + CHUNK, across); ++place)
                for (uint line = first; line < min(first + LINES, lines); ++line)
                    count += LOAD(d, line * d_line + place * d_place) != 0;
        counts[id] = count;
    }
}

KERNEL fill_dense(global const ELEMENT* restrict d, global const ulong* restrict counts, global uint* restrict group_ptr,
                  global uint* restrict g_other, global uchar* restrict g_line, global ELEMENT* restrict values, uint lines,
                  uint across, ulong d_line, ulong d_place, uint groups)
{
    const ulong chunks = (across + CHUNK - 1) / CHUNK, id = get_global_id(0);
    if (id <= groups)
        group_ptr[id] = (uint)counts[id * chunks];
    if (id < groups * chunks) {
        const uint first = (uint)(id / chunks) * LINES, begin = (uint)(id % chunks) * CHUNK;
        ulong to = counts[id];
        for (uint place = begin; place < min(begin + CHUNK, across); ++place) {
            uint same = 0;
            for (uint line = first; line < min(first + LINES, lines); ++line) {
                const ARITHMETIC value = LOAD(d, line * d_line + place * d_place);
                if (value != 0) {
                    g_other[to] = place;
                    g_line[to] = (uchar)((line - first) | same);
                    STORE(value, values, to);
                    ++to;
                    same = SAME;
                }
            }
        }
    }
}

KERNEL split(global const uint* restrict group_ptr, global const uchar* restrict g_line, global uint* restrict line_of, uint groups,
             uint nnz)
{
    const uint i = get_global_id(0);
    if (i < nnz)
        line_of[i] = column_of(group_ptr, groups, i) * LINES + (g_line[i] & ~SAME);
}

KERNEL gather(global const uint* restrict entry_idx, global const uint* restrict partner, global const ELEMENT* restrict values,
              global uint* restrict other, global ELEMENT* restrict sorted, uint nnz)
{
    const uint i = get_global_id(0);
    if (i < nnz) {
        other[i] = partner[entry_idx[i]];
        STORE(LOAD(values, entry_idx[i]), sorted, i);
    }
}
