// csr_long: y = alpha * A * x + beta * y for compressed rows of scalars, some of which may be long.
// Host: src/apply/spmv/csr_long.rs. This file comes after row.cl and pieces.cl.
//
//   sum_rows_and_pieces  The first `groups` work-groups share the pieces of rows of more than
//                        `longest` entries. In a work-group neighbouring items load the terms of a
//                        piece to local memory, then one item adds them. The last work-group of a
//                        row to finish adds the sums of all its parts. The other work-groups have
//                        one item per row
//
//   in      row_ptr[rows + 1]  col[nnz]  source[nnz]   see values.cl
//   in      counts[1]          number of pieces
//   in      piece[counts[0]]   as in vector/lines.cl
//   in      values[nnz * stride]  x[columns]
//   in out  arrived[parts]     0 for the first part of each row that is cut, before and after. The
//                              sums of all parts follow, WORDS words for each
//   in out  y[rows]
//
// The terms of a row are added in ascending order. After every PIECE entries a new sum begins, and
// the sums are added left to right.

KERNEL sum_rows_and_pieces(global const uint* restrict row_ptr, global const uint* restrict counts,
                           global const uint4* restrict piece, TERMS_OF(uint), global uint* arrived, global ELEMENT* restrict y,
                           ARITHMETIC alpha, ARITHMETIC beta, uint rows, uint longest, uint groups, uint parts)
{
    local ARITHMETIC term[HELD + BEHIND];
    local uint arrivals[1];
    const uint group = get_group_id(0), item = get_local_id(0);
    // A work-group has either pieces or rows, so no barrier comes after a return.
    if (group < groups) {
        const uint pieces = counts[0];
        for (uint number = group; number < pieces; number += groups) {
            const uint4 at = piece[number];
            const uint row = at.x, begin = at.y, end = at.z, part = at.w;
            load_terms(term, begin, end - begin, TERMS);
            GROUP_BARRIER;
            if (item == 0) {
                const ARITHMETIC sum = add_apart(IDENTITY, term, end - begin, 1);
                if (part == WHOLE)
                    place_sum(sum, y, row, alpha, beta);
                else
                    give(sum, arrived + parts + (ulong)part * WORDS);
            }
            GROUP_BARRIER; // term[] is read before place_parts overwrites it
            place_parts(part, row, begin, row_ptr, arrived, parts, term, arrivals, y, alpha, beta);
            GROUP_BARRIER; // arrivals is read before the next piece resets it
        }
    } else {
        const ulong row = (ulong)(group - groups) * GROUP_SIZE + item;
        const uint begin = row < rows ? row_ptr[row] : 0, end = row < rows ? row_ptr[row + 1] : 0;
        if (row < rows && end - begin <= longest)
            place_sum(sum_entries(begin, end, 1, 0, 0, 0, TERMS), y, row, alpha, beta);
    }
}
