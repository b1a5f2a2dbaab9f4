// segmented_scan: combines the values of each segment from left to right, by any operator.
// Host: src/primitives/segmented_scan.rs
//
// Segments are cut into pieces of at most PIECE values. Each piece is combined by itself, and then
// the totals of a segment's pieces are combined. A tile is the whole pieces that begin within TILE
// values; a wave is some tiles. A group of one item combines the pieces of a tile one after
// another, or AT_ONCE full pieces at the same time. In a larger group all items copy a tile to
// local memory, and each item combines pieces there.
//
//   scan_tiles      a work-group per carry, then per tile to scan, then per tile to total
//   total_tiles     a work-group per carry, then per tile to total
//   segment_totals  a work-item per segment: its total, or EMPTY
//
// A carry is a segment of several pieces, some of which are in the wave. The group of a carry
// replaces the totals of these pieces: the place of the segment's first piece gets the total up to
// the end of the wave, and the place of each other piece gets the total of the pieces before it. So
// a wave takes three launches: the first totals its pieces, the second carries these totals, and
// the third scans. Each launch does these tasks for three neighbouring waves.
//
// No group reads a value that another group of the launch writes. A carry writes totals of its
// wave, and the total of its segment's first piece, which no scan and no other carry reads.
//
//   in      begin[pieces + 1]         the start of each piece; the last ends at begin[pieces]
//   in      follows[pieces + 1]       1 if the piece is not the first of its segment
//   in      tile_ptr[tiles + 1]       the first piece of each tile
//   in      piece_ptr[segments + 1]   the first piece of each segment
//   in      long_begin[long]  long_end[long]   the pieces of each segment that has several
//   in out  values[begin[pieces]]     total_tiles only reads them
//   in out  totals[pieces]            totals of short segments are written only if `all`
//   out     sums[segments]
#if !defined(COMBINE) || !defined(EMPTY) || !defined(ARITHMETIC)
#error "COMBINE(x, y), EMPTY, ARITHMETIC: see src/primitives/operator.rs"
#endif
#if !defined(PIECE) || !defined(TILE) || !defined(AT_ONCE)
#error "PIECE, TILE, AT_ONCE: see src/primitives/segmented_scan.rs"
#endif

// PLACE is the place of value i of a tile. In local memory a gap follows every 32nd value. Without
// the gaps, items that read pieces of equal length would read from the same banks.
#if GROUP_SIZE == 1
#define PLACE(i) (i)
#define PLACES 1
#define TILE_MEMORY global
#else
#define PLACE(i) ((i) + (i) / 32)
#define PLACES PLACE(TILE + PIECE)
#define TILE_MEMORY local
#endif

// The operator's expression sees only x and y, each evaluated once.
ARITHMETIC combined(ARITHMETIC x, ARITHMETIC y)
{
    return COMBINE(x, y);
}

// Combines `several` neighbouring pieces of `length` values, the first of which is at `from`.
void total_pieces(TILE_MEMORY const ARITHMETIC* tile, uint from, uint length, const uint several, global ARITHMETIC* totals)
{
    ARITHMETIC sum[AT_ONCE];
    WRITTEN_OUT
    for (uint k = 0; k < several; ++k)
        sum[k] = tile[PLACE(from + k * length)];
    IN_ORDER
    for (uint i = from + 1; i < from + length; ++i) {
        WRITTEN_OUT
        for (uint k = 0; k < several; ++k)
            sum[k] = combined(sum[k], tile[PLACE(i + k * length)]);
    }
    WRITTEN_OUT
    for (uint k = 0; k < several; ++k)
        totals[k] = sum[k];
}

// Scans `several` neighbouring pieces of `length` values. If `carries`, the total of the pieces
// before them is combined with each value.
void scan_pieces(TILE_MEMORY ARITHMETIC* tile, uint from, uint length, const uint several, bool carries,
                 global const ARITHMETIC* totals, uint inclusive)
{
    ARITHMETIC carry[AT_ONCE], sum[AT_ONCE], before[AT_ONCE];
    WRITTEN_OUT
    for (uint k = 0; k < several; ++k) {
        carry[k] = carries ? totals[k] : EMPTY;
        sum[k] = tile[PLACE(from + k * length)];
        before[k] = carries ? combined(carry[k], sum[k]) : sum[k];
        tile[PLACE(from + k * length)] = inclusive ? before[k] : carry[k];
    }
    IN_ORDER
    for (uint i = from + 1; i < from + length; ++i) {
        WRITTEN_OUT
        for (uint k = 0; k < several; ++k) {
            sum[k] = combined(sum[k], tile[PLACE(i + k * length)]);
            const ARITHMETIC with = carries ? combined(carry[k], sum[k]) : sum[k];
            tile[PLACE(i + k * length)] = inclusive ? with : before[k];
            before[k] = with;
        }
    }
}

// Returns whether AT_ONCE pieces from `piece` on, before `end`, are full.
bool are_full(global const uint* begin, uint piece, uint end)
{
    return end - piece >= AT_ONCE && begin[piece + AT_ONCE] - begin[piece] == AT_ONCE * PIECE;
}

// Returns whether all AT_ONCE pieces from `piece` on follow another piece of their segment, or none
// does.
bool are_alike(global const uchar* follows, uint piece)
{
    bool alike = true;
    for (uint k = 1; k < AT_ONCE; ++k)
        alike &= follows[piece + k] == follows[piece];
    return alike;
}

void copy_tile(global const ARITHMETIC* from, uint count, local ARITHMETIC* to)
{
    for (uint i = get_local_id(0); i < count; i += GROUP_SIZE)
        to[PLACE(i)] = from[i];
}

void total_tile(global const uint* begin, global const uchar* follows, uint first, uint end, global const ARITHMETIC* values,
                global ARITHMETIC* totals, uint all, local ARITHMETIC* held)
{
    const uint start = begin[first];
#if GROUP_SIZE == 1
    global const ARITHMETIC* tile = values + start;
    for (uint piece = first; piece < end;) {
        const uint from = begin[piece] - start;
        if (are_full(begin, piece, end)) {
            total_pieces(tile, from, PIECE, AT_ONCE, totals + piece);
            piece += AT_ONCE;
            continue;
        }
        if (all || follows[piece] || follows[piece + 1])
            total_pieces(tile, from, begin[piece + 1] - begin[piece], 1, totals + piece);
        ++piece;
    }
#else
    copy_tile(values + start, begin[end] - start, held);
    GROUP_BARRIER;
    for (uint piece = first + get_local_id(0); piece < end; piece += GROUP_SIZE)
        if (all || follows[piece] || follows[piece + 1])
            total_pieces(held, begin[piece] - start, begin[piece + 1] - begin[piece], 1, totals + piece);
#endif
}

void scan_tile(global const uint* begin, global const uchar* follows, uint first, uint end, global const ARITHMETIC* totals,
               global ARITHMETIC* values, uint inclusive, local ARITHMETIC* held)
{
    const uint start = begin[first];
#if GROUP_SIZE == 1
    global ARITHMETIC* tile = values + start;
    for (uint piece = first; piece < end;) {
        const uint from = begin[piece] - start;
        const bool carries = follows[piece];
        if (are_full(begin, piece, end) && are_alike(follows, piece)) {
            scan_pieces(tile, from, PIECE, AT_ONCE, carries, totals + piece, inclusive);
            piece += AT_ONCE;
            continue;
        }
        scan_pieces(tile, from, begin[piece + 1] - begin[piece], 1, carries, totals + piece, inclusive);
        ++piece;
    }
#else
    const uint count = begin[end] - start;
    copy_tile(values + start, count, held);
    GROUP_BARRIER;
    for (uint piece = first + get_local_id(0); piece < end; piece += GROUP_SIZE)
        scan_pieces(held, begin[piece] - start, begin[piece + 1] - begin[piece], 1, follows[piece], totals + piece, inclusive);
    GROUP_BARRIER;
    for (uint i = get_local_id(0); i < count; i += GROUP_SIZE)
        values[start + i] = held[PLACE(i)];
#endif
}

// Carries the totals of the pieces first..end of a segment through the wave wave_begin..wave_end.
// The next totals are loaded while one item combines.
void carry_totals(uint first, uint end, uint wave_begin, uint wave_end, global ARITHMETIC* totals, local ARITHMETIC* held)
{
    const uint item = get_local_id(0), from = max(first, wave_begin), to = min(end, wave_end);
    // Only item 0 reads totals[first], which it also writes: the barriers order local memory only.
    ARITHMETIC before = item == 0 && from > first ? totals[first] : EMPTY;
    ARITHMETIC next = from + item < to ? totals[from + item] : EMPTY;
    for (uint round = from; round < to; round += GROUP_SIZE) {
        const uint piece = round + item;
        held[item] = next;
        GROUP_BARRIER;
        next = piece + GROUP_SIZE < to ? totals[piece + GROUP_SIZE] : EMPTY;
        if (item == 0) {
            const uint count = min((uint)GROUP_SIZE, to - round);
            uint i = 0;
            if (round == first)
                before = held[i++];
            IN_ORDER
            for (; i < count; ++i) {
                const ARITHMETIC total = held[i];
                held[i] = before;
                before = combined(before, total);
            }
        }
        GROUP_BARRIER;
        if (piece < to)
            totals[piece] = held[item];
    }
    if (item == 0)
        totals[first] = before;
}

KERNEL scan_tiles(global const uint* restrict begin, global const uchar* restrict follows, global const uint* restrict tile_ptr,
                  global const uint* restrict long_begin, global const uint* restrict long_end, global ARITHMETIC* totals,
                  global ARITHMETIC* restrict values, uint first_carry, uint carries, uint wave_begin, uint wave_end,
                  uint first_scanned, uint scanned, uint first_totalled, uint inclusive)
{
    local ARITHMETIC held[PLACES];
    const uint group = get_group_id(0);
    if (group < carries) {
        const uint carry = first_carry + group;
        carry_totals(long_begin[carry], long_end[carry], wave_begin, wave_end, totals, held);
    } else if (group < carries + scanned) {
        const uint tile = first_scanned + group - carries;
        scan_tile(begin, follows, tile_ptr[tile], tile_ptr[tile + 1], totals, values, inclusive, held);
    } else {
        const uint tile = first_totalled + group - carries - scanned;
        total_tile(begin, follows, tile_ptr[tile], tile_ptr[tile + 1], values, totals, 0, held);
    }
}

KERNEL total_tiles(global const uint* restrict begin, global const uchar* restrict follows, global const uint* restrict tile_ptr,
                   global const uint* restrict long_begin, global const uint* restrict long_end, global ARITHMETIC* totals,
                   global const ARITHMETIC* restrict values, uint first_carry, uint carries, uint wave_begin, uint wave_end,
                   uint first_totalled)
{
    local ARITHMETIC held[PLACES];
    const uint group = get_group_id(0);
    if (group < carries) {
        const uint carry = first_carry + group;
        carry_totals(long_begin[carry], long_end[carry], wave_begin, wave_end, totals, held);
    } else {
        const uint tile = first_totalled + group - carries;
        total_tile(begin, follows, tile_ptr[tile], tile_ptr[tile + 1], values, totals, 1, held);
    }
}

KERNEL segment_totals(global const uint* restrict piece_ptr, global const ARITHMETIC* restrict totals,
                      global ARITHMETIC* restrict sums, uint segments)
{
    const uint segment = get_global_id(0);
    if (segment >= segments)
        return;
    const uint piece = piece_ptr[segment];
    sums[segment] = piece < piece_ptr[segment + 1] ? totals[piece] : EMPTY;
}
