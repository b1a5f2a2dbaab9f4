// pieces: cuts segments into pieces of at most PIECE elements, counted from the segment's start.
// Host: src/primitives/segments/pieces.rs
//
//   count_pieces    one work-item per segment, and one more; a scan follows
//   place_segments  one work-item per segment, and one more
//   place_pieces    one work-item per STRETCH pieces; it finds the segment of the first of them
//   place_tiles     one work-item per tile of TILE elements, and one more
//
//   in      offset[segments + 1]      where segments begin and end
//   in out  count[segments + 1]       the pieces of a segment; 2^32 more if they are several
//   out     piece_ptr[segments + 1]   the first piece of each segment
//   out     long_begin[long]  long_end[long]   the pieces of each segment that has several
//   out     begin[pieces + 1]         the start of each piece; the last ends at begin[pieces]
//   out     follows[pieces + 1]       1 if the piece is not the first of its segment
//   out     tile_ptr[tiles + 1]       the first piece that begins in each tile
//   out     wave[3 * waves]           for each WAVE tiles, the first piece, the first long segment
//                                     that ends after this piece, and the first long segment that
//                                     begins after the wave
#ifndef PIECE
#error "PIECE: see src/primitives/segments/pieces.rs"
#endif

KERNEL count_pieces(global const uint* restrict offset, global ulong* restrict count, uint segments)
{
    const uint segment = get_global_id(0);
    if (segment > segments)
        return;
    const uint elements = segment < segments ? offset[segment + 1] - offset[segment] : 0;
    const uint pieces = elements / PIECE + (elements % PIECE > 0);
    count[segment] = pieces + ((ulong)(pieces > 1) << 32);
}

KERNEL place_segments(global const ulong* restrict count, global uint* restrict piece_ptr, global uint* restrict long_begin,
                      global uint* restrict long_end, uint segments)
{
    const uint segment = get_global_id(0);
    if (segment > segments)
        return;
    const uint first = (uint)count[segment];
    piece_ptr[segment] = first;
    if (segment == segments)
        return;
    const uint end = (uint)count[segment + 1];
    if (end - first > 1) {
        const uint number = count[segment] >> 32;
        long_begin[number] = first;
        long_end[number] = end;
    }
}

KERNEL place_pieces(global const uint* restrict offset, global const uint* restrict piece_ptr, global uint* restrict begin,
                    global uchar* restrict follows, uint segments, uint pieces)
{
    const uint first = get_global_id(0) * STRETCH;
    if (first > pieces)
        return;
    // If `first` is `pieces`, `segment` is the number of segments.
    uint segment = column_between(piece_ptr, 0, segments, first);
    for (uint piece = first; piece < first + STRETCH && piece <= pieces; ++piece) {
        while (segment < segments && piece_ptr[segment + 1] <= piece)
            ++segment;
        const uint before = piece - piece_ptr[segment];
        begin[piece] = offset[segment] + before * PIECE;
        follows[piece] = before > 0;
    }
}

// Returns the first piece that begins in a tile or after it.
uint first_piece(global const uint* begin, uint pieces, uint tile, uint tiles)
{
    return tile < tiles ? lower_bound(begin, 0, pieces, tile * TILE) : pieces;
}

KERNEL place_tiles(global const uint* restrict begin, global const uint* restrict long_begin, global const uint* restrict long_end,
                   global uint* restrict tile_ptr, global uint* restrict wave, uint pieces, uint tiles, uint long_segments)
{
    const uint tile = get_global_id(0);
    if (tile > tiles)
        return;
    const uint first = first_piece(begin, pieces, tile, tiles);
    tile_ptr[tile] = first;
    if (tile < tiles && tile % WAVE == 0) {
        const uint end = first_piece(begin, pieces, min(tile + WAVE, tiles), tiles);
        global uint* of = wave + 3 * (tile / WAVE);
        of[0] = first;
        of[1] = lower_bound(long_end, 0, long_segments, first + 1);
        of[2] = lower_bound(long_begin, 0, long_segments, end);
    }
}
