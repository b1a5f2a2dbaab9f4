// tally: the counts of runs, before kernels whose work-items have one each.
// Host: src/product/masked/long_runs.rs
//
//   in out  record[6]   word 1: products of the longest run; 2: pieces of the runs longer than
//                       LONG_RUN; 3: how many of them are parts of a run longer than RUN_PIECE
#if !defined(LONG_RUN) || !defined(RUN_PIECE)
#error "LONG_RUN, RUN_PIECE: see src/product/tuning.rs"
#endif

// Every item of a group calls it, with length 0 if it has no run.
void tally_run(uint length, global uint* record, local uint* of_group)
{
    const uint item = get_local_id(0), cuts = (length + RUN_PIECE - 1) / RUN_PIECE;
    if (item == 0)
        of_group[0] = of_group[1] = of_group[2] = 0;
    GROUP_BARRIER;
    atomic_max(&of_group[0], length);
    if (length > LONG_RUN)
        atomic_add(&of_group[1], cuts);
    if (cuts > 1)
        atomic_add(&of_group[2], cuts);
    GROUP_BARRIER;
    // Sums and maxima of integers: the order of the groups does not show.
    if (item == 0 && of_group[0] > 0) {
        atomic_max(&record[1], of_group[0]);
        atomic_add(&record[2], of_group[1]);
        atomic_add(&record[3], of_group[2]);
    }
}
