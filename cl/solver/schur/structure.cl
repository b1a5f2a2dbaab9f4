// structure: finds the places of the blocks of the Schur complement S. S has the blocks of the
// product Z * transpose(Z), the blocks of U on and below the diagonal, and all blocks of the
// diagonal.
// Host: src/solver/schur/structure.rs
//
//   make_slots       slots + 1 work-items
//   place_slots      one work-item per slot
//   place_entries    one work-item per entry of the product
//   s_columns        n + 1 work-items
//   scatter_columns  one work-item per entry of W
//
// A column of U has a slot for each of its entries, and one additional slot. If U has no diagonal
// block in a column, the additional slot of the column is for the diagonal block. Otherwise that
// slot is unused. Slots above the diagonal are also unused. The slots of a column ascend by row.
//
//   in      u_col_ptr[n + 1]  u_row_idx[u_nnz]
//   in      p_col_ptr[n + 1]  p_row_idx[p_nnz]     the product's pattern, which has no row above
//                                                  the diagonal
//   out     slot_row[slots]      NONE for an unused slot at a column's end
//   out     source[slots]        entry of U, NONE if U has none
//   in out  place[slots]         NONE if unused; otherwise first the entry of the product before
//                                which the slot belongs, then the entry of S
//   out     kind[slots]          HAS_PRODUCT and ON_DIAGONAL, as bits
//   in out  extra[slots + 1]     1 if the product has no such entry; after a scan, the number of
//                                such slots before each slot
//   out     p_place[p_nnz]       entry of S for each entry of the product
//   out     s_col_ptr[n + 1]  s_row_idx[p_nnz + extras]
//   in      t_row_idx[w_nnz]  t_source[w_nnz]      the transpose of W, and the entry of W for each
//                                                  of its entries
//   out     column[w_nnz]        column of each entry of W
#define NONE 0xffffffffu
#define HAS_PRODUCT 1u
#define ON_DIAGONAL 2u

KERNEL make_slots(global const uint* u_col_ptr, global const uint* u_row_idx, global const uint* p_col_ptr,
                  global const uint* p_row_idx, global uint* slot_row, global uint* source, global uint* place, global uint* kind,
                  global uint* extra, uint n, uint slots)
{
    const uint slot = get_global_id(0);
    if (slot == slots)
        extra[slot] = 0; // the scan writes the number of extra slots here
    if (slot >= slots)
        return;
    uint col = 0, last = n; // the last column whose slots begin at or before this one
    while (last - col > 1) {
        const uint middle = col + (last - col) / 2;
        if (u_col_ptr[middle] + middle <= slot)
            col = middle;
        else
            last = middle;
    }
    const uint begin = u_col_ptr[col], end = u_col_ptr[col + 1], number = slot - begin - col;
    const uint at_diagonal = lower_bound(u_row_idx, begin, end, col), diagonal = at_diagonal - begin;
    const bool has_diagonal = at_diagonal < end && u_row_idx[at_diagonal] == col;
    // If U has no diagonal block in this column, the slots after the diagonal are numbered one
    // higher than the entries.
    const uint entry = begin + number - (number > diagonal && !has_diagonal);
    uint row = col, from = has_diagonal ? at_diagonal : NONE;
    if (number != diagonal) {
        row = entry < end ? u_row_idx[entry] : NONE;
        from = entry;
    }
    const bool used = number >= diagonal && row != NONE;
    const uint p_end = p_col_ptr[col + 1], at = lower_bound(p_row_idx, p_col_ptr[col], p_end, row);
    const bool has_product = used && at < p_end && p_row_idx[at] == row;
    slot_row[slot] = row;
    source[slot] = from;
    place[slot] = used ? at : NONE;
    kind[slot] = (has_product ? HAS_PRODUCT : 0) | (row == col ? ON_DIAGONAL : 0);
    extra[slot] = used && !has_product;
}

KERNEL place_slots(global const uint* slot_row, global const uint* extra, global uint* place, global uint* s_row_idx, uint slots)
{
    const uint slot = get_global_id(0);
    if (slot >= slots || place[slot] == NONE)
        return;
    place[slot] += extra[slot];
    if (extra[slot + 1] > extra[slot])
        s_row_idx[place[slot]] = slot_row[slot];
}

KERNEL place_entries(global const uint* u_col_ptr, global const uint* p_col_ptr, global const uint* p_row_idx,
                     global const uint* slot_row, global const uint* extra, global uint* p_place, global uint* s_row_idx, uint n,
                     uint p_nnz)
{
    const uint entry = get_global_id(0);
    if (entry >= p_nnz)
        return;
    const uint col = column_of(p_col_ptr, n, entry), row = p_row_idx[entry];
    const uint behind = lower_bound(slot_row, u_col_ptr[col] + col, u_col_ptr[col + 1] + col + 1, row);
    p_place[entry] = entry + extra[behind];
    s_row_idx[p_place[entry]] = row;
}

KERNEL s_columns(global const uint* u_col_ptr, global const uint* p_col_ptr, global const uint* extra, global uint* s_col_ptr,
                 uint n)
{
    const uint col = get_global_id(0);
    if (col <= n)
        s_col_ptr[col] = p_col_ptr[col] + extra[u_col_ptr[col] + col];
}

KERNEL scatter_columns(global const uint* t_row_idx, global const uint* t_source, global uint* column, uint w_nnz)
{
    const uint i = get_global_id(0);
    if (i < w_nnz)
        column[t_source[i]] = t_row_idx[i];
}
