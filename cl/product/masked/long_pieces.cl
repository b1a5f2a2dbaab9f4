// long_pieces: cuts long runs of the places of a mask into pieces, one work-item per place.
// Host: src/product/masked/long_runs.rs
//
//   run_end, piece      see cl/product/esc/pieces.cl
//   in out  record[6]   see run_record.cl; the last two words count pieces and parts, zeros before

KERNEL long_pieces(global const uint* run_end, global uint4* piece, global uint* record, uint runs)
{
    local uint of_group[2];
    cut_runs(run_end, piece, record + 4, get_global_id(0), runs, of_group);
}
