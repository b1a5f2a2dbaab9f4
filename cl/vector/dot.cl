// dot: adds the products of two vectors' elements, by a tree that depends only on their length.
// Host: src/vector/arithmetic.rs
//
//   dot_pieces  one work-group per PIECE elements: adds their products
//   add_pieces  one work-group per PIECE sums: adds them; repeated until one sum is left
//
//   in   x[n]  y[n]
//   in   terms[n]                          the sums of the round before
//   out  sums[(n + PIECE - 1) / PIECE]
//
// Term i + PIECE / 2 is added to term i of a piece. Then the sum at i + PIECE / 4 is added to the
// sum at i, and so on. Places after the last term contain IDENTITY, which changes no bit.
//
// The kernels support plus-times only, because a dot product is defined for real numbers.
#ifndef PIECE
#error "PIECE: see src/vector/arithmetic.rs"
#endif
#define HALF (PIECE / 2)

// Folds HALF sums into sum[0].
void fold(local ARITHMETIC* sum)
{
    for (uint width = HALF / 2; width > 0; width /= 2) {
        GROUP_BARRIER; // sum[] is written before other items read it
        for (uint i = get_local_id(0); i < width; i += GROUP_SIZE)
            sum[i] += sum[i + width];
    }
}

KERNEL dot_pieces(global const ELEMENT* restrict x, global const ELEMENT* restrict y, global ARITHMETIC* restrict sums, ulong n)
{
    local ARITHMETIC sum[HALF];
    const ulong begin = (ulong)get_group_id(0) * PIECE;
    for (uint i = get_local_id(0); i < HALF; i += GROUP_SIZE) {
        const ulong first = begin + i, second = first + HALF;
        const ARITHMETIC one = first < n ? LOAD(x, first) * LOAD(y, first) : IDENTITY;
        sum[i] = one + (second < n ? LOAD(x, second) * LOAD(y, second) : IDENTITY);
    }
    fold(sum);
    if (get_local_id(0) == 0)
        sums[get_group_id(0)] = sum[0];
}

KERNEL add_pieces(global const ARITHMETIC* restrict terms, global ARITHMETIC* restrict sums, ulong n)
{
    local ARITHMETIC sum[HALF];
    const ulong begin = (ulong)get_group_id(0) * PIECE;
    for (uint i = get_local_id(0); i < HALF; i += GROUP_SIZE) {
        const ulong first = begin + i, second = first + HALF;
        sum[i] = (first < n ? terms[first] : IDENTITY) + (second < n ? terms[second] : IDENTITY);
    }
    fold(sum);
    if (get_local_id(0) == 0)
        sums[get_group_id(0)] = sum[0];
}
