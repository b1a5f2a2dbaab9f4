// pieces: functions of work-groups that add pieces of rows of scalars. This file comes after
// ptx.cl, once.cl, parts.cl, terms.cl and values.cl.
// Host: src/apply/spmv/csr_long.rs, src/apply/spmv/csr_shared.rs
//
// A row is cut every PIECE entries from its start. A piece of a row that is cut is called a part; a
// piece that is a whole row has the part WHOLE. A group holds HELD terms in local memory. NARROW is
// 1 if values are packed floats, and col, values and x each have fewer than 2^32 bytes.
#if !defined(PIECE) || !defined(HELD) || !defined(AHEAD) || !defined(NARROW)
#error "PIECE, HELD, AHEAD, NARROW: see src/apply/spmv/rows.rs"
#endif
#define WHOLE 0xffffffffu

// AT is the address of element i of an array. NVIDIA's compiler uses at most 32 registers for
// kernels of floats. If the addresses of AHEAD terms do not fit, a factor waits for its column
// before other loads begin. A byte offset takes one register if it has 32 bits, otherwise two.
#if NARROW
#define AT(TYPE, array, i) ((global const TYPE*)((global const uchar*)(array) + (uint)(i) * (uint)sizeof(TYPE)))
#else
#define AT(TYPE, array, i) (&(array)[i])
#endif

// Loads the terms of the entries from begin to begin + count. An item loads the operands of AHEAD
// terms before it multiplies. Beyond the last entry it loads the last entry again.
void load_terms(local ARITHMETIC* term, uint begin, uint count, TERMS_OF(uint))
{
    for (uint i = get_local_id(0); i < count; i += GROUP_SIZE * AHEAD) {
        uint column[AHEAD];
        ARITHMETIC value[AHEAD], factor[AHEAD];
        WRITTEN_OUT
        for (uint j = 0; j < AHEAD; ++j)
            column[j] = COLUMN_ONCE(AT(uint, col, begin + min(i + j * GROUP_SIZE, count - 1)), 0);
        WRITTEN_OUT
        for (uint j = 0; j < AHEAD; ++j) {
            const uint place = begin + min(i + j * GROUP_SIZE, count - 1);
            value[j] = VALUE_ONCE(AT(VALUE, values, BEGIN(place, 0)), 0);
            factor[j] = LOAD_AGAIN(AT(ELEMENT, x, column[j]), 0);
        }
        WRITTEN_OUT
        for (uint j = 0; j < AHEAD; ++j) {
            if (i + j * GROUP_SIZE < count)
                term[i + j * GROUP_SIZE] = MULTIPLY(value[j], factor[j]);
        }
    }
}

// Counts the part whose sum item 0 has published. If no other part of the row is missing, adds the
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
    GROUP_BARRIER; // arrivals is written before it is read; term[] is read before it is overwritten
    const uint of_row = arrivals[0];
    ARITHMETIC sum = IDENTITY;
    for (uint done = 0; done < of_row; done += HELD) {
        const uint here = min((uint)HELD, of_row - done);
        for (uint k = item; k < here; k += GROUP_SIZE)
            term[k] = found(arrived + parts + (ulong)(first_part + done + k) * WORDS);
        GROUP_BARRIER;
        if (item == 0)
            sum = add_apart(sum, term, here, 1);
        GROUP_BARRIER; // term[] is read before the next round overwrites it
    }
    if (of_row > 0 && item == 0)
        place_sum(sum, y, row, alpha, beta);
}
