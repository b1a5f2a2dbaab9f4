// pieces: cuts runs longer than LONG_RUN. This file comes before kernels that know the ends of
// runs.
// Host: src/product/esc/gather.rs, src/product/masked/long_runs.rs
//
//   in      run_end[runs]   last product of each run
//   out     piece[pieces]   the pieces of runs longer than LONG_RUN, in any order: run, first
//                           product, end, and part. The part is 0xffffffff if the run is not cut,
//                           because it is not longer than RUN_PIECE. The parts of a run have
//                           consecutive numbers
//   in out  made[2]         number of pieces and of parts made so far
#if !defined(LONG_RUN) || !defined(RUN_PIECE)
#error "LONG_RUN, RUN_PIECE: see src/product/tuning.rs"
#endif

// Cuts the runs of a work-group, one per item. Pieces are counted in local memory first, so that
// one item allocates places for all of them.
void cut_runs(global const uint* run_end, global uint4* piece, global uint* made, uint run, uint runs, local uint* of_group)
{
    if (get_local_id(0) == 0)
        of_group[0] = of_group[1] = 0;
    GROUP_BARRIER;
    const uint begin = run > 0 && run < runs ? run_end[run - 1] + 1 : 0, end = run < runs ? run_end[run] + 1 : 0;
    const uint cuts = end - begin > LONG_RUN ? (end - begin + RUN_PIECE - 1) / RUN_PIECE : 0;
    uint number = cuts > 0 ? atomic_add(&of_group[0], cuts) : 0;
    uint part = cuts > 1 ? atomic_add(&of_group[1], cuts) : 0;
    GROUP_BARRIER;
    if (get_local_id(0) == 0 && of_group[0] > 0) {
        of_group[0] = atomic_add(&made[0], of_group[0]);
        of_group[1] = of_group[1] > 0 ? atomic_add(&made[1], of_group[1]) : 0;
    }
    GROUP_BARRIER;
    number += of_group[0];
    part += of_group[1];
    for (uint i = 0; i < cuts; ++i)
        piece[number + i] = (uint4)(run, begin + i * RUN_PIECE, min(begin + (i + 1) * RUN_PIECE, end), cuts > 1 ? part + i : 0xffffffffu);
}
