// tally: counts runs. This file comes before kernels whose work-items have one run each.
// Host: src/product/masked/long_runs.rs
//
//   in out  record[6]   word 1: products of the longest run; word 2: number of pieces of the runs
//                       longer than LONG_RUN; word 3: number of parts of the runs longer than
//                       RUN_PIECE
#if !defined(LONG_RUN) || !defined(RUN_PIECE)
#error "LONG_RUN, RUN_PIECE: see src/product/tuning.rs"
#endif

// Adds a run of `length` products to the record. Every item of a work-group calls `tally_run`, with
// length 0 if it has no run.
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
    // The counts are sums and maxima of integers, so the order of the work-groups does not change
    // them.
    if (item == 0 && of_group[0] > 0) {
        atomic_max(&record[1], of_group[0]);
        atomic_add(&record[2], of_group[1]);
        atomic_add(&record[3], of_group[2]);
    }
}
