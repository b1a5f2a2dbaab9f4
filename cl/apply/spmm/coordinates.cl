// coordinates: conversions of dense matrices, compressed lines and coordinates to and from groups
// (GCOO).
// Host: src/apply/spmm/stored/{from_dense,from_matrix,compressed,to_dense}.rs
//
//   count_dense  one work-item per group of LINES lines and chunk of CHUNK places. A place is an
//                index in a line
//   fill_dense   one work-item per group and chunk
//   count_rows   one work-group per chunk, for lines whose elements are neighbours in memory
//   fill_rows    one work-group per chunk, for lines whose elements are neighbours in memory
//   split        one work-item per entry
//   gather       one work-item per entry
//   count_lines  lines + 1 work-items
//   group_starts groups + 1 work-items
//   spread       one work-item per element of the entries
//
//   in   d[]                      element (line, place) at line * d_line + place * d_place
//   out  counts[groups * chunks + 1]   nonzero elements of each chunk; after a scan, those of the
//                                 chunks before it
//   out  group_ptr[groups + 1]    number of entries before each group
//   out  g_other[nnz]  g_line[nnz]   as in gcoo.cl
//   out  values[nnz]
//   out  line_of[nnz]             line of each entry
//   in   entry_idx[nnz]           index of each entry, in sorted order
//   out  other[nnz]               the other index of each entry, in sorted order
//   out  line_len[lines + 1]      entries of each line, then 0
//   out  group_len[groups]        entries of each group
//   in   row[nnz]  col[nnz]       coordinates of entries, blocks of `area` elements column-major
//   in out  dense[]               zeros before; element (row, col) at row * d_row + col * d_col
//   in out  found[2]              zeros before; number of different places, summed over the groups,
//                                 and number of entries of the longest line
//
// If lines are neighbours in memory (d_line is 1), neighbouring items of count_dense read
// neighbouring groups of lines. In fill_rows each item counts the elements of its places. A scan of
// these counts gives the position at which the item writes, in the order of places, and of lines at
// equal places.
#if !defined(LINES) || !defined(CHUNK)
#error "LINES, CHUNK: see src/apply/spmm/stored.rs"
#endif
// Each item of count_rows and fill_rows takes ROUNDS places. The item counts the elements of its
// places in 16 bits each.
#define ROUNDS 4
#define SAME 0x80

// Returns the group and the chunk with number `id`. Each group has `chunks` chunks. Consecutive
// numbers are chunks of one group, or if `lines_first` is 1, the same chunk of consecutive groups.
// The number after the last returns the first chunk after the last group.
ulong2 chunk_of(ulong id, ulong groups, ulong chunks, uint lines_first)
{
    if (id >= groups * chunks)
        return (ulong2)(groups, 0);
    return lines_first ? (ulong2)(id % groups, id / groups) : (ulong2)(id / chunks, id % chunks);
}

// Returns the number of chunks of a group, at least one.
#define CHUNKS(across) ((max((across), 1u) + (ulong)(CHUNK - 1)) / CHUNK)

KERNEL count_dense(global const ELEMENT* restrict d, global ulong* restrict counts, uint lines, uint across, ulong d_line,
                   ulong d_place, uint groups)
{
    const ulong chunks = CHUNKS(across), id = get_global_id(0);
    const ulong2 of = chunk_of(id, groups, chunks, d_line == 1);
    const uint first = (uint)of.x * LINES, begin = (uint)of.y * CHUNK;
    ulong count = 0;
    if (of.x < groups)
        for (uint place = begin; place < min(begin + CHUNK, across); ++place)
            for (uint line = first; line < min(first + LINES, lines); ++line)
                count += LOAD(d, line * d_line + place * d_place) != 0;
    if (id <= groups * chunks)
        counts[of.x * chunks + of.y] = count;
}

KERNEL fill_dense(global const ELEMENT* restrict d, global const ulong* restrict counts, global uint* restrict group_ptr,
                  global uint* restrict g_other, global uchar* restrict g_line, global ELEMENT* restrict values, uint lines,
                  uint across, ulong d_line, ulong d_place, uint groups)
{
    const ulong chunks = CHUNKS(across), id = get_global_id(0);
    const ulong2 of = chunk_of(id, groups, chunks, d_line == 1);
    const uint first = (uint)of.x * LINES, begin = (uint)of.y * CHUNK;
    if (id <= groups * chunks && of.y == 0)
        group_ptr[of.x] = (uint)counts[of.x * chunks];
    if (of.x < groups) {
        ulong to = counts[of.x * chunks + of.y];
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

#if CHUNK == ROUNDS * GROUP_SIZE
#define SUM(x, y) ((x) + (y))
GROUP_SCAN(scan_rounds, ulong, SUM)

// For each of the item's places, finds the lines of the group with an element there, as bits. In
// each round neighbouring items take neighbouring places. Returns the number of these elements, in
// 16 bits for each round.
ulong bits_of_rounds(uint* bits, global const ELEMENT* restrict d, uint first, uint begin, uint lines, uint across, ulong d_line)
{
    ulong counts = 0;
    WRITTEN_OUT
    for (uint round = 0; round < ROUNDS; ++round) {
        const uint place = begin + round * GROUP_SIZE + (uint)get_local_id(0);
        bits[round] = 0;
        for (uint line = 0; line < LINES; ++line)
            if (place < across && first + line < lines && LOAD(d, (first + line) * d_line + place) != 0)
                bits[round] |= 1u << line;
        counts |= (ulong)popcount(bits[round]) << (16 * round);
    }
    return counts;
}

KERNEL count_rows(global const ELEMENT* restrict d, global ulong* restrict counts, uint lines, uint across, ulong d_line, uint groups)
{
    local ulong shared[GROUP_SIZE];
    const ulong2 of = chunk_of(get_group_id(0), groups, CHUNKS(across), 0);
    uint bits[ROUNDS];
    ulong total;
    scan_rounds(bits_of_rounds(bits, d, (uint)of.x * LINES, (uint)of.y * CHUNK, lines, across, d_line), shared, &total);
    ulong count = 0;
    for (uint round = 0; round < ROUNDS; ++round)
        count += (total >> (16 * round)) & 0xffff;
    counts[get_group_id(0)] = count; // every item writes the same number
}

KERNEL fill_rows(global const ELEMENT* restrict d, global const ulong* restrict counts, global uint* restrict group_ptr,
                 global uint* restrict g_other, global uchar* restrict g_line, global ELEMENT* restrict values, uint lines,
                 uint across, ulong d_line, uint groups)
{
    local ulong shared[GROUP_SIZE];
    const ulong2 of = chunk_of(get_group_id(0), groups, CHUNKS(across), 0);
    const uint first = (uint)of.x * LINES, begin = (uint)of.y * CHUNK;
    uint bits[ROUNDS];
    ulong total, to = counts[get_group_id(0)];
    const ulong before = scan_rounds(bits_of_rounds(bits, d, first, begin, lines, across, d_line), shared, &total);
    if (of.y == 0)
        group_ptr[of.x] = (uint)to; // every item writes the same number
    WRITTEN_OUT
    for (uint round = 0; round < ROUNDS; ++round) {
        const uint place = begin + round * GROUP_SIZE + (uint)get_local_id(0);
        ulong at = to + ((before >> (16 * round)) & 0xffff);
        uint same = 0;
        for (uint left = bits[round]; left; left &= left - 1) {
            const uint line = popcount((left & -left) - 1);
            g_other[at] = place;
            g_line[at] = (uchar)(line | same);
            STORE(LOAD(d, (first + line) * d_line + place), values, at);
            ++at;
            same = SAME;
        }
        to += (total >> (16 * round)) & 0xffff;
    }
}
#endif

KERNEL split(global const uint* restrict group_ptr, global const uchar* restrict g_line, global uint* restrict line_of, uint groups,
             uint nnz)
{
    const uint i = get_global_id(0);
    if (i < nnz)
        line_of[i] = column_of(group_ptr, groups, i) * LINES + (g_line[i] & ~SAME);
}

KERNEL gather(global const uint* restrict entry_idx, global const uint* restrict partner, global uint* restrict other, uint nnz)
{
    const uint i = get_global_id(0);
    if (i < nnz)
        other[i] = partner[entry_idx[i]];
}

KERNEL count_lines(global const uint* restrict group_ptr, global const uchar* restrict g_line, global uint* restrict line_len,
                   global uint* restrict group_len, global uint* restrict found, uint lines)
{
    local uint of_group[2];
    if (get_local_id(0) == 0)
        of_group[0] = of_group[1] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint line = get_global_id(0);
    uint count = 0, places = 0;
    if (line < lines) {
        const uint group = line / LINES, begin = group_ptr[group], end = group_ptr[group + 1];
        for (uint i = begin; i < end; ++i) {
            const uint of_line = g_line[i];
            count += (of_line & ~SAME) == line % LINES;
            places += !(of_line & SAME);
        }
        if (line % LINES == 0)
            group_len[group] = end - begin;
        else
            places = 0; // the item of the group's first line counts the places
    }
    if (line <= lines)
        line_len[line] = count;
    if (places != 0)
        atomic_add(&of_group[0], places);
    if (count != 0)
        atomic_max(&of_group[1], count);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        atomic_add(&found[0], of_group[0]);
        atomic_max(&found[1], of_group[1]);
    }
}

KERNEL group_starts(global const uint* restrict line_ptr, global uint* restrict group_ptr, uint lines, uint groups)
{
    const uint group = get_global_id(0);
    if (group <= groups)
        group_ptr[group] = line_ptr[min(group * LINES, lines)];
}

KERNEL spread(global const uint* restrict row, global const uint* restrict col, global const ELEMENT* restrict values,
              global ELEMENT* restrict dense, ulong elements, uint block_rows, uint area, ulong d_row, ulong d_col)
{
    const ulong i = get_global_id(0);
    if (i < elements) {
        const ulong entry = i / area;
        const uint within = i % area, block_cols = area / block_rows;
        const ulong at_row = (ulong)row[entry] * block_rows + within % block_rows;
        const ulong at_col = (ulong)col[entry] * block_cols + within / block_rows;
        STORE(LOAD(values, i), dense, at_row * d_row + at_col * d_col);
    }
}
