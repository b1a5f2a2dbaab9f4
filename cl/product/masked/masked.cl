// masked: finds the products that fall on the places of a mask, place by place, and for each place
// by ascending inner index.
// Host: src/product/masked/mod.rs, src/product/masked/bands.rs
//
// A place (i, j) has a product for every k that row i of A and column j of B share. A probe is an
// entry of the row or of the column, whichever is shorter. A probe of the row is a hit if the
// column has an entry with the same k, and a probe of the column is a hit if the row has such an
// entry. Probes are divided evenly among work-items, across places. A place without probes gets
// one, which is no hit, so that each place has a last probe.
//
//   mask_probes   nnz + 1 work-items
//   mask_bands    bands + 1 work-items
//   count_hits    one work-group per TILE probes; each work-item takes TILE / GROUP_SIZE
//                 consecutive probes
//   mask_record   one work-item per place of the band
//   write_hits    as count_hits
//
//   in   a_t_col_ptr[rows + 1]  a_t_row_idx[a_nnz]    columns of Aᵀ: the k of row i of A, ascending
//   in   b_col_ptr[cols + 1]  b_row_idx[b_nnz]        columns of B: the k of column j, ascending
//   in   a_operand[a_nnz]  b_operand[b_nnz]           see cl/product/terms/payload.cl
//   in   mask_col_ptr[cols + 1]  mask_row_idx[nnz]    the mask
//   out  mask_col[nnz]        column of each place
//   out  probe_ptr[nnz + 1]   number of probes of each place, 0 at the end; to be scanned
//   out  band[2 * bands + 2]  the first place of each band, and its first probe. Band i begins at
//                             the first place with at least i shares of probes before it
//   out  hits[items + 1]      number of hits of each work-item, 0 at the end; to be scanned
//   out  place_hits[places]   for each place the number of hits, up to its end, of the work-item
//                             that has its last probe
//   out  record[6]            hits; three words of tally.cl; two for long_pieces.cl. Zeros before.
//   out  payload[hits]        the products, place after place
//   out  run_end[places]      last hit up to the end of each place; 0xffffffff if there is none
#if !defined(TILE)
#error "TILE: see src/product/tuning.rs"
#endif
#define ITEMS (TILE / GROUP_SIZE)

KERNEL mask_probes(global const uint* a_t_col_ptr, global const uint* b_col_ptr, global const uint* mask_col_ptr,
                   global const uint* mask_row_idx, global uint* mask_col, global ulong* probe_ptr, uint cols, uint nnz)
{
    const uint place = get_global_id(0);
    if (place < nnz) {
        const uint row = mask_row_idx[place], col = column_of(mask_col_ptr, cols, place);
        mask_col[place] = col;
        probe_ptr[place] = max(min(a_t_col_ptr[row + 1] - a_t_col_ptr[row], b_col_ptr[col + 1] - b_col_ptr[col]), 1u);
    } else if (place == nnz)
        probe_ptr[place] = 0; // the scan writes the number of probes here
}

// Returns the last place in first <= place < end whose probes begin at or before `probe`. The
// probes of place `first` must begin at or before `probe`.
uint place_of(global const ulong* probe_ptr, uint first, uint end, ulong probe)
{
    while (end - first > 1) {
        const uint middle = first + (end - first) / 2;
        if (probe_ptr[middle] <= probe)
            first = middle;
        else
            end = middle;
    }
    return first;
}

KERNEL mask_bands(global const ulong* probe_ptr, global ulong* band, ulong share, uint bands, uint nnz)
{
    const uint i = get_global_id(0);
    if (i > bands)
        return;
    const uint place = i < bands ? lower_bound_long(probe_ptr, 0, nnz, i * share) : nnz;
    band[2 * i] = place;
    band[2 * i + 1] = probe_ptr[place];
}

// Whether probe n of row `row` of A with column `col` of B is a hit. If so, `pair` gets the two
// entries. `*from` is an entry of the longer of the two lines, the row and the column. Entries of
// that line before `*from` are below the k of the probe. `*from` is advanced for the next probe of
// the place. The search for k takes strides that double, and then bisects. So two lines of similar
// lengths are merged, and a short line skips through a long one.
bool hits_at(global const uint* a_t_col_ptr, global const uint* a_t_row_idx, global const uint* b_col_ptr,
             global const uint* b_row_idx, uint row, uint col, uint n, uint* from, uint2* pair)
{
    const uint a = a_t_col_ptr[row], a_count = a_t_col_ptr[row + 1] - a;
    const uint b = b_col_ptr[col], b_count = b_col_ptr[col + 1] - b;
    const bool by_a = a_count <= b_count;
    if (n >= min(a_count, b_count))
        return false;
    const uint k = by_a ? a_t_row_idx[a + n] : b_row_idx[b + n];
    global const uint* other = by_a ? b_row_idx + b : a_t_row_idx + a;
    const uint count = by_a ? b_count : a_count;
    uint first = *from, stride = 1;
    for (; stride <= count - first && other[first + stride - 1] < k; stride *= 2)
        first += stride;
    first = lower_bound(other, first, min(first + stride - 1, count), k);
    *from = first;
    *pair = by_a ? (uint2)(a + n, b + first) : (uint2)(a + first, b + n);
    return first < count && other[first] == k;
}

// Does WITH for each probe of a work-item. WITH can use the place, the first probe of the next
// place, whether the probe is a hit, and the pair of entries. If SOME is false, probes are not
// looked up. A band has `places` places from `first_place` on, with `probes` probes in all.
#define FOR_PROBES(SOME, WITH)                                                                                        \
    local uint bounds[2];                                                                                             \
    const uint item = get_local_id(0), start = get_group_id(0) * TILE, count = min((uint)TILE, probes - start);       \
    const ulong first_probe = probe_ptr[first_place];                                                                 \
    if (item == 0)                                                                                                    \
        bounds[0] = place_of(probe_ptr, first_place, first_place + places, first_probe + start);                      \
    if (item == GROUP_SIZE - 1)                                                                                       \
        bounds[1] = place_of(probe_ptr, first_place, first_place + places, first_probe + start + count - 1) + 1;      \
    GROUP_BARRIER;                                                                                                    \
    const uint begin = min(item * ITEMS, count), end = min(begin + ITEMS, count);                                     \
    uint place = begin < end ? place_of(probe_ptr, bounds[0], bounds[1], first_probe + start + begin) : 0;            \
    uint from = 0;                                                                                                    \
    for (uint i = begin; i < end; ++i) {                                                                              \
        const ulong probe = first_probe + start + i;                                                                  \
        const ulong next_probe = probe_ptr[place + 1];                                                                \
        uint2 joined;                                                                                                 \
        const bool hit = (SOME) && hits_at(a_t_col_ptr, a_t_row_idx, b_col_ptr, b_row_idx, mask_row_idx[place],       \
                                           mask_col[place], (uint)(probe - probe_ptr[place]), &from, &joined);        \
        WITH;                                                                                                         \
        if (probe + 1 == next_probe) {                                                                                \
            ++place;                                                                                                  \
            from = 0;                                                                                                 \
        }                                                                                                             \
    }

KERNEL count_hits(global const uint* a_t_col_ptr, global const uint* a_t_row_idx, global const uint* b_col_ptr,
                  global const uint* b_row_idx, global const uint* mask_row_idx, global const uint* mask_col,
                  global const ulong* probe_ptr, global uint* hits, global uint* place_hits, uint first_place,
                  uint places, uint probes)
{
    uint found = 0;
    FOR_PROBES(
        true,
        found += hit;
        if (probe + 1 == next_probe) place_hits[place - first_place] = found)
    hits[get_global_id(0)] = found;
    if (get_global_id(0) == get_global_size(0) - 1)
        hits[get_global_id(0) + 1] = 0; // the scan writes the number of hits here
}

// Returns the number of hits of the band up to the end of a place. The number is the sum of the
// hits of all work-items before the one that has the last probe of the place, and the hits of that
// work-item up to the end of the place.
uint hits_until(global const ulong* probe_ptr, global const uint* hits, global const uint* place_hits, uint first_place,
                uint place)
{
    const uint last_probe = (uint)(probe_ptr[first_place + place + 1] - probe_ptr[first_place]) - 1;
    return hits[last_probe / ITEMS] + place_hits[place];
}

KERNEL mask_record(global const ulong* probe_ptr, global const uint* hits, global const uint* place_hits,
                   global uint* record, uint first_place, uint places)
{
    local uint of_group[3];
    const uint place = get_global_id(0);
    uint begin = 0, end = 0;
    if (place < places) {
        end = hits_until(probe_ptr, hits, place_hits, first_place, place);
        begin = place > 0 ? hits_until(probe_ptr, hits, place_hits, first_place, place - 1) : 0;
        if (place == places - 1)
            record[0] = end;
    }
    tally_run(end - begin, record, of_group);
}

KERNEL write_hits(global const uint* a_t_col_ptr, global const uint* a_t_row_idx, global const OPERAND* a_operand,
                  global const uint* b_col_ptr, global const uint* b_row_idx, global const OPERAND* b_operand,
                  global const uint* mask_row_idx, global const uint* mask_col, global const ulong* probe_ptr,
                  global const uint* hits, global PAYLOAD* payload, global uint* run_end, uint first_place,
                  uint places, uint probes)
{
    const uint to_end = hits[get_global_id(0) + 1];
    uint to = hits[get_global_id(0)];
    FOR_PROBES(
        to < to_end,
        if (hit) payload[to++] = MAKE(joined.x, joined.y);
        if (probe + 1 == next_probe) run_end[place - first_place] = to - 1)
}
