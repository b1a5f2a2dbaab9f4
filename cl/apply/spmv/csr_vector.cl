// csr_vector: y = alpha * A * x + beta * y, one team of 32 work-items per row of compressed rows.
// Host: src/apply/spmv/csr_vector.rs
//
//   in      row_ptr[rows + 1]  col[nnz]  source[nnz]   see values.cl
//   in      values[nnz * stride]  x[columns]
//   in out  y[rows]
//
// Neighbouring lanes read neighbouring entries. Each lane adds every 32nd term of the row in
// ascending order. Then lanes that are 16, 8, 4, 2 and 1 apart add their sums. A lane without terms
// has the sum IDENTITY, which changes no bit. This file comes after ptx.cl and team.cl.
#if !defined(WIDE)
#error "WIDE: see src/apply/spmv/csr_vector.rs"
#endif

#define AS_(word) as_##word
#define AS(word) AS_(word)

// Returns the sum of the item whose number differs by `bits`. A sum is exchanged as two words if
// WIDE, otherwise as one.
ARITHMETIC sum_across(ARITHMETIC sum, uint bits, TEAM_OF)
{
#if WIDE
    const uint2 words = as_uint2(sum);
    const uint mine[2] = {words.x, words.y};
    uint other[2];
    team_across_all(other, mine, 2, bits, team);
    return as_double((uint2)(other[0], other[1]));
#else
    return AS(ARITHMETIC)(team_across(as_uint(sum), bits, team));
#endif
}

KERNEL sum_rows_by_teams(global const uint* restrict row_ptr, TERMS_OF(uint), global ELEMENT* restrict y, ARITHMETIC alpha,
                         ARITHMETIC beta, uint rows)
{
    TEAM_MEMORY_OF(2);
    // The last group may have teams without a row.
    const uint row = get_global_id(0) / TEAM_SIZE;
    const uint begin = row < rows ? row_ptr[row] : 0, end = row < rows ? row_ptr[row + 1] : 0;
    ARITHMETIC sum = IDENTITY;
    IN_ORDER
    for (ulong place = (ulong)begin + LANE; place < end; place += TEAM_SIZE)
        sum = ADD(sum, TERM(place));
    UNROLLED
    for (uint bits = TEAM_SIZE / 2; bits > 0; bits /= 2) {
        const ARITHMETIC other = sum_across(sum, bits, TEAM);
        sum = ADD(sum, other);
    }
    if (LANE == 0 && row < rows)
        place_sum(begin < end ? sum : EMPTY, y, row, alpha, beta);
}
