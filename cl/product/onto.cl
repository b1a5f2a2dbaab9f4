// onto: the runs of a band as those of a pattern that has further entries: empty runs, whose sums are 0.
//                                                                                            host: src/product/onto.rs
//   onto_ends     one work-item per entry of the larger pattern, from the one of the first run to that of the last
//   onto_pieces   one work-item per piece
//
//   in      place[nnz]         entry of the larger pattern for each entry of C, ascending
//   in      run_end[runs]      the band's; its first run is entry `first` of C
//   out     ends[count]        last product of the last run up to there; the larger pattern's entry `low` is the first
//   in out  piece[pieces]      run
KERNEL onto_ends(global const uint* place, global const uint* run_end, global uint* ends, uint first, uint runs, uint low,
                 uint count)
{
    const uint i = get_global_id(0);
    if (i >= count)
        return;
    ends[i] = run_end[column_of(place + first, runs, low + i)]; // of the last run placed at or before this entry
}

KERNEL onto_pieces(global const uint* place, global uint4* piece, uint first, uint low, uint pieces)
{
    const uint i = get_global_id(0);
    if (i < pieces)
        piece[i].x = place[first + piece[i].x] - low;
}
