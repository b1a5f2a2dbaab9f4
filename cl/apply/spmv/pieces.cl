// pieces: what work-groups do with the pieces of rows of scalars. It comes after ptx.cl, once.cl,
// parts.cl, terms.cl and values.cl.
// Host: src/apply/spmv/csr_long.rs, src/apply/spmv/csr_shared.rs
//
// A row is cut every PIECE entries from its start. A part is a piece of a row that is cut, WHOLE a
// piece that is not. A group holds HELD terms in local memory.
#if !defined(PIECE) || !defined(HELD) || !defined(AHEAD)
#error "PIECE, HELD, AHEAD: see src/apply/spmv/csr_shared.rs"
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

// Counts a part, whose sum item 0 has given away before. If it is the last of its row, adds the
// sums of all parts, left to right.
void place_parts(uint part, uint row, uint begin, global const uint* restrict row_ptr, global uint* arrived, uint parts,
                 local ARITHMETIC* term, local uint* arrivals, global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta)
{
    const uint item = get_local_id(0);
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
            term[k] = found(arrived + parts + (ulong)(first_part + done + k) * WORDS);
        GROUP_BARRIER;
        if (item == 0)
            sum = add_apart(sum, term, here, 1);
        GROUP_BARRIER; // every read, before the next round writes
    }
    if (of_row > 0 && item == 0)
        place_sum(sum, y, row, alpha, beta);
}
