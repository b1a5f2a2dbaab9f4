// combine: joins the columns of C that several methods computed into one band.
// Host: src/product/combine.rs
//
//   column_lengths   one work-item per column of a method: its number of entries of C
//   move_runs        one work-item per entry of C of a method: its row and the end of its run
//   move_products    one work-item per product of a method
//   move_pieces      one work-item per piece of a long run of a method
//
//   in   columns[listed]              the method's columns, counted from the band's first
//   in   part_ptr[listed + 1]         where they begin among the method's entries of C
//   in   part_segment[listed + 1]     where they begin among its products
//   in   segment_ptr[cols + 1]        where the band's columns begin among its products
//   out  c_col_ptr[cols + 1]          entries of each column; after an exclusive scan, the
//                                     entries before it
//   in   part_row[part_nnz]  part_end[part_nnz]
//   in   part_payload[part_products]  part_piece[pieces]
//   out  c_row_idx[c_nnz]  run_end[c_nnz]  payload[products]
//   out  piece[all pieces]            from `first_piece` on; their parts count from `first_part` on

#ifndef PAYLOAD
#error "PAYLOAD: see src/product/combine.rs"
#endif

// A piece is a uint4 of run, begin, end and part; see src/element/mod.rs.
#define WHOLE_RUN 0xffffffffu

KERNEL column_lengths(global const uint* columns, global const uint* part_ptr, global uint* c_col_ptr, uint listed)
{
    const uint i = get_global_id(0);
    if (i < listed)
        c_col_ptr[columns[i]] = part_ptr[i + 1] - part_ptr[i];
}

KERNEL move_runs(global const uint* columns, global const uint* part_ptr, global const uint* part_segment,
                 global const uint* segment_ptr, global const uint* c_col_ptr, global const uint* part_row,
                 global const uint* part_end, global uint* c_row_idx, global uint* run_end, uint listed, uint part_nnz)
{
    const uint i = get_global_id(0);
    if (i < part_nnz) {
        const uint place = column_of(part_ptr, listed, i), column = columns[place];
        const uint entry = c_col_ptr[column] + i - part_ptr[place];
        c_row_idx[entry] = part_row[i];
        run_end[entry] = part_end[i] - part_segment[place] + segment_ptr[column];
    }
}

KERNEL move_products(global const uint* columns, global const uint* part_segment, global const uint* segment_ptr,
                     global const PAYLOAD* part_payload, global PAYLOAD* payload, uint listed, uint part_products)
{
    const uint i = get_global_id(0);
    if (i < part_products) {
        const uint place = column_of(part_segment, listed, i);
        payload[segment_ptr[columns[place]] + i - part_segment[place]] = part_payload[i];
    }
}

KERNEL move_pieces(global const uint* columns, global const uint* part_ptr, global const uint* part_segment,
                   global const uint* segment_ptr, global const uint* c_col_ptr, global const uint4* part_piece,
                   global uint4* piece, uint listed, uint pieces, uint first_piece, uint first_part)
{
    const uint i = get_global_id(0);
    if (i < pieces) {
        uint4 moved = part_piece[i];
        const uint place = column_of(part_ptr, listed, moved.x), column = columns[place];
        const uint shift = segment_ptr[column] - part_segment[place];
        moved.x = c_col_ptr[column] + moved.x - part_ptr[place];
        moved.y += shift;
        moved.z += shift;
        if (moved.w != WHOLE_RUN)
            moved.w += first_part;
        piece[first_piece + i] = moved;
    }
}
