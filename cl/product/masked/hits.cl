// hits: finds the products of a column of C that fall on the places of a mask. A place is an entry
// of the mask. This file comes before the kernels of masked products on CPUs, whose work-groups are
// single items.
// Host: src/product/masked/columns.rs
//
// For a column of C, the columns of A that belong to the entries of its column of B are taken one
// after another. So the products of a row are in the order of the entries of B. The entries of a
// column of A whose rows are on the mask are listed in one of two ways. The first way reads all
// rows of the column of A and looks up the bit of each in a bitmap of the mask's column. Every
// entry is written to the list, and the list's end advances if the bit is set, because a branch
// would often be mispredicted. The second way looks up the mask's rows in the column of A. The
// second way is chosen if it takes fewer steps than the first way, because the mask has few rows in
// the column. A step is the time of one row of the first way.
//
// Columns of A are prefetched AHEAD entries of B before they are read. If AHEAD is 0, nothing is
// prefetched.
#if !defined(AHEAD) || !defined(LOOKUP) || !defined(ENTRY_STEPS) || !defined(PLACE_STEPS)
#error "AHEAD, LOOKUP, ENTRY_STEPS, PLACE_STEPS: see src/product/masked/columns.rs"
#endif
// Number of words of each part in the record of mask_steps.
#define RECORD 2

// Returns the first column of a part. Each part has an equal share of the columns.
uint first_of(uint part, uint parts, uint cols)
{
    return (uint)((ulong)part * cols / parts);
}

// Returns the cost of looking up `places` places of a mask, in steps for each round of a bisection
// in a column of A. The cost is bounded so that 32 times the cost fits 32 bits.
uint lookup_steps(uint places)
{
    return (uint)min((ulong)places * LOOKUP, (ulong)1 << 26);
}

// Whether the rows of the mask are looked up in a column of A, and not the rows of A in the mask.
bool looked_up(uint lookup, uint length)
{
    return lookup * (32 - clz(length)) < length;
}

// Returns the first column of range `range` of `ranges`: the first column with at least `range *
// share` steps before it. A column without places belongs to any range or to none.
uint range_begin(global const ulong* steps, global const ulong* record, uint range, uint ranges, ulong share, uint parts,
                 uint cols)
{
    if (range == ranges)
        return cols;
    ulong before = range * share;
    uint part = 0;
    for (; part + 1 < parts && before >= record[part * RECORD]; ++part)
        before -= record[part * RECORD];
    return lower_bound_long(steps, first_of(part, parts, cols), first_of(part + 1, parts, cols), before);
}

// Lists the entries first..end of a column of A whose rows are on the mask, and returns their
// number. The column is not empty. `words` has the bits of the mask's rows.
uint list_hits(global const uint* restrict a_row_idx, uint first, uint end, global const uint* restrict mask_row_idx,
               uint first_place, uint end_place, uint lookup, global const ulong* restrict words,
               global uint* restrict list)
{
    uint count = 0;
    if (looked_up(lookup, end - first)) {
        for (uint place = first_place; place < end_place; ++place) {
            const uint row = mask_row_idx[place];
            first = lower_bound(a_row_idx, first, end, row);
            if (first == end)
                break;
            list[count] = first;
            count += a_row_idx[first] == row;
        }
    } else {
        for (uint i = first; i < end; ++i) {
            const uint row = a_row_idx[i];
            list[count] = i;
            count += (uint)(words[row / 64] >> row % 64) & 1;
        }
    }
    return count;
}
