// retarget: moves the runs of a band to a larger pattern. The additional entries of that pattern
// have empty runs.
// Host: src/product/plan/retarget.rs
//
//   retarget_ends    one work-item per entry of the larger pattern, from the entry of the first run
//                    to the entry of the last
//   retarget_pieces  one work-item per piece
//
//   in      place[nnz]         entry of the larger pattern for each entry of C, ascending
//   in      run_end[runs]      runs of the band; the first one is entry `first` of C
//   out     place_end[places]  last product of the last run up to each entry of the larger
//                              pattern, from entry `first_place` on
//   in out  piece[pieces]      the pieces; their runs are changed
KERNEL retarget_ends(global const uint* place, global const uint* run_end, global uint* place_end, uint first,
                     uint runs, uint first_place, uint places)
{
    const uint i = get_global_id(0);
    if (i >= places)
        return;
    // The end of the last run that belongs to this entry or an earlier one.
    place_end[i] = run_end[column_of(place + first, runs, first_place + i)];
}

KERNEL retarget_pieces(global const uint* place, global uint4* piece, uint first, uint first_place, uint pieces)
{
    const uint i = get_global_id(0);
    if (i < pieces)
        piece[i].x = place[first + piece[i].x] - first_place;
}
