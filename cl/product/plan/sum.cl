// sum: C = alpha * (P0 + P1 + ...) + beta * C, for matrices of one size and block shape.
// Host: src/product/plan/sum.rs
//
//   One work-item per element of C. The patterns of the matrices may differ.
//
//   in      run_end[nnz]            last term of each block of C
//   in      pair[terms]             pair.x: the block that is added, in ascending order of matrices
//   in      parts[blocks * area]    the blocks of all matrices, one matrix after another
//   in out  c_values[(first + nnz) * c_stride]      the old value is not read if beta is 0
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
