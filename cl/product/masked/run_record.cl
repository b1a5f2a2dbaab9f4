// run_record: measures the run of each place of a mask, one work-item per place.
// Host: src/product/masked/long_runs.rs
//
//   in      run_end[runs]   last product up to the end of each place; 0xffffffff if there is none
//   in out  record[6]       products; three words of tally.cl; two for long_pieces.cl; zeros before

KERNEL run_record(global const uint* run_end, global uint* record, uint runs)
{
    local uint of_group[3];
    const uint run = get_global_id(0);
    const uint begin = run > 0 && run < runs ? run_end[run - 1] + 1 : 0, end = run < runs ? run_end[run] + 1 : 0;
    if (run == runs - 1)
        record[0] = end;
    tally_run(end - begin, record, of_group);
}
