// compression: the pieces of long runs.                                                     host: src/esc/compression.rs
//
//   one work-item per run
//
//   in   run_end[nnz]                 last product of each run
//   out  piece[pieces]                of runs longer than LONG_RUN, in any order: run, first product, end, and its part where the run is longer
//                                     than RUN_PIECE and cut; the parts of a run follow one another
//   out  counts[2]                    pieces and parts; zero before
#if !defined(LONG_RUN) || !defined(RUN_PIECE)
#error "LONG_RUN, RUN_PIECE: see src/esc/tuning.rs"
#endif

KERNEL long_pieces(global const uint* run_end, global uint4* piece, global uint* counts, uint nnz)
{
    const uint run = get_global_id(0);
    if (run >= nnz)
        return;
    const uint begin = run > 0 ? run_end[run - 1] + 1 : 0, end = run_end[run] + 1;
    if (end - begin <= LONG_RUN)
        return;
    const uint cuts = (end - begin + RUN_PIECE - 1) / RUN_PIECE;
    const uint number = atomic_add(&counts[0], cuts);
    const uint part = cuts > 1 ? atomic_add(&counts[1], cuts) : 0;
    for (uint i = 0; i < cuts; ++i)
        piece[number + i] = (uint4)(run, begin + i * RUN_PIECE, min(begin + (i + 1) * RUN_PIECE, end), cuts > 1 ? part + i : 0xffffffffu);
}
