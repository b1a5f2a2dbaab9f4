// masked: the products that fall on the places of a mask, place by place, in ascending k.               host: src/product/masked/mod.rs
//
// A place (i, j) has a product for every k that row i of A and column j of B share. A probe is one entry of the shorter of the two; it
// hits where the longer has the same k. Probes are shared out one by one, whatever places they belong to, so that the load is balanced by
// construction. A place without probes gets one, which misses: so each place has a last one.
//
//   mask_probes   one work-item per place, and one more
//   mask_bands    one work-item per band, and one more
//   count_hits, write_hits    one work-group per TILE probes, TILE / GROUP_SIZE consecutive ones per work-item
//   mask_record   one work-item per place
//
//   in   a_t_col_ptr[rows + 1]  a_t_row_idx[a_nnz]    columns of Aᵀ, the rows of A: the k of their entries, ascending
//   in   b_col_ptr[cols + 1]  b_row_idx[b_nnz]        columns of B, the same
//   in   a_source[a_nnz]  b_source[b_nnz]             stored entry behind each, read where A_MOVED or B_MOVED
//   in   mask_col_ptr[cols + 1]  mask_row_idx[nnz]    the mask
//   out  mask_col[nnz]           column of each place
//   out  probe_ptr[nnz + 1]      probes of each place; after an exclusive scan, of all places before it
//   out  band[2 * bands + 2]     where each band begins: at the first place that begins so many shares of probes on; and at which probe
//   out  hits[items + 1]         hits of each item, at the end 0; to be scanned
//   out  pair[hits of the band]  operands of each hit
//   out  run_end[entries]        last hit of each place of the band, of the place before it where it has none, 0xffffffff for none at all
//   out  record[3]               longest run; pieces of the runs longer than LONG_RUN, and how many are parts of a run longer than RUN_PIECE;
//                                zero before
#if !defined(TILE) || !defined(LONG_RUN) || !defined(RUN_PIECE) || !defined(A_MOVED) || !defined(B_MOVED)
#error "TILE, LONG_RUN, RUN_PIECE: see src/product/tuning.rs; A_MOVED, B_MOVED: see src/product/masked/mod.rs"
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
        probe_ptr[place] = 0; // becomes their number
}

// The first of places first to end whose probes begin at or behind `probe`; end if none does.
uint place_from(global const ulong* probe_ptr, uint first, uint end, ulong probe)
{
    while (first < end) {
        const uint middle = first + (end - first) / 2;
        if (probe_ptr[middle] < probe)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

// The last place in first <= place < end whose probes begin at or before `probe`; those of `first` do.
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
    const uint place = i < bands ? place_from(probe_ptr, 0, nnz, i * share) : nnz;
    band[2 * i] = place;
    band[2 * i + 1] = probe_ptr[place];
}

// Whether probe n of row `row` of A with column `col` of B hits, and which entries it joins. Everything before `*from` in the longer of the two
// is below the k of the probe, and the next of the place may begin where this one ends: looked for in strides that double, then by
// bisection, so that lines of like lengths are merged and a short one skips through a long one.
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
    uint end = min(first + stride - 1, count);
    while (first < end) {
        const uint middle = first + (end - first) / 2;
        if (other[middle] < k)
            first = middle + 1;
        else
            end = middle;
    }
    *from = first;
    *pair = by_a ? (uint2)(a + n, b + first) : (uint2)(a + first, b + n);
    return first < count && other[first] == k;
}

// Does WITH for each probe of a work-item, told the place, the first probe of the next place, whether it is a hit, and the pair it joins; only
// while SOME may hit are they looked up. A band is `places` places from `first_place` on, of `probes` probes in all.
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
                  global const ulong* probe_ptr, global uint* hits, uint first_place, uint places, uint probes)
{
    uint found = 0;
    FOR_PROBES(true, found += hit)
    hits[get_global_id(0)] = found;
    if (get_global_id(0) == get_global_size(0) - 1)
        hits[get_global_id(0) + 1] = 0; // becomes their number
}

#if A_MOVED
#define A_SOURCE(entry) a_source[entry]
#else
#define A_SOURCE(entry) (entry)
#endif
#if B_MOVED
#define B_SOURCE(entry) b_source[entry]
#else
#define B_SOURCE(entry) (entry)
#endif

KERNEL write_hits(global const uint* a_t_col_ptr, global const uint* a_t_row_idx, global const uint* a_source,
                  global const uint* b_col_ptr, global const uint* b_row_idx, global const uint* b_source,
                  global const uint* mask_row_idx, global const uint* mask_col, global const ulong* probe_ptr,
                  global const uint* hits, global uint2* pair, global uint* run_end, uint first_place, uint places,
                  uint probes)
{
    const uint to_end = hits[get_global_id(0) + 1];
    uint to = hits[get_global_id(0)];
    FOR_PROBES(
        to < to_end,
        if (hit) pair[to++] = (uint2)(A_SOURCE(joined.x), B_SOURCE(joined.y));
        if (probe + 1 == next_probe) run_end[place - first_place] = to - 1)
}

KERNEL mask_record(global const uint* run_end, global uint* record, uint places)
{
    local uint of_group[3];
    const uint item = get_local_id(0), place = get_global_id(0);
    if (item == 0)
        of_group[0] = of_group[1] = of_group[2] = 0;
    GROUP_BARRIER;
    if (place < places) {
        const uint length = run_end[place] - (place > 0 ? run_end[place - 1] : 0xffffffffu);
        const uint cuts = (length + RUN_PIECE - 1) / RUN_PIECE;
        atomic_max(&of_group[0], length);
        if (length > LONG_RUN)
            atomic_add(&of_group[1], cuts);
        if (cuts > 1)
            atomic_add(&of_group[2], cuts);
    }
    GROUP_BARRIER;
    // Sums and maxima of integers: the order of the groups does not show.
    if (item == 0 && of_group[0] > 0) {
        atomic_max(&record[0], of_group[0]);
        atomic_add(&record[1], of_group[1]);
        atomic_add(&record[2], of_group[2]);
    }
}
