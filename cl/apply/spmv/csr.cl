// csr: y = alpha * A * x + beta * y for compressed rows.
// Host: src/apply/spmv/csr.rs
//
//   sum_rows       one work-item per scalar row
//   sum_stretches  one work-group of one work-item per stretch of rows of blocks
//
//   in      row_ptr[rows + 1]  col[nnz]  source[nnz]   see values.cl
//   in      stretch_row[stretches + 1]   first row of each stretch
//   in      values[nnz * stride]  x[columns * DEPTH]
//   in out  y[rows * SUMS]
//
// The terms of a row are added in ascending order. After every PIECE entries a new sum begins, and
// the sums are added left to right. A sum starts from IDENTITY, which does not change the bits of
// the first term. This file comes after row.cl.

#if AREA == 1
// Returns the sum of a row in a stretch. The row has the entries from `place` to `end`.
ARITHMETIC sum_row(uint place, uint end, TERMS_OF(uint))
{
    ARITHMETIC sum = place < end ? IDENTITY : EMPTY;
    while (end - place > PIECE) {
        const uint piece_end = place + PIECE;
        ARITHMETIC part = IDENTITY;
        AS_WRITTEN
        for (; place < piece_end; ++place)
            part = ADD(part, TERM(place));
        sum = ADD(sum, part);
    }
    ARITHMETIC part = IDENTITY;
    AS_WRITTEN
    for (; place < end; ++place)
        part = ADD(part, TERM(place));
    return ADD(sum, part);
}
#endif

KERNEL sum_rows(global const uint* restrict row_ptr, TERMS_OF(uint), global ELEMENT* restrict y, ARITHMETIC alpha,
                ARITHMETIC beta, uint rows)
{
    const ulong item = get_global_id(0);
    const uint row = item / SUMS;
    if (row >= rows)
        return;
    const ARITHMETIC sum = sum_entries(row_ptr[row], row_ptr[row + 1], 1, 0, item % SUMS, 0, TERMS);
    place_sum(sum, y, item, alpha, beta);
}

// Loops over small blocks are unrolled, so that their sums stay in registers. For 6x6 blocks A * x
// takes 1.1 ms with unrolled loops, and 2.2 ms with loops that are not unrolled.
#if AREA <= 64
#define OF_BLOCK _Pragma("unroll")
#else
#define OF_BLOCK
#endif

// Adds the terms of the entries from `place` to `end` to all sums of their row. The sums are
// independent, so a CPU adds several at once.
void add_blocks(ARITHMETIC* part, uint place, uint end, TERMS_OF(uint))
{
    AS_WRITTEN
    for (; place < end; ++place) {
        const ulong begin = BEGIN(place, 0), factors = (ulong)col[place] * DEPTH;
        const uint step = STEP(place), next = BEGIN(place, 1) - begin;
        OF_BLOCK
        for (uint k = 0; k < DEPTH; ++k) {
            const ARITHMETIC factor = LOAD(x, factors + k);
            OF_BLOCK
            for (uint sum = 0; sum < SUMS; ++sum)
                part[sum] = ADD(part[sum], MULTIPLY(LOAD_VALUE(values, begin + k * step + sum * next), factor));
        }
    }
}

KERNEL sum_stretches(global const uint* restrict row_ptr, global const uint* restrict stretch_row, TERMS_OF(uint),
                     global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint stretch = get_group_id(0), first = stretch_row[stretch], last = stretch_row[stretch + 1];
    uint place = row_ptr[first];
    for (uint row = first; row < last; ++row) {
        const uint end = row_ptr[row + 1];
#if AREA == 1
        place_sum(sum_row(place, end, TERMS), y, row, alpha, beta);
#else
        ARITHMETIC total[SUMS], part[SUMS];
        OF_BLOCK
        for (uint sum = 0; sum < SUMS; ++sum)
            total[sum] = place < end ? IDENTITY : EMPTY;
        do {
            const uint piece_end = end - place > PIECE ? place + PIECE : end;
            OF_BLOCK
            for (uint sum = 0; sum < SUMS; ++sum)
                part[sum] = IDENTITY;
            add_blocks(part, place, piece_end, TERMS);
            OF_BLOCK
            for (uint sum = 0; sum < SUMS; ++sum)
                total[sum] = ADD(total[sum], part[sum]);
            place = piece_end;
        } while (place < end);
        OF_BLOCK
        for (uint sum = 0; sum < SUMS; ++sum)
            place_sum(total[sum], y, (ulong)row * SUMS + sum, alpha, beta);
#endif
        place = end;
    }
}
