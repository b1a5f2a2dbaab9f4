// segmented_reduce: adds each run of values, in a fixed order.
// Host: src/primitives/segmented_reduce.rs
//
//   reduce_runs       one work-item per run of up to RUN_PIECE values, added left to right
//   reduce_long_runs  one work-group per piece of a longer run. The RUN_PIECE values of a piece are
//                     added left to right. Then the sums of the pieces are added left to right
//
//   in   run_end[runs]               index of the last value of each run; the next run begins after
//                                    it
//   in   piece[pieces]               for reduce_long_runs: the run, the first value and the end of
//                                    each piece. The work-group of a run's first piece adds the
//                                    whole run
//   in   values[run_end[runs - 1] + 1]
//   out  sums[runs]
#ifndef RUN_PIECE
#error "RUN_PIECE: see src/primitives/segmented_reduce.rs"
#endif

ARITHMETIC sum_piece(global const ARITHMETIC* values, uint begin, uint end)
{
    ARITHMETIC sum = IDENTITY;
    IN_ORDER
    for (uint i = begin; i < end; ++i)
        sum = ADD(sum, values[i]);
    return sum;
}

KERNEL reduce_runs(global const uint* run_end, global const ARITHMETIC* values, global ELEMENT* sums, uint runs)
{
    const uint run = get_global_id(0);
    if (run >= runs)
        return;
    const uint begin = run > 0 ? run_end[run - 1] + 1 : 0, last = run_end[run];
    if (last - begin < RUN_PIECE) {
        const ARITHMETIC total = sum_piece(values, begin, last + 1);
        STORE(total, sums, run);
    }
}

KERNEL reduce_long_runs(global const uint* run_end, global const uint4* piece, global const ARITHMETIC* values,
                        global ELEMENT* sums)
{
    local ARITHMETIC pieces[GROUP_SIZE];
    const uint run = piece[get_group_id(0)].x;
    const uint begin = run > 0 ? run_end[run - 1] + 1 : 0;
    const bool leads = piece[get_group_id(0)].y == begin;
    const uint end = leads ? run_end[run] + 1 : begin;
    ARITHMETIC total = IDENTITY;
    for (ulong round = begin; round < end; round += (ulong)GROUP_SIZE * RUN_PIECE) {
        const ulong start = round + (ulong)get_local_id(0) * RUN_PIECE;
        if (start < end)
            pieces[get_local_id(0)] = sum_piece(values, (uint)start, (uint)min(start + RUN_PIECE, (ulong)end));
        GROUP_BARRIER;
        if (get_local_id(0) == 0) {
            IN_ORDER
            for (uint i = 0; i < GROUP_SIZE && round + (ulong)i * RUN_PIECE < end; ++i)
                total = ADD(total, pieces[i]);
        }
        GROUP_BARRIER; // pieces[] is read before the next round overwrites it
    }
    if (leads && get_local_id(0) == 0)
        STORE(total, sums, run);
}
