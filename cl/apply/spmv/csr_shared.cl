// csr_shared: y = alpha * A * x + beta * y of compressed rows, of which work-items share the long
// ones.
// Host: src/apply/spmv/csr_shared.rs. It comes after ptx.cl, once.cl, parts.cl, terms.cl and
// values.cl.
//
//   sum_shared  one work-group per piece of a row of more than TILE entries, and per tile of
//               shorter rows: neighbours load its terms to local memory side by side, then an item
//               adds each row of up to LONG terms, and LANES items each longer one. Of the groups
//               of a row that is cut the last to end adds the sums of all
//
//   in      row_ptr[rows + 1]  task[pieces + tiles]   as in vector/lines.cl, pieces first
//   in      col[nnz]  source[nnz]   see values.cl
//   in      values[nnz * stride]  x[columns]
//   in out  arrived[parts]     0 for the first part of each row that is cut, before and after; then
//                              the sums of all parts, WORDS words for each
//   in out  y[rows]
//
// After every PIECE terms from the row's start a new sum begins, and the sums are added left to
// right. A piece of up to LONG terms is added in ascending place. Of a longer one lane l of LANES
// adds the terms l, l + LANES and so on; then the lanes are added left to right.
#if !defined(TILE) || !defined(PIECE) || !defined(HELD) || !defined(AHEAD) || !defined(LONG) || !defined(LANES)
#error "TILE, PIECE, HELD, AHEAD, LONG, LANES: see src/apply/spmv/csr_shared.rs"
#endif
#define WHOLE 0xffffffffu

// Loads the terms of entries begin to begin + count. An item loads what AHEAD terms need before it
// multiplies; behind the last the last is loaded again.
void load_terms(local ARITHMETIC* term, uint begin, uint count, global const uint* restrict col, global const uint* restrict source,
                global const VALUE* restrict values, global const ELEMENT* restrict x, uint stride)
{
    for (uint i = get_local_id(0); i < count; i += GROUP_SIZE * AHEAD) {
        uint column[AHEAD];
        ARITHMETIC value[AHEAD], factor[AHEAD];
        WRITTEN_OUT
        for (uint j = 0; j < AHEAD; ++j)
            column[j] = COLUMN_ONCE(col, begin + min(i + j * GROUP_SIZE, count - 1));
        WRITTEN_OUT
        for (uint j = 0; j < AHEAD; ++j) {
            const uint place = begin + min(i + j * GROUP_SIZE, count - 1);
            value[j] = VALUE_ONCE(values, BEGIN(place, 0));
            factor[j] = LOAD_AGAIN(x, column[j]);
        }
        WRITTEN_OUT
        for (uint j = 0; j < AHEAD; ++j) {
            if (i + j * GROUP_SIZE < count)
                term[i + j * GROUP_SIZE] = MULTIPLY(value[j], factor[j]);
        }
    }
}

KERNEL sum_shared(global const uint* restrict row_ptr, global const uint4* restrict task, global const uint* restrict col,
                  global const uint* restrict source, global const VALUE* restrict values, global const ELEMENT* restrict x,
                  global uint* arrived, global ELEMENT* restrict y, uint pieces, uint parts, uint stride, ARITHMETIC alpha, ARITHMETIC beta)
{
    local ARITHMETIC term[HELD + BEHIND];
    // The long rows: first term, number of terms, row. No more of them are in local memory.
    local uint4 lot[HELD / LONG + 1];
    local uint lots[1], arrivals[1];
    const uint group = get_group_id(0), item = get_local_id(0);
    const bool is_piece = group < pieces;
    const uint4 at = task[group];
    const uint row = at.x, rows = is_piece ? 1 : at.y - at.x, part = is_piece ? at.w : WHOLE;
    const uint begin = is_piece ? at.y : at.z, end = is_piece ? at.z : at.w;
    // The item's first row, read before the terms.
    uint i = item, from = begin, to = end;
    if (!is_piece && i < rows)
        from = row_ptr[row + i], to = row_ptr[row + i + 1];
    if (item == 0)
        lots[0] = 0;
    load_terms(term, begin, end - begin, col, source, values, x, stride);
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
    GROUP_BARRIER; // the list of long rows
    // The sum of a lane takes the place of its first term, which no other lane reads.
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
    // The sum of a part is that of item 0.
    uint first_part = 0;
    if (item == 0)
        arrivals[0] = 0;
    if (part != WHOLE) {
        const uint start = row_ptr[row], before = (begin - start) / PIECE, of_row = (row_ptr[row + 1] - start - 1) / PIECE + 1;
        first_part = part - before;
        if (item == 0) {
            DEVICE_FENCE;
            const uint arrived_now = atomic_inc(&arrived[first_part]) + 1;
            DEVICE_FENCE;
            if (arrived_now == of_row) {
                arrivals[0] = of_row;
                atomic_xchg(&arrived[first_part], 0); // for the next execution
            }
        }
    }
    GROUP_BARRIER; // the reads of all terms, too
    const uint of_row = arrivals[0];
    ARITHMETIC sum = IDENTITY;
    for (uint done = 0; done < of_row; done += HELD) {
        const uint here = min((uint)HELD, of_row - done);
        for (uint k = item; k < here; k += GROUP_SIZE)
            term[k] = found(words + (ulong)(first_part + done + k) * WORDS);
        GROUP_BARRIER;
        if (item == 0)
            sum = add_apart(sum, term, here, 1);
        GROUP_BARRIER; // every read, before the next round writes
    }
    if (of_row > 0 && item == 0)
        place_sum(sum, y, row, alpha, beta);
}
