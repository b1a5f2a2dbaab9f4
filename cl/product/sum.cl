// sum: C = alpha * (P0 + P1 + ...) + beta * C for matrices of one size and block shape that have different patterns.
//                                                                                                    host: src/product/plan/sum.rs
//   one work-item per element of C
//
//   in      run_end[nnz]  pair[terms]          of each block of C the blocks that sum to it, in ascending order of their matrices: pair.x
//   in      parts[blocks * area]               the blocks of all matrices, one matrix after another
//   in out  c_values[(first + nnz) * c_stride] beta * what was there is added, which is not read where beta is 0
KERNEL sum_groups(global const uint* run_end, global const uint2* pair, global const ELEMENT* parts, global ELEMENT* c_values,
                  uint nnz, uint first, uint c_stride, ARITHMETIC alpha, ARITHMETIC beta, uint area)
{
    const ulong item = get_global_id(0);
    const uint block = (uint)(item / area), element = (uint)(item % area);
    if (block >= nnz)
        return;
    const uint begin = block > 0 ? run_end[block - 1] + 1 : 0, last = run_end[block];
    ARITHMETIC sum = IDENTITY;
    IN_ORDER
    for (uint p = begin; p <= last; ++p)
        sum = ADD(sum, LOAD(parts, (ulong)pair[p].x * area + element));
    place_sum(sum, c_values, ((ulong)first + block) * c_stride + element, alpha, beta);
}
