// lines: divides the lines of a pattern among work-groups.
// Host: src/vector/lines.rs
//
//   tile_lines    tiles + 1 work-items
//   place_tiles   one work-item per tile
//   weigh_tiles   one work-item per line
//   count_pieces  one work-item per line
//   place_pieces  one work-item per line
//
// Lines are the columns of a pattern, or its rows in the transposed pattern. Line l has place
// line_ptr[l] + l, so the number of places is the number of entries plus the number of lines. A
// tile is `tile` places and owns the lines whose places are in it. So a tile has neither many
// entries nor many empty lines. A line of `tile` entries or more is the last of its tile. Lines of
// more than `longest` entries, which is at most `tile`, are cut into pieces. If `longest` is 0, all
// lines are cut into pieces. A line of at most `whole` entries, which is at least PIECE, is one
// piece. A longer line is cut as if `before` more entries, fewer than PIECE, came before its first
// entry. If `before` is not 0, `whole` is PIECE.
//
//   in   line_ptr[lines + 1]     number of entries of all lines before each line
//   out  tile_line[tiles + 1]    first line of each tile
//   in   order[tiles]            the tiles, in the order of the groups that take them
//   out  task[first + tiles]     from `first` on, for each tile in that order: its first line that
//                                 is not in pieces, the end of the last such line, the first entry
//                                 of these lines and the lines between them, and the end of their
//                                 entries
//   in out  counts[4]            number of pieces of long lines, of pieces that are parts of a cut
//                                 line, of cut lines, and of entries of all these lines; zero
//                                 before count_pieces. place_pieces counts down, so its first line
//                                 comes last
//   out  piece[counts[0]]        in any order: line, first entry, end, and number of its part, or
//                                 WHOLE if the piece is a whole line. The parts of a line have
//                                 consecutive numbers
//   out  cut[counts[2]]          in any order: line, its first part, end of its parts, 0
#if !defined(PIECE)
#error "PIECE: see src/vector/lines.rs"
#endif
#define WHOLE 0xffffffffu

KERNEL tile_lines(global const uint* line_ptr, global uint* tile_line, uint lines, uint tile, uint tiles)
{
    const uint number = get_global_id(0);
    if (number > tiles)
        return;
    const ulong start = (ulong)number * tile;
    uint first = 0, end = lines;
    while (first < end) {
        const uint middle = first + (end - first) / 2;
        if ((ulong)line_ptr[middle] + middle < start)
            first = middle + 1;
        else
            end = middle;
    }
    tile_line[number] = first;
}

KERNEL place_tiles(global const uint* line_ptr, global const uint* tile_line, global const uint* order, global uint4* task, uint first,
                   uint tiles, uint longest, uint is_ordered)
{
    const uint number = get_global_id(0);
    if (number >= tiles)
        return;
    const uint tile = is_ordered ? order[number] : number;
    uint begin = tile_line[tile], last = tile_line[tile + 1];
    // The first and the last lines of a tile may be in pieces. First and last lines in pieces are
    // left out. Lines in pieces between other lines are loaded, but not used.
    while (last > begin && line_ptr[last] - line_ptr[last - 1] > longest)
        --last;
    while (begin < last && line_ptr[begin + 1] - line_ptr[begin] > longest)
        ++begin;
    task[first + number] = (uint4)(begin, last, line_ptr[begin], line_ptr[last]);
}

KERNEL weigh_tiles(global const uint* line_ptr, global uint* tile_weight, uint lines, uint tile, uint light)
{
    const uint line = get_global_id(0);
    const uint entries = line < lines ? line_ptr[line + 1] - line_ptr[line] : 0;
    if (entries >= light && entries <= tile)
        atomic_max(&tile_weight[((ulong)line_ptr[line] + line) / tile], 31 - clz(entries));
}

// Returns the number of pieces of a line, or 0 if it stays in its tile. If there are no tiles, an
// empty line has one piece.
uint pieces_of(uint entries, uint longest, uint whole, uint before)
{
    if (longest > 0 && entries <= longest)
        return 0;
    const ulong all = (ulong)before + entries;
    return all <= whole ? 1 : (uint)(all / PIECE) + (all % PIECE != 0);
}

KERNEL count_pieces(global const uint* line_ptr, global uint* counts, uint lines, uint longest, uint whole, uint before)
{
    const uint line = get_global_id(0);
    const uint pieces = line < lines ? pieces_of(line_ptr[line + 1] - line_ptr[line], longest, whole, before) : 0;
    if (pieces > 0) {
        atomic_add(&counts[0], pieces);
        atomic_add(&counts[3], line_ptr[line + 1] - line_ptr[line]);
    }
    if (pieces > 1) {
        atomic_add(&counts[1], pieces);
        atomic_inc(&counts[2]);
    }
}

KERNEL place_pieces(global const uint* line_ptr, global uint* counts, global uint4* piece, global uint4* cut, uint lines, uint longest,
                    uint whole, uint before)
{
    const uint line = get_global_id(0);
    if (line >= lines)
        return;
    const uint begin = line_ptr[line], end = line_ptr[line + 1], pieces = pieces_of(end - begin, longest, whole, before);
    if (pieces == 0)
        return;
    const uint number = atomic_sub(&counts[0], pieces) - pieces;
    uint part = WHOLE;
    if (pieces > 1) {
        part = atomic_sub(&counts[1], pieces) - pieces;
        cut[atomic_dec(&counts[2]) - 1] = (uint4)(line, part, part + pieces, 0);
    }
    uint from = begin;
    for (uint i = 0; i < pieces; ++i) {
        const uint most = i == 0 ? PIECE - before : PIECE, to = pieces > 1 && end - from > most ? from + most : end;
        piece[number + i] = (uint4)(line, from, to, pieces > 1 ? part + i : WHOLE);
        from = to;
    }
}
