// lines: adds the products of rows or columns of Z, for the reduced right-hand side and
// back-substitution.
// Host: src/solver/schur/lines.rs
//
//   count_pieces     lines + 1 work-items
//   make_pieces      one work-item per piece
//   sum_pieces       one work-group per piece of a long line. DEPTH blocks at a time are multiplied
//                    in local memory, and the products are then added in order
//   reduce_rows      one work-item per element of the cameras
//   back_substitute  one work-group per POINTS points
//
//   in   line_ptr[lines + 1]       lines are rows (BY_ROWS) or columns of Z
//   in   other[nnz]  source[nnz]   the other index and the entry of each term. In columns the
//                                  number of a term is its entry
//   out  piece_ptr[lines + 1]      number of pieces of each line longer than LONG; after a scan,
//                                   number of pieces of the lines before it
//   out  piece[pieces]             line, first term, end, number
//   in   z[nnz * C * P]  x[...]    blocks C x P, column-major, and the vector by which they are
//                                  multiplied
//   out  parts[pieces * OUT]       sums of the pieces
//   in   b[cameras * C]
//   out  r[cameras * C]            b - Z * x
//   in   y[points * P]  factor[points * PACKED]
//   out  x_p[points * P]           inverse(transpose(L)) * (y - transpose(Z) * x)
//
// The terms of a line are added in ascending order, and inside a block in ascending order of the
// block's other index. A sum starts at IDENTITY, and each product is rounded before it is added.
// After every PIECE terms from the line's start a new sum begins. The sums of a line are then added
// from left to right.
//
// These kernels support plus-times only, because the solver subtracts.
#if !defined(LONG) || !defined(PIECE)
#error "LONG, PIECE; for sums C, P, BY_ROWS, DEPTH, POINTS: see src/solver/schur/lines.rs"
#endif
KERNEL count_pieces(global const uint* line_ptr, global uint* piece_ptr, uint lines)
{
    const uint line = get_global_id(0);
    if (line > lines)
        return;
    // The scan of these numbers writes the number of all pieces after the last line.
    const uint terms = line < lines ? line_ptr[line + 1] - line_ptr[line] : 0;
    piece_ptr[line] = terms > LONG ? (terms - 1) / PIECE + 1 : 0;
}

KERNEL make_pieces(global const uint* line_ptr, global const uint* piece_ptr, global uint4* piece, uint lines, uint pieces)
{
    const uint number = get_global_id(0);
    if (number >= pieces)
        return;
    const uint line = column_of(piece_ptr, lines, number);
    const uint begin = line_ptr[line] + (number - piece_ptr[line]) * PIECE, left = line_ptr[line + 1] - begin;
    piece[number] = (uint4)(line, begin, begin + min(left, (uint)PIECE), number);
}

#ifdef C
#define AREA (C * P)
#if BY_ROWS
#define OUT C
#define INNER P
#define ENTRY(term) source[term]
#define ELEMENT_AT(out, inner) ((inner) * C + (out))
#define INNER_OF(element) ((element) / C)
#else
#define OUT P
#define INNER C
#define ENTRY(term) (term)
#define ELEMENT_AT(out, inner) ((out) * C + (inner))
#define INNER_OF(element) ((element) % C)
#endif

KERNEL sum_pieces(global const uint4* restrict piece, global const uint* restrict other, global const uint* restrict source,
                  global const ELEMENT* restrict z, global const ELEMENT* restrict x, global ELEMENT* restrict parts)
{
    local ARITHMETIC tile[DEPTH * AREA];
    const uint4 at = piece[get_group_id(0)];
    const uint item = get_local_id(0);
    ARITHMETIC sum = IDENTITY;
    for (uint term = at.y; term < at.z; term += DEPTH) {
        const uint depth = min((uint)DEPTH, at.z - term);
        for (uint i = item; i < depth * AREA; i += GROUP_SIZE) {
            const uint t = term + i / AREA, element = i % AREA;
            tile[i] = z[(ulong)ENTRY(t) * AREA + element] * x[(ulong)other[t] * INNER + INNER_OF(element)];
        }
        GROUP_BARRIER;
        if (item < OUT) {
            IN_ORDER
            for (uint i = 0; i < depth; ++i) {
                IN_ORDER
                for (uint k = 0; k < INNER; ++k)
                    sum += tile[i * AREA + ELEMENT_AT(item, k)];
            }
        }
        GROUP_BARRIER; // tile[] is read before the next round overwrites it
    }
    if (item < OUT)
        parts[(ulong)at.w * OUT + item] = sum;
}

// Returns element `out` of the sum of a line.
ARITHMETIC line_sum(global const uint* line_ptr, global const uint* other, global const uint* source, global const uint* piece_ptr,
                    global const ELEMENT* parts, global const ELEMENT* z, global const ELEMENT* x, uint line, uint out)
{
    const uint begin = line_ptr[line], end = line_ptr[line + 1];
    ARITHMETIC sum = IDENTITY;
    if (end - begin > LONG) {
        IN_ORDER
        for (uint i = piece_ptr[line]; i < piece_ptr[line + 1]; ++i)
            sum += parts[(ulong)i * OUT + out];
        return sum;
    }
    IN_ORDER
    for (uint t = begin; t < end; ++t) {
        global const ELEMENT* block = z + (ulong)ENTRY(t) * AREA;
        global const ELEMENT* factor = x + (ulong)other[t] * INNER;
        IN_ORDER
        for (uint k = 0; k < INNER; ++k)
            sum += block[ELEMENT_AT(out, k)] * factor[k];
    }
    return sum;
}

#if BY_ROWS
KERNEL reduce_rows(global const uint* restrict line_ptr, global const uint* restrict other, global const uint* restrict source,
                   global const uint* restrict piece_ptr, global const ELEMENT* restrict parts, global const ELEMENT* restrict z,
                   global const ELEMENT* restrict x, global const ELEMENT* restrict b, global ELEMENT* restrict r, uint lines)
{
    const ulong item = get_global_id(0);
    const uint line = (uint)(item / C);
    if (line < lines)
        r[item] = b[item] - line_sum(line_ptr, other, source, piece_ptr, parts, z, x, line, (uint)(item % C));
}
#else
#define PACKED (P * (P + 1) / 2)
#define AT(i, j) ((j) * (2 * P - 1 - (j)) / 2 + (i)) // i >= j

KERNEL back_substitute(global const uint* restrict line_ptr, global const uint* restrict other, global const uint* restrict piece_ptr,
                       global const ELEMENT* restrict parts, global const ELEMENT* restrict z, global const ELEMENT* restrict x,
                       global const ELEMENT* restrict y, global const ELEMENT* restrict factor, global ELEMENT* restrict x_p,
                       uint lines)
{
    local ARITHMETIC tile[POINTS * P];
    const uint item = get_local_id(0), first = get_group_id(0) * POINTS, count = min((uint)POINTS, lines - first);
    const ulong place = (ulong)first * P;
    for (uint i = item; i < count * P; i += GROUP_SIZE)
        tile[i] = y[place + i] - line_sum(line_ptr, other, other, piece_ptr, parts, z, x, first + i / P, i % P);
    GROUP_BARRIER;
    for (uint point = item; point < count; point += GROUP_SIZE) {
        global const ELEMENT* l = factor + (ulong)(first + point) * PACKED;
        local ARITHMETIC* own = tile + point * P;
        for (uint i = P; i-- > 0;) {
            ARITHMETIC value = own[i];
            IN_ORDER
            for (uint k = i + 1; k < P; ++k)
                value -= l[AT(k, i)] * own[k];
            own[i] = value * l[AT(i, i)];
        }
    }
    GROUP_BARRIER;
    for (uint i = item; i < count * P; i += GROUP_SIZE)
        x_p[place + i] = tile[i];
}
#endif
#endif
