// csr_shared: y = alpha * A * x + beta * y for compressed rows. Work-items share long rows.
// Host: src/apply/spmv/csr_shared.rs. This file comes after pieces.cl.
//
//   sum_shared  One work-group takes a piece of a row of more than TILE entries, or a tile of
//               shorter rows. Neighbouring items load the terms of a piece or tile to local memory.
//               One item adds each row of up to LONG loaded terms, and LANES items add each longer
//               row. The last work-group of a cut row to finish adds the sums of all its parts
//
//   in      row_ptr[rows + 1]  task[pieces + tiles]   as in vector/lines.cl, pieces first
//   in      col[nnz]  source[nnz]   see values.cl
//   in      values[nnz * stride]  x[columns]
//   in out  arrived[parts]     0 for the first part of each row that is cut, before and after. The
//                              sums of all parts follow, WORDS words for each
//   in out  y[rows]
//
// After every PIECE terms from the row's start a new sum begins, and the sums are added left to
// right. A piece of up to LONG terms is added in ascending order. In a longer piece, each of LANES
// lanes adds every LANES-th term, and the sums of the lanes are added left to right.
#if !defined(TILE) || !defined(LONG) || !defined(LANES)
#error "TILE, LONG, LANES: see src/apply/spmv/csr_shared.rs"
#endif

KERNEL sum_shared(global const uint* restrict row_ptr, global const uint4* restrict task, TERMS_OF(uint), global uint* arrived,
                  global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta, uint pieces, uint parts)
{
    local ARITHMETIC term[HELD + BEHIND];
    // For each long row, its first term, its number of terms, and its row. HELD terms contain at
    // most HELD / LONG + 1 long rows.
    local uint4 lot[HELD / LONG + 1];
    local uint lots[1], arrivals[1];
    const uint group = get_group_id(0), item = get_local_id(0);
    const bool is_piece = group < pieces;
    const uint4 at = task[group];
    const uint row = at.x, rows = is_piece ? 1 : at.y - at.x, part = is_piece ? at.w : WHOLE;
    const uint begin = is_piece ? at.y : at.z, end = is_piece ? at.z : at.w;
    // The bounds of the item's first row are read before the terms, so that the loads overlap.
    uint i = item, from = begin, to = end;
    if (!is_piece && i < rows)
        from = row_ptr[row + i], to = row_ptr[row + i + 1];
    if (item == 0)
        lots[0] = 0;
    load_terms(term, begin, end - begin, TERMS);
    GROUP_BARRIER;
    global uint* words = arrived + parts;
    while (i < rows) {
        if (to - from > LONG) {
            lot[atomic_inc(&lots[0])] = (uint4)(from - begin, to - from, row + i, 0);
        } else {
            const ARITHMETIC sum = add_apart(from < to ? IDENTITY : EMPTY, term + (from - begin), to - from, 1);
            if (part == WHOLE)
                place_sum(sum, y, row + i, alpha, beta);
            else
                give(sum, words + (ulong)part * WORDS);
        }
        i += GROUP_SIZE;
        if (i < rows)
            from = row_ptr[row + i], to = row_ptr[row + i + 1];
    }
    GROUP_BARRIER; // lot[] and lots are written before other items read them
    // A lane's sum is stored in place of its first term, which no other lane reads.
    const uint count = lots[0];
    LEAVE_IF(count == 0 && part == WHOLE);
    for (uint number = item; number < count * LANES; number += GROUP_SIZE) {
        const uint lane = number % LANES, terms = lot[number / LANES].y;
        local ARITHMETIC* first = term + lot[number / LANES].x + lane;
        first[0] = add_apart(IDENTITY, first, (terms - lane + LANES - 1) / LANES, LANES);
    }
    GROUP_BARRIER;
    for (uint number = item; number < count; number += GROUP_SIZE) {
        const ARITHMETIC sum = add_apart(IDENTITY, term + lot[number].x, LANES, 1);
        if (part == WHOLE)
            place_sum(sum, y, lot[number].z, alpha, beta);
        else
            give(sum, words + (ulong)part * WORDS);
    }
    LEAVE_IF(part == WHOLE);
    place_parts(part, row, begin, row_ptr, arrived, parts, term, arrivals, y, alpha, beta);
}
