// csr_adaptive_atomic: y = alpha * A * x + beta * y for compressed rows, as published for
// CSR-Adaptive (Evtushenko 2019, listings 4 and 5). This file comes after arrival.cl.
// Host: src/apply/spmv/csr_adaptive_atomic.rs
//
//   sum_blocks  One work-group takes one task:
//               CSR-Stream   several rows with at most LIMIT entries in all, a block of the paper.
//                            Items load the terms to local memory. Then an item, or a power of two
//                            of items, adds each row
//               CSR-Vector   a single row. Items add every GROUP_SIZE-th term, then their sums
//               CSR-VectorL  a share of a row of more than SHARE entries, added as a single row.
//                            The group adds its sum atomically to the sum of the row
//
//   in      row_ptr[rows + 1]  col[nnz]  source[nnz]   see values.cl
//   in      task[shares + blocks]   a share: its row, first entry, end, number of its row among
//                                   shared rows. A block: its first row, first entry, end, end of
//                                   its rows
//   in      values[nnz * stride]  x[columns]
//   in out  shared[shared rows * (WORDS + 1)]   the sum of each shared row, in WORDS words, then
//                                   the number of its shares that are complete. All words are 0
//                                   before and after
//   in out  y[rows]
//
// The paper leaves open what y contains before the groups of a shared row add to it. In this kernel
// groups do not add to y, so no launch has to clear y. Each group first adds its sum to the row's
// sum in `shared`, and then adds 1 to the row's count. In every interleaving the count becomes the
// number of shares only after all sums were added. Exactly one group sees the count reach the
// number of shares. The group that sees it writes the row of y, which no other group reads or
// writes, and sets the row's words in `shared` to 0 again. No other group of the launch accesses
// the row's words afterwards, because each group has added to the count already. Groups never wait
// for each other.
//
// Sums in `shared` have their bits exclusive-ored with the bits of START, so that zeros are the
// start of a sum. Floating-point sums start from +0.0, whose bits are zeros, because NVIDIA GPUs
// add to the stored bits. So a shared row whose terms are all -0.0 has the sum +0.0.
#if !defined(LIMIT) || !defined(SHARE)
#error "LIMIT, SHARE: see src/apply/spmv/csr_adaptive_atomic.rs"
#endif

#define WORDS (1 + WIDE)
#if FLOATING
#define START ((ARITHMETIC)0)
#define ADD_TO_ROW add_on_arrival
#else
#define START IDENTITY
ADDS_ON_ARRIVAL(add_to_row, global, AS_BITS(START)) // a race: see arrival.cl
#define ADD_TO_ROW add_to_row
#endif

KERNEL sum_blocks(global const uint* restrict row_ptr, global const uint4* restrict task, TERMS_OF(uint), global uint* shared,
                  global ELEMENT* restrict y, ARITHMETIC alpha, ARITHMETIC beta, uint shares, uint rows_shared)
{
    local ARITHMETIC cache[LIMIT];
    const uint group = get_group_id(0), item = get_local_id(0);
    const bool is_share = group < shares;
    const uint4 at = task[group];
    const uint first = at.x, begin = at.y, end = at.z, rows = is_share ? 1 : at.w - at.x;
    // Each row is added by `items` items: the largest power of two for which the work-group has
    // enough items, or 1 if there are more rows than items.
    const uint each = max((uint)GROUP_SIZE / rows, 1u), items = 1u << (31 - clz(each));
    const uint lane = item % items;
    if (rows > 1) {
        for (ulong place = (ulong)begin + item; place < end; place += GROUP_SIZE)
            cache[place - begin] = TERM(place);
    }
    GROUP_BARRIER;
    ARITHMETIC sum = IDENTITY;
    if (rows == 1) {
        IN_ORDER
        for (ulong place = (ulong)begin + item; place < end; place += GROUP_SIZE)
            sum = ADD(sum, TERM(place));
    } else {
        for (uint row = item / items; row < rows; row += GROUP_SIZE / items) {
            const uint from = row_ptr[first + row] - begin, to = row_ptr[first + row + 1] - begin;
            sum = IDENTITY;
            IN_ORDER
            for (uint i = from + lane; i < to; i += items)
                sum = ADD(sum, cache[i]);
            if (items == 1)
                place_sum(from < to ? sum : EMPTY, y, first + row, alpha, beta);
        }
    }
    GROUP_BARRIER; // terms are read before sums overwrite them
    cache[item] = sum;
    // In each round the lower half of a row's items reads what the upper half wrote.
    for (uint apart = items / 2; apart > 0; apart /= 2) {
        GROUP_BARRIER;
        if (lane < apart)
            cache[item] = ADD(cache[item], cache[item + apart]);
    }
    const uint row = first + item / items;
    if (lane != 0 || row >= first + rows || (items == 1 && rows > 1))
        return;
    const uint length = row_ptr[row + 1] - row_ptr[row];
    if (!is_share) {
        place_sum(length > 0 ? cache[item] : EMPTY, y, row, alpha, beta);
        return;
    }
    global ARITHMETIC* of_row = (global ARITHMETIC*)shared + at.w;
    global uint* complete = shared + (ulong)rows_shared * WORDS + at.w;
    ADD_TO_ROW(of_row, cache[item]);
    DEVICE_FENCE; // the sum is added before it is counted
    const uint count = atomic_inc(complete) + 1;
    DEVICE_FENCE; // the count is read before the sum
    if (count == (length - 1) / SHARE + 1) {
        const SUM_BITS all = REPLACE((volatile global SUM_BITS*)of_row, 0) ^ AS_BITS(START); // a race: ordered by the count
        atomic_xchg(complete, 0);
        place_sum(AS(ARITHMETIC)(all), y, row, alpha, beta);
    }
}
